//! Appends to the log, and cuts off its start. Must survive many writers, torn lines and a full
//! disk.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use super::{Note, Record};
use crate::files::read_exact_at;
use crate::private_file::{self, Access, Durability, wait_for_lock};
use crate::redact::mask_json;

/// The decision log of one state folder.
#[derive(Debug, Clone)]
pub struct DecisionLog {
    root: PathBuf,
}

impl DecisionLog {
    /// Returns the log of a state folder.
    pub fn in_folder(state: &Path) -> Self {
        Self { root: state.to_path_buf() }
    }

    /// Returns the state folder that it is in.
    pub fn state(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of its files.
    pub fn folder(&self) -> PathBuf {
        self.root.join("decisions")
    }

    /// Returns the files of the log, oldest first.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<_> = fs::read_dir(self.folder())
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ext| ext == "jsonl"))
            .collect();
        files.sort();
        files
    }

    /// Appends a record, as one line in one write.
    pub fn append(&self, record: &Record, now: Timestamp) -> io::Result<()> {
        self.append_all(std::slice::from_ref(record), record.has_words_of_others(), now)
    }

    /// Appends notes, all of them in one write.
    pub fn append_notes(&self, notes: &[Note], now: Timestamp) -> io::Result<()> {
        self.append_all(notes, true, now)
    }

    fn append_all(&self, lines: &[impl Serialize], masked: bool, now: Timestamp) -> io::Result<()> {
        let path = self.folder().join(now.strftime("%Y-%m.jsonl").to_string());
        let mut bytes = Vec::new();
        for line in lines {
            // Readers' and sessions' text is masked before it gets here; file names and config
            // errors are not.
            let line = serde_json::to_string(line).map_err(io::Error::other)?;
            bytes.extend(if masked { mask_json(&line) } else { line }.into_bytes());
            bytes.push(b'\n');
        }
        loop {
            let mut file = private_file::open(&path, Access::Append)?;
            let named =
                |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
            wait_for_lock(&file).map_err(named)?;
            let meta = file.metadata().map_err(named)?;
            // While we waited for the lock, `cut_before` may have replaced the file.
            if !is_gone(&meta) {
                return append_lines(&mut file, meta.len(), &bytes).map_err(named);
            }
        }
    }

    /// Removes all lines of a file before the first one that is `kept`, and returns how many lines
    /// and bytes that are; with `dry_run`, only counts them. `kept` is told whether a line waits to
    /// be shipped, which those from the offset `waiting_from` on do. Writers wait meanwhile, and
    /// lose nothing.
    pub fn cut_before(
        &self,
        path: &Path,
        dry_run: bool,
        waiting_from: impl FnOnce(&File) -> u64,
        kept: impl Fn(&[u8], bool) -> bool,
    ) -> io::Result<(usize, u64)> {
        let mut file = private_file::open(path, Access::Read)?;
        wait_for_lock(&file)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        let waiting_from = waiting_from(&file);
        let (mut lines, mut from) = (0, 0);
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            if kept(line, from as u64 >= waiting_from) {
                break;
            }
            lines += 1;
            from += line.len();
        }
        if !dry_run && from == text.len() {
            fs::remove_file(path)?;
        } else if !dry_run && from > 0 {
            private_file::write(path, &text[from..], Durability::Lazy)?;
        }
        Ok((lines, from as u64))
    }
}

/// Returns whether an open file was unlinked.
#[cfg(unix)]
fn is_gone(meta: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(meta) == 0
}

/// On other systems an open file can't be unlinked.
#[cfg(not(unix))]
fn is_gone(_: &fs::Metadata) -> bool {
    false
}

/// Appends under the lock. Ends a line that an earlier writer left torn, and removes one that does
/// not fit on the disk, so that neither spoils another line.
fn append_lines(file: &mut File, length: u64, lines: &[u8]) -> io::Result<()> {
    let is_torn = length > 0 && byte_at(file, length - 1)? != b'\n';
    let written = if is_torn { file.write_all(&[b"\n", lines].concat()) } else { file.write_all(lines) };
    written.inspect_err(|_| {
        let _ = file.set_len(length);
    })
}

