//! Finds saved sessions by a folder, a transcript's path or a session's id. Looks only where the
//! client keeps them. Must not take a subagent's transcript for a session.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::client::env_vars;
use crate::client::folders::{project_name, projects_folder, session_in_rows};
use crate::env::Env;
use crate::text::last_part;

/// How many sessions are suggested to somebody who asked for a missing one.
const NAMED: usize = 5;
/// From this length on the client cuts a project's name and appends a hash.
const LONG_NAME: usize = 200;

/// A transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub id: String,
    pub transcript: PathBuf,
    /// When it was last written.
    pub modified: SystemTime,
}

/// Why there is nothing to audit.
#[derive(Debug, thiserror::Error)]
pub enum NotFound {
    #[error(
        "no home folder is known, so neither are the client's transcripts; name a transcript, or set HOME"
    )]
    NoHome,
    #[error(
        "no session of this project was found: there is no transcript in {looked}; run it in the folder in which \
         the session was started, name a transcript, or see all with `punchlist audit --all-projects`"
    )]
    NoSessions { looked: String },
    #[error("no session {wanted:?} in {looked}; {near}")]
    UnknownId { wanted: String, looked: String, near: String },
    #[error("{wanted:?} is the start of {count} sessions: {ids}; give more of it")]
    Ambiguous { wanted: String, count: usize, ids: String },
    #[error("there is no file {path}; name a transcript (a .jsonl file of the client's) or a session's id")]
    NoFile { path: String },
    #[error("{path} is a folder, not a transcript; name a .jsonl file in it, or go there and name none")]
    Folder { path: String },
    #[error("{path} is the transcript of a subagent; its work is audited with its session: {session}")]
    Subagent { path: String, session: String },
}

/// Where to look for sessions.
#[derive(Debug)]
pub struct Shelf {
    projects: PathBuf,
}

impl Shelf {
    pub fn from_env(env: &Env) -> Result<Self, NotFound> {
        let folder = env_vars::config_dir(env).ok_or(NotFound::NoHome)?;
        Ok(Self { projects: projects_folder(&folder) })
    }

    /// Returns the sessions of the project at `cwd`, the newest first: of that folder, or of the
    /// nearest parent that has any.
    pub fn of_project(&self, cwd: &Path) -> Result<Vec<Found>, NotFound> {
        let cwd = fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_path_buf());
        for folder in cwd.ancestors() {
            let found = sessions_in(&self.project_folders(folder));
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let looked = self.projects.join(project_name(&cwd)).display().to_string();
        Err(NotFound::NoSessions { looked })
    }

    /// Returns every session of every project, the newest first.
    pub fn all(&self) -> Result<Vec<Found>, NotFound> {
        let found = sessions_in(&folders_in(&self.projects));
        let looked = self.projects.display().to_string();
        if found.is_empty() { Err(NotFound::NoSessions { looked }) } else { Ok(found) }
    }

    /// Returns the session with this id, or this prefix of one.
    pub fn by_id(&self, wanted: &str, cwd: &Path) -> Result<Found, NotFound> {
        let all = self.all().unwrap_or_default();
        let fitting: Vec<Found> = all.iter().filter(|found| found.id.starts_with(wanted)).cloned().collect();
        let exact = fitting.iter().find(|found| found.id == wanted);
        let wanted = wanted.to_owned();
        match (exact, &fitting[..]) {
            (Some(found), _) | (None, [found]) => Ok(found.clone()),
            (None, []) => {
                let here = self.of_project(cwd).unwrap_or_default();
                let (looked, near) = (self.projects.display().to_string(), near(&wanted, &here, &all));
                Err(NotFound::UnknownId { wanted, looked, near })
            }
            (None, several) => Err(NotFound::Ambiguous { wanted, count: several.len(), ids: ids(several) }),
        }
    }

    /// Returns the folders in which the client may keep a project.
    fn project_folders(&self, cwd: &Path) -> Vec<PathBuf> {
        let name = project_name(cwd);
        if name.len() <= LONG_NAME {
            return vec![self.projects.join(name)];
        }
        let start = &name[..LONG_NAME];
        let is_it = |folder: &PathBuf| {
            folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
        };
        folders_in(&self.projects).into_iter().filter(is_it).collect()
    }
}

