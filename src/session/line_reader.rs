//! Takes a file, gives its lines in batches, in bounded memory, and says whether they are text; a line that is too long for
//! a batch is given by itself. Must not judge what a line says, nor split one.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};

use crate::session::long_line::Condenser;

/// How much is read at once.
const CHUNK: usize = 512 << 10;
/// How much of an unfinished line goes before what is read next. A longer one is put together in a place of its own.
const CARRY: usize = 512 << 10;
/// A line that is longer than this loses the middle of its long strings on the way in: what an audit needs is never
/// that large.
const LONG_LINE: usize = 4 << 20;
/// The kernel copies into a buffer that starts at a page three times as fast as into one that does not.
const PAGE: usize = 4 << 10;

thread_local! {
    /// Room that the last file needed: whoever reads a thousand files need not ask the system for it a thousand times.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// What a file holds next.
#[derive(Debug)]
pub enum Batch {
    Lines(Lines),
    /// One line by itself.
    Long {
        line: LongLine,
        room: Vec<u8>,
    },
}

impl Batch {
    /// The room that it took.
    pub fn into_room(self) -> Vec<u8> {
        match self {
            Self::Lines(lines) => lines.bytes,
            Self::Long { room, .. } => room,
        }
    }
}

/// Some lines, each with its newline; only the last line of a file may have none.
#[derive(Debug)]
pub struct Lines {
    /// Room, the lines, and room again.
    bytes: Vec<u8>,
    start: usize,
    /// After which byte each of them ends.
    ends: Vec<usize>,
    /// Whether they are all UTF-8.
    pub is_text: bool,
}

impl Lines {
    pub fn each(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let mut start = self.start;
        self.ends.iter().map(move |end| &self.bytes[std::mem::replace(&mut start, *end)..*end])
    }
}

/// A line that is too long for a batch, without its newline.
#[derive(Debug)]
pub struct LongLine {
    /// What it says; `None` when there was no way to hold it.
    pub text: Option<Vec<u8>>,
    /// It stands in the file as it is given here.
    pub is_whole: bool,
    /// How much of the file it takes, the newline included.
    pub bytes: u64,
    /// Whether there is a newline.
    pub ended: bool,
}

/// The batches of a file, from where it stands.
#[derive(Debug, Clone)]
pub struct LineReader<'f> {
    file: &'f File,
    /// How much is read at once: a short file needs no room for a long one.
    chunk: usize,
    /// How much may go before it.
    room: usize,
    /// What was read and not given yet: the start of a line, or what stood behind a long one.
    carry: Vec<u8>,
}

impl<'f> LineReader<'f> {
    /// All of them. There are about so many bytes to read.
    pub fn new(file: &'f File, bytes: u64) -> Self {
        // One more, so that the end of the file is seen at once.
        let chunk = usize::try_from(bytes).unwrap_or(CHUNK).saturating_add(1).clamp(PAGE, CHUNK);
        let room = CARRY.min(chunk);
        Self { file, chunk, room, carry: Vec::new() }
    }

