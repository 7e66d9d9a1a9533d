//! Takes a transcript file, gives its lines from an offset on, one at a time, in bounded memory. Must not
//! judge what a line says.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use super::{Ledger, lines};
use crate::files::open_regular;

/// A line longer than this is passed over: what an audit needs is never that large.
const LINE_CAP: usize = 64 << 20;

/// Reads every whole line of `path` from byte `from` on into `ledger`; gives the offset after the last whole
/// line. A last line with no newline is folded only if it reads as whole JSON: it may still be being written.
pub fn fold_from(path: &Path, from: u64, ledger: &mut Ledger) -> io::Result<u64> {
    let mut file = open_regular(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut reader = BufReader::with_capacity(64 << 10, file);
    let mut line = Vec::new();
    let mut offset = from;
    loop {
        line.clear();
        let taken = read_line_capped(&mut reader, &mut line)?;
        match taken {
            Taken::End => return Ok(offset),
            Taken::Line { bytes, oversized, ended } => {
                if oversized {
                    ledger.skip_oversized();
                } else if ended {
                    fold_line(&line, ledger);
                } else if !fold_unended(&line, ledger) {
                    return Ok(offset);
                }
                offset += bytes;
            }
        }
    }
}

enum Taken {
    End,
    Line { bytes: u64, oversized: bool, ended: bool },
}

/// One line without its newline, at most [`LINE_CAP`] of it held; the rest of a longer one is passed over.
fn read_line_capped(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Taken> {
    let (mut bytes, mut oversized) = (0u64, false);
    loop {
        let chunk = match reader.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if chunk.is_empty() {
            return Ok(if bytes == 0 { Taken::End } else { Taken::Line { bytes, oversized, ended: false } });
        }
        let newline = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..newline.unwrap_or(chunk.len())];
        if line.len() + part.len() > LINE_CAP {
            oversized = true;
            line.clear();
        } else if !oversized {
            line.extend_from_slice(part);
        }
        let consumed = newline.map_or(chunk.len(), |at| at + 1);
        reader.consume(consumed);
        bytes += consumed as u64;
        if newline.is_some() {
            return Ok(Taken::Line { bytes, oversized, ended: true });
        }
    }
}

/// The text of a line: NUL padding (seen after a crash of the writer) and white space off its ends.
fn text_of(line: &[u8]) -> (Cow<'_, str>, bool) {
    let is_padding = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    let start = line.iter().position(|byte| !is_padding(byte)).unwrap_or(line.len());
    let end = line.iter().rposition(|byte| !is_padding(byte)).map_or(start, |at| at + 1);
    match std::str::from_utf8(&line[start..end]) {
        Ok(text) => (Cow::Borrowed(text), false),
        Err(_) => (String::from_utf8_lossy(&line[start..end]), true),
    }
}

fn fold_line(line: &[u8], ledger: &mut Ledger) {
    let (text, repaired) = text_of(line);
    if text.is_empty() {
        return;
    }
    if repaired {
        ledger.skip_repaired();
    }
    if !lines::rows_of(&text, |row| ledger.fold(row)) {
        ledger.skip_unreadable();
    }
}

/// Folds a last line that has no newline yet, if it is whole.
fn fold_unended(line: &[u8], ledger: &mut Ledger) -> bool {
    let (text, _) = text_of(line);
    let whole = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
    if whole {
        fold_line(line, ledger);
    }
    whole
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
    fn a_folder_is_an_error_and_not_a_hang() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(fold_from(folder.path(), 0, &mut Ledger::new(Role::Main)).is_err());
    }
}
