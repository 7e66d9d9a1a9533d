//! Reads and writes a loop's two files. Sessions write them at the same time: a half-written file
//! is read again, and a file that changed since it was read is never overwritten.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use super::features::{self, Feature};
use super::progress::{self, LoopProgress};
use crate::files::{open_real, read_up_to};

/// How often an unreadable file is tried, and the pause between tries.
const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_millis(25);

/// Longer files are refused.
const MAX_BYTES: u64 = 16 << 20;

/// Returns the real path of a file, which need not exist. Refuses a link that leads out of the
/// folder.
fn resolve(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    let path = folder.join(name);
    match fs::canonicalize(&path) {
        Ok(real) if real.starts_with(folder) => Ok(real),
        Ok(_) => Err(format!("{name} leads out of the folder")),
        Err(_) => Ok(path),
    }
}

fn read_text(path: &Path) -> Result<String, String> {
    let bytes = open_real(path)
        .and_then(|file| read_up_to(file, MAX_BYTES))
        .map_err(|error| describe(&error))?
        .ok_or_else(|| format!("it is longer than {MAX_BYTES} bytes"))?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".into())
}

fn describe(error: &io::Error) -> String {
    if error.kind() == ErrorKind::NotFound { "it is not there".into() } else { error.to_string() }
}

fn retry<T>(name: &str, read: impl Fn() -> Result<T, String>) -> Result<T, String> {
    let mut tries = 1;
    loop {
        match read() {
            Err(_) if tries < TRIES => sleep(PAUSE),
            result => return result.map_err(|why| format!("{name} can't be read: {why}")),
        }
        tries += 1;
    }
}

/// Reads the feature list.
pub fn read_features(folder: &Path, name: &str) -> Result<Vec<Feature>, String> {
    let path = resolve(folder, name)?;
    retry(name, || features::parse(&read_text(&path)?))
}

/// Reads the progress file; empty where there is none.
pub fn read_progress(folder: &Path, name: &str) -> Result<String, String> {
    let path = resolve(folder, name)?;
    if !path.exists() {
        return Ok(String::new());
    }
    retry(name, || read_text(&path))
}

/// Updates the head of the progress file.
pub fn write_progress(folder: &Path, name: &str, progress: &LoopProgress) -> Result<(), String> {
    edit_file(folder, name, |text| Ok(progress::update(text, progress)))
}

/// Sets the mark of one feature in the list.
pub fn set_passes(folder: &Path, name: &str, which: &str, passes: bool) -> Result<(), String> {
    edit_file(folder, name, |text| features::set_passes(text, which, passes))
}

/// Edits a file, starting over where somebody else wrote it meanwhile.
fn edit_file(folder: &Path, name: &str, edit: impl Fn(&str) -> Result<String, String>) -> Result<(), String> {
    let path = resolve(folder, name)?;
    let failed = |error: &io::Error| format!("{name} can't be written: {error}");
    let read = || match read_text(&path) {
        Err(_) if !path.exists() => Ok(None),
        text => text.map(Some).map_err(|why| format!("{name} can't be read: {why}")),
    };
    for _ in 0..TRIES {
        let before = read()?;
        let after = edit(before.as_deref().unwrap_or_default()).map_err(|why| format!("{name}: {why}"))?;
        if before.as_deref() == Some(after.as_str()) {
            return Ok(());
        }
        let file = temp_file_beside(&path, after.as_bytes()).map_err(|error| failed(&error))?;
        // As late as possible: only a write between this line and the rename is lost.
        if read()? != before {
            sleep(PAUSE);
            continue;
        }
        return file.persist(&path).map(drop).map_err(|error| failed(&error.error));
    }
    Err(format!("{name} can't be written: somebody else writes it all the time"))
}

/// Creates a file; returns false, and leaves it alone, where there is one.
pub fn create(folder: &Path, name: &str, text: &str) -> Result<bool, String> {
    let path = folder.join(name);
    let failed = |error: &io::Error| format!("{name} can't be written: {error}");
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| failed(&error))?;
    }
    let file = temp_file_beside(&path, text.as_bytes()).map_err(|error| failed(&error))?;
    match file.persist_noclobber(&path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(&error.error)),
    }
}

