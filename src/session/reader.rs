//! Takes a transcript file, gives its lines from an offset on, one at a time, in bounded memory. Must not
//! judge what a line says.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::Ledger;
use super::condense::Condenser;
use super::lines::{self, Field, Row, TakesRows};
use crate::files::open_regular;

/// How much is read at once, and how much of an unfinished line is carried over to the next time.
const CHUNK: usize = 256 << 10;
const CARRY: usize = 256 << 10;
/// A longer line is put together in a place of its own, and one that is longer still loses the middle of its long
/// strings on the way in: what an audit needs is never that large.
const LONG_LINE: usize = 4 << 20;
/// The kernel copies into a buffer that starts at a page three times as fast as into one that does not.
const PAGE: usize = 4 << 10;

/// Reads every whole line of `path` from byte `from` on into `ledger`; gives the offset after the last whole
/// line. A last line with no newline is folded only if it reads as whole JSON: it may still be being written.
pub fn fold_from(path: &Path, from: u64, ledger: &mut Ledger) -> io::Result<u64> {
    fold_file(&open_regular(path)?, from, ledger)
}

/// The same for a file that is open.
pub fn fold_file(mut file: &File, from: u64, ledger: &mut Ledger) -> io::Result<u64> {
    file.seek(SeekFrom::Start(from))?;
    let mut lines = Lines::new(file);
    let mut offset = from;
    while let Some(line) = lines.next()? {
        let (bytes, ended) = (line.bytes, line.ended);
        let line_at = line.is_whole.then_some(offset);
        match line.text {
            None => ledger.skip_oversized(),
            Some(text) if ended || is_whole_json(text) => fold_line(text, line_at, ledger),
            Some(_) => return Ok(offset),
        }
        offset += bytes;
    }
    Ok(offset)
}

/// One line, without its newline.
struct Line<'a> {
    /// Its text; `None` when it is too long.
    text: Option<&'a [u8]>,
    /// It stands in the file as it is given here.
    is_whole: bool,
    /// How much of the file it takes, the newline included.
    bytes: u64,
    /// Whether there is a newline.
    ended: bool,
}

/// The lines of a file. What is read stands behind [`CARRY`] bytes of room, into which the start of an
/// unfinished line moves, so that a line is one piece and every read starts at a page.
struct Lines<'f> {
    file: &'f File,
    buffer: Vec<u8>,
    /// Where reads go.
    origin: usize,
    /// What was read and not given yet.
    start: usize,
    end: usize,
    is_over: bool,
    /// The line that was put together elsewhere.
    long: Vec<u8>,
}

impl<'f> Lines<'f> {
    fn new(file: &'f File) -> Self {
        let buffer = vec![0; PAGE + CARRY + CHUNK];
        let origin = CARRY + (buffer.as_ptr().align_offset(PAGE) % PAGE);
        Self { file, buffer, origin, start: origin, end: origin, is_over: false, long: Vec::new() }
    }

    fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = self.start;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let (start, newline) = (self.start, searched + at);
                self.start = newline + 1;
                let text = &self.buffer[start..newline];
                return Ok(Some(Line {
                    text: Some(text),
                    is_whole: true,
                    bytes: text.len() as u64 + 1,
                    ended: true,
                }));
            }
            if self.end - self.start > CARRY {
                return self.next_long().map(Some);
            }
            searched = self.origin;
            if !self.fill()? {
                let (start, end) = (self.start, self.end);
                self.start = end;
                let text = &self.buffer[start..end];
                let last = Line { text: Some(text), is_whole: true, bytes: text.len() as u64, ended: false };
                return Ok((!text.is_empty()).then_some(last));
            }
        }
    }

    /// Reads on. What is left of the last read moves before what comes; it must not be longer than the room there.
    fn fill(&mut self) -> io::Result<bool> {
        if self.is_over {
            return Ok(false);
        }
        let left = self.end - self.start;
        self.buffer.copy_within(self.start..self.end, self.origin - left);
        self.start = self.origin - left;
        self.end = self.origin;
        let read = loop {
            match self.file.read(&mut self.buffer[self.origin..self.origin + CHUNK]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.end += read;
        self.is_over = read == 0;
        Ok(read > 0)
    }

    /// A line that starts with all that is there and goes on.
    fn next_long(&mut self) -> io::Result<Line<'_>> {
        self.long.clear();
        let mut condenser: Option<Condenser> = None;
        let mut bytes = 0u64;
        let mut ended = false;
        loop {
            let newline = memchr::memchr(b'\n', &self.buffer[self.start..self.end]);
            let end = newline.map_or(self.end, |at| self.start + at);
            let part = &self.buffer[self.start..end];
            bytes += part.len() as u64;
            match &mut condenser {
                Some(condenser) => condenser.add(part),
                None if self.long.len() + part.len() > LONG_LINE => {
                    let mut shorter = Condenser::default();
                    shorter.add(&std::mem::take(&mut self.long));
                    shorter.add(part);
                    condenser = Some(shorter);
                }
                None => self.long.extend_from_slice(part),
            }
            self.start = end;
            if newline.is_some() {
                self.start += 1;
                (bytes, ended) = (bytes + 1, true);
                break;
            }
            if !self.fill()? {
                break;
            }
        }
        let is_whole = condenser.is_none();
        let text = match condenser {
            None => true,
            Some(condenser) => condenser.finish().map(|line| self.long = line).is_some(),
        };
        Ok(Line { text: text.then_some(&self.long), is_whole, bytes, ended })
    }
}

/// The text of a line and where it starts: NUL padding (seen after a crash of the writer) and white space are off
/// its ends. A text of its own is one with bytes replaced that are not UTF-8.
fn text_of(line: &[u8]) -> (Cow<'_, str>, usize) {
    let is_padding = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    let start = line.iter().position(|byte| !is_padding(byte)).unwrap_or(line.len());
    let end = line.iter().rposition(|byte| !is_padding(byte)).map_or(start, |at| at + 1);
    match simdutf8::basic::from_utf8(&line[start..end]) {
        Ok(text) => (Cow::Borrowed(text), start),
        Err(_) => (String::from_utf8_lossy(&line[start..end]), start),
    }
}

fn fold_line(line: &[u8], line_at: Option<u64>, ledger: &mut Ledger) {
    let (text, start) = text_of(line);
    if text.is_empty() {
        return;
    }
    let is_as_it_stands = matches!(text, Cow::Borrowed(_));
    if !is_as_it_stands {
        ledger.skip_repaired();
    }
    let text_at = line_at.filter(|_| is_as_it_stands).map(|line_at| line_at + start as u64);
    if !lines::take_rows(&text, &mut Folding { ledger, text_at }) {
        ledger.skip_unreadable();
    }
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

/// Whether a last line that has no newline yet is all there.
fn is_whole_json(line: &[u8]) -> bool {
    lines::rows_of(&text_of(line).0, |_| ())
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
        let lengths = [
            10,
            CHUNK - 100,
            CHUNK,
            CARRY + CHUNK - 50,
            CHUNK * 3 + 7,
            LONG_LINE - 40,
            LONG_LINE + 3 * CHUNK,
            9,
        ];
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
