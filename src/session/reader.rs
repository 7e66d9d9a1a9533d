//! Takes a transcript file, folds its lines from an offset on into a ledger, in bounded memory. Must not judge what a
//! line says.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use super::SessionBuilder;
use super::ahead::{self, Places};
use crate::client::row;
use crate::client::row::{Field, Row, RowNeeds, RowSink, without_padding};
use crate::files::open_regular;
use crate::session::line_reader::{Batch, LineReader, LongLine};

/// From so many bytes on it is worth a second thread to read ahead.
const LONG_FILE: u64 = 4 << 20;
/// How many batches are on their way then.
const AHEAD: usize = 3;
/// With so many of them waiting nobody is in need of more.
const ENOUGH: usize = 2;

/// Reads every whole line of `path` from byte `from` on into `ledger`; gives the offset after the last whole
/// line. A last line with no newline is folded only if it reads as whole JSON: it may still be being written.
pub fn fold_from(path: &Path, from: u64, ledger: &mut SessionBuilder) -> io::Result<u64> {
    fold_file(&open_regular(path)?, from, ledger)
}

/// The same for a file that is open.
pub fn fold_file(mut file: &File, from: u64, ledger: &mut SessionBuilder) -> io::Result<u64> {
    file.seek(SeekFrom::Start(from))?;
    let mut fold = Fold { ledger, offset: from };
    let bytes = file.metadata()?.len().saturating_sub(from);
    if bytes > LONG_FILE && std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
        fold.read_ahead(LineReader::new(file, bytes))?;
    } else {
        fold.read(LineReader::new(file, bytes))?;
    }
    Ok(fold.offset)
}

/// A fold on its way through a file.
struct Fold<'l> {
    ledger: &'l mut SessionBuilder,
    /// After the last line that was folded.
    offset: u64,
}

