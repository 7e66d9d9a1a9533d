//! Reads a transcript file from its resume point on into a [`SessionBuilder`], in bounded memory.
//! Must not judge what a line says, or continue with a file that was replaced, rewritten or
//! truncated.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::client::json_scan::is_place_to_cut;
use crate::client::row;
use crate::files::{inode_of, open_regular, read_at};
use crate::session::builder::{Role, SessionBuilder};
use crate::session::resume::{Mark, ResumePoint};

/// How much is read at once.
const BUFFER: usize = 512 << 10;
/// How many bytes before the resume point must be unchanged for the file to count as the same.
const TAIL_BYTES: u64 = 1 << 10;
/// With no more than this many new bytes the old resume point stays: for a long session, writing a
/// new one takes longer than reading them again.
const WORTH_A_WRITE: u64 = 4 << 10;

/// A longer line is condensed: an audit never needs that much of one.
const LONGEST: usize = 6 << 20;
/// A line that is longer than this after condensing is skipped.
const LONGEST_CONDENSED: usize = 5 << 20;
/// How much of the start and the end of a string stays. Together they are longer than any text that
/// is only useful as a whole, so a cut one is never taken for a whole one.
const START: usize = 288 << 10;
const END: usize = 288 << 10;
/// How far from the wanted position a string may be cut.
const NEAR: usize = 4 << 10;

/// A transcript that is being read.
#[derive(Debug)]
pub struct Transcript {
    pub path: String,
    /// Why it could not be read to its end, if so.
    pub problem: Option<String>,
    pub read: ReadPart,
    file: Option<File>,
    /// Where reading started, if a resume point matched.
    resumed: Option<Mark>,
}

/// What was read of a transcript.
#[derive(Debug)]
pub struct ReadPart {
    pub builder: SessionBuilder,
    /// The offset after the last line that was folded.
    pub offset: u64,
}

impl Transcript {
    /// Opens a transcript at its resume point if one matches, else at its start.
    pub fn open(path: &Path, role: Role, points: &mut Vec<ResumePoint>) -> Self {
        let opened = open_regular(path);
        let problem = opened.as_ref().err().map(|error| format!("{}: {error}", path.display()));
        let (path, file) = (path.to_string_lossy().into_owned(), opened.ok());
        let point = points.iter().position(|point| point.path == path).map(|at| points.swap_remove(at));
        let fits = |point: &ResumePoint| {
            let mark = file.as_ref().and_then(|file| mark_at(file, point.mark.offset).ok());
            mark == Some(point.mark)
        };
        let (builder, resumed) = match point.filter(fits) {
            Some(point) => (point.builder, Some(point.mark)),
            None => (SessionBuilder::for_file(role, &path), None),
        };
        let read = ReadPart { builder, offset: resumed.map_or(0, |mark| mark.offset) };
        Self { path, problem, read, file, resumed }
    }

    /// Folds every complete line up to the end of the file. A last line without a newline may still
    /// be being written, so it is folded only if it is complete JSON.
    pub fn read_on(&mut self) {
        let Self { file: Some(file), read, .. } = self else { return };
        let mut reader = BufReader::with_capacity(BUFFER, &*file);
        // The start of a line that continues after the buffer.
        let mut unfinished = GrowingLine::default();
        let mut lines = || -> io::Result<()> {
            reader.seek(SeekFrom::Start(read.offset))?;
            loop {
                let buffer = match reader.fill_buf() {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    buffer => buffer?,
                };
                if buffer.is_empty() {
                    read.finish_line(std::mem::take(&mut unfinished), false);
                    return Ok(());
                }
                let length = buffer.len();
                let mut start = 0;
                for newline in memchr::memchr_iter(b'\n', buffer) {
                    let line = &buffer[start..newline];
                    if unfinished.bytes > 0 {
                        unfinished.add(line);
                        read.finish_line(std::mem::take(&mut unfinished), true);
                    } else {
                        read.line(line, line.len() as u64 + 1, true, true);
                    }
                    start = newline + 1;
                }
                unfinished.add(&buffer[start..]);
                reader.consume(length);
            }
        };
        if let Err(error) = lines() {
            self.problem = Some(format!("{}: {error}", self.path));
        }
    }

