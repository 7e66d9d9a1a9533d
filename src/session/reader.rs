//! Takes a transcript file, folds its lines from an offset on into a ledger, in bounded memory. Must not judge what a
//! line says.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;
use std::sync::mpsc;

use super::Ledger;
use super::batches::{Batch, Batches, LongLine};
use super::lines::{self, Field, Row, TakesRows};
use crate::files::open_regular;

/// From so many bytes on it is worth a second thread to read ahead.
const LONG_FILE: u64 = 4 << 20;
/// How many batches are on their way then.
const AHEAD: usize = 2;

/// Reads every whole line of `path` from byte `from` on into `ledger`; gives the offset after the last whole
/// line. A last line with no newline is folded only if it reads as whole JSON: it may still be being written.
pub fn fold_from(path: &Path, from: u64, ledger: &mut Ledger) -> io::Result<u64> {
    fold_file(&open_regular(path)?, from, ledger)
}

/// The same for a file that is open.
pub fn fold_file(mut file: &File, from: u64, ledger: &mut Ledger) -> io::Result<u64> {
    file.seek(SeekFrom::Start(from))?;
    let mut fold = Fold { ledger, offset: from };
    let bytes = file.metadata()?.len().saturating_sub(from);
    if bytes > LONG_FILE && std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
        fold.read_ahead(Batches::new(file, bytes))?;
    } else {
        fold.read(Batches::new(file, bytes))?;
    }
    Ok(fold.offset)
}

/// A fold on its way through a file.
struct Fold<'l> {
    ledger: &'l mut Ledger,
    /// After the last line that was folded.
    offset: u64,
}

impl Fold<'_> {
    fn read(&mut self, mut batches: Batches<'_>) -> io::Result<()> {
        let mut buffer = Vec::new();
        while let Some(batch) = batches.next(buffer)? {
            buffer = self.batch(batch);
        }
        Ok(())
    }

    /// The same, while another thread reads what comes next.
    fn read_ahead(&mut self, mut source: Batches<'_>) -> io::Result<()> {
        // Where no thread is to be had, nothing was read yet.
        let alone = source.clone();
        let (ready, batches) = mpsc::sync_channel(AHEAD);
        let (empty, buffers) = mpsc::channel::<Vec<u8>>();
        std::thread::scope(|scope| {
            let reader = move || {
                for buffer in buffers {
                    let Some(batch) = source.next(buffer).transpose() else { break };
                    let is_last = batch.is_err();
                    if ready.send(batch).is_err() || is_last {
                        break;
                    }
                }
            };
            if std::thread::Builder::new().name("reader".into()).spawn_scoped(scope, reader).is_err() {
                return self.read(alone);
            }
            for _ in 0..AHEAD {
                let _ = empty.send(Vec::new());
            }
            for batch in batches {
                // Once the reader is done, nobody wants the room.
                let _ = empty.send(self.batch(batch?));
            }
            Ok(())
        })
    }

    /// Folds what was read; gives the room that it took.
    fn batch(&mut self, batch: Batch) -> Vec<u8> {
        match batch {
            Batch::Lines { bytes, mut start, ends, is_text } => {
                for end in ends {
                    let text = &bytes[start..end];
                    let (at, ended) = (Some(self.offset), text.ends_with(b"\n"));
                    self.line_that(is_text, Line { text, bytes: text.len() as u64, at, ended });
                    start = end;
                }
                bytes
            }
            Batch::Long { line: LongLine { text, is_whole, bytes, ended }, room } => {
                if let Some(text) = text {
                    let is_text = simdutf8::basic::from_utf8(&text).is_ok();
                    self.line_that(
                        is_text,
                        Line { text: &text, bytes, at: is_whole.then_some(self.offset), ended },
                    );
                } else {
                    self.ledger.skip_oversized();
                    self.offset += bytes;
                }
                room
            }
        }
    }

    /// One line that is text, or not: bytes that are not UTF-8 are replaced.
    fn line_that(&mut self, is_text: bool, line: Line<'_>) {
        if is_text {
            self.line(line);
            return;
        }
        match String::from_utf8_lossy(line.text) {
            Cow::Borrowed(_) => {
                self.line(line);
            }
            Cow::Owned(text) => {
                if self.line(Line { text: text.as_bytes(), at: None, ..line }) {
                    self.ledger.skip_repaired();
                }
            }
        }
    }

    /// One line. Says whether it is all there; one that is not is left for the next time.
    fn line(&mut self, line: Line<'_>) -> bool {
        let (text, start) = without_padding(line.text);
        if !line.ended && !lines::is_whole(text) {
            return false;
        }
        self.offset += line.bytes;
        let text_at = line.at.map(|line_at| line_at + start as u64);
        if !lines::take_rows(text, &mut Folding { ledger: self.ledger, text_at }) {
            self.ledger.skip_unreadable();
        }
        true
    }
}

