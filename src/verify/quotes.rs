//! Finds a quote in what was really written. Pure. A quote counts when its words are there, exactly or very
//! nearly; an invented one must not pass because it sounds alike. What marks a line (emphasis, boxes, numbers,
//! kinds of quotes) does not count, and what a quote leaves out (`…`) may be anything.

use crate::plan::{Plan, Step, StepKind};
use crate::words::{has_words, normalised, padded, ratio};

/// How alike a quote and its source must be when it is not there to the letter.
const NEARLY: f32 = 0.87;
/// A quote with fewer letters than this proves nothing unless it is all that was written.
const LEAST: usize = 6;

/// A quote, ready to be looked for: its parts in order, gaps between them.
struct Wanted {
    parts: Vec<String>,
    /// The last word is cut in its middle: "with the par…".
    is_cut: bool,
}

impl Wanted {
    fn new(quote: &str) -> Self {
        let quote = with_plain_gaps(quote);
        let end = quote.trim_end_matches(['"', '`', '”', '\'', ' ']);
        let is_cut = end.strip_suffix('…').is_some_and(|kept| kept.ends_with(char::is_alphanumeric));
        let parts: Vec<String> = quote
            .split('…')
            .map(|part| normalised(&unmarked(part)))
            .filter(|part| !part.is_empty())
            .collect();
        Self { parts, is_cut }
    }

    /// The whole of a quote without gaps.
    fn only(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether its parts, each long enough to prove something, stand in these words, in order.
    fn stands_in(&self, words: &str) -> bool {
        let source = padded(words);
        let mut rest = source.as_str();
        let last = self.parts.len().saturating_sub(1);
        !self.parts.is_empty()
            && self.parts.iter().enumerate().all(|(at, part)| {
                let part = if at == last && self.is_cut { format!(" {part}") } else { padded(part) };
                let found = rest.find(&part).filter(|_| part.trim().len() >= LEAST);
                // The space at a part's end is the next one's start.
                found.is_some_and(|found| {
                    rest = &rest[rest.floor_char_boundary(found + part.len() - 1)..];
                    true
                })
            })
    }
}

/// Every way of leaving something out as `…`.
fn with_plain_gaps(quote: &str) -> String {
    let mut text = quote.replace("[...]", "…").replace("(...)", "…").replace("...", "…");
    // Our own mark where a text was cut: `[… 120 bytes cut …]`.
    while let Some((before, rest)) = text.split_once("[…") {
        let Some((_, after)) = rest.split_once("…]") else { break };
        text = format!("{before}…{after}");
    }
    text
}

/// A text without what marks its lines: bullets, numbers, boxes, heading signs, quote signs.
fn unmarked(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(unmarked_line).collect();
    lines.join("\n")
}

fn unmarked_line(line: &str) -> &str {
    let mut rest = line.trim_start();
    loop {
        let before = rest;
        rest = rest.trim_start_matches(['#', '>', '|', '*', '-', '+', '•', '✅', '☑', '☐', '✔', ' ']);
        for mark in ["[x]", "[X]", "[ ]", "[~]", "[-]", "[completed]", "[pending]", "[in_progress]"] {
            rest = rest.strip_prefix(mark).unwrap_or(rest);
        }
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if (1..=3).contains(&digits) && rest[digits..].starts_with(['.', ')']) {
            rest = rest[digits + 1..].strip_prefix(' ').unwrap_or(rest);
        }
        if rest == before {
            return rest;
        }
    }
}

/// Whether `quote` stands in `source`: as a part of it, or nearly as one of its lines.
pub(super) fn stands_in(quote: &str, source: &str) -> bool {
    let wanted = Wanted::new(quote);
    if wanted.stands_in(&normalised(source)) || wanted.stands_in(&normalised(&unmarked(source))) {
        return true;
    }
    let Some(only) = wanted.only() else { return false };
    source.lines().any(|line| nearly(only, &normalised(unmarked_line(line))))
}

/// How much of a text is compared word by word: the cost grows with the square of it, and an auditor may quote
/// as much as it likes.
const COMPARED: usize = 2_000;

fn start(text: &str) -> &str {
    &text[..text.floor_char_boundary(COMPARED)]
}

fn nearly(one: &str, other: &str) -> bool {
    one == other
        || (one.len() >= LEAST
            && one.len().abs_diff(other.len()) * 4 <= one.len().max(other.len())
            && ratio(one, other) >= NEARLY
            && differs_in_little(start(one), start(other)))
}

/// Words that turn a sentence into its opposite.
const TURNS: &[&str] = &["cannot", "don", "never", "no", "not", "remove", "skip", "without"];

/// Whether what differs are letters and small words. Another name in the same sentence ("the lexer" for "the
/// parser") is another sentence, and so is its opposite.
fn differs_in_little(one: &str, other: &str) -> bool {
    let turned = |text: &str| TURNS.iter().map(|word| has_words(&padded(text), word)).collect::<Vec<_>>();
    let words: Vec<&str> = other.split(' ').collect();
    let is_known = |word: &str| {
        word.chars().count() < 4
            || words.contains(&word)
            || words.iter().any(|known| known.chars().count() > 3 && ratio(word, known) >= 0.75)
    };
    turned(one) == turned(other) && one.split(' ').all(is_known)
}

/// The step that a quote comes from: the one whose words it holds or is a part of, or in whose further lines
/// it stands.
pub fn step_of<'a>(quote: &str, plan: &'a Plan) -> Option<&'a Step> {
    let wanted = Wanted::new(quote);
    if wanted.parts.is_empty() {
        return None;
    }
    let only = wanted.only().unwrap_or_default();
    let steps: Vec<(&Step, String)> =
        plan.promised().map(|step| (step, normalised(&unmarked(&step.text)))).collect();
    let find =
        |fits: &dyn Fn(&str) -> bool| steps.iter().find(|(_, words)| fits(words)).map(|(step, _)| *step);
    let exact = || find(&|words| words == only);
    let part = || find(&|words| wanted.stands_in(words));
    // The longest: a quote of two lines holds the one above it, too.
    let whole = || {
        let held =
            steps.iter().filter(|(_, words)| words.len() >= LEAST && padded(only).contains(&padded(words)));
        held.max_by_key(|(_, words)| words.len()).map(|(step, _)| *step)
    };
    let near = || find(&|words| !only.is_empty() && nearly(only, words));
    exact().or_else(part).or_else(whole).or_else(near).or_else(|| step_with_line(&wanted, plan))
}