/// Returns the sessions whose ids are most similar, or else the newest ones.
fn near(wanted: &str, here: &[Found], all: &[Found]) -> String {
    let shared = |id: &str| id.chars().zip(wanted.chars()).take_while(|(a, b)| a == b).count();
    let mut alike: Vec<Found> = all.iter().filter(|found| shared(&found.id) >= 4).cloned().collect();
    alike.sort_by_key(|found| std::cmp::Reverse(shared(&found.id)));
    match (alike.is_empty(), here.is_empty(), all.is_empty()) {
        (false, _, _) => format!("like it: {}", ids(&alike)),
        (true, false, _) => format!("the newest of this project: {}", ids(here)),
        (true, true, false) => format!("the newest of all: {}", ids(all)),
        (true, true, true) => "there are no sessions at all".to_owned(),
    }
}

fn ids(found: &[Found]) -> String {
    let ids: Vec<_> = found.iter().take(NAMED).map(|found| found.id.as_str()).collect();
    let more = if found.len() > NAMED { ", …" } else { "" };
    format!("{}{more}", ids.join(", "))
}

/// Returns the transcript at a path that somebody named.
pub fn by_path(path: &Path) -> Result<Found, NotFound> {
    let shown = path.display().to_string();
    let meta = fs::metadata(path).map_err(|_| NotFound::NoFile { path: shown.clone() })?;
    if meta.is_dir() {
        return Err(NotFound::Folder { path: shown });
    }
    let id = stem(path);
    if is_subagents(&id) {
        return Err(NotFound::Subagent { path: shown, session: session_of_subagent(path) });
    }
    Ok(Found { id, transcript: path.to_path_buf(), modified: modified(&meta) })
}

/// Returns the transcript that a subagent's is beside, or the id in its rows.
fn session_of_subagent(path: &Path) -> String {
    let own = path.parent().filter(|folder| folder.ends_with("subagents")).and_then(Path::parent);
    if let Some(own) = own {
        return format!("{}.jsonl", own.display());
    }
    session_in_rows(path).unwrap_or_else(|| "(its rows name none)".to_owned())
}

/// Returns the sessions in some of the client's folders, the newest first.
fn sessions_in(folders: &[PathBuf]) -> Vec<Found> {
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let session = |path: PathBuf| {
        let (id, meta) = (stem(&path), fs::metadata(&path).ok()?);
        let is_one = path.extension()? == "jsonl" && !is_subagents(&id) && meta.is_file();
        is_one.then(|| Found { id, modified: modified(&meta), transcript: path })
    };
    let mut found: Vec<Found> = entries.filter_map(|entry| session(entry.ok()?.path())).collect();
    found.sort_by(|one, other| (other.modified, &one.id).cmp(&(one.modified, &other.id)));
    found
}