fn byte_at(file: &File, offset: u64) -> io::Result<u8> {
    let mut byte = [0u8];
    read_exact_at(file, &mut byte, offset)?;
    Ok(byte[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::note::{Label, LabelNote};
    use crate::testing::record;

    fn ids(log: &DecisionLog) -> (Vec<String>, usize) {
        let mut ids = Vec::new();
        let torn = log.read(|record| ids.push(record.id)).expect("readable");
        (ids, torn)
    }

    fn at(time: &str) -> Timestamp {
        time.parse().expect("a time")
    }

    fn empty() -> (tempfile::TempDir, DecisionLog, Timestamp) {
        let folder = tempfile::tempdir().expect("a folder");
        let log = DecisionLog::in_folder(folder.path());
        (folder, log, at("2026-10-01T00:00:00Z"))
    }

    #[test]
    fn a_note_was_counted_as_a_decision() {
        let (_folder, log, now) = empty();
        log.append(&record("a"), now).expect("written");
        let note = Note::Label(LabelNote::new("a", None, Label::Wrong, now));
        log.append_notes(&[note], now).expect("written");
        assert_eq!(ids(&log), (vec!["a".to_owned()], 0));
    }

    #[test]
    fn records_come_back_oldest_first_over_the_months() {
        let (_folder, log, _) = empty();
        assert_eq!(ids(&log), (vec![], 0));
        for (id, time) in
            [("a", "2026-09-30T23:59:59Z"), ("b", "2026-10-01T00:00:00Z"), ("c", "2026-10-02T00:00:00Z")]
        {
            log.append(&record(id), at(time)).expect("written");
        }
        assert_eq!(ids(&log), (vec!["a".into(), "b".into(), "c".into()], 0));
        assert_eq!(log.files().len(), 2);
    }

    #[test]
    fn a_torn_line_is_passed_over_and_swallows_nobody() {
        let (_folder, log, now) = empty();
        log.append(&record("a"), now).expect("written");
        let mut file = private_file::open(&log.files()[0], Access::Append).expect("open");
        file.write_all(b"{\"schema\":1,\"id\":\"to").expect("torn");
        log.append(&record("b"), now).expect("written");
        file.write_all(b"\0\0\0\n\xff\xfe\n").expect("noise");
        log.append(&record("c"), now).expect("written");
        assert_eq!(ids(&log), (vec!["a".into(), "b".into(), "c".into()], 2));
    }

    #[test]
    fn what_is_cut_while_others_write_costs_them_nothing() {
        let (_folder, log, now) = empty();
        for number in 0..50 {
            log.append(&record(&format!("old-{number}")), now).expect("written");
        }
        let path = log.files()[0].clone();
        let is_new = |line: &[u8], _: bool| !String::from_utf8_lossy(line).contains("old-");
        assert_eq!(log.cut_before(&path, true, |_| 0, is_new).expect("counted").0, 50);
        assert_eq!(ids(&log).0.len(), 50, "nothing is taken out yet");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let log = &log;
                scope.spawn(move || {
                    for number in 0..50 {
                        log.append(&record(&format!("{writer}-{number}")), now).expect("written");
                    }
                });
            }
            for _ in 0..30 {
                if path.exists() {
                    log.cut_before(&path, false, |_| 0, is_new).expect("cut");
                }
            }
        });
        let (left, torn) = ids(&log);
        assert_eq!((left.len(), torn), (200, 0));
        assert!(left.iter().all(|id| !id.starts_with("old")));
    }

    #[test]
    fn many_writers_lose_nothing() {
        let (folder, log, now) = empty();
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let log = DecisionLog::in_folder(folder.path());
                scope.spawn(move || {
                    for number in 0..25 {
                        log.append(&record(&format!("{writer}-{number}")), now).expect("written");
                    }
                });
            }
        });
        let (ids, torn) = ids(&log);
        assert_eq!((ids.len(), torn), (200, 0));
    }
}
