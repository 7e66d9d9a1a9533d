//! Files by glob: returns the regular files that match, newest first, and their text. Touches the
//! disk; must not return a file outside the project for a glob relative to the project's folder,
//! whatever links say, or a secret file's text.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use walkdir::WalkDir;

use crate::files::open_real;
use crate::globs::FileGlob;
use crate::paths::SKIPPED_FOLDERS;
use crate::redact::is_secret_file;
use crate::workspace::hard_links::HardLinks;
use crate::workspace::walk;

/// How many entries below a glob's folder are looked at: somebody who starts a session is waiting.
const MOST_ENTRIES: usize = 20_000;

/// A file that matches.
#[derive(Debug, Clone)]
pub struct Globbed {
    /// Its real path.
    pub path: PathBuf,
    /// Its name: relative to the project's folder if it is inside, else absolute.
    pub name: String,
    /// When it was changed.
    pub modified: SystemTime,
    /// The project's files with several names; `None` for a file outside of it, which the person
    /// named.
    hard_links: Option<Arc<HardLinks>>,
}

impl Globbed {
    /// Returns at most `most` bytes from its start; `None` if it is a kind of file that holds
    /// secrets.
    pub fn start(&self, most: u64) -> io::Result<Option<Vec<u8>>> {
        if is_secret_file(&self.path) || is_secret_file(Path::new(&self.name)) {
            return Ok(None);
        }
        let file = open_real(&self.path)?;
        let meta = file.metadata()?;
        if self.hard_links.as_ref().is_some_and(|links| links.may_be_secret(&meta)) {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }
}

/// Returns the files that match, newest first; those of the same age by name. `home` replaces `~`.
pub fn globbed(project: &Path, home: Option<&Path>, globs: &[String]) -> Vec<Globbed> {
    let Ok(root) = fs::canonicalize(project) else { return Vec::new() };
    let hard_links = Arc::new(HardLinks::below(root.clone()));
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for glob in globs {
        // An invalid glob was reported when the config was read.
        let Ok(glob) = FileGlob::new(glob) else { continue };
        let Some(start) = start_of(&glob, &root, home) else { continue };
        let is_own = glob.start.starts_with(['/', '~']);
        for path in below(&start, &glob) {
            let Ok(real) = fs::canonicalize(&path) else { continue };
            let Ok(meta) = fs::metadata(&real) else { continue };
            if !meta.is_file() || !(is_own || real.starts_with(&root)) || !seen.insert(real.clone()) {
                continue;
            }
            let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned();
            found.push(Globbed {
                hard_links: real.starts_with(&root).then(|| hard_links.clone()),
                path: real,
                name,
                modified: meta.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            });
        }
    }
    found.sort_by(|one, other| other.modified.cmp(&one.modified).then_with(|| one.name.cmp(&other.name)));
    found
}

fn start_of(glob: &FileGlob, root: &Path, home: Option<&Path>) -> Option<PathBuf> {
    match glob.start.strip_prefix('~') {
        Some(rest) => Some(home?.join(rest.trim_start_matches('/'))),
        None => Some(root.join(&glob.start)),
    }
}

fn below(start: &Path, glob: &FileGlob) -> Vec<PathBuf> {
    if glob.is_one_path() {
        return vec![start.to_path_buf()];
    }
    let from = WalkDir::new(start).min_depth(1).max_depth(glob.depth.unwrap_or(usize::MAX));
    let files = walk(from, SKIPPED_FOLDERS, MOST_ENTRIES).filter(|entry| !entry.file_type().is_dir());
    let fits = |path: &PathBuf| path.strip_prefix(start).is_ok_and(|below| glob.matches_below(below));
    files.map(walkdir::DirEntry::into_path).filter(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;

    /// Returns a folder with these files, the newest first.
    fn folder(files: &[&str]) -> Folder {
        let folder = Folder::new(&[]);
        for (age, name) in files.iter().enumerate() {
            let name = format!("../{name}");
            folder.write(&name, "text");
            folder.age(&name, &format!("2026-01-01T00:00:{:02}Z", 59 - age));
        }
        folder
    }

    fn names(folder: &Folder, globs: &[&str]) -> Vec<String> {
        let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
        let all = globbed(&folder.root(), Some(&folder.path().join("home")), &globs);
        let real = fs::canonicalize(folder.path()).expect("there").display().to_string();
        let given = folder.path().display().to_string();
        all.into_iter().map(|one| one.name.replace(&real, "").replace(&given, "")).collect()
    }

    #[test]
    fn files_that_fit_come_newest_first_and_once() {
        let folder =
            folder(&["w/docs/b.md", "w/a.md", "w/docs/deep/c.md", "w/docs/target/d.md", "w/docs/e.txt"]);
        assert_eq!(names(&folder, &["a.md", "docs/*.md", "*.md", "none.md"]), ["docs/b.md", "a.md"]);
        assert_eq!(names(&folder, &["docs/**/*.md"]), ["docs/b.md", "docs/deep/c.md"]);
        assert_eq!(names(&folder, &["docs/target/*", "docs"]), ["docs/target/d.md"]);
        assert_eq!(names(&folder, &[]), Vec::<String>::new());
    }

    #[cfg(unix)]
    #[test]
    fn a_secret_file_has_no_text_under_whatever_name() {
        let folder = folder(&["w/.env", "w/a.md", "home/mine.md"]);
        fs::hard_link(folder.root().join(".env"), folder.root().join("notes.md")).expect("linked");
        fs::hard_link(folder.path().join("home/mine.md"), folder.path().join("home/same.md"))
            .expect("linked");
        let globs = ["*.md", ".env", "~/mine.md"].map(str::to_owned);
        let mut read: Vec<(String, bool)> =
            globbed(&folder.root(), Some(&folder.path().join("home")), &globs)
                .iter()
                .map(|file| {
                    (
                        file.name.rsplit('/').next().unwrap_or_default().to_owned(),
                        file.start(9).expect("read").is_some(),
                    )
                })
                .collect();
        read.sort();
        let expected = [(".env", false), ("a.md", true), ("mine.md", true), ("notes.md", false)];
        assert_eq!(read, expected.map(|(name, has_text)| (name.to_owned(), has_text)));
    }

    #[test]
    fn only_who_names_it_from_the_root_on_gets_what_is_outside() {
        let folder = folder(&["home/notes/n.md", "secret.md", "w/a.md"]);
        let outside = folder.path().join("secret.md");
        let found = names(&folder, &["~/notes/*.md", &outside.display().to_string()]);
        assert_eq!(found, ["/home/notes/n.md", "/secret.md"]);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&outside, folder.root().join("link.md")).expect("a link");
            std::os::unix::fs::symlink("a.md", folder.root().join("same.md")).expect("a link");
            let found = names(&folder, &["*.md", "link.md"]);
            assert_eq!(found.len(), 1, "one file by two names, and none outside");
        }
    }
}