/// A temporary file in the same folder, with the permissions of the file that it will replace.
fn temp_file_beside(path: &Path, bytes: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".punchlist-");
    let old = fs::metadata(path).ok().map(|meta| meta.permissions());
    #[cfg(unix)]
    builder.permissions(
        old.clone()
            .unwrap_or_else(|| <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666)),
    );
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    // The umask may have taken some away.
    if let Some(old) = old {
        file.as_file().set_permissions(old)?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature_loop::progress::Status;

    fn progress() -> LoopProgress {
        LoopProgress {
            iteration: 1,
            max: 9,
            status: Status::InProgress,
            passing: (0, 1),
            left: Vec::new(),
            updated: "now".into(),
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_missing_or_broken_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let read = || read_features(folder.path(), "f.json").expect_err("none");
        assert_eq!(read(), "f.json can't be read: it is not there");
        fs::write(folder.path().join("f.json"), "[{").expect("written");
        assert_eq!(
            read(),
            "f.json can't be read: it is not JSON: EOF while parsing an object at line 1 column 2"
        );
        assert_eq!(read_progress(folder.path(), "p.txt"), Ok(String::new()));
    }

    #[test]
    fn a_file_that_is_being_written_is_read_when_it_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("f.json");
        fs::write(&path, "[{\"id\":").expect("written");
        let writer = std::thread::spawn(move || {
            sleep(PAUSE);
            fs::write(&path, "[{\"id\":1}]").expect("written");
        });
        assert_eq!(read_features(folder.path(), "f.json").expect("whole").len(), 1);
        writer.join().expect("written");
    }

    #[cfg(unix)]
    #[test]
    fn rights_and_notes_are_kept_and_nothing_is_left_beside() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("p.txt");
        fs::write(&path, "a note\n").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).expect("set");
        write_progress(folder.path(), "p.txt", &progress()).expect("written");
        assert!(fs::read_to_string(&path).expect("text").ends_with("updated: now\n\na note\n"));
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o664);
        assert_eq!(names(folder.path()), ["p.txt"]);
    }

    #[test]
    fn bytes_that_are_no_text_are_not_written_over() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("p.txt"), [0xff, 0xfe]).expect("written");
        assert_eq!(
            write_progress(folder.path(), "p.txt", &progress()).expect_err("left alone"),
            "p.txt can't be read: it is not UTF-8"
        );
        assert_eq!(fs::read(folder.path().join("p.txt")).expect("there"), [0xff, 0xfe]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_folder_is_neither_read_nor_written() {
        let (folder, other) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let target = other.path().join("secret");
        fs::write(&target, "[]").expect("written");
        std::os::unix::fs::symlink(&target, folder.path().join("f.json")).expect("a link");
        let error = read_features(folder.path(), "f.json").expect_err("out");
        assert_eq!(error, "f.json leads out of the folder");
        assert!(write_progress(folder.path(), "f.json", &progress()).is_err());
        assert_eq!(fs::read_to_string(target).expect("there"), "[]");
    }

    #[test]
    fn what_is_there_is_never_written_over_by_a_new_one() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(create(folder.path(), "sub/f.json", "[]"), Ok(true));
        assert_eq!(create(folder.path(), "sub/f.json", "{}"), Ok(false));
        assert_eq!(fs::read_to_string(folder.path().join("sub/f.json")).expect("there"), "[]");
    }

    #[test]
    fn two_who_write_at_once_lose_nothing_of_each_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let list: Vec<_> = (0..8).map(|at| serde_json::json!({ "id": at, "passes": false })).collect();
        create(folder.path(), "f.json", &serde_json::to_string(&list).expect("text")).expect("made");
        set_passes(folder.path(), "f.json", "3", true).expect("marked");
        set_passes(folder.path(), "f.json", "5", true).expect("marked");
        let passing: Vec<_> =
            read_features(folder.path(), "f.json").expect("read").iter().map(|f| f.passes).collect();
        assert_eq!(passing, [false, false, false, true, false, true, false, false]);
    }
}