    /// The next one; `buffer` is room that may be used for it.
    pub fn next(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<Batch>> {
        loop {
            if self.carry.len() > self.room {
                return self.next_long(buffer).map(Some);
            }
            self.make_room(&mut buffer);
            let origin = self.room + buffer.as_ptr().align_offset(PAGE) % PAGE;
            let start = origin - self.carry.len();
            buffer[start..origin].copy_from_slice(&self.carry);
            let read = self.fill(&mut buffer[origin..origin + self.chunk])?;
            let end = origin + read;
            let whole = if read == 0 {
                end
            } else {
                memchr::memrchr(b'\n', &buffer[start..end]).map_or(start, |at| start + at + 1)
            };
            self.carry.clear();
            self.carry.extend_from_slice(&buffer[whole..end]);
            if whole > start {
                let lines = &buffer[start..whole];
                let is_text = simdutf8::basic::from_utf8(lines).is_ok();
                let mut ends: Vec<usize> =
                    memchr::memchr_iter(b'\n', lines).map(|at| start + at + 1).collect();
                if ends.last() != Some(&whole) {
                    ends.push(whole);
                }
                return Ok(Some(Batch::Lines(Lines { bytes: buffer, start, ends, is_text })));
            }
            if read == 0 {
                SPARE.set(buffer);
                return Ok(None);
            }
        }
    }

    /// Makes a buffer as long as is needed. Pages of a new one that nobody touches cost nothing.
    fn make_room(&self, buffer: &mut Vec<u8>) {
        let needed = PAGE + self.room + self.chunk;
        if buffer.len() < needed {
            *buffer = SPARE.take();
        }
        if buffer.len() < needed {
            *buffer = vec![0; needed];
        }
    }

    fn fill(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }

    /// The line that `carry` starts with.
    fn next_long(&mut self, mut buffer: Vec<u8>) -> io::Result<Batch> {
        let mut line = Growing::default();
        let mut part = std::mem::take(&mut self.carry);
        let mut bytes = 0u64;
        loop {
            if let Some(newline) = memchr::memchr(b'\n', &part) {
                line.add(&part[..newline]);
                self.carry.extend_from_slice(&part[newline + 1..]);
                let (text, is_whole) = line.finish();
                let line = LongLine { text, is_whole, bytes: bytes + newline as u64 + 1, ended: true };
                return Ok(Batch::Long { line, room: buffer });
            }
            line.add(&part);
            bytes += part.len() as u64;
            self.make_room(&mut buffer);
            let read = self.fill(&mut buffer[..self.chunk])?;
            part.clear();
            part.extend_from_slice(&buffer[..read]);
            if read == 0 {
                let (text, is_whole) = line.finish();
                let line = LongLine { text, is_whole, bytes, ended: false };
                return Ok(Batch::Long { line, room: buffer });
            }
        }
    }
}

/// A long line on its way: as it is, or condensed.
#[derive(Debug, Default)]
struct Growing {
    line: Vec<u8>,
    condenser: Option<Condenser>,
}

impl Growing {
    fn add(&mut self, part: &[u8]) {
        if let Some(condenser) = &mut self.condenser {
            condenser.add(part);
        } else if self.line.len() + part.len() > LONG_LINE {
            let mut condenser = Condenser::default();
            condenser.add(&std::mem::take(&mut self.line));
            condenser.add(part);
            self.condenser = Some(condenser);
        } else {
            self.line.extend_from_slice(part);
        }
    }

    /// The line, and whether it is as it was.
    fn finish(self) -> (Option<Vec<u8>>, bool) {
        match self.condenser {
            None => (Some(self.line), true),
            Some(condenser) => (condenser.finish(), false),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Every line of a file that holds these bytes, as batches give them, and whether each has its newline.
    fn lines(bytes: &[u8]) -> Vec<(Vec<u8>, bool)> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("written");
        std::io::Seek::rewind(&mut file).expect("rewound");
        let mut batches = LineReader::new(&file, bytes.len() as u64);
        let (mut found, mut buffer) = (Vec::new(), Vec::new());
        while let Some(batch) = batches.next(buffer).expect("readable") {
            match &batch {
                Batch::Lines(lines) => {
                    assert_eq!(lines.is_text, lines.each().all(|line| std::str::from_utf8(line).is_ok()));
                    found.extend(lines.each().map(|line| match line.strip_suffix(b"\n") {
                        Some(line) => (line.to_vec(), true),
                        None => (line.to_vec(), false),
                    }));
                }
                Batch::Long { line, .. } => found.push((line.text.clone().unwrap_or_default(), line.ended)),
            }
            buffer = batch.into_room();
        }
        found
    }

    #[test]
    fn lines_of_any_length_are_given_whole_and_in_order() {
        let lengths = [
            3,
            0,
            CARRY - 1,
            CARRY,
            CARRY + 1,
            CHUNK - 1,
            CHUNK,
            CHUNK + 1,
            5,
            CARRY + CHUNK,
            2 * CHUNK + 7,
            1,
            1,
            1,
            LONG_LINE - 1,
            9,
        ];
        for last_is_ended in [true, false] {
            let letters = b"abcdefghijklmnop\xff";
            let mut expected: Vec<_> = lengths
                .iter()
                .enumerate()
                .map(|(at, length)| (vec![letters[at % letters.len()]; *length], true))
                .collect();
            expected.push((b"the last one".to_vec(), last_is_ended));
            let mut bytes = Vec::new();
            for (line, ended) in &expected {
                bytes.extend_from_slice(line);
                bytes.extend(ended.then_some(b'\n'));
            }
            assert!(lines(&bytes) == expected, "{last_is_ended}");
        }
        assert_eq!(lines(b""), Vec::new());
        let growing = "a file that is longer than it was said to be\n".repeat(3_000);
        assert_eq!(lines(growing.as_bytes()).len(), 3_000);
    }

    #[test]
    fn lines_that_are_not_text_are_given_too() {
        let with = [&b"one\n\xff\xfe\ntwo\n"[..], "é".as_bytes()].concat();
        let expected = [&b"one"[..], b"\xff\xfe", b"two", "é".as_bytes()].map(<[u8]>::to_vec);
        assert_eq!(lines(&with).into_iter().map(|(line, _)| line).collect::<Vec<_>>(), expected);
    }
}