/// One line of a file.
#[derive(Clone, Copy)]
struct Line<'a> {
    /// What it says; its newline may be there.
    text: &'a [u8],
    /// How much of the file it takes.
    bytes: u64,
    /// Where it stands there, if it is as it stands there.
    at: Option<u64>,
    /// Whether it has a newline.
    ended: bool,
}

/// NUL padding was seen after a crash of the writer.
fn is_padding(byte: u8) -> bool {
    byte == 0 || byte.is_ascii_whitespace()
}

/// The line without what stands around its rows, and where that starts.
fn without_padding(line: &[u8]) -> (&[u8], usize) {
    let start = line.iter().position(|byte| !is_padding(*byte)).unwrap_or(line.len());
    let end = line.iter().rposition(|byte| !is_padding(*byte)).map_or(start, |at| at + 1);
    (&line[start..end], start)
}

/// Folds the rows of one line.
struct Folding<'l> {
    ledger: &'l mut Ledger,
    /// Where the line's text starts in the file, if it is as it stands there.
    text_at: Option<u64>,
}

impl TakesRows for Folding<'_> {
    fn is_idle_result(&self, call: Field<'_>) -> bool {
        self.ledger.is_idle_result(call)
    }

    fn has_enough(&self, row: &Row<'_>) -> bool {
        self.ledger.has_enough(row)
    }

    fn take(&mut self, row: &Row<'_>) {
        self.ledger.fold(row, self.text_at);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::session::ledger::Role;

    fn folded(bytes: &[u8]) -> (crate::session::Session, u64) {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(bytes).expect("written");
        let mut ledger = Ledger::new(Role::Main);
        let offset = fold_from(file.path(), 0, &mut ledger).expect("readable");
        (ledger.into_session(), offset)
    }

    const ASK: &str = r#"{"type":"user","message":{"content":"do it"}}"#;

    #[test]
    fn nul_padding_bad_bytes_blank_lines_and_noise_do_not_stop_it() {
        let mut bytes = b"\0\0\0\0".to_vec();
        bytes.extend_from_slice(ASK.as_bytes());
        bytes.extend_from_slice(
            b"\n\n\xff\xfe\x00noise\n{\"type\":\"user\",\"message\":{\"content\":\"caf\xe9\"}}\n",
        );
        bytes.extend_from_slice(b"{\"type\":\"user\",\"mess");
        let (session, offset) = folded(&bytes);
        assert_eq!(
            session.asks.iter().map(|a| a.text.as_str()).collect::<Vec<_>>(),
            ["do it", "caf\u{fffd}"]
        );
        assert_eq!((session.skipped.unreadable, session.skipped.repaired), (1, 2));
        assert_eq!(offset, bytes.len() as u64 - 20, "the torn end is left for the next read");
    }

    #[test]
    fn a_last_line_without_a_newline_counts_when_it_is_whole() {
        let (session, offset) = folded(ASK.as_bytes());
        assert_eq!((session.asks.len(), offset), (1, ASK.len() as u64));
    }

    #[test]
    fn lines_of_any_length_are_read_whole_or_condensed() {
        let ask = |text: &str| {
            format!("{{\"type\":\"user\",\"message\":{{\"content\":{}}}}}\n", serde_json::json!(text))
        };
        let image = |bytes: usize| format!("{{\"type\":\"progress\",\"data\":\"{}\"}}\n", "x".repeat(bytes));
        let mut bytes = String::new();
        let lengths = [10, 70_000, 262_000, 330_000, 800_007, (4 << 20) - 40, 5 << 20, 9];
        for (number, length) in lengths.into_iter().enumerate() {
            bytes += &image(length);
            bytes += &ask(&format!("ask {number}"));
        }
        bytes += &ask(&format!("a long one {}", "words ".repeat(1 << 20)));
        let (session, offset) = folded(bytes.as_bytes());
        assert_eq!(offset, bytes.len() as u64);
        assert_eq!(session.skipped, crate::session::Skipped::default());
        let asks: Vec<_> = session.asks.iter().map(|ask| &ask.text[..ask.text.len().min(10)]).collect();
        assert_eq!(
            asks,
            ["ask 0", "ask 1", "ask 2", "ask 3", "ask 4", "ask 5", "ask 6", "ask 7", "a long one"]
        );
    }

    #[test]
    fn a_line_that_can_not_be_made_shorter_is_counted_and_the_next_is_read() {
        let line = format!("{{\"type\":\"user\",\"x\":[{}0]}}\n{ASK}\n", "1,".repeat(6 << 20));
        let (session, offset) = folded(line.as_bytes());
        assert_eq!((session.asks.len(), session.skipped.oversized, offset), (1, 1, line.len() as u64));
    }

    #[test]
    fn a_folder_is_an_error_and_not_a_hang() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(fold_from(folder.path(), 0, &mut Ledger::new(Role::Main)).is_err());
    }
}
