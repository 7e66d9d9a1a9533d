//! Tasks in a JSON file, whose path is relative to the project. A half-written file is read again.
//! Must not follow a link out of the project; an absolute path may be anywhere.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::{Lookup, LookupOutcome, find_in_json};
use crate::files::{open_real, read_up_to, real_within};

const MAX_BYTES: u64 = 8 << 20;

/// The waits before a file that can't be parsed is read again.
const RETRY_AFTER: [Duration; 3] =
    [Duration::from_millis(30), Duration::from_millis(80), Duration::from_millis(200)];

pub(super) fn find_pending(lookup: &Lookup<'_>) -> LookupOutcome {
    let named = lookup.config.file.to_string_lossy();
    // A worker's name must not contain a path.
    let sanitize = |name: &str| -> String {
        name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
    };
    let Some(filled) = lookup.fill(&named, sanitize) else { return LookupOutcome::NoWorker };
    let path = lookup.project.join(&filled);
    let is_for_asker = Lookup::names_query(&named);
    let failed = |why: String| LookupOutcome::Failed(format!("{}: {why}", path.display()));
    // An absolute path may be anywhere.
    let within = Path::new(&filled).is_relative().then_some(lookup.project);
    let mut waits = RETRY_AFTER.into_iter();
    loop {
        let looked = match read(&path, within) {
            Ok(bytes) => find_in_json(lookup, &bytes, is_for_asker),
            Err(error) if error.kind() == ErrorKind::NotFound => return LookupOutcome::NoFile,
            Err(error) => Err(error.to_string()),
        };
        match (looked, waits.next()) {
            (Ok(looked), _) => return looked,
            (Err(_), Some(wait)) => sleep(wait.min(lookup.time())),
            (Err(why), None) => return failed(why),
        }
    }
}

fn read(path: &Path, within: Option<&Path>) -> io::Result<Vec<u8>> {
    let real = match within {
        Some(folder) => real_within(path, folder)?
            .ok_or_else(|| io::Error::other("it leads out of the project, and is not read"))?,
        None => std::fs::canonicalize(path)?,
    };
    read_up_to(open_real(&real)?, MAX_BYTES)?.ok_or_else(|| io::Error::other("longer than 8 MB"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::{TaskSource, TasksConfig};

    const ONE: &str = r#"{"tasks":[{"id":"a1","title":"Mend  it","status":"assigned","assignee":"w2"}]}"#;

    fn lookup(project: &Path, file: &str, agent: Option<&str>) -> LookupOutcome {
        let config = TasksConfig { source: TaskSource::File, file: file.into(), ..TasksConfig::default() };
        LookupOutcome::for_agent(&config, project, agent)
    }

    #[track_caller]
    fn count(looked: LookupOutcome) -> usize {
        looked.found().len()
    }

    #[test]
    fn a_file_is_read_and_none_is_no_fault() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(lookup(folder.path(), "tasks.json", Some("w2")), LookupOutcome::NoFile);
        fs::write(folder.path().join("tasks.json"), ONE).expect("written");
        assert_eq!(count(lookup(folder.path(), "tasks.json", Some("w2"))), 1);
        assert_eq!(count(lookup(folder.path(), "tasks.json", Some("w3"))), 0);
        assert_eq!(count(lookup(folder.path(), "tasks.json", None)), 0);
    }

    #[test]
    fn a_name_in_the_path_is_filled_in_and_leads_nowhere_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let unassigned = r#"[{"id":"a1","status":"accepted"}]"#;
        fs::write(folder.path().join("w2.json"), unassigned).expect("written");
        fs::write(folder.path().join("_.._x.json"), unassigned).expect("written");
        assert_eq!(count(lookup(folder.path(), "{agent}.json", Some("w2"))), 1);
        assert_eq!(lookup(folder.path(), "{agent}.json", None), LookupOutcome::NoWorker);
        assert_eq!(count(lookup(folder.path(), "{agent}.json", Some("/../x"))), 1);
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
            assert_eq!(count(lookup(folder.path(), "tasks.json", Some("w2"))), 1);
        });
    }

    #[test]
    fn what_stays_unreadable_is_error() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("tasks.json"), &ONE[..20]).expect("half of it");
        fs::create_dir(folder.path().join("folder.json")).expect("a folder");
        let here = folder.path().display().to_string();
        let error = |file: &str| lookup(folder.path(), file, Some("w2")).error().replace(&here, "DIR");
        assert_eq!(
            error("tasks.json"),
            "DIR/tasks.json: not JSON: EOF while parsing an object at line 1 column 20"
        );
        assert_eq!(error("folder.json"), "DIR/folder.json: not a regular file");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_does_not_lead_out_of_the_project() {
        let folder = tempfile::tempdir().expect("a folder");
        let project = folder.path().join("project");
        fs::create_dir(&project).expect("made");
        fs::write(folder.path().join("secret.json"), ONE).expect("written");
        std::os::unix::fs::symlink("../secret.json", project.join("tasks.json")).expect("a link");
        let why = lookup(&project, "tasks.json", Some("w2")).error();
        assert!(why.ends_with("it leads out of the project, and is not read"), "{why}");
        let plainly = folder.path().join("secret.json").display().to_string();
        assert_eq!(count(lookup(&project, &plainly, Some("w2"))), 1, "the person's own file names it");
    }
}