    pub fn has_grown(&self) -> bool {
        let length = self.file.as_ref().and_then(|file| Some(file.metadata().ok()?.len()));
        length.is_some_and(|length| length > self.read.offset)
    }

    /// Returns whether the resume point that it was opened at is still recent enough.
    pub fn is_saved(&self) -> bool {
        self.resumed.is_some_and(|mark| self.read.offset - mark.offset <= WORTH_A_WRITE)
    }

    /// Returns where to continue next time.
    pub fn resume_point(&self) -> Option<ResumePoint> {
        let mark = mark_at(self.file.as_ref()?, self.read.offset).ok()?;
        Some(ResumePoint { path: self.path.clone(), mark, builder: self.read.builder.clone() })
    }
}

/// Returns the mark of a file that was read up to `offset`.
fn mark_at(file: &File, offset: u64) -> io::Result<Mark> {
    let from = offset.saturating_sub(TAIL_BYTES);
    let tail = xxh3_64(&read_at(file, from, offset - from)?);
    Ok(Mark { inode: inode_of(&file.metadata()?), offset, tail })
}

impl ReadPart {
    fn finish_line(&mut self, line: GrowingLine, has_newline: bool) {
        let bytes = line.bytes + u64::from(has_newline);
        if let Some((text, is_unchanged)) = line.finish() {
            self.line(&text, bytes, is_unchanged, has_newline);
        } else {
            self.builder.session_mut().skipped.oversized += 1;
            self.offset += bytes;
        }
    }

    /// Folds a line that takes this many bytes in the file; bytes that are not UTF-8 are replaced.
    /// An incomplete line is left for the next time.
    fn line(&mut self, text: &[u8], bytes: u64, is_as_written: bool, has_newline: bool) {
        // Checked first, since `from_utf8_lossy` is much slower on valid text.
        let repaired = simdutf8::basic::from_utf8(text).is_err().then(|| String::from_utf8_lossy(text));
        let (text, start) = row::trim(repaired.as_ref().map_or(text, |repaired| repaired.as_bytes()));
        if !has_newline && !row::is_whole(text) {
            return;
        }
        let text_at = (is_as_written && repaired.is_none()).then_some(self.offset + start as u64);
        self.offset += bytes;
        let is_readable = row::rows_of(text, |row| self.builder.fold(row, text_at));
        let skipped = &mut self.builder.session_mut().skipped;
        skipped.unreadable += usize::from(!is_readable);
        skipped.repaired += usize::from(repaired.is_some());
    }
}

/// A line that grows part by part. One that is too long to hold becomes the same JSON with its long
/// strings cut in the middle. What makes a line long is one string: an image, a whole file, the
/// output of a command. What an audit needs is at the start or the end of such a string, or beside
/// it.
#[derive(Debug, Default)]
struct GrowingLine {
    text: Vec<u8>,
    /// How many bytes were added.
    bytes: u64,
    is_condensed: bool,
    has_given_up: bool,
}

impl GrowingLine {
    fn add(&mut self, part: &[u8]) {
        self.bytes += part.len() as u64;
        if self.has_given_up {
            return;
        }
        self.text.extend_from_slice(part);
        if self.text.len() > LONGEST {
            self.is_condensed = true;
            if condense(&mut self.text).is_none() || self.text.len() > LONGEST_CONDENSED {
                self.has_given_up = true;
                self.text = Vec::new();
            }
        }
    }

    /// Returns the line, and whether it is unchanged; `None` for a line that could not be
    /// condensed.
    fn finish(mut self) -> Option<(Vec<u8>, bool)> {
        if self.is_condensed {
            condense(&mut self.text)?;
        }
        (!self.has_given_up).then_some((self.text, !self.is_condensed))
    }
}

/// Removes the middle of every long string, the last of which may not be closed yet. `None` if
/// there is no place to cut.
fn condense(line: &mut Vec<u8>) -> Option<()> {
    let mut at = 0;
    while let Some(quote) = memchr::memchr(b'"', line.get(at..)?) {
        let start = at + quote + 1;
        let mut end = string_end(line, start);
        if end - start > START + END {
            let (from, to) = (cut_near(line, start + START)?, cut_near(line, end - END)?);
            if from < to {
                line.drain(from..to);
                end -= to - from;
            }
        }
        at = line.len().min(end + 1);
    }
    Some(())
}

