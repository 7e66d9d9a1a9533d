//! The workspace: resolves paths as people and agents write them, and tells what is there. The only
//! part of an audit that reads files of the workspace. Must not read anything outside the workspace
//! and the client's plan folders, follow a link out of them, or judge.
//!
//! A link is followed once, when a path is located: its target has to be inside. From then on the
//! real path counts, and a link that somebody puts into it in the meantime is not followed.

pub mod file_cache;
pub mod git;
pub mod glob_files;
pub(crate) mod hard_links;
pub(crate) mod sealed_git;
mod search;
mod secret_values;

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use self::file_cache::Stamp;
use self::git::Git;
use self::hard_links::HardLinks;
use self::search::SEARCH_CAP;
pub(crate) use self::search::walk;
pub use self::search::{ChangedFile, TOO_LARGE};
use crate::files::{inode_of, look_at_real, open_real};
use crate::redact::{SecretValues, is_secret_file};

/// The most that is read of one file.
pub(crate) const READ_CAP: u64 = 1 << 20;

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileState {
    File {
        /// How long it is.
        bytes: u64,
    },
    Folder,
    /// Nothing.
    Missing {
        /// Where in the workspace a file of that name is, if not there.
        elsewhere: Option<String>,
    },
    /// Outside the places that may be read.
    Outside,
    /// It can't be read, or is not a file (a pipe, a device).
    Unreadable(String),
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    Text(String),
    /// The start of its text: it is longer than what is read.
    Start(String),
    /// It is not text.
    Binary,
    /// It is a kind of file whose content never leaves the machine.
    Secret,
    /// It could not be read.
    Unreadable(String),
}

/// A place in the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// Its real path.
    pub path: PathBuf,
    /// Its name: relative to the workspace if it is inside.
    pub name: String,
}

/// The workspace of one session, or of several.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    cwd: PathBuf,
    home: Option<PathBuf>,
    plan_folders: Vec<PathBuf>,
    git: Git,
    hard_links: HardLinks,
    /// How many entries are searched for a file that is not where it was said to be.
    search_cap: usize,
    secret_values: OnceLock<SecretValues>,
    /// The real paths of folders that exist: most files of a session share a few.
    real_folders: Mutex<HashMap<PathBuf, PathBuf>>,
}

impl Workspace {
    /// Returns the workspace at `root`, with the session at `cwd`; `plan_folders` may be read as
    /// well.
    pub fn new(root: &Path, cwd: &Path, home: Option<PathBuf>, plan_folders: &[PathBuf]) -> Self {
        let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let root = real(root);
        Self {
            git: Git::new(root.clone()),
            hard_links: HardLinks::below(root.clone()),
            search_cap: SEARCH_CAP,
            secret_values: OnceLock::new(),
            real_folders: Mutex::default(),
            root,
            cwd: real(cwd),
            home,
            plan_folders: plan_folders.iter().map(|folder| real(folder)).collect(),
        }
    }

