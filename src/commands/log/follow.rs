//! `punchlist log --follow`: the newest decisions, then each one as it is written, until
//! interrupted. Misses none when the month changes, while a line is half written, or when a file is
//! pruned.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use super::{Context, Result, filter_of, output};
use crate::cli::log::ListArgs;
use crate::exit;
use crate::files::{inode_of, read_at};
use crate::log::filter::Filter;
use crate::log::query::Line;
use crate::log::{DecisionLog, Note};
use crate::private_file::{self, Access};
use crate::render::json;
use crate::render::listing::{Setting, listing};
use crate::text::is_harmless;

const EVERY: Duration = Duration::from_millis(200);
/// How many decisions are shown first, unless the person says otherwise.
const FIRST: usize = 10;

/// Runs the command, for as long as somebody reads.
pub(super) fn run(args: &ListArgs, context: &Context<'_>) -> Result {
    let filter = filter_of(&args.filter)?;
    let mut setting = context.list_setting();
    // Find the ends of the files first, so that what is written during the query is shown
    // afterwards.
    let mut tails = HashMap::new();
    new_lines(&mut tails, &context.log).map_err(|error| context.unreadable(&error))?;
    let newest = context.log.query(&filter, Some(args.last.unwrap_or(FIRST)));
    let newest = newest.map_err(|error| context.unreadable(&error))?.decisions;
    let mut shown: HashSet<String> = newest.iter().map(|annotated| annotated.decision.id.clone()).collect();
    let mut text = if args.json { json::lines(&newest) } else { listing(&newest, &setting) };
    setting.head = false;
    loop {
        if !text.is_empty() && !output::print_on(&text)? {
            return Ok(exit::OK);
        }
        sleep(EVERY);
        let new = new_lines(&mut tails, &context.log).map_err(|error| context.unreadable(&error))?;
        text = new_text(&String::from_utf8_lossy(&new), &filter, args.json, &setting, &mut shown);
    }
}

/// Returns what to print of new lines: decisions that match, and notes on decisions already shown.
fn new_text(
    new: &str,
    filter: &Filter,
    as_json: bool,
    setting: &Setting,
    shown: &mut HashSet<String>,
) -> String {
    let mut text = String::new();
    for line in new.lines() {
        match Line::parse(line) {
            Some(Line::Decision(new)) if filter.matches(&new) && shown.insert(new.decision.id.clone()) => {
                text += &if as_json { json::line(&new) } else { listing(&[*new], setting) };
            }
            Some(Line::Note(note)) if shown.contains(note.note.decision()) => {
                text += &if as_json { note.line } else { describe(&note.note) };
                text.push('\n');
            }
            _ => {}
        }
    }
    text
}

fn describe(note: &Note) -> String {
    let (finding, what, why) = match note {
        Note::Outcome(note) => {
            (Some(note.finding), note.outcome.name(), note.sentence.as_ref().or(note.why.as_ref()))
        }
        Note::Label(note) => (note.finding, note.label.name(), note.note.as_ref()),
    };
    let number = finding.map(|number| format!(".{number}")).unwrap_or_default();
    let why = why.map(|why| format!(": {}", why.split_whitespace().collect::<Vec<_>>().join(" ")));
    let words = format!("  {}{number} {what}{}", note.decision(), why.unwrap_or_default());
    words.replace(|letter: char| !is_harmless(letter), "\u{fffd}")
}

/// How far a file was read.
#[derive(Debug, Default, Clone)]
struct Tail {
    inode: u64,
    offset: u64,
    /// The last complete line that was read: `prune` replaces the file, and this line marks the
    /// position in the new one.
    last: Vec<u8>,
}

/// Returns the complete lines that were appended since the last call.
fn new_lines(tails: &mut HashMap<PathBuf, Tail>, log: &DecisionLog) -> io::Result<Vec<u8>> {
    let mut new = Vec::new();
    for path in log.files() {
        match tails.entry(path.clone()).or_default().read(&path, &mut new) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            taken => taken?,
        }
    }
    Ok(new)
}

impl Tail {
    fn read(&mut self, path: &Path, new: &mut Vec<u8>) -> io::Result<()> {
        let file = private_file::open(path, Access::Read)?;
        let meta = file.metadata()?;
        let is_replaced = self.inode != inode_of(&meta) && self.offset > 0;
        if is_replaced || meta.len() < self.offset {
            self.offset = self.offset_in(&read_at(&file, 0, meta.len())?);
        }
        self.inode = inode_of(&meta);
        if meta.len() == self.offset {
            return Ok(());
        }
        let text = read_at(&file, self.offset, meta.len() - self.offset)?;
        let whole = memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1);
        let text = &text[..whole];
        if let Some(last) =
            text.strip_suffix(b"\n").and_then(|text| text.split(|byte| *byte == b'\n').next_back())
        {
            self.last = last.to_vec();
        }
        self.offset += whole as u64;
        new.extend_from_slice(text);
        Ok(())
    }

    /// Returns the offset after the last line that was read, or 0 if the text does not have it.
    fn offset_in(&self, text: &[u8]) -> u64 {
        let found = memchr::memmem::rfind(text, &self.last).filter(|_| !self.last.is_empty());
        found.map_or(0, |at| (at + self.last.len() + 1).min(text.len()) as u64)
    }
}
