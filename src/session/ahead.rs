//! Takes the lines of a batch, gives each one's row as far as it can be read before its turn comes, on whatever thread:
//! not the row itself but the places of what it holds, which can be handed on. Pure.
//!
//! What does not matter in a row is told by the calls that stood in the lines before. The ledger, which knows all of
//! them, has to agree with what was left out, or the line is read again.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::client::json_scan::Raw;
use crate::client::row;
use crate::client::row::{Block, Content, Field, LeftOut, Message, Row, RowNeeds};
use crate::session::builder::Tool;
use crate::session::seen_ids::AsItIs;

/// How many calls are remembered at the most; who forgets one reads its result in vain.
const MOST_CALLS: usize = 4_096;

/// Reads lines before their turn.
#[derive(Debug, Default)]
pub struct Reader {
    knows_frame: bool,
    calls: HashMap<u64, Tool, BuildHasherDefault<AsItIs>>,
}

impl Reader {
    /// Reads lines, which are text. `knows_frame` says whether what stands around every row is known by now; `places` is
    /// room that may be used.
    pub fn read<'a>(
        &mut self,
        lines: impl Iterator<Item = &'a [u8]>,
        knows_frame: bool,
        mut places: Places,
    ) -> Places {
        self.knows_frame = knows_frame;
        places.0.clear();
        for line in lines {
            // A last line that has no end may still be being written.
            let row =
                if line.ends_with(b"\n") { row::lone_row(row::without_padding(line).0, self) } else { None };
            if let Some(row) = &row {
                self.note_calls(row);
            }
            places.add(row);
        }
        places
    }

    fn note_calls(&mut self, row: &Row<'_>) {
        for block in row.blocks().iter().filter(|block| block.kind.is("tool_use")) {
            if let (Some(id), Some(name)) = (block.id.hash(), block.name.text()) {
                if self.calls.len() >= MOST_CALLS {
                    self.calls.clear();
                }
                self.calls.insert(id, Tool::named(&name));
            }
        }
    }
}

impl RowNeeds for Reader {
    fn is_idle_result(&self, call: Field<'_>) -> bool {
        call.hash().and_then(|call| self.calls.get(&call)).is_some_and(|tool| tool.is_idle())
    }

    fn has_enough(&self, row: &Row<'_>) -> bool {
        self.knows_frame && row.is_of_results(|call| self.calls.get(&call) != Some(&Tool::Plan))
    }
}

/// Where everything stands in the rows of some lines: for each line what there is, in bits, and then the place of each,
/// from the line's first byte that is no padding.
#[derive(Debug, Default)]
pub struct Places(Vec<u32>);

/// What a line's first number says besides the fields that are there: that it is read, what was left out, and what its
/// message is.
const READ: u32 = 1 << 31;
const NO_RESULT: u32 = 1 << 30;
const NO_REST: u32 = 1 << 29;
const HAS_TEXT: u32 = 1 << 28;
const HAS_BLOCKS: u32 = 1 << 27;

impl Places {
    fn add(&mut self, row: Option<Row<'_>>) {
        let Some(mut row) = row else {
            self.0.push(0);
            return;
        };
        let head = self.0.len();
        self.0.push(0);
        let mut bits = READ | self.add_fields(|each| row.each_field(each));
        let LeftOut { result, rest } = row.left_out;
        for (bit, is_set) in [(NO_RESULT, result), (NO_REST, rest)] {
            bits |= if is_set { bit } else { 0 };
        }
        match &mut row.message {
            None => {}
            Some(Message { id, content: Content::Text(text) }) => {
                bits |= HAS_TEXT;
                self.add_parts(|each| {
                    each(id);
                    each(&mut Field::of(*text));
                });
            }
            Some(Message { id, content: Content::Blocks(blocks) }) => {
                bits |= HAS_BLOCKS;
                self.add_parts(|each| each(id));
                self.0.push(number(blocks.len()));
                for block in blocks {
                    self.add_parts(|each| block.each_field(each));
                }
            }
        }
        self.0[head] = bits;
    }

    /// Fields with their bits before them.
    fn add_parts<'a>(&mut self, fields: impl FnOnce(&mut dyn FnMut(&mut Field<'a>))) {
        let head = self.0.len();
        self.0.push(0);
        self.0[head] = self.add_fields(fields);
    }

    /// The places of the fields that are there; gives which those are, in bits.
    fn add_fields<'a>(&mut self, fields: impl FnOnce(&mut dyn FnMut(&mut Field<'a>))) -> u32 {
        let (mut bits, mut bit) = (0, 1);
        fields(&mut |field| {
            if let Some(raw) = field.raw() {
                bits |= bit;
                self.0.extend([number(raw.at()), number(raw.json().len())]);
            }
            bit <<= 1;
        });
        bits
    }

    /// The rows, line by line.
    pub fn rows(&self) -> Rows<'_> {
        Rows(self.0.iter())
    }
}

/// A place in a line: a batch is never as long as that.
fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// The rows of some lines.
#[derive(Debug)]
pub struct Rows<'p>(std::slice::Iter<'p, u32>);

impl Rows<'_> {
    /// The row of the next line, which is given without its padding; `None` when it has to be read now.
    pub fn next<'a>(&mut self, line: &'a [u8]) -> Option<Row<'a>> {
        let bits = self.number().filter(|bits| bits & READ != 0)?;
        let left_out = LeftOut { result: bits & NO_RESULT != 0, rest: bits & NO_REST != 0 };
        let mut row = Row { left_out, ..Row::default() };
        self.fields(bits, line, |each| row.each_field(each));
        if bits & HAS_TEXT != 0 {
            let (mut id, mut text) = (Field::default(), Field::default());
            self.parts(line, |each| {
                each(&mut id);
                each(&mut text);
            });
            row.message = Some(Message { id, content: Content::of(text) });
        } else if bits & HAS_BLOCKS != 0 {
            let mut id = Field::default();
            self.parts(line, |each| each(&mut id));
            let count = self.number().unwrap_or_default();
            let blocks = (0..count).map(|_| {
                let mut block = Block::default();
                self.parts(line, |each| block.each_field(each));
                block
            });
            row.message = Some(Message { id, content: Content::Blocks(blocks.collect()) });
        }
        Some(row)
    }

    fn number(&mut self) -> Option<u32> {
        self.0.next().copied()
    }

    fn parts<'a>(&mut self, line: &'a [u8], fields: impl FnOnce(&mut dyn FnMut(&mut Field<'a>))) {
        let bits = self.number().unwrap_or_default();
        self.fields(bits, line, fields);
    }

    fn fields<'a>(&mut self, bits: u32, line: &'a [u8], fields: impl FnOnce(&mut dyn FnMut(&mut Field<'a>))) {
        let mut bits = bits;
        fields(&mut |field| {
            if bits & 1 != 0
                && let (Some(at), Some(length)) = (self.number(), self.number())
                && let Some(raw) = Raw::at_place(line, at as usize, length as usize)
            {
                *field = Field::of(raw);
            }
            bits >>= 1;
        });
    }
}
