//! The workspace: takes paths as people and agents write them, says what is there. The only part of
//! an audit that reads files of the workspace. Must not read anything outside the workspace and the
//! client's plan folders, must not follow a link out of them, and must not judge.
//!
//! A link is followed once, when a path is located: what it leads to has to be inside. From then on the real
//! path counts, and a link that somebody puts into it meanwhile is not followed.

pub mod file_cache;
pub mod git;
pub mod glob_files;
pub(crate) mod hard_links;
pub(crate) mod sealed_git;

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use walkdir::{DirEntry, WalkDir};

use self::file_cache::Stamp;
use self::git::Git;
use self::hard_links::HardLinks;
use crate::files::{inode_of, look_at_real, open_real};
use crate::redact::is_secret_file;

/// The most that is read of one file.
pub(crate) const READ_CAP: u64 = 1 << 20;
/// How many entries of the workspace are looked at to find a file that is not where it was said to be.
const SEARCH_CAP: usize = 200_000;
/// What is said of a file that is not where it was said to be, where the search ended before it was over.
pub const TOO_LARGE: &str = "not there, and the workspace is too large to search";
/// Folders that hold nobody's own work.
pub(crate) const NOT_SEARCHED: &[&str] =
    &[".git", ".hg", ".jj", "node_modules", "target", ".venv", "venv", "__pycache__", "dist"];

/// What stands at a path.
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
    /// Not ours to look at.
    Outside,
    /// Something is there and can't be read, or is no file (a pipe, a device).
    Unreadable(String),
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    Text(String),
    /// The start of its text: it is longer than we read.
    Start(String),
    /// It is not text.
    Binary,
    /// It is a kind of file whose content never leaves the machine.
    Secret,
    /// It could not be read.
    Unreadable(String),
}

/// A file that was changed: its name, its length, and when that was in nanoseconds since 1970.
pub type ChangedFile = (String, (u64, u128));

/// A place in the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// Where it really is.
    pub path: PathBuf,
    /// How it is called: relative to the workspace where it is inside.
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
    /// How many entries are looked at to find a file that is not where it was said to be.
    search_cap: usize,
}

impl Workspace {
    /// A workspace at `root`, with the session at `cwd`; `plan_folders` may be read as well.
    pub fn new(root: &Path, cwd: &Path, home: Option<PathBuf>, plan_folders: &[PathBuf]) -> Self {
        let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let root = real(root);
        Self {
            git: Git::new(root.clone()),
            hard_links: HardLinks::below(root.clone()),
            search_cap: SEARCH_CAP,
            root,
            cwd: real(cwd),
            home,
            plan_folders: plan_folders.iter().map(|folder| real(folder)).collect(),
        }
    }

