//! Takes the parts of rows, writes lines to a file in bounded memory, and bends them on the way
//! where odd shapes are asked for: none of them changes what a careful reader finds.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::chance::Chance;

/// Shapes that the newest client does not write, and others do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct Odd {
    /// Spaces after colons and commas.
    pub(crate) spaced: bool,
    /// The keys of a row in any order.
    pub(crate) shuffled: bool,
    /// The first half of a row, now and then, on a line before it.
    pub(crate) torn: bool,
    /// Two objects on a line, now and then.
    pub(crate) paired: bool,
    /// The same row twice, now and then.
    pub(crate) repeated: bool,
    /// One line of this many bytes, in the middle.
    pub(crate) long_line: usize,
}

/// How much is held before it is written.
const HELD: usize = 1 << 20;

/// The keys of one row, in groups that stay together.
#[derive(Debug, Default)]
pub(crate) struct Row {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Row {
    /// Starts over.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Adds a group of keys: `"a":1,"b":2`. A group that is left empty is none.
    pub(crate) fn group(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.text.len();
        write(&mut self.text);
        if self.text.len() > before {
            self.ends.push(self.text.len());
        }
    }
}

/// A transcript that is being written.
#[derive(Debug)]
pub(crate) struct Sink {
    file: File,
    held: Vec<u8>,
    odd: Odd,
    chance: Chance,
    line: Vec<u8>,
    at_line_start: bool,
    /// Bytes so far.
    pub(crate) written: u64,
    /// Newlines so far.
    pub(crate) lines: usize,
    /// Torn lines so far.
    pub(crate) torn: usize,
}

impl Sink {
    /// Writes to a file, in place of what it holds, or behind it.
    pub(crate) fn open(path: &Path, appending: bool, odd: Odd, seed: u64) -> io::Result<Self> {
        let mut options = File::options();
        let options =
            if appending { options.append(true) } else { options.write(true).create(true).truncate(true) };
        Ok(Self {
            file: options.open(path)?,
            held: Vec::with_capacity(HELD + (HELD >> 1)),
            odd,
            chance: Chance::new(seed ^ 0x6f64_6421),
            line: Vec::new(),
            at_line_start: true,
            written: 0,
            lines: 0,
            torn: 0,
        })
    }

    /// Writes a row. One that `matters` is of a kind that is read.
    pub(crate) fn write(&mut self, row: &Row, matters: bool) -> io::Result<()> {
        self.line.clear();
        let count = row.ends.len();
        let turned = if self.odd.shuffled { self.chance.below(count) } else { 0 };
        for index in 0..count {
            let at = (index + turned) % count;
            let start = if at == 0 { 0 } else { row.ends[at - 1] };
            self.line.push(if index == 0 { b'{' } else { b',' });
            self.line.extend_from_slice(&row.text[start..row.ends[at]]);
        }
        self.line.push(b'}');
        if self.odd.spaced {
            self.line = spaced(&self.line);
        }
        if self.odd.torn && matters && self.at_line_start && self.chance.happens(20) {
            self.tear();
        }
        let line = std::mem::take(&mut self.line);
        self.put(&line);
        if self.odd.repeated && matters && self.chance.happens(20) {
            self.end_line();
            self.put(&line);
        }
        self.line = line;
        if self.odd.paired && self.chance.happens(30) {
            self.at_line_start = false;
        } else {
            self.end_line();
        }
        if self.held.len() >= HELD { self.flush() } else { Ok(()) }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        self.written += bytes.len() as u64;
    }

    fn end_line(&mut self) {
        self.put(b"\n");
        self.lines += 1;
        self.at_line_start = true;
    }

    /// The first half of the line, cut between two characters.
    fn tear(&mut self) {
        let mut half = self.line.len() / 2;
        while self.line[half] & 0xc0 == 0x80 {
            half -= 1;
        }
        let half = self.line[..half].to_vec();
        self.put(&half);
        self.end_line();
        self.torn += 1;
    }

    /// Writes what is held.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.held)?;
        self.held.clear();
        Ok(())
    }

    /// Ends the file.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if !self.at_line_start {
            self.end_line();
        }
        self.flush()
    }
}

/// The same JSON with a space after every colon and comma that is not in a string.
fn spaced(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len() + line.len() / 8);
    let (mut in_string, mut escaped) = (false, false);
    for byte in line {
        out.push(*byte);
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b':' | b',' if !in_string => out.push(b' '),
            _ => {}
        }
    }
    out
}