/// The step in whose further lines a quote stands: indented below an item, or anywhere below a heading.
fn step_with_line<'a>(wanted: &Wanted, plan: &'a Plan) -> Option<&'a Step> {
    let mut heading = 0;
    for (at, line) in plan.text.lines().enumerate().map(|(at, line)| (at + 1, line)) {
        if line.starts_with('#') {
            heading = at;
        }
        if !wanted.stands_in(&normalised(unmarked_line(line))) {
            continue;
        }
        let step = plan.steps.iter().rev().find(|step| step.line <= at)?;
        let is_below = match step.kind {
            StepKind::Heading => heading <= step.line,
            _ => line.starts_with([' ', '\t']) && heading < step.line,
        };
        return is_below.then_some(step);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_of_any_length_is_compared_in_no_time() {
        let one = "all work and no play ".repeat(20_000);
        let other = "no time for play at all ".repeat(18_000);
        assert!(!stands_in(&one, &other));
    }

    const SOURCE: &str = "1. **Create** `beta.txt` with the parser’s notes, the limits and _all_ known bugs";

    #[test]
    fn marks_gaps_and_kinds_of_quotes_do_not_count() {
        for quote in [
            "Create `beta.txt` with the parser's notes",
            "- [x] Create beta.txt with the parser's notes",
            "2) [ ] Create `beta.txt` with the parser's notes",
            "### Create beta.txt",
            "“Create beta.txt with the parser’s notes”",
            "Create `beta.txt` with the par…",
            "Create `beta.txt` with the parser's...",
            "Create `beta.txt` … all known bugs",
            "Create `beta.txt` with [… 12 bytes cut …] known bugs",
            "Create `beta.txt` with the parsers notes, the limits and all known bug",
        ] {
            assert!(stands_in(quote, SOURCE), "{quote}");
        }
    }

    #[test]
    fn what_was_never_written_is_not_found() {
        for quote in [
            "Create `gamma.txt` with the parser's notes",
            "Create `beta.txt` with the lexer’s notes, the limits and all known bugs",
            "Never create `beta.txt` with the parser’s notes, the limits and all known bugs",
            "all known bugs … Create `beta.txt`",
            "Create the rest …",
            "beta",
            "…",
            "",
            "x",
        ] {
            assert!(!stands_in(quote, SOURCE), "{quote}");
        }
    }
}
