//! Searches the whole workspace: for files that are not where they were said to be, and for files
//! that changed since a time. One walk of bounded length each, past the folders that hold nobody's
//! own work; a search that was cut short proves nothing.

use std::collections::HashMap;
use std::fs;

use walkdir::{DirEntry, WalkDir};

use super::git::is_askable;
use super::{FileState, Workspace, changed_ns, written_ns};
use crate::paths::SKIPPED_FOLDERS;

/// How many entries of the workspace are searched for a file that is not where it was said to be.
pub(super) const SEARCH_CAP: usize = 200_000;
/// The description of a missing file if the search was cut short.
pub const TOO_LARGE: &str = "not there, and the workspace is too large to search";

/// A changed file: its name, its length, and when it was changed, in nanoseconds since 1970.
pub type ChangedFile = (String, (u64, u128));

impl Workspace {
    /// Returns for each of these missing paths whether it is elsewhere in the workspace, does not
    /// exist, or is unknown. One walk for all of them: plans often name paths relative to a package
    /// of a larger repository.
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
        let names: Vec<String> = wanted.keys().cloned().collect();
        let mut found: HashMap<String, String> = HashMap::new();
        let mut seen = 0;
        // `dist/cli.js` in a plan is `packages/cli/dist/cli.js` on disk.
        let is_named = |folder: &str| missing.iter().any(|path| path.split('/').any(|part| part == folder));
        let passed_by: Vec<&str> =
            SKIPPED_FOLDERS.iter().copied().filter(|folder| !is_named(folder)).collect();
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
        // The index of git knows every name, however many there are.
        let asked: Vec<&str> = names.iter().map(String::as_str).filter(|name| is_askable(name)).collect();
        let is_cut = seen >= most;
        let tracked = if is_cut && asked.len() <= MOST_ASKED { self.git.tracked_as(&asked) } else { None };
        for there in tracked.iter().flatten() {
            let folded_there = format!("/{}", folded(there));
            let paths = wanted.values().flatten().filter(|(_, tail)| folded_there.ends_with(tail));
            for (path, _) in paths {
                found.entry((*path).clone()).or_insert_with(|| there.clone());
            }
        }
        let is_known = |path: &str| tracked.is_some() && is_askable(path.rsplit('/').next().unwrap_or(path));
        // One path may be asked for twice.
        let state_of = |path: &String| match found.get(path).cloned() {
            None if is_cut && !is_known(path) => FileState::Unreadable(TOO_LARGE.into()),
            elsewhere => FileState::Missing { elsewhere },
        };
        missing.iter().map(|path| (path.clone(), state_of(path))).collect()
    }

    /// The files that were changed since a time, in nanoseconds since 1970, each with its length
    /// and when it was changed; and whether those are all. A walk of bounded length, past the
    /// folders that hold nobody's own work.
    pub fn changed_since(&self, since: u128) -> (Vec<ChangedFile>, bool) {
        self.files_since(since, changed_ns)
    }

    /// The same of the files that came to be what and where they are since then, with when that
    /// was.
    pub fn written_since(&self, since: u128) -> Vec<ChangedFile> {
        self.files_since(since, written_ns).0
    }

    fn files_since(
        &self,
        since: u128,
        time: impl Fn(&fs::Metadata) -> Option<u128>,
    ) -> (Vec<ChangedFile>, bool) {
        let mut seen = 0;
        let file = |entry: DirEntry| {
            seen += 1;
            let meta = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            let changed = time(&meta).filter(|changed| *changed >= since)?;
            let name = entry.path().strip_prefix(&self.root).unwrap_or(entry.path()).to_string_lossy();
            Some((name.into_owned(), (meta.len(), changed)))
        };
        let most = self.search_cap;
        let changed = walk(WalkDir::new(&self.root), SKIPPED_FOLDERS, most).filter_map(file).collect();
        (changed, seen < most)
    }
}

/// Returns a name for comparisons that ignore how its letters are written: upper or lower case, and
/// with accents as separate characters (as macOS stores them) or not. Accented Latin letters are
/// dropped, so that no table of them is needed; two names that differ in nothing else are equal,
/// which only makes the result uncertain.
fn folded(name: &str) -> String {
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

/// No more names are looked for in the index of git.
const MOST_ASKED: usize = 200;

/// Returns at most `most` entries of a walk, without the folders of these names.
pub(crate) fn walk(from: WalkDir, passed_by: &[&str], most: usize) -> impl Iterator<Item = DirEntry> {
    let is_passed_by = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() > 0 && entry.file_type().is_dir() && passed_by.contains(&name.as_ref())
    };
    let entries = from.follow_links(false).into_iter().filter_entry(move |entry| !is_passed_by(entry));
    entries.take(most).filter_map(Result::ok)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;

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
    fn a_workspace_too_large_to_search_hid_what_the_index_of_git_shows_to_be_missing() {
        let folder = Folder::around(&[("w/1", "x"), ("w/2", "x"), ("w/zz/src/B.ts", "x")]);
        let git = |args: &[&str]| {
            let mut git = std::process::Command::new("git");
            git.arg("-C").arg(folder.path().join("w")).args([
                "-c",
                "user.name=b",
                "-c",
                "user.email=b@example.com",
            ]);
            assert!(git.args(args).output().expect("git").status.success(), "{args:?}");
        };
        let missing = ["src/a.ts", "src/b.ts"].map(String::from);
        let look = || folder.workspace().searching(1).look_elsewhere(&missing);
        let cut = FileState::Unreadable(TOO_LARGE.into());
        assert_eq!(look()["src/a.ts"], cut, "no repository");
        git(&["init", "-q"]);
        assert_eq!(look()["src/a.ts"], cut, "no commit");
        git(&["add", "-A"]);
        git(&["commit", "-qm", "all"]);
        let found = look();
        assert_eq!(found["src/a.ts"], FileState::Missing { elsewhere: None });
        assert_eq!(found["src/b.ts"], FileState::Missing { elsewhere: Some("zz/src/B.ts".into()) });
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