    /// The same with a search that ends sooner.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn searching(self, search_cap: usize) -> Self {
        Self { search_cap, ..self }
    }

    /// Git in the workspace.
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// Where the workspace is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The client's plan folders.
    pub fn plan_folders(&self) -> &[PathBuf] {
        &self.plan_folders
    }

    /// Where a path leads, links followed; `None` when that is outside.
    pub fn locate(&self, written: &str) -> Option<Place> {
        let written = written.trim();
        if written.is_empty() || written.contains('\0') {
            return None;
        }
        let path = if let (Some(rest), Some(home)) = (written.strip_prefix("~/"), &self.home) {
            home.join(rest)
        } else {
            let in_root = self.root.join(written);
            // A `cd` moves the session: a relative path may be meant from there.
            let in_cwd = self.cwd.join(written);
            if !in_root.exists() && in_cwd.exists() { in_cwd } else { in_root }
        };
        let real = resolve(&path)?;
        let inside =
            real.starts_with(&self.root) || self.plan_folders.iter().any(|folder| real.starts_with(folder));
        inside.then(|| {
            let name = real.strip_prefix(&self.root).unwrap_or(&real).to_string_lossy().into_owned();
            Place { name, path: real }
        })
    }

    /// What stands at a place; `None` is one that is outside.
    pub fn state(&self, place: Option<&Place>) -> FileState {
        match place.map(|place| state_of(&place.path)) {
            None => FileState::Outside,
            // Nothing can be missing from a folder that is not there itself.
            Some(FileState::Missing { .. }) if !self.root.is_dir() => {
                FileState::Unreadable("the workspace is gone".into())
            }
            Some(state) => state,
        }
    }

    /// For each of these paths, which are missing, what is so: it stands elsewhere in the workspace, it does
    /// not, or that can't be told. One walk for all of them: plans often name paths relative to a package of
    /// a larger repository.
    pub fn look_elsewhere(&self, missing: &[String]) -> HashMap<String, FileState> {
        let most = self.search_cap;
        let mut wanted: HashMap<String, Vec<(&String, String)>> = HashMap::new();
        for path in missing {
            let tail = folded(path.trim_start_matches("./").trim_start_matches('/'));
            let name = tail.rsplit(['/', '\\']).next().unwrap_or(&tail).to_owned();
            wanted.entry(name).or_default().push((path, format!("/{tail}")));
        }
        if wanted.is_empty() {
            return HashMap::new();
        }
        let mut found: HashMap<String, String> = HashMap::new();
        let mut seen = 0;
        // `dist/cli.js` of a plan is `packages/cli/dist/cli.js` on disk.
        let is_named = |folder: &str| missing.iter().any(|path| path.split('/').any(|part| part == folder));
        let passed_by: Vec<&str> = NOT_SEARCHED.iter().copied().filter(|folder| !is_named(folder)).collect();
        for entry in walk(WalkDir::new(&self.root), &passed_by, most) {
            seen += 1;
            let Some(paths) = wanted.get(&folded(&entry.file_name().to_string_lossy())) else { continue };
            let there = entry.path().strip_prefix(&self.root).unwrap_or(entry.path()).to_string_lossy();
            let folded_there = format!("/{}", folded(&there));
            for (path, tail) in paths {
                if folded_there.ends_with(tail) {
                    found.entry((*path).clone()).or_insert_with(|| there.clone().into_owned());
                }
            }
        }
        // One path may be asked for twice.
        let state_of = |path: &String| match found.get(path).cloned() {
            None if seen >= most => FileState::Unreadable(TOO_LARGE.into()),
            elsewhere => FileState::Missing { elsewhere },
        };
        missing.iter().map(|path| (path.clone(), state_of(path))).collect()
    }

    /// What a file holds. Its kind is judged by the name it is asked by and by the name it really has.
    pub fn body(&self, place: &Place) -> Body {
        if is_secret_file(&place.path) || is_secret_file(Path::new(&place.name)) {
            return Body::Secret;
        }
        let file = match open_real(&place.path).and_then(|file| Ok((file.metadata()?, file))) {
            Ok((meta, _)) if self.hard_links.may_be_secret(&meta) => return Body::Secret,
            Ok((_, file)) => file,
            Err(error) => return Body::Unreadable(error.to_string()),
        };
        body_of(file)
    }

    /// What tells whether a file is as it was.
    pub fn stamp(&self, place: &Place) -> Option<Stamp> {
        let meta = look_at_real(&place.path).ok()?;
        Some(Stamp { inode: inode_of(&meta), bytes: meta.len(), changed_ns: changed_ns(&meta)? })
    }

    /// The files that were changed since a time, which is in the client's words, each with its length and when it was changed; and
    /// whether those are all. A walk of bounded length, past the folders that hold nobody's own work.
    pub fn changed_since(&self, time: Option<&str>) -> (Vec<ChangedFile>, bool) {
        let mut seen = 0;
        let since = time.and_then(|time| time.parse::<jiff::Timestamp>().ok());
        let Some(since) = since.and_then(|since| u128::try_from(since.as_nanosecond()).ok()) else {
            return (Vec::new(), true);
        };
        let file = |entry: DirEntry| {
            seen += 1;
            let meta = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            let changed = changed_ns(&meta).filter(|changed| *changed >= since)?;
            let name = entry.path().strip_prefix(&self.root).unwrap_or(entry.path()).to_string_lossy();
            Some((name.into_owned(), (meta.len(), changed)))
        };
        let most = self.search_cap;
        let changed = walk(WalkDir::new(&self.root), NOT_SEARCHED, most).filter_map(file).collect();
        (changed, seen < most)
    }

    /// Whether a file was last changed before a time, which is in the client's words.
    pub fn is_older(&self, place: &Place, time: Option<&str>) -> bool {
        let changed = look_at_real(&place.path).and_then(|meta| meta.modified()).ok();
        let changed = changed.and_then(|changed| jiff::Timestamp::try_from(changed).ok());
        let time = time.and_then(|time| time.parse::<jiff::Timestamp>().ok());
        matches!((changed, time), (Some(changed), Some(time)) if changed < time)
    }

    /// The text of a plan: like any other file's, and nothing from outside.
    pub fn plan_text(&self, path: &Path) -> Option<String> {
        let place = self.locate(path.to_str()?)?;
        match self.body(&place) {
            Body::Text(text) | Body::Start(text) => Some(text),
            Body::Binary | Body::Secret | Body::Unreadable(_) => None,
        }
    }

    /// The text of a file in the last commit before a time, which is in the client's words.
    pub fn text_before(&self, path: &Path, time: Option<&str>) -> Option<String> {
        let place = self.locate(path.to_str()?).filter(|place| place.path.starts_with(&self.root))?;
        let base = time.and_then(|time| self.git.base(time)).unwrap_or_else(|| "HEAD".to_owned());
        self.git.texts_at(&base, &[&place.name]).remove(&place.name)
    }
}