    /// Returns the same with a shorter search.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn searching(self, search_cap: usize) -> Self {
        Self { search_cap, ..self }
    }

    /// Returns git in the workspace.
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// Returns the path of the workspace.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the client's plan folders.
    pub fn plan_folders(&self) -> &[PathBuf] {
        &self.plan_folders
    }

    /// Returns where a path leads, with links followed; `None` if that is outside.
    pub fn locate(&self, written: &str) -> Option<Place> {
        let written = written.trim();
        if written.is_empty() || written.contains('\0') {
            return None;
        }
        let path = if let (Some(rest), Some(home)) = (written.strip_prefix("~/"), &self.home) {
            home.join(rest)
        } else {
            let in_root = self.root.join(written);
            // A `cd` moves the session: a relative path may be relative to the new folder.
            let in_cwd = self.cwd.join(written);
            if !in_root.exists() && in_cwd.exists() { in_cwd } else { in_root }
        };
        let real = self.resolve_in_folder(&path).or_else(|| resolve(&path))?;
        self.is_inside(&real).then(|| {
            let name = real.strip_prefix(&self.root).unwrap_or(&real).to_string_lossy().into_owned();
            Place { name, path: real }
        })
    }

    fn is_inside(&self, real: &Path) -> bool {
        real.starts_with(&self.root) || self.plan_folders.iter().any(|folder| real.starts_with(folder))
    }

    /// Returns the real path of a file, whether or not it exists, in a folder that does; `None` for
    /// a link, for what is not a name in a folder, and on systems that may ignore case in names.
    fn resolve_in_folder(&self, path: &Path) -> Option<PathBuf> {
        if cfg!(not(target_os = "linux")) {
            return None;
        }
        let (folder, name) = (path.parent()?, path.file_name()?);
        let mut known = self.real_folders.lock().unwrap_or_else(PoisonError::into_inner);
        let real = if let Some(real) = known.get(folder) {
            real.join(name)
        } else {
            let real = fs::canonicalize(folder).ok().filter(|real| real.is_dir())?;
            let file = real.join(name);
            // A link that somebody swaps in for a moment must not decide for the rest of the audit.
            if self.is_inside(&real) {
                known.insert(folder.to_path_buf(), real);
            }
            file
        };
        match fs::symlink_metadata(&real) {
            Ok(meta) if !meta.file_type().is_symlink() || is_missing(&real) => Some(real),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(real),
            Ok(_) | Err(_) => None,
        }
    }

    /// Returns what is at a place; `None` is one that is outside.
    pub fn state(&self, place: Option<&Place>) -> FileState {
        match place.map(|place| state_of(&place.path)) {
            None => FileState::Outside,
            // Nothing can be missing from a folder that does not exist itself.
            Some(FileState::Missing { .. }) if !self.root.is_dir() => {
                FileState::Unreadable("the workspace is gone".into())
            }
            Some(state) => state,
        }
    }

    /// Returns the content of a file. Its kind is judged by the name it is asked by and by its real
    /// name.
    pub fn body(&self, place: &Place) -> Body {
        self.open(place).map_or_else(|why| why, body_of)
    }

    fn open(&self, place: &Place) -> Result<fs::File, Body> {
        if is_secret_file(&place.path) || is_secret_file(Path::new(&place.name)) {
            return Err(Body::Secret);
        }
        match open_real(&place.path).and_then(|file| Ok((file.metadata()?, file))) {
            Ok((meta, _)) if self.hard_links.may_be_secret(&meta) => Err(Body::Secret),
            Ok((_, file)) => Ok(file),
            Err(error) => Err(Body::Unreadable(error.to_string())),
        }
    }

    /// Returns a stamp that shows whether a file has changed.
    pub fn stamp(&self, place: &Place) -> Option<Stamp> {
        let meta = look_at_real(&place.path).ok()?;
        Some(Stamp { inode: inode_of(&meta), bytes: meta.len(), changed_ns: written_ns(&meta)? })
    }

    /// How long a file is, and when it came to be what and where it is.
    pub fn written(&self, place: &Place) -> Option<(u64, u128)> {
        let meta = look_at_real(&place.path).ok()?;
        Some((meta.len(), written_ns(&meta)?))
    }

    /// When something in a folder was made, taken away or renamed, in nanoseconds since 1970.
    pub fn folder_changed(&self, folder: &Path) -> Option<u128> {
        fs::symlink_metadata(folder).ok().as_ref().and_then(changed_ns)
    }

    /// Returns whether a file was last changed before a time in the client's format.
    pub fn is_older(&self, place: &Place, time: Option<&str>) -> bool {
        let changed = look_at_real(&place.path).and_then(|meta| meta.modified()).ok();
        let changed = changed.and_then(|changed| jiff::Timestamp::try_from(changed).ok());
        let time = time.and_then(|time| time.parse::<jiff::Timestamp>().ok());
        matches!((changed, time), (Some(changed), Some(time)) if changed < time)
    }

    /// Returns the text of a plan; like any other file, it has to be inside. A NUL in it makes it no
    /// other plan.
    pub fn plan_text(&self, path: &Path) -> Option<String> {
        let file = self.open(&self.locate(path.to_str()?)?).ok()?;
        let mut bytes = Vec::new();
        file.take(READ_CAP).read_to_end(&mut bytes).ok()?;
        Some(lossy(bytes).replace('\0', "\u{fffd}"))
    }

    /// Returns the text of a file in the last commit before a time in the client's format.
    pub fn text_before(&self, path: &Path, time: Option<&str>) -> Option<String> {
        let place = self.locate(path.to_str()?).filter(|place| place.path.starts_with(&self.root))?;
        let base = time.and_then(|time| self.git.base(time)).unwrap_or_else(|| "HEAD".to_owned());
        self.git.texts_at(&base, &[&place.name]).remove(&place.name)
    }
}

