//! The paths that a text names: a step, an ask, a task or the final message, in Markdown or plain.
//! Pure. Must not look at the disk: a named path need not exist.
//!
//! A wrong path causes a false "not found" and a missed one only a weaker check, so in doubt a word
//! is not a path. Whether a path is negated ("leave `a.rs` alone") is for a reader.

mod names;
mod paths;

use std::collections::HashMap;
use std::ops::Range;

use paths::Written;

/// A path that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The path as written, without a position in the file and without punctuation.
    pub path: String,
    /// Whether it is written as a path: in backticks or as a link's target, or with a separator and
    /// an extension. `and/or` in backticks, two words without an extension, is not.
    pub marked: bool,
}

/// Returns the paths that a text names, each once, in order. Fenced code and HTML comments name
/// nothing.
pub fn paths_named(text: &str) -> Vec<Named> {
    let mut found = Collector::default();
    for piece in pieces(text) {
        match piece {
            Piece::Code(code) => found.code(code),
            Piece::Prose(prose) => found.prose(prose),
        }
    }
    found.named
}

#[derive(Default)]
struct Collector {
    named: Vec<Named>,
    /// The index of each path in `named`.
    seen: HashMap<String, usize>,
}

impl Collector {
    fn path(&mut self, path: String, written: Written) {
        let is_pair = || path.split('/').count() == 2 && !paths::has_an_end(&path);
        let marked = paths::has_separator_and_extension(&path) || written != Written::Bare && !is_pair();
        if let Some(at) = self.seen.get(&path) {
            self.named[*at].marked |= marked;
        } else {
            self.seen.insert(path.clone(), self.named.len());
            self.named.push(Named { path, marked });
        }
    }

    /// A code span is one name, a list of paths, or code. Words of a command line are neither: its
    /// arguments may be anywhere and need not exist yet.
    fn code(&mut self, code: &str) {
        let words: Vec<&str> = words(code).filter(|word| !is_joint(word)).collect();
        let paths: Vec<Vec<String>> = words.iter().map(|word| paths::paths(word, Written::InCode)).collect();
        // `docs/my notes.md` is one file with a space in its name: if a word before the last does
        // not end like a path, no word can be taken for one.
        let is_list = paths
            .split_last()
            .is_some_and(|(_, before)| before.iter().flatten().all(|path| paths::has_an_end(path)));
        if is_list && paths.iter().all(|paths| !paths.is_empty()) {
            paths.into_iter().flatten().for_each(|path| self.path(path, Written::InCode));
        }
    }

    fn prose(&mut self, prose: &str) {
        let mut before = "";
        for (word, target) in prose.split_whitespace().flat_map(split_link) {
            if let Some(target) = target {
                for path in paths::paths(target, Written::InLink) {
                    self.path(path, Written::InLink);
                }
            }
            for word in words(word) {
                let paths = paths::paths(word, Written::Bare);
                if !paths.is_empty() && !names::HTTP_METHODS.contains(&before) {
                    for path in paths {
                        self.path(path, Written::Bare);
                    }
                }
                before = word;
            }
        }
    }
}

/// Splits a text into words as a reader sees them: paths contain no commas, arrows or quotes.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| match c {
        ',' | ';' | '|' | '"' => true,
        c if c.is_ascii() => c.is_whitespace(),
        c => c.is_whitespace() || names::SEPARATORS.contains(&c),
    };
    text.split(ends).filter(|word| !word.is_empty())
}

/// Returns whether a word joins paths in one code span: an arrow, or more line numbers of
/// `a.rs:3,14`.
fn is_joint(word: &str) -> bool {
    matches!(word, "->" | "=>" | "&" | "+") || word.bytes().all(|b| b.is_ascii_digit() || b == b'-')
}

/// Splits `[label](target)` into label and target, and what follows; any other word stays as it is.
/// A link's title is a separate word.
fn split_link(word: &str) -> [(&str, Option<&str>); 2] {
    // Hardly any word has a bracket, and looking for one is quick.
    let link = if word.contains(']') { word.split_once("](") } else { None };
    match link {
        Some((label, target)) => {
            let end = target.find(')').unwrap_or(target.len());
            let (target, rest) = target.split_at(end);
            [(label.trim_start_matches('['), Some(target)), (rest.trim_start_matches(')'), None)]
        }
        None => [(word, None), ("", None)],
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
        // Three or more backticks are a fence, whose content is an example rather than a mention.
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

/// Returns for each run the next one of the same length. One pass from the end, since a search per
/// run would be quadratic in a text full of them.
fn closers(runs: &[Range<usize>]) -> Vec<Option<usize>> {
    let mut next_of_length = HashMap::new();
    let mut closers = vec![None; runs.len()];
    for (index, run) in runs.iter().enumerate().rev() {
        closers[index] = next_of_length.insert(run.len(), index);
    }
    closers
}