/// A name by which to find a file however its letters are written: in any case, and with its accents as
/// signs of their own (as macOS stores them) or not. Latin letters with accents do not count at all, so that
/// no table of them is needed; two names that differ in nothing else are one, which only makes a doubt.
pub(crate) fn folded(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '\u{300}'..='\u{36f}' => drop(folded.pop()),
            '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => {}
            c => folded.extend(c.to_lowercase()),
        }
    }
    folded
}

/// The path with links followed as far as it exists. `None` where what does not exist climbs (`..`).
fn resolve(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = fs::canonicalize(path) {
        return Some(real);
    }
    let mut rest = Vec::new();
    let mut existing = path;
    loop {
        // A dangling link leads somewhere that we can't follow.
        if fs::symlink_metadata(existing).is_ok_and(|meta| meta.file_type().is_symlink()) {
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

/// Returns the entries of a walk, past the folders of these names, up to a number of them.
pub(crate) fn walk(from: WalkDir, passed_by: &[&str], most: usize) -> impl Iterator<Item = DirEntry> {
    let is_passed_by = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() > 0 && entry.file_type().is_dir() && passed_by.contains(&name.as_ref())
    };
    let entries = from.follow_links(false).into_iter().filter_entry(move |entry| !is_passed_by(entry));
    entries.take(most).filter_map(Result::ok)
}

/// Returns when a file was changed, in nanoseconds since 1970.
fn changed_ns(meta: &fs::Metadata) -> Option<u128> {
    Some(meta.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_nanos())
}

fn state_of(path: &Path) -> FileState {
    match look_at_real(path) {
        Ok(meta) if meta.is_file() => FileState::File { bytes: meta.len() },
        Ok(meta) if meta.is_dir() => FileState::Folder,
        Ok(_) => FileState::Unreadable("not a regular file".into()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => FileState::Missing { elsewhere: None },
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            FileState::Missing { elsewhere: None }
        }
        Err(error) => FileState::Unreadable(error.to_string()),
    }
}

/// How much of a file tells whether it is text.
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
        for written in ["link", "folder/secret", "folder/none", "dangling"] {
            assert_eq!(workspace.locate(written), None, "{written}");
        }
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

    #[test]
    fn a_file_that_stands_deeper_is_found() {
        let folder = Folder::around(&[("w/pkg/api/src/a.ts", "x"), ("w/node_modules/src/b.ts", "x")]);
        let missing = ["src/a.ts", "src/b.ts", "rc/a.ts"].map(String::from);
        let found = folder.workspace().look_elsewhere(&missing);
        let is_at = |path: &str| match &found[path] {
            FileState::Missing { elsewhere } => elsewhere.as_deref(),
            other => panic!("{path}: {other:?}"),
        };
        assert_eq!(missing.each_ref().map(|path| is_at(path)), [Some("pkg/api/src/a.ts"), None, None]);
    }

    #[test]
    fn a_workspace_whose_own_folder_is_called_dist_was_not_searched() {
        let folder = Folder::around(&[("dist/pkg/src/a.ts", "x")]);
        let root = folder.path().join("dist");
        let found = Workspace::new(&root, &root, None, &[]).look_elsewhere(&["src/a.ts".to_owned()]);
        assert_eq!(found["src/a.ts"], FileState::Missing { elsewhere: Some("pkg/src/a.ts".into()) });
    }

    #[test]
    fn a_search_that_was_cut_proves_nothing() {
        let folder = Folder::around(&[("w/1", "x"), ("w/2", "x"), ("w/3", "x")]);
        let missing = ["src/a.ts".to_owned()];
        let cut = FileState::Unreadable(TOO_LARGE.into());
        let found = folder.workspace().searching(2).look_elsewhere(&missing);
        assert_eq!(found, HashMap::from([(missing[0].clone(), cut)]));
    }

    #[test]
    fn a_file_whose_name_is_written_another_way_is_found() {
        let folder = Folder::around(&[
            ("w/docs/API.md", "x"),
            ("w/docs/cafe\u{301}.md", "x"),
            ("w/packages/cli/dist/cli.js", "x"),
        ]);
        let missing = ["docs/api.md", "docs/caf\u{e9}.md", "dist/cli.js", "docs/tea.md"].map(String::from);
        let found = folder.workspace().look_elsewhere(&missing);
        let mut found: Vec<_> = found
            .values()
            .filter_map(|state| match state {
                FileState::Missing { elsewhere } => elsewhere.as_deref(),
                _ => None,
            })
            .collect();
        found.sort_unstable();
        assert_eq!(found, ["docs/API.md", "docs/cafe\u{301}.md", "packages/cli/dist/cli.js"]);
    }

    #[test]
    fn a_path_that_is_asked_for_twice_is_found_twice() {
        let folder = Folder::around(&[("w/src/a.rs", "x")]);
        let twice = ["a.rs", "a.rs"].map(String::from);
        let found = folder.workspace().look_elsewhere(&twice);
        assert_eq!(found["a.rs"], FileState::Missing { elsewhere: Some("src/a.rs".into()) });
    }
}