/// The path with links followed as far as it exists. `None` where what does not exist climbs
/// (`..`).
fn resolve(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = fs::canonicalize(path) {
        return Some(real);
    }
    let mut rest = Vec::new();
    let mut existing = path;
    loop {
        // A link in the middle that leads nowhere can't be followed; a file of that name is missing.
        let is_link = fs::symlink_metadata(existing).is_ok_and(|meta| meta.file_type().is_symlink());
        if is_link && !(rest.is_empty() && is_missing(existing)) {
            return None;
        }
        match existing.components().next_back()? {
            Component::Normal(name) => rest.push(name),
            Component::CurDir => {}
            _ => return None,
        }
        existing = existing.parent()?;
        if let Ok(real) = fs::canonicalize(existing) {
            return Some(rest.iter().rev().fold(real, |path, name| path.join(name)));
        }
    }
}

/// Returns whether nothing is at a path, or behind the link that is there.
fn is_missing(path: &Path) -> bool {
    fs::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Returns when a file was changed, in nanoseconds since 1970.
fn changed_ns(meta: &fs::Metadata) -> Option<u128> {
    Some(meta.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_nanos())
}

/// Returns when a file was changed, moved or given another time, in nanoseconds since 1970: `mv`,
/// `cp -p` and `touch -d` leave or set the time of its content, and only the kernel's own time of
/// the file tells.
fn written_ns(meta: &fs::Metadata) -> Option<u128> {
    let changed = changed_ns(meta)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let (seconds, rest) = (u128::try_from(meta.ctime()).ok()?, u128::try_from(meta.ctime_nsec()).ok()?);
        Some(changed.max(seconds * 1_000_000_000 + rest))
    }
    #[cfg(not(unix))]
    Some(changed)
}

fn state_of(path: &Path) -> FileState {
    match look_at_real(path) {
        Ok(meta) if meta.is_file() => FileState::File { bytes: meta.len() },
        Ok(meta) if meta.is_dir() => FileState::Folder,
        // A link that leads nowhere.
        Ok(_) if is_missing(path) => FileState::Missing { elsewhere: None },
        Ok(_) => FileState::Unreadable("not a regular file".into()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => FileState::Missing { elsewhere: None },
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            FileState::Missing { elsewhere: None }
        }
        Err(error) => FileState::Unreadable(error.to_string()),
    }
}

/// How much of a file decides whether it is text.
const HEAD: usize = 8_000;

