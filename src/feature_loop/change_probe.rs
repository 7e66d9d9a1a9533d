//! A fingerprint of a folder: it differs when a file changed, or when a commit changed one. Must
//! not depend on the clock; modification times count only for files too large to read.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use walkdir::WalkDir;

use crate::files::open_real;
use crate::ids::ContentId;
use crate::paths::SKIPPED_FOLDERS;
use crate::workspace::git::ONLY_OWN_FILES;
use crate::workspace::sealed_git::{SealedGit, top};

/// How many files are visited where there is no git.
const MAX_FILES: usize = 20_000;

/// How much is read of one file and of all; beyond that, size and time have to do.
const MAX_FILE_BYTES: u64 = 256 << 10;
const MAX_BYTES: u64 = 8 << 20;

/// Folders besides [`SKIPPED_FOLDERS`] whose files change without progress: build output, and the
/// client's own files.
const ALSO_SKIPPED: [&str; 2] = ["build", ".claude"];

/// Returns the fingerprint of a folder without the files in `except`; `None` where git fails.
pub fn fingerprint(folder: &Path, except: &[&str]) -> Option<String> {
    let folder = fs::canonicalize(folder).ok()?;
    if top(&folder).is_some() { by_git(&folder, except) } else { by_walking(&folder, except) }
}

fn by_git(folder: &Path, except: &[&str]) -> Option<String> {
    let status = ["status", "--porcelain=v2", "--branch", "-z", "--no-renames", ONLY_OWN_FILES];
    let args = [&status[..], &["--untracked-files=all", "--", "."]].concat();
    let git = SealedGit::new(folder.to_path_buf());
    let ask = |args: &[&str]| {
        let printed = git.run(args, String::new()).filter(|(code, _)| *code == 0)?.1;
        Some(String::from_utf8_lossy(&printed).into_owned())
    };
    let printed = ask(&args)?;
    let entries = || printed.split('\0').filter(|entry| !entry.is_empty());
    let mut hash = FileHash::default();
    if !entries().any(|entry| entry == "# branch.oid (initial)") {
        let args = tree_args(except);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let tree = ask(&args)?;
        for entry in committed(&tree, except) {
            hash.id.add(entry);
        }
    }
    let top = top(folder)?;
    let except: Vec<_> = except.iter().map(|name| folder.join(name)).collect();
    let changed = entries().filter_map(path_of).map(|path| top.join(path));
    for path in changed.filter(|path| !except.contains(path)) {
        // Not the whole entry: to put a file into the index changes nothing in it.
        hash.id.add(path.to_string_lossy().as_bytes());
        hash.add_file(&path);
    }
    Some(hash.id.finish())
}

/// The arguments with which git lists what is committed of a folder. The id of a subfolder stands
/// for all that is in it, but for one that has an excepted file: its files are listed.
fn tree_args(except: &[&str]) -> Vec<String> {
    let mut args: Vec<String> = ["ls-tree", "-z", "HEAD", "--", "./"].map(String::from).into();
    for name in except {
        let folders = Path::new(name).ancestors().skip(1).filter(|folder| *folder != Path::new(""));
        args.extend(folders.map(|folder| format!("{}/", folder.display())));
    }
    args
}

/// The entries of a listed tree without the excepted files. A commit's own id would differ with
/// every commit, also one of the feature list alone.
fn committed<'a>(tree: &'a str, except: &[&str]) -> impl Iterator<Item = &'a str> {
    let is_ours = move |entry: &&str| {
        let path = entry.split_once('\t').map(|(_, path)| Path::new(path));
        !except.iter().any(|name| path == Some(Path::new(name)))
    };
    tree.split('\0').filter(|entry| !entry.is_empty()).filter(is_ours)
}

/// The path in a line of `status --porcelain=v2`, which follows a number of fields that depends on
/// the line's kind.
fn path_of(entry: &str) -> Option<&str> {
    let words = match entry.as_bytes().first()? {
        b'1' => 8,
        b'u' => 10,
        b'?' => 1,
        _ => return None,
    };
    entry.splitn(words + 1, ' ').nth(words)
}

fn by_walking(folder: &Path, except: &[&str]) -> Option<String> {
    let except: Vec<_> = except.iter().map(|name| folder.join(name)).collect();
    let mut hash = FileHash::default();
    let is_source = |entry: &walkdir::DirEntry| {
        !entry.file_type().is_dir()
            || entry.depth() == 0
            || !SKIPPED_FOLDERS.iter().chain(&ALSO_SKIPPED).any(|name| entry.file_name() == *name)
    };
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(is_source);
    let files = entries.filter_map(Result::ok).filter(|entry| entry.file_type().is_file());
    for entry in files.take(MAX_FILES).filter(|entry| !except.iter().any(|own| own == entry.path())) {
        hash.id.add(entry.path().to_string_lossy().as_bytes());
        hash.add_file(entry.path());
    }
    folder.is_dir().then(|| hash.id.finish())
}