/// Returns whether a transcript of that name is a subagent's: in 2.0.x they are beside the
/// session's.
fn is_subagents(stem: &str) -> bool {
    stem.starts_with("agent-")
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut folders: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn modified(meta: &fs::Metadata) -> SystemTime {
    meta.modified().unwrap_or(SystemTime::UNIX_EPOCH)
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns a session's id, short enough for a table.
pub fn short_id(id: &str) -> String {
    let first = id.split('-').next().unwrap_or(id);
    if first.len() >= 8 { first.to_owned() } else { last_part(id, 12) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    struct Home(tempfile::TempDir);

    impl Home {
        fn new() -> Self {
            Self(tempfile::tempdir().expect("a folder"))
        }

        fn env(&self) -> Env {
            Env::from_pairs([("HOME", self.0.path())])
        }

        fn shelf(&self) -> Shelf {
            Shelf::from_env(&self.env()).expect("a shelf")
        }

        /// A transcript of a project, `age` seconds old.
        fn session(&self, project: &str, name: &str, age: u64) {
            let folder = self.0.path().join(".claude/projects").join(project);
            fs::create_dir_all(&folder).expect("made");
            let file = fs::File::create(folder.join(name)).expect("made");
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).expect("dated");
        }
    }

    fn ids_of(found: &[Found]) -> Vec<&str> {
        found.iter().map(|found| found.id.as_str()).collect()
    }

    #[test]
    fn the_newest_session_of_the_project_comes_first_and_subagents_are_none() {
        let home = Home::new();
        home.session("-w-shop", "old.jsonl", 20);
        home.session("-w-shop", "new.jsonl", 10);
        home.session("-w-shop", "agent-a1.jsonl", 1);
        home.session("-w-shop", "notes.txt", 1);
        home.session("-w-other", "newest.jsonl", 5);
        let shelf = home.shelf();
        assert_eq!(ids_of(&shelf.of_project(Path::new("/w/shop")).expect("some")), ["new", "old"]);
        assert_eq!(ids_of(&shelf.of_project(Path::new("/w/shop/src/api")).expect("some")), ["new", "old"]);
        assert_eq!(ids_of(&shelf.all().expect("some")), ["newest", "new", "old"]);
    }

    #[test]
    fn the_clients_folder_can_be_moved() {
        let home = Home::new();
        home.session("-w", "a.jsonl", 1);
        let moved = Env::from_pairs([
            ("HOME", home.0.path().to_path_buf()),
            (env_vars::CONFIG_DIR, home.0.path().join("elsewhere")),
        ]);
        let error = Shelf::from_env(&moved).expect("a shelf").of_project(Path::new("/w")).expect_err("none");
        assert!(error.to_string().contains("elsewhere/projects/-w; run it in the folder"), "{error}");
        assert!(matches!(Shelf::from_env(&Env::default()), Err(NotFound::NoHome)));
    }

    #[test]
    fn a_session_is_found_by_the_start_of_its_id_in_any_project() {
        let home = Home::new();
        home.session("-w", "3f2a91c0-aaaa.jsonl", 1);
        home.session("-w", "3f2a91c0-bbbb.jsonl", 2);
        home.session("-x", "77777777-cccc.jsonl", 3);
        let by_id = |id: &str| home.shelf().by_id(id, Path::new("/w")).map_err(|error| error.to_string());
        assert_eq!(by_id("777").map(|found| found.id), Ok("77777777-cccc".into()));
        assert_eq!(by_id("3f2a91c0-aaaa").map(|found| found.id), Ok("3f2a91c0-aaaa".into()));
        assert_eq!(
            by_id("3f2a").expect_err("two"),
            "\"3f2a\" is the start of 2 sessions: 3f2a91c0-aaaa, 3f2a91c0-bbbb; give more of it"
        );
        let unknown = by_id("77777779").expect_err("none");
        assert!(unknown.ends_with("; like it: 77777777-cccc"), "{unknown}");
        let unknown = by_id("zzz").expect_err("none");
        assert!(unknown.ends_with("; the newest of this project: 3f2a91c0-aaaa, 3f2a91c0-bbbb"), "{unknown}");
    }

    #[test]
    fn a_path_is_a_transcript_or_it_is_said_what_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let agents = folder.path().join("s1/subagents");
        fs::create_dir_all(&agents).expect("made");
        fs::write(agents.join("agent-a.jsonl"), "").expect("written");
        fs::write(folder.path().join("s1.jsonl"), "").expect("written");
        fs::write(folder.path().join("agent-b.jsonl"), "{\"sessionId\":\"s2\"}\n").expect("written");
        let said = |name: &str| match by_path(&folder.path().join(name)) {
            Ok(found) => found.id,
            Err(error) => error.to_string().replace(&folder.path().display().to_string(), "DIR"),
        };
        assert_eq!(said("s1.jsonl"), "s1");
        assert_eq!(
            said("none.jsonl"),
            "there is no file DIR/none.jsonl; name a transcript (a .jsonl file of the client's) or a session's id"
        );
        assert_eq!(
            said("s1"),
            "DIR/s1 is a folder, not a transcript; name a .jsonl file in it, or go there and name none"
        );
        let subagent = " is the transcript of a subagent; its work is audited with its session: ";
        assert_eq!(
            said("s1/subagents/agent-a.jsonl"),
            format!("DIR/s1/subagents/agent-a.jsonl{subagent}DIR/s1.jsonl")
        );
        assert_eq!(said("agent-b.jsonl"), format!("DIR/agent-b.jsonl{subagent}s2"));
    }

    #[test]
    fn a_project_with_a_long_path_is_found_by_the_start_of_its_name() {
        let home = Home::new();
        let cwd = format!("/{}", "deep/".repeat(60));
        let name = project_name(Path::new(&cwd));
        home.session(&format!("{}-1a2b3c", &name[..LONG_NAME]), "long.jsonl", 1);
        assert_eq!(ids_of(&home.shelf().of_project(Path::new(&cwd)).expect("some")), ["long"]);
    }

    #[test]
    fn ids_are_shortened_for_tables() {
        assert_eq!(short_id("3f2a91c0-1111-2222-3333-444444444444"), "3f2a91c0");
        assert_eq!(short_id("session-1"), "session-1");
    }
}