fn body_of(file: fs::File) -> Body {
    let mut bytes = Vec::new();
    match file.take(READ_CAP + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes[..bytes.len().min(HEAD)].contains(&0) => Body::Binary,
        Ok(read) if read as u64 > READ_CAP => {
            bytes.pop();
            Body::Start(lossy(bytes))
        }
        Ok(_) => Body::Text(lossy(bytes)),
        Err(error) => Body::Unreadable(error.to_string()),
    }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|bytes| String::from_utf8_lossy(bytes.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;

    fn state(workspace: &Workspace, written: &str) -> FileState {
        workspace.state(workspace.locate(written).as_ref())
    }

    #[test]
    fn paths_are_found_however_they_are_written() {
        let folder = Folder::around(&[("w/src/a.rs", "x"), ("home/.claude/plans/p.md", "y")]);
        let workspace = folder.workspace();
        let absolute = folder.path().join("w/src/a.rs");
        for written in ["src/a.rs", "./src/a.rs", "src/../src/a.rs", absolute.to_str().expect("text")] {
            assert_eq!(workspace.locate(written).expect(written).name, "src/a.rs");
            assert_eq!(state(&workspace, written), FileState::File { bytes: 1 });
        }
        assert!(workspace.locate("~/.claude/plans/p.md").is_some());
        assert_eq!(state(&workspace, "src/none.rs"), FileState::Missing { elsewhere: None });
        assert_eq!(state(&workspace, "src/a.rs/below"), FileState::Missing { elsewhere: None });
    }

    #[test]
    fn nothing_outside_is_looked_at() {
        let folder = Folder::around(&[("w/a", "x"), ("outside/secret", "y"), ("home/notes", "z")]);
        let workspace = folder.workspace();
        for written in [
            "../outside/secret", "/etc/passwd", "~/notes", "src/../../outside/none", "no/../../x", "", "a\0b",
        ] {
            assert_eq!(state(&workspace, written), FileState::Outside, "{written}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_are_not_followed() {
        let folder = Folder::around(&[("w/a", "x"), ("outside/secret", "y")]);
        let link = |to: &str, at: &str| {
            std::os::unix::fs::symlink(folder.path().join(to), folder.path().join(at)).expect("linked");
        };
        link("outside/secret", "w/link");
        link("outside", "w/folder");
        link("outside/none", "w/dangling");
        link("w/a", "w/inside");
        let workspace = folder.workspace();
        for written in ["link", "folder/secret", "folder/none"] {
            assert_eq!(workspace.locate(written), None, "{written}");
        }
        let dangling = workspace.locate("dangling").expect("the link itself");
        assert_eq!(workspace.state(Some(&dangling)), FileState::Missing { elsewhere: None });
        assert!(matches!(workspace.body(&dangling), Body::Unreadable(_)));
        assert_eq!(workspace.locate("inside").expect("inside").name, "a");
    }

    #[test]
    fn secret_binary_and_long_files_are_told_apart() {
        let long = "x".repeat(usize::try_from(READ_CAP).expect("fits") + 10);
        let folder =
            Folder::around(&[("w/.env", "K=1"), ("w/b", "a\0b"), ("w/long", &long), ("w/t", "text")]);
        let workspace = folder.workspace();
        let body = |name: &str| workspace.body(&workspace.locate(name).expect("inside"));
        assert_eq!(body(".env"), Body::Secret);
        assert_eq!(body("b"), Body::Binary);
        assert!(matches!(body("long"), Body::Start(text) if text.len() == 1 << 20));
        assert_eq!(body("t"), Body::Text("text".into()));
    }

    #[cfg(unix)]
    #[test]
    fn a_secret_file_under_another_name_is_still_secret() {
        let folder = Folder::around(&[("w/.env", "K=1")]);
        std::os::unix::fs::symlink(folder.path().join("w/.env"), folder.path().join("w/notes.txt"))
            .expect("linked");
        let workspace = folder.workspace();
        assert_eq!(workspace.body(&workspace.locate("notes.txt").expect("inside")), Body::Secret);
    }

    #[cfg(unix)]
    #[test]
    fn a_hard_link_to_a_secret_file_or_to_one_that_is_elsewhere_is_secret() {
        let folder = Folder::around(&[
            ("w/.env", "K=1"),
            ("w/lib/a.txt", "both names are here"),
            ("elsewhere", "K=2"),
            ("w/b.txt", "one"),
        ]);
        for (from, to) in
            [("w/.env", "w/notes.txt"), ("w/lib/a.txt", "w/node_modules/a.txt"), ("elsewhere", "w/c.txt")]
        {
            fs::create_dir_all(folder.path().join(to).parent().expect("a folder")).expect("made");
            fs::hard_link(folder.path().join(from), folder.path().join(to)).expect("linked");
        }
        let workspace = folder.workspace();
        let body = |name: &str| workspace.body(&workspace.locate(name).expect("inside"));
        assert_eq!((body("notes.txt"), body("c.txt")), (Body::Secret, Body::Secret));
        assert_eq!(body("lib/a.txt"), Body::Text("both names are here".into()));
        assert_eq!(body("b.txt"), Body::Text("one".into()));
    }
}