#[derive(Default)]
struct FileHash {
    id: ContentId,
    /// How many bytes were read.
    read: u64,
}

impl FileHash {
    /// Adds a file by its content, so that writing the same text again changes nothing.
    fn add_file(&mut self, path: &Path) {
        let Ok(meta) = fs::symlink_metadata(path) else { return self.id.add("gone") };
        self.id.add(meta.len().to_le_bytes());
        if meta.is_file()
            && meta.len() <= MAX_FILE_BYTES.min(MAX_BYTES - self.read)
            && let Ok(bytes) = read_start(path)
        {
            self.read += meta.len();
            return self.id.add(bytes);
        }
        let since = meta.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        self.id.add(format!("{:?}", since.map(|since| since.as_nanos())));
    }
}

/// Reads a file of at most that length, which a link that is put in its place is not.
fn read_start(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_real(path)?.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;

    const TIME: &str = "2026-10-01T00:00:00Z";

    fn changes(folder: &Path, what: &str, change: impl FnOnce()) {
        let before = fingerprint(folder, &["progress.txt"]).expect("a fingerprint");
        change();
        let after = fingerprint(folder, &["progress.txt"]).expect("a fingerprint");
        assert_eq!(before != after, !what.starts_with("not"), "{what}");
    }

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn check_folder(folder: &Path) {
        let folder = fs::canonicalize(folder).expect("there");
        changes(&folder, "a new file", || write(&folder, "src/a b.rs", "1"));
        changes(&folder, "its text", || write(&folder, "src/a b.rs", "22"));
        changes(&folder, "not the progress file", || write(&folder, "progress.txt", "iteration: 1"));
        changes(&folder, "not anything", || ());
        changes(&folder, "not the same text again", || write(&folder, "src/a b.rs", "22"));
        let large = "x".repeat(300 << 10);
        changes(&folder, "a large file", || write(&folder, "src/large", &large));
        changes(&folder, "a file that is gone", || fs::remove_file(folder.join("src/a b.rs")).expect("gone"));
    }

    #[test]
    fn a_folder_under_git_moves_with_its_files_and_commits() {
        let folder = Folder::new(&[(".gitignore", "out/\n")]);
        let root = folder.root();
        folder.git(TIME, &["init", "--quiet"]);
        check_folder(&root);
        changes(&root, "not what is ignored", || write(&root, "out/x", "1"));
        changes(&root, "a commit", || folder.commit(TIME, "x"));
        changes(&root, "not a commit of nothing", || {
            folder.git(TIME, &["commit", "--quiet", "--allow-empty", "-m", "y"]);
        });
        write(&root, "src/staged.rs", "1");
        changes(&root, "not the index", || folder.git(TIME, &["add", "src/staged.rs"]));
        // Another folder of the same repository.
        let inner = root.join("app");
        write(&inner, "a", "1");
        check_folder(&inner);
        changes(&inner, "not the work beside it", || write(&root, "other/b", "1"));
    }

    /// `sed` on the list and `git commit -am x` passed for work.
    #[test]
    fn a_commit_of_the_list_alone_is_no_work() {
        let folder = Folder::new(&[
            ("a.rs", "1"),
            ("docs/list.json", "1"),
            ("docs/b.md", "1"),
            ("app/c.rs", "1"),
            ("progress.txt", "1"),
        ]);
        let root = folder.root();
        folder.git(TIME, &["init", "--quiet"]);
        folder.commit(TIME, "x");
        let print = || fingerprint(&root, &["progress.txt", "docs/list.json"]).expect("a fingerprint");
        let before = print();
        write(&root, "docs/list.json", "2");
        write(&root, "progress.txt", "2");
        folder.commit(TIME, "y");
        assert_eq!(print(), before);
        for path in ["docs/b.md", "app/c.rs", "a.rs"] {
            let before = print();
            write(&root, path, "3");
            folder.commit(TIME, "z");
            assert_ne!(print(), before, "{path}");
        }
    }

    #[test]
    fn any_other_folder_moves_with_its_files() {
        let folder = tempfile::tempdir().expect("a folder");
        check_folder(folder.path());
        changes(folder.path(), "not what was fetched", || write(folder.path(), "node_modules/x", "1"));
        assert_eq!(fingerprint(&folder.path().join("none"), &[]), None);
    }
}
