//! A step, a message or another short Markdown text -> the files and the symbols that it names, as
//! written, each once, in order. Must not look at the disk: what is named need not exist.
//!
//! A wrong path makes a false finding and a missed one only a weaker check, so doubt goes against.
//! Whether a mention is a denial ("do not touch `a.rs`") is for whoever reads it.

mod paths;
mod symbols;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use paths::Written;
use serde::{Deserialize, Serialize};

use crate::readings::{What, recall};

/// What a text names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mentions {
    /// Files and folders of a workspace, without line numbers and punctuation.
    pub paths: Vec<String>,
    /// Identifiers and flags in backticks; calls without their parentheses.
    pub symbols: Vec<String>,
}

/// Finds what `text` names. Fenced code and HTML comments name nothing.
pub fn mentions(text: &str) -> Mentions {
    let mut found = Collector::default();
    for piece in pieces(text) {
        match piece {
            Piece::Code(code) => found.code(code),
            Piece::Prose(prose) => found.prose(prose),
        }
    }
    found.mentions
}

/// The same for a text that was masked and is likely to be read again.
pub fn mentions_again(text: &str) -> Mentions {
    recall(What::Names, text, || mentions(text))
}

/// What all of these texts name, one below the other. Whatever stands by itself is read by itself, so that what was read
/// of it before counts.
pub fn mentions_of_all(texts: &[&str]) -> Mentions {
    let mut found = Collector::default();
    for text in texts {
        let Some(named) = recall(What::Mentions, text, || stands_by_itself(text).then(|| mentions(text)))
        else {
            return mentions(&texts.join("\n"));
        };
        named.paths.into_iter().for_each(|path| found.path(path));
        named.symbols.iter().for_each(|symbol| found.symbol(symbol));
    }
    found.mentions
}

/// Whether a text means the same whatever text stands before or behind it: nothing in it is open at its end, and no word
/// there is one that counts for the next.
fn stands_by_itself(text: &str) -> bool {
    let runs = backtick_runs(text);
    let closers = closers(&runs);
    let mut next = 0;
    while next < runs.len() {
        match closers[next] {
            Some(close) => next = close + 1,
            None => return false,
        }
    }
    let opens_method = text.split_whitespace().next_back().is_some_and(|last| {
        last.contains("](") || words(last).last().is_none_or(|word| tables::HTTP_METHODS.contains(&word))
    });
    !text.contains("<!--") && !opens_method
}

/// Whether what was found as a path can't be something else: by its ending, or by a slash behind it.
/// `acme/widgets` and `api/users` are a repository and a route as often as they are folders.
pub fn is_surely_a_path(path: &str) -> bool {
    paths::has_an_end(path)
}

#[derive(Default)]
struct Collector {
    mentions: Mentions,
    seen: HashSet<String>,
}

impl Collector {
    fn path(&mut self, path: String) {
        if !self.seen.contains(&path) {
            self.seen.insert(path.clone());
            self.mentions.paths.push(path);
        }
    }

    fn symbol(&mut self, symbol: &str) {
        if self.seen.insert(symbol.to_owned()) {
            self.mentions.symbols.push(symbol.to_owned());
        }
    }

    /// A code span is one name, a list of paths, or code. Words of a command line are neither: its
    /// arguments may lie anywhere and may not exist yet.
    fn code(&mut self, code: &str) {
        let words: Vec<&str> = words(code).filter(|word| !is_joint(word)).collect();
        let paths: Vec<Vec<String>> = words.iter().map(|word| paths::paths(word, Written::InCode)).collect();
        // `docs/my notes.md` is one file with a space in its name: where a word before the last does not end
        // like a path, no word can be taken for one.
        let is_list = paths
            .split_last()
            .is_some_and(|(_, before)| before.iter().flatten().all(|path| paths::has_an_end(path)));
        if is_list && paths.iter().all(|paths| !paths.is_empty()) {
            paths.into_iter().flatten().for_each(|path| self.path(path));
        } else if let Some(symbol) = symbols::symbol(code.trim()) {
            self.symbol(symbol);
        }
    }

    fn prose(&mut self, prose: &str) {
        let mut before = "";
        for (word, target) in prose.split_whitespace().flat_map(split_link) {
            if let Some(target) = target {
                for path in paths::paths(target, Written::InLink) {
                    self.path(path);
                }
            }
            for word in words(word) {
                if !tables::HTTP_METHODS.contains(&before) {
                    for path in paths::paths(word, Written::Bare) {
                        self.path(path);
                    }
                }
                before = word;
            }
        }
    }
}

/// Words as a reader sees them: paths hold no commas, arrows or quotes.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| match c {
        ',' | ';' | '|' | '"' => true,
        c if c.is_ascii() => c.is_whitespace(),
        c => c.is_whitespace() || tables::SEPARATORS.contains(&c),
    };
    text.split(ends).filter(|word| !word.is_empty())
}

/// What stands between paths in one code span: an arrow, or more lines of `a.rs:3,14`.
fn is_joint(word: &str) -> bool {
    matches!(word, "->" | "=>" | "and" | "or" | "&" | "+")
        || word.bytes().all(|b| b.is_ascii_digit() || b == b'-')
}

/// `[label](target)` as label and target; any other word as it is. A link's title, if it has one,
/// is another word.
fn split_link(word: &str) -> Vec<(&str, Option<&str>)> {
    match word.split_once("](") {
        Some((label, target)) => {
            let end = target.find(')').unwrap_or(target.len());
            let (target, rest) = target.split_at(end);
            vec![(label.trim_start_matches('['), Some(target)), (rest.trim_start_matches(')'), None)]
        }
        None => vec![(word, None)],
    }
}

enum Piece<'a> {
    Code(&'a str),
    Prose(&'a str),
}

/// Splits a text at its code spans, the way `CommonMark` pairs runs of backticks.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let runs = backtick_runs(text);
    let closers = closers(&runs);
    let mut pieces = Vec::new();
    let (mut done, mut next) = (0, 0);
    while let Some(open) = runs.get(next) {
        let Some(close) = closers[next] else {
            next += 1;
            continue;
        };
        pieces.extend(prose_pieces(&text[done..open.start]));
        // Three or more backticks are a fence, whose content is an example and no mention.
        if open.len() < 3 {
            pieces.push(Piece::Code(&text[open.end..runs[close].start]));
        }
        done = runs[close].end;
        next = close + 1;
    }
    pieces.extend(prose_pieces(&text[done..]));
    pieces
}

fn prose_pieces(mut prose: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    while let Some((before, comment)) = prose.split_once("<!--") {
        pieces.push(Piece::Prose(before));
        prose = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    pieces.push(Piece::Prose(prose));
    pieces
}

fn backtick_runs(text: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices('`') {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// For each run the next one of the same length. One walk from the end, since a search per run
/// would be quadratic in a text full of them.
fn closers(runs: &[Range<usize>]) -> Vec<Option<usize>> {
    // One and two backticks are the rule, and need no map.
    let mut next_of_short = [None; 3];
    let mut next_of_length = HashMap::new();
    let mut closers = vec![None; runs.len()];
    for (index, run) in runs.iter().enumerate().rev() {
        closers[index] = match next_of_short.get_mut(run.len()) {
            Some(next) => next.replace(index),
            None => next_of_length.insert(run.len(), index),
        };
    }
    closers
}