impl Fold<'_> {
    fn read(&mut self, mut batches: LineReader<'_>) -> io::Result<()> {
        let mut room = Vec::new();
        while let Some(batch) = batches.next(room)? {
            self.batch(&batch, None);
            room = batch.into_room();
        }
        Ok(())
    }

    /// The same, while another thread reads what comes next, and takes its rows apart as long as this one has something
    /// to do.
    fn read_ahead(&mut self, mut source: LineReader<'_>) -> io::Result<()> {
        // Where no thread is to be had, nothing was read yet.
        let alone = source.clone();
        let (ready, loads) = mpsc::sync_channel(AHEAD);
        let (empty, rooms) = mpsc::channel::<(Vec<u8>, Places)>();
        let waiting = AtomicUsize::new(0);
        let knows_frame = AtomicBool::new(self.ledger.knows_frame());
        std::thread::scope(|scope| {
            let (waiting, frame) = (&waiting, &knows_frame);
            let reader = move || {
                let mut ahead = ahead::Reader::default();
                for (room, places) in rooms {
                    let Some(batch) = source.next(room).transpose() else { break };
                    let load = batch.map(|batch| {
                        let is_wanted = waiting.load(Ordering::Relaxed) < ENOUGH;
                        let places = match &batch {
                            Batch::Lines(lines) if lines.is_text && !is_wanted => {
                                Some(ahead.read(lines.each(), frame.load(Ordering::Relaxed), places))
                            }
                            _ => None,
                        };
                        (batch, places)
                    });
                    let is_last = load.is_err();
                    waiting.fetch_add(1, Ordering::Relaxed);
                    if ready.send(load).is_err() || is_last {
                        break;
                    }
                }
            };
            if std::thread::Builder::new().name("reader".into()).spawn_scoped(scope, reader).is_err() {
                return self.read(alone);
            }
            for _ in 0..=AHEAD {
                let _ = empty.send(Default::default());
            }
            for load in loads {
                let (batch, places) = load?;
                self.batch(&batch, places.as_ref());
                waiting.fetch_sub(1, Ordering::Relaxed);
                knows_frame.store(self.ledger.knows_frame(), Ordering::Relaxed);
                // Once the reader is done, nobody wants the room.
                let _ = empty.send((batch.into_room(), places.unwrap_or_default()));
            }
            Ok(())
        })
    }

    /// Folds what was read, with what is known of its lines.
    fn batch(&mut self, batch: &Batch, places: Option<&Places>) {
        match batch {
            Batch::Lines(lines) => {
                let mut rows = places.map(Places::rows);
                for text in lines.each() {
                    let (at, ended) = (Some(self.offset), text.ends_with(b"\n"));
                    let line = Line { text, bytes: text.len() as u64, at, ended };
                    let (inner, start) = without_padding(text);
                    match rows.as_mut().and_then(|rows| rows.next(inner)) {
                        Some(row) if self.ledger.agrees_with(&row) => {
                            self.ledger.fold(&row, Some(self.offset + start as u64));
                            self.offset += line.bytes;
                        }
                        _ => self.line_that(lines.is_text, line),
                    }
                }
            }
            Batch::Long { line: LongLine { text, is_whole, bytes, ended }, .. } => {
                if let Some(text) = text {
                    let is_text = simdutf8::basic::from_utf8(text).is_ok();
                    let at = is_whole.then_some(self.offset);
                    self.line_that(is_text, Line { text, bytes: *bytes, at, ended: *ended });
                } else {
                    self.ledger.skip_oversized();
                    self.offset += bytes;
                }
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
        if !line.ended && !row::is_whole(text) {
            return false;
        }
        self.offset += line.bytes;
        let text_at = line.at.map(|line_at| line_at + start as u64);
        if !row::take_rows(text, &mut Folding { ledger: self.ledger, text_at }) {
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

/// Folds the rows of one line.
struct Folding<'l> {
    ledger: &'l mut SessionBuilder,
    /// Where the line's text starts in the file, if it is as it stands there.
    text_at: Option<u64>,
}

impl RowNeeds for Folding<'_> {
    fn is_idle_result(&self, call: Field<'_>) -> bool {
        self.ledger.is_idle_result(call)
    }

    fn has_enough(&self, row: &Row<'_>) -> bool {
        self.ledger.has_enough(row)
    }
}

impl RowSink for Folding<'_> {
    fn take(&mut self, row: &Row<'_>) {
        self.ledger.fold(row, self.text_at);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::session::builder::Role;

    fn folded(bytes: &[u8]) -> (crate::session::Session, u64) {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(bytes).expect("written");
        let mut ledger = SessionBuilder::new(Role::Main);
        let offset = fold_from(file.path(), 0, &mut ledger).expect("readable");
        (ledger.into_session(), offset)
    }

    /// What is folded of these bytes, each line read before its turn, or none.
    fn ledger_of(bytes: &[u8], reads_ahead: bool) -> SessionBuilder {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("written");
        file.rewind().expect("rewound");
        let (mut ledger, mut ahead) = (SessionBuilder::new(Role::Main), ahead::Reader::default());
        let mut fold = Fold { ledger: &mut ledger, offset: 0 };
        let mut batches = LineReader::new(&file, 40_000);
        while let Some(batch) = batches.next(Vec::new()).expect("readable") {
            let places = match &batch {
                // Whoever reads ahead knows no more than what was folded a while ago: here, nothing or all.
                Batch::Lines(lines) if reads_ahead && lines.is_text => {
                    Some(ahead.read(lines.each(), true, Places::default()))
                }
                _ => None,
            };
            fold.batch(&batch, places.as_ref());
        }
        assert_eq!(fold.offset, bytes.len() as u64);
        ledger
    }

    #[test]
    fn what_is_read_before_its_turn_is_what_would_be_read_then() {
        let mut folded = 0;
        for entry in walkdir::WalkDir::new("fixtures").into_iter().filter_map(Result::ok) {
            if entry.path().extension().is_some_and(|kind| kind == "jsonl") {
                let mut bytes = std::fs::read(entry.path()).expect("readable");
                if !bytes.ends_with(b"\n") {
                    bytes.push(b'\n');
                }
                assert_eq!(ledger_of(&bytes, true), ledger_of(&bytes, false), "{}", entry.path().display());
                folded += 1;
            }
        }
        assert!(folded > 100, "{folded}");
    }

    #[test]
    fn the_ledger_has_the_last_word_on_what_does_not_matter() {
        let call = |tool: &str| {
            format!(
                r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"tool_use","id":"1","name":"{tool}","input":{{"command":"make"}}}}]}}}}"#
            )
        };
        let result = r#"{"type":"user","message":{"content":[{"tool_use_id":"1","type":"tool_result","content":"built"}]},"uuid":"u","toolUseResult":{"interrupted":false}}"#;
        // The id is given twice: to the ledger the first call counts, to one who looks at the lines the last one.
        let twice = [&call("Bash"), &call("Read"), result].map(|line| format!("{line}\n")).concat();
        let plans = [&call("ExitPlanMode"), &call("Read"), result].map(|line| format!("{line}\n")).concat();
        let odd = [
            format!("\0\0{ASK}\n\n  {ASK}  \n{ASK}{ASK}\n"),
            r#"{ "type" : "user" , "message" : { "content" : "x" } }"#.to_owned() + "\n{\"type\":\n",
        ];
        for bytes in [twice.clone(), plans, odd.concat()] {
            assert_eq!(ledger_of(bytes.as_bytes(), true), ledger_of(bytes.as_bytes(), false), "{bytes}");
        }
        assert_eq!(ledger_of(twice.as_bytes(), true).peek().commands[0].output, "built");
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
        assert!(fold_from(folder.path(), 0, &mut SessionBuilder::new(Role::Main)).is_err());
    }
}
