//! Patterns of words that cost next to nothing to make: takes a regular expression as the `regex` crate writes them,
//! gives what it finds in short texts, the same as that crate would. Pure. Must not be used on texts of megabytes.
//!
//! A process of the hook lives for milliseconds and reads a page of prose. Making an automaton for each of a hundred
//! wordings takes longer than all of its other work, so these are walked as they are written: a list of instructions
//! and a backtracking walk, which remembers where it has been as soon as a text makes it wander.
//!
//! Known: literals, `.`, classes, `\d \w \s \S \b`, `^ $`, groups, alternatives, repetitions greedy and lazy, the
//! flags `i`, `m` and `-u` (which only matters to `\b`, `\w`, `\d` and `\s`). Anything else is an error.

mod class;
mod compile;
mod parse;
mod search;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use class::{Bytes, Class};

/// A pattern, ready to be looked for.
#[derive(Debug, Clone)]
pub struct Pattern {
    steps: Vec<Step>,
    classes: Vec<Class>,
    literals: String,
    /// For each switch, what it does by the next byte: 0 is nothing, else one more than the place in `ways`.
    switches: Vec<[u8; 256]>,
    /// The ways of all switches, as instructions.
    ways: Vec<usize>,
    /// The bytes that a match can begin with; `None` where it may be empty.
    first: Option<Box<Bytes>>,
    lead: Lead,
    groups: usize,
}

/// Where a match can begin at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lead {
    Anywhere,
    Text,
    Line,
}

/// One instruction; numbers are places in the list.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// These bytes of the literals.
    Literal {
        start: usize,
        end: usize,
    },
    /// A letter, in whatever case.
    Folded(char),
    /// A character of the class.
    One(usize),
    /// By the next byte: a switch's number, and where its ways begin.
    Switch {
        switch: usize,
        base: usize,
    },
    /// Both ways, the first one preferred.
    Split(usize, usize),
    Jump(usize),
    Look(Look),
    /// A group's start or end is here.
    Save(usize),
    Match,
}

/// What holds between two characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    TextStart,
    TextEnd,
    LineStart,
    LineEnd,
    Boundary,
    AsciiBoundary,
}

/// A text that is no pattern, or uses what is not known here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the pattern {pattern:?} can't be read at {at}: {why}")]
pub struct BadPattern {
    pattern: String,
    at: usize,
    why: &'static str,
}

/// Whether a text has one of these in whatever case. They are in lower case themselves.
pub fn has_any_folded(text: &str, wanted: &[&str]) -> bool {
    let lower: Cow<'_, str> = if text.is_ascii() {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Owned(text.chars().map(class::folded).collect())
    };
    wanted.iter().any(|wanted| lower.contains(wanted))
}

/// A match and its groups; group 0 is the whole.
pub type Groups = Vec<Option<Range<usize>>>;

impl Pattern {
    /// Reads a pattern.
    pub fn new(pattern: &str) -> Result<Self, BadPattern> {
        let (node, groups) = parse::parse(pattern)?;
        Ok(compile::compile(&node, groups))
    }

    /// A pattern that stands in our own source, and is tested there.
    ///
    /// # Panics
    /// Where it is none.
    #[expect(clippy::expect_used, reason = "every table of patterns is made whole in a test")]
    pub fn known(pattern: &str) -> Self {
        Self::new(pattern).expect("a valid pattern")
    }

    /// Whether it stands anywhere in the text.
    pub fn is_match(&self, text: &str) -> bool {
        search::search(self, text, 0, 0).is_some()
    }

    /// Where it stands first.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        self.find_at(text, 0)
    }

    /// Where it stands first at or behind a place. What is before the place still counts as what is around it.
    pub fn find_at(&self, text: &str, from: usize) -> Option<Range<usize>> {
        search::search(self, text, from, 1).and_then(|mut groups| groups.swap_remove(0))
    }

    /// The same with its groups.
    pub fn groups_at(&self, text: &str, from: usize) -> Option<Groups> {
        search::search(self, text, from, self.groups)
    }

    /// Where it stands first among places that may be its beginnings, with its groups, none upon another. The places
    /// are in order.
    pub fn groups_among<'a>(
        &'a self,
        text: &'a str,
        places: &'a [usize],
    ) -> impl Iterator<Item = Groups> + 'a {
        let mut left = places;
        std::iter::from_fn(move || {
            let (at, groups) = search::among(self, text, left, self.groups)?;
            let end = groups[0].as_ref().map_or(0, |whole| whole.end);
            let passed = left[at..].iter().take_while(|place| **place < end).count();
            left = &left[at + passed.max(1)..];
            Some(groups)
        })
    }

    /// Every place where it stands, from the start, none upon another.
    pub fn find_iter<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        self.groups_iter_of(text, 1).filter_map(|mut groups| groups.swap_remove(0))
    }

    /// The same with their groups.
    pub fn groups_iter<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Groups> + 'a {
        self.groups_iter_of(text, self.groups)
    }

    fn groups_iter_of<'a>(&'a self, text: &'a str, wanted: usize) -> impl Iterator<Item = Groups> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let groups = search::search(self, text, from, wanted)?;
            let whole = groups[0].clone()?;
            // A match of nothing must not be found for ever.
            from = if whole.is_empty() { text.ceil_char_boundary(whole.end + 1) } else { whole.end };
            if whole.is_empty() && whole.end == text.len() {
                from = text.len() + 1;
            }
            Some(groups)
        })
    }

    /// The text with every place where it stands replaced.
    pub fn replace_all<'a>(&self, text: &'a str, with: &str) -> Cow<'a, str> {
        let mut out = String::new();
        let mut done = 0;
        for found in self.find_iter(text) {
            out.push_str(&text[done..found.start]);
            out.push_str(with);
            done = found.end;
        }
        if done == 0 && out.is_empty() {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }
}
