//! How far the local log was shipped to one destination: a position for each file of the log. A
//! month's file is written whenever the clock says so, so an older file may get lines after a newer
//! one has some. Must not ship anything.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::read_at;
use crate::ids::ContentId;
use crate::private_file::{self, Access, Durability};

/// How far the log was shipped.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Cursor {
    /// By the name of the file. A file that is not here is not shipped at all.
    pub(super) files: BTreeMap<String, Position>,
    /// When the last try failed, in milliseconds since 1970, and why.
    pub(super) failed_ms: i64,
    pub(super) failed: Option<String>,
    /// When the first of the tries failed that have failed since anything was shipped.
    pub(super) failing_since_ms: i64,
    /// What the destination keeps of the lines that are shipped.
    pub(super) carried: serde_json::Value,
}

/// How far one file was shipped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Position {
    /// How many bytes of it are shipped.
    offset: u64,
    /// Where the last shipped line begins, and its id: a file that was cut meanwhile is known by
    /// it.
    last_start: u64,
    last_line: String,
}

/// The name of a file of the log.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn id_of(line: &[u8]) -> String {
    ContentId::digest(String::from_utf8_lossy(line).as_bytes())
}

impl Position {
    /// The position behind a line.
    pub(super) fn behind(start: u64, line: &[u8]) -> Self {
        Self { offset: start + line.len() as u64, last_start: start, last_line: id_of(line) }
    }

    /// Where what is not shipped begins in the file: behind the last shipped line. If it does not
    /// stand where it stood, the start of the file was cut, and it stands further ahead or is gone
    /// with all that came before it.
    fn offset_in(&self, file: &File) -> io::Result<u64> {
        let length = self.offset.saturating_sub(self.last_start);
        let is_last = |line: &[u8]| line.len() as u64 == length && id_of(line) == self.last_line;
        if read_at(file, self.last_start, length).is_ok_and(|line| is_last(&line)) {
            return Ok(self.offset);
        }
        let (before, mut at) = (read_at(file, 0, self.offset.min(file.metadata()?.len()))?, 0);
        for line in before.split_inclusive(|byte| *byte == b'\n') {
            at += line.len() as u64;
            if is_last(line) {
                return Ok(at);
            }
        }
        Ok(0)
    }
}

impl Cursor {
    /// Where what is not shipped begins in a file.
    pub(super) fn offset_in(&self, name: &str, file: &File) -> io::Result<u64> {
        self.files.get(name).map_or(Ok(0), |position| position.offset_in(file))
    }
}

/// The file of a cursor.
#[derive(Debug, Clone)]
pub(super) struct CursorFile {
    path: PathBuf,
    lock: PathBuf,
}

impl CursorFile {
    /// The one of a destination, by its name.
    pub(super) fn new(state: &Path, destination: &str) -> Self {
        Self {
            path: state.join(format!("{destination}-cursor.json")),
            lock: state.join(format!("{destination}-cursor.lock")),
        }
    }

    /// Opens the file that whoever ships locks.
    pub(super) fn lock_file(&self) -> io::Result<File> {
        private_file::open(&self.lock, Access::Append)
    }

    /// Reads the cursor; one that can't be read is at the start.
    pub(super) fn read(&self) -> Cursor {
        let text = private_file::read(&self.path).unwrap_or_default().unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    pub(super) fn write(&self, cursor: &Cursor) -> io::Result<()> {
        let bytes = serde_json::to_vec(cursor).map_err(io::Error::other)?;
        private_file::write(&self.path, &bytes, Durability::Lazy)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_became_shorter_than_what_was_shipped_of_it_was_shipped_again_from_its_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        let position = Position::behind(4, b"cc\n");
        for (text, expected) in [
            ("aa\nbdd\n", 0),
            ("a\nb\ncc\n", 7),
            ("cc\nd\n", 3),
            ("d\n", 0),
            ("", 0),
            ("a\ncc\nddddddd\n", 5),
        ] {
            fs::write(&path, text).expect("written");
            let file = File::open(&path).expect("a file");
            assert_eq!(position.offset_in(&file).expect("readable"), expected, "{text:?}");
        }
    }
}
