//! Tasks in a JSON file. Takes a path from the project's folder on. A file that is being written just now is read again a moment
//! later; one that leads out of the project is not read, unless its path says so plainly.

use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::{Looked, Lookup, found};
use crate::files::open_regular;

/// The most that is read.
const LONGEST: u64 = 8 << 20;

/// How long to wait before a file that makes no sense is read again: whoever writes it has moments, not seconds.
const AGAIN: [Duration; 3] =
    [Duration::from_millis(30), Duration::from_millis(80), Duration::from_millis(200)];

pub(super) fn look(lookup: &Lookup<'_>) -> Looked {
    let named = lookup.config.file.to_string_lossy();
    // A name must not lead elsewhere.
    let plain = |name: &str| -> String {
        name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
    };
    let Some(filled) = lookup.filled(&named, plain) else { return Looked::NoWorker };
    let path = lookup.project.join(&filled);
    let is_askers = Lookup::names_asker(&named);
    let fault = |why: String| Looked::Failed(format!("{}: {why}", path.display()));
    if Path::new(&filled).is_relative() && leads_out(&path, lookup.project) {
        return fault("it leads out of the project, and is not read".into());
    }
    let mut waits = AGAIN.into_iter();
    loop {
        let looked = match read(&path) {
            Ok(bytes) => found(lookup, &bytes, is_askers),
            Err(error) if error.kind() == ErrorKind::NotFound => return Looked::NoFile,
            Err(error) => Err(error.to_string()),
        };
        match (looked, waits.next()) {
            (Ok(looked), _) => return looked,
            (Err(_), Some(wait)) => sleep(wait.min(lookup.time())),
            (Err(why), None) => return fault(why),
        }
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        return Err(io::Error::other("longer than 8 MB"));
    }
    Ok(bytes)
}

/// Whether a link takes it out of the project.
fn leads_out(path: &Path, project: &Path) -> bool {
    let (Ok(path), Ok(project)) = (std::fs::canonicalize(path), std::fs::canonicalize(project)) else {
        return false;
    };
    !path.starts_with(project)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Instant;

    use super::*;
    use crate::config::{TaskSource, TasksConfig};
    use crate::env::Env;
    use crate::tasks::TaskQuery;

    const ONE: &str = r#"{"tasks":[{"id":"a1","title":"Mend  it","status":"assigned","assignee":"w2"}]}"#;

    fn looked(project: &Path, file: &str, agent: Option<&str>) -> Looked {
        let config = TasksConfig { source: TaskSource::File, file: file.into(), ..TasksConfig::default() };
        let asker = TaskQuery { agent: agent.map(Into::into), session: None };
        let deadline = Instant::now() + Duration::from_secs(20);
        look(&Lookup { config: &config, env: &Env::default(), project, asker: &asker, deadline })
    }

    fn count(looked: &Looked) -> usize {
        match looked {
            Looked::Found(tasks) => tasks.len(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_is_read_and_none_is_no_fault() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(looked(folder.path(), "tasks.json", Some("w2")), Looked::NoFile);
        fs::write(folder.path().join("tasks.json"), ONE).expect("written");
        assert_eq!(count(&looked(folder.path(), "tasks.json", Some("w2"))), 1);
        assert_eq!(count(&looked(folder.path(), "tasks.json", Some("w3"))), 0);
        assert_eq!(count(&looked(folder.path(), "tasks.json", None)), 0);
    }

    #[test]
    fn a_name_in_the_path_is_filled_in_and_leads_nowhere_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let unassigned = r#"[{"id":"a1","status":"accepted"}]"#;
        fs::write(folder.path().join("w2.json"), unassigned).expect("written");
        fs::write(folder.path().join("_.._x.json"), unassigned).expect("written");
        assert_eq!(count(&looked(folder.path(), "{agent}.json", Some("w2"))), 1);
        assert_eq!(looked(folder.path(), "{agent}.json", None), Looked::NoWorker);
        assert_eq!(count(&looked(folder.path(), "{agent}.json", Some("/../x"))), 1);
    }

    #[test]
    fn a_file_that_is_written_just_now_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tasks.json");
        fs::write(&path, &ONE[..20]).expect("half of it");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                sleep(Duration::from_millis(60));
                fs::write(&path, ONE).expect("all of it");
            });
            assert_eq!(count(&looked(folder.path(), "tasks.json", Some("w2"))), 1);
        });
    }

    #[test]
    fn what_stays_unreadable_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("tasks.json"), &ONE[..20]).expect("half of it");
        fs::create_dir(folder.path().join("folder.json")).expect("a folder");
        let told = |file: &str| match looked(folder.path(), file, Some("w2")) {
            Looked::Failed(why) => why.replace(&folder.path().display().to_string(), "DIR"),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            told("tasks.json"),
            "DIR/tasks.json: not JSON: EOF while parsing an object at line 1 column 20"
        );
        assert_eq!(told("folder.json"), "DIR/folder.json: not a regular file");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_does_not_lead_out_of_the_project() {
        let folder = tempfile::tempdir().expect("a folder");
        let project = folder.path().join("project");
        fs::create_dir(&project).expect("made");
        fs::write(folder.path().join("secret.json"), ONE).expect("written");
        std::os::unix::fs::symlink("../secret.json", project.join("tasks.json")).expect("a link");
        match looked(&project, "tasks.json", Some("w2")) {
            Looked::Failed(why) => {
                assert!(why.ends_with("it leads out of the project, and is not read"), "{why}");
            }
            other => panic!("{other:?}"),
        }
        let plainly = folder.path().join("secret.json").display().to_string();
        assert_eq!(count(&looked(&project, &plainly, Some("w2"))), 1, "the person's own file names it");
    }
}
