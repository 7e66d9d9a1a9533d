//! Reads the lines of a transcript file from an offset on into a [`SessionBuilder`], in bounded memory. Must not judge
//! what a line says.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use crate::client::row;
use crate::files::open_regular;
use crate::session::SessionBuilder;
use crate::session::long_line::GrowingLine;

/// How much is read at once.
const BUFFER: usize = 512 << 10;

/// Like [`fold_file`], for the file at `path`.
pub fn fold_from(path: &Path, from: u64, builder: &mut SessionBuilder) -> io::Result<u64> {
    fold_file(&open_regular(path)?, from, builder)
}

/// Folds every whole line from byte `from` on into `builder`, and returns the offset after the last one. A last line with
/// no newline may still be being written: it is folded only if it is whole JSON.
pub fn fold_file(mut file: &File, from: u64, builder: &mut SessionBuilder) -> io::Result<u64> {
    file.seek(SeekFrom::Start(from))?;
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let mut fold = Fold { builder, offset: from };
    // The start of a line that goes on behind the buffer.
    let mut unfinished = GrowingLine::default();
    loop {
        let buffer = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer?,
        };
        if buffer.is_empty() {
            fold.finish_line(unfinished, false);
            return Ok(fold.offset);
        }
        let length = buffer.len();
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', buffer) {
            let line = &buffer[start..newline];
            if unfinished.bytes > 0 {
                unfinished.add(line);
                fold.finish_line(std::mem::take(&mut unfinished), true);
            } else {
                let at = Some(fold.offset);
                fold.line(Line { text: line, bytes: line.len() as u64 + 1, at, has_newline: true });
            }
            start = newline + 1;
        }
        unfinished.add(&buffer[start..]);
        reader.consume(length);
    }
}

/// One line of a file.
#[derive(Clone, Copy)]
struct Line<'a> {
    /// The line without its newline.
    text: &'a [u8],
    /// How many bytes it takes in the file.
    bytes: u64,
    /// Its offset in the file, if `text` is what the file holds.
    at: Option<u64>,
    has_newline: bool,
}

struct Fold<'b> {
    builder: &'b mut SessionBuilder,
    /// The offset after the last line that was folded.
    offset: u64,
}

impl Fold<'_> {
    fn finish_line(&mut self, line: GrowingLine, has_newline: bool) {
        let bytes = line.bytes + u64::from(has_newline);
        if let Some((text, is_unchanged)) = line.finish() {
            let at = is_unchanged.then_some(self.offset);
            self.line(Line { text: &text, bytes, at, has_newline });
        } else {
            self.builder.skip_oversized();
            self.offset += bytes;
        }
    }

    /// Folds a line; bytes that are not UTF-8 are replaced.
    fn line(&mut self, line: Line<'_>) {
        // Checked first, since `from_utf8_lossy` goes through valid text much more slowly.
        if std::str::from_utf8(line.text).is_ok() {
            self.text_line(line);
            return;
        }
        let text = String::from_utf8_lossy(line.text);
        if self.text_line(Line { text: text.as_bytes(), at: None, ..line }) {
            self.builder.skip_repaired();
        }
    }

    /// Folds a line that is UTF-8. Returns whether the line is complete; one that is not is left for the next time.
    fn text_line(&mut self, line: Line<'_>) -> bool {
        let (text, start) = row::trim(line.text);
        if !line.has_newline && !row::is_whole(text) {
            return false;
        }
        self.offset += line.bytes;
        let text_at = line.at.map(|line_at| line_at + start as u64);
        if !row::rows_of(text, |row| self.builder.fold(row, text_at)) {
            self.builder.skip_unreadable();
        }
        true
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
        let mut builder = SessionBuilder::new(Role::Main);
        let offset = fold_from(file.path(), 0, &mut builder).expect("readable");
        (builder.into_session(), offset)
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
        // Around the size of the buffer and of the longest line that is held, too.
        let lengths = [10, 70_000, BUFFER - 31, BUFFER, 800_007, (4 << 20) - 40, 5 << 20, 9];
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
