//! `punchlist log --follow`: the newest decisions, and then each as it is written down, until somebody interrupts. Must not
//! miss one at the turn of a month, nor while a line is half written, nor when old lines are taken out of a file.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use super::{Desk, Refusal, choice, out};
use crate::cli::log::ListArgs;
use crate::files::{inode_of, read_at};
use crate::log::filter::Filter;
use crate::log::reader::{Lines, Pages};
use crate::log::seen::Seen;
use crate::log::summary::{Line, Noted};
use crate::log::{DecisionLog, Note};
use crate::render::json;
use crate::render::listing::{Setting, listing};

/// How often is looked.
const EVERY: Duration = Duration::from_millis(200);
/// How many are shown first where nobody says.
const FIRST: usize = 10;

/// Runs it, for as long as somebody reads.
pub(super) fn run(args: &ListArgs, desk: &Desk<'_>) -> Result<(), Refusal> {
    let now = choice::now();
    let filter = choice::filter(&args.filter, &now)?;
    let width = out::width();
    let setting = Setting { zone: now.time_zone().clone(), width, head: false, colours: out::colours() };
    // Where each file ends is found out first: what comes while the newest are looked up is shown then.
    let mut tails = Tails::default();
    tails.begin(&desk.log).map_err(|error| desk.unreadable(&error))?;
    let mut shown = HashSet::new();
    {
        let pages = Pages::of(&desk.log);
        let look = pages.look(&filter, Some(args.last.unwrap_or(FIRST)), Lines::Wanted);
        let look = look.map_err(|error| desk.unreadable(&error))?;
        shown.extend(look.seen.iter().map(|seen| seen.glance.id.to_string()));
        let setting = Setting { head: width.is_some(), ..setting.clone() };
        let mut text = Vec::new();
        if args.json {
            look.seen.iter().for_each(|seen| json::write_line(&mut text, seen));
        } else {
            text = listing(&look.seen, &setting).into_bytes();
        }
        if !out::print_on(&text)? {
            return Ok(());
        }
    }
    loop {
        sleep(EVERY);
        let new = tails.new_lines(&desk.log).map_err(|error| desk.unreadable(&error))?;
        let text = said(&new, &filter, args.json, &setting, &mut shown);
        if !text.is_empty() && !out::print_on(&text)? {
            return Ok(());
        }
    }
}

/// What is to be printed of new lines: decisions that are meant, and what is said of those that were shown.
fn said(new: &[u8], filter: &Filter, json: bool, setting: &Setting, shown: &mut HashSet<String>) -> Vec<u8> {
    let mut text = Vec::new();
    for line in new.split(|byte| *byte == b'\n') {
        match Line::of(line) {
            Some(Line::Decision(glance)) => {
                let seen = Seen::new(glance, Vec::new());
                if filter.takes(&seen) && shown.insert(seen.glance.id.to_string()) {
                    if json {
                        json::write_line(&mut text, &seen);
                    } else {
                        text.extend_from_slice(listing(&[seen], setting).as_bytes());
                    }
                }
            }
            Some(Line::Note(noted)) if shown.contains(noted.of()) => {
                if json {
                    text.extend_from_slice(noted.line);
                } else {
                    text.extend_from_slice(in_words(&noted).as_bytes());
                }
                text.push(b'\n');
            }
            _ => {}
        }
    }
    text
}

fn in_words(noted: &Noted<'_>) -> String {
    let mut text = String::from("  ");
    let (of, what, why) = match &noted.note {
        Note::Outcome(note) => {
            let why = note.sentence.as_ref().or(note.why.as_ref());
            (format!("{}.{}", note.of, note.finding), note.outcome.name(), why)
        }
        Note::Label(note) => {
            let number = note.finding.map(|number| format!(".{number}")).unwrap_or_default();
            (format!("{}{number}", note.of), note.label.name(), note.note.as_ref())
        }
    };
    let why = why.map(|why| format!(": {}", why.split_whitespace().collect::<Vec<_>>().join(" ")));
    crate::render::listing::push_clean(&mut text, &format!("{of} {what}{}", why.unwrap_or_default()));
    text
}

/// How far each file was read.
#[derive(Debug, Default)]
struct Tails(HashMap<PathBuf, Tail>);

#[derive(Debug, Default, Clone)]
struct Tail {
    inode: u64,
    read: u64,
    /// The last whole line that was read, to find the place again in a file that was put in this one's place.
    last: Vec<u8>,
}

impl Tails {
    /// Begins at the end of what is there.
    fn begin(&mut self, log: &DecisionLog) -> io::Result<()> {
        self.new_lines(log).map(drop)
    }

    /// What was appended since, as far as its lines are whole.
    fn new_lines(&mut self, log: &DecisionLog) -> io::Result<Vec<u8>> {
        let mut new = Vec::new();
        for path in log.files() {
            let tail = self.0.entry(path.clone()).or_default();
            match tail.take(&path, &mut new) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                taken => taken?,
            }
        }
        Ok(new)
    }
}

impl Tail {
    fn take(&mut self, path: &Path, new: &mut Vec<u8>) -> io::Result<()> {
        let file = File::open(path)?;
        let meta = file.metadata()?;
        let is_another = self.inode != inode_of(&meta) && self.read > 0;
        if is_another || meta.len() < self.read {
            self.read = self.place_in(&read_at(&file, 0, meta.len())?);
        }
        self.inode = inode_of(&meta);
        if meta.len() == self.read {
            return Ok(());
        }
        let text = read_at(&file, self.read, meta.len() - self.read)?;
        let whole = memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1);
        let text = &text[..whole];
        if let Some(last) =
            text.strip_suffix(b"\n").and_then(|text| text.split(|byte| *byte == b'\n').next_back())
        {
            self.last = last.to_vec();
        }
        self.read += whole as u64;
        new.extend_from_slice(text);
        Ok(())
    }

    /// Behind the last line that was read, where that stands in the text; else at its start.
    fn place_in(&self, text: &[u8]) -> u64 {
        let found = memchr::memmem::rfind(text, &self.last).filter(|_| !self.last.is_empty());
        found.map_or(0, |at| (at + self.last.len() + 1).min(text.len()) as u64)
    }
}