/// Returns the end of the string whose text begins at `start`.
fn string_end(line: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(found) = line.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        if line[at + found] == b'"' {
            return at + found;
        }
        at += found + 2;
    }
    line.len()
}

/// Returns the first position from `wanted` on that is between two characters and outside an
/// escape.
fn cut_near(line: &[u8], wanted: usize) -> Option<usize> {
    (wanted..(wanted + NEAR).min(line.len())).find(|at| is_place_to_cut(line, *at))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn folded(bytes: &[u8]) -> (crate::session::Session, u64) {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(bytes).expect("written");
        let mut transcript = Transcript::open(file.path(), Role::Main, &mut Vec::new());
        transcript.read_on();
        assert_eq!(transcript.problem, None);
        (transcript.read.builder.into_session(), transcript.read.offset)
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
        // Includes lengths around the size of the buffer and of the longest line.
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
        let mut transcript = Transcript::open(folder.path(), Role::Main, &mut Vec::new());
        transcript.read_on();
        assert!(transcript.problem.is_some());
    }

    #[test]
    fn a_file_that_shrank_was_rewritten_or_is_another_is_read_from_its_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.jsonl");
        let start = format!("{ASK}\n").repeat(40);
        std::fs::write(&path, &start).expect("written");
        let mut transcript = Transcript::open(&path, Role::Main, &mut Vec::new());
        transcript.read_on();
        let point = transcript.resume_point().expect("a point");
        let resumed = |text: &str| {
            std::fs::write(&path, text).expect("written");
            let opened = Transcript::open(&path, Role::Main, &mut vec![point.clone()]);
            (opened.read.offset > 0, opened.is_saved())
        };
        assert_eq!(resumed(&start), (true, true));
        assert_eq!(resumed(&format!("{start}{ASK}\n")), (true, true), "longer");
        assert_eq!(resumed(&start[1..]), (false, false), "shorter");
        assert_eq!(resumed(&start.replace("do it", "do_it")), (false, false), "rewritten");
        let changed_start = start.replacen("do it", "do_it", 1);
        assert_eq!(resumed(&changed_start), (true, true), "only the end is compared");
        std::fs::rename(&path, folder.path().join("other")).expect("moved");
        assert_eq!(resumed(&start), (false, false), "another file");
    }

    fn condensed(line: &str, part: usize) -> Option<Vec<u8>> {
        let mut growing = GrowingLine::default();
        line.as_bytes().chunks(part).for_each(|part| growing.add(part));
        growing.finish().map(|(line, _)| line)
    }

    #[test]
    fn the_middle_of_a_long_string_goes_and_the_rest_stays() {
        let long = format!("start {} end", "line\n\"é\" \u{1f600} ".repeat(400_000));
        let line = json!({"id": "x", "content": long, "after": [1, "y"]}).to_string();
        let short: Value = serde_json::from_slice(&condensed(&line, 100_000).expect("a line")).expect("JSON");
        assert_eq!((&short["id"], &short["after"]), (&json!("x"), &json!([1, "y"])));
        let text = short["content"].as_str().expect("text");
        assert!(text.starts_with("start line") && text.ends_with(" end"));
        assert!((START..START + END + 2 * NEAR).contains(&text.len()), "{}", text.len());
    }

    #[test]
    fn a_line_of_many_short_strings_is_given_up() {
        let line = format!("[{}1]", "\"short\",".repeat(1_000_000));
        assert_eq!(condensed(&line, 4_096), None);
    }

    #[test]
    fn a_string_with_no_place_to_cut_is_given_up() {
        let line = format!("\"{}\"", "\\\\".repeat(4_000_000));
        assert_eq!(condensed(&line, 4_096), None);
    }

    proptest! {
        #[test]
        fn what_is_not_long_stays_as_it_is(text in r#"["\\a-zé{}]{0,60}"#, part in 1usize..20) {
            let line = json!({"a": text, "b": [text]}).to_string();
            prop_assert_eq!(condensed(&line, part), Some(line.into_bytes()));
        }
    }
}
