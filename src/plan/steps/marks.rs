//! A step's words -> its mark, and the words without the box that carried it.
//! Must not take a word in the middle for a mark: "handle skipped tests" is work to do. A mark
//! stands at the start or at the end, in brackets, in emphasis, or behind a dash or a colon.

use std::sync::LazyLock;

use super::{Mark, titles};
use crate::pattern::{Pattern, has_any_folded};

/// A step's words, read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Marked<'a> {
    pub mark: Mark,
    /// Whether the mark was a box to tick, rather than a sign or a word.
    pub boxed: bool,
    pub text: &'a str,
}

/// The box in brackets, by what is in it.
const BRACKETS: &[(&str, Mark)] = &[
    ("[ ]", Mark::Open),
    ("[]", Mark::Open),
    ("[x]", Mark::Ticked),
    ("[X]", Mark::Ticked),
    ("[✓]", Mark::Ticked),
    ("[✔]", Mark::Ticked),
    ("[✅]", Mark::Ticked),
    ("[/]", Mark::Open),
    ("[-]", Mark::Abandoned),
    ("[~]", Mark::Abandoned),
    ("[>]", Mark::Abandoned),
];
const BOXES: &[(char, Mark)] = &[
    ('☐', Mark::Open),
    ('⬜', Mark::Open),
    ('🔲', Mark::Open),
    ('☑', Mark::Ticked),
    ('☒', Mark::Ticked),
    ('🗹', Mark::Ticked),
];
/// A cross says that something is missing, not that it was given up.
const SIGNS: &[(char, Mark)] = &[
    ('✅', Mark::Ticked),
    ('✔', Mark::Ticked),
    ('✓', Mark::Ticked),
    ('❌', Mark::Open),
    ('✗', Mark::Open),
    ('✘', Mark::Open),
    ('⏳', Mark::Open),
    ('🚧', Mark::Open),
    ('🔄', Mark::Open),
    ('⏭', Mark::Abandoned),
];

pub(super) fn of_item(words: &str) -> Marked<'_> {
    let opened = opening(words);
    let mark = match opened.mark {
        _ if is_abandoned(opened.text) => Mark::Abandoned,
        Mark::None if is_done(opened.text) => Mark::Ticked,
        mark => mark,
    };
    Marked { mark, ..opened }
}

/// Headings also carry their mark behind the label (`3. ✅ …`) and at the end (`Phase 1: … ✅`).
pub(super) fn of_heading(words: &str) -> Marked<'_> {
    let mut marked = of_item(words);
    let title = titles::title(marked.text).unwrap_or(marked.text);
    if is_abandoned(title) {
        marked.mark = Mark::Abandoned;
    }
    if marked.mark == Mark::None {
        let ending = title
            .trim_end_matches(['\u{fe0f}', ' '])
            .chars()
            .next_back()
            .and_then(|last| look_up(BOXES, last).or(look_up(SIGNS, last)));
        marked.mark = match opening(title).mark {
            Mark::None => ending.unwrap_or(Mark::None),
            mark => mark,
        };
    }
    marked
}

/// A table row counts only with a checkbox in a cell of its own: ticks and crosses fill tables that
/// compare things. The box goes from the text where it is the first or the last cell.
pub(super) fn of_row(words: &str) -> Option<Marked<'_>> {
    let row = words.trim().trim_start_matches('|');
    let row = row.strip_suffix('|').unwrap_or(row).trim();
    let cell_mark = |cell: &str| {
        let opened = opening(cell.trim());
        (opened.boxed && opened.text.is_empty()).then_some(opened.mark)
    };
    let mark = row.split('|').find_map(cell_mark)?;
    let mut text = row;
    if let Some((first, rest)) = text.split_once('|')
        && cell_mark(first).is_some()
    {
        text = rest;
    }
    if let Some((rest, last)) = text.rsplit_once('|')
        && cell_mark(last).is_some()
    {
        text = rest;
    }
    let text = text.trim();
    let abandoned = text.split('|').any(|cell| is_abandoned(cell.trim()));
    Some(Marked { mark: if abandoned { Mark::Abandoned } else { mark }, boxed: true, text })
}

/// A heading without its marks, and whether one was a box, which makes it a step whatever its words.
pub(super) fn without_box(words: &str) -> (&str, bool) {
    let opened = opening(words);
    (opened.text, opened.boxed)
}

/// The marks that a text opens with; the first of several counts.
fn opening(words: &str) -> Marked<'_> {
    let mut marked = Marked { mark: Mark::None, boxed: false, text: words.trim() };
    while let Some((mark, boxed, rest)) = one_mark(marked.text) {
        if marked.mark == Mark::None {
            marked.mark = mark;
        }
        marked.boxed |= boxed;
        marked.text = rest.trim_start();
    }
    marked
}

fn one_mark(text: &str) -> Option<(Mark, bool, &str)> {
    for (bracket, mark) in BRACKETS {
        if let Some(rest) = text.strip_prefix(bracket) {
            // `[x](…)` and `[x]: …` are links.
            let apart = rest.is_empty() || rest.starts_with(char::is_whitespace);
            return apart.then_some((*mark, true, rest));
        }
    }
    let first = text.chars().next()?;
    let rest = text[first.len_utf8()..].trim_start_matches('\u{fe0f}');
    let boxed = look_up(BOXES, first);
    let mark = boxed.or(look_up(SIGNS, first))?;
    Some((mark, boxed.is_some(), rest))
}

fn look_up(table: &[(char, Mark)], sign: char) -> Option<Mark> {
    table.iter().find(|(c, _)| *c == sign).map(|(_, mark)| *mark)
}

macro_rules! given_up {
    () => {
        r"(?:abandoned|skipped|won['’]?t[ -]do|won['’]?t[ -]fix|wontfix|dropped|deferred|postponed|n/a|not applicable|cancell?ed|descoped)"
    };
}
/// Words that give a reason as often as a state ("Remove `a` — no longer needed"), and so count only
/// at the start.
macro_rules! needless {
    () => {
        r"|obsolete|superseded|no longer needed|not needed"
    };
}
/// What may follow the word: its reason, but no condition ("skipped if offline") and no object.
macro_rules! reason {
    () => {
        r"(?:[*_]*\s*(?:[.:;)\]–—]|,|\s-\s|\([^()]*\)[\s.]*$|$)|[*_]*\s+(?:because|since|as|by|per|to|until|till|due|for now|in favou?r|after)\b)"
    };
}

static GIVEN_UP: LazyLock<[Pattern; 5]> = LazyLock::new(|| {
    [
        // `[skipped] …`, `(deferred to v2) …` at the start.
        concat!(r"(?i)^[*_]*[\[(]\s*(?:", given_up!(), needless!(), r"|skip)", reason!()),
        // `Skipped: …`, `ABANDONED — …`, `SKIPPED …` at the start.
        concat!(r"(?i)^[*_]*(?:", given_up!(), needless!(), r")[*_]*\s*(?::|–|—|-\s)"),
        r"^[*_]*(?:ABANDONED|SKIPPED|DROPPED|DEFERRED|CANCELL?ED|WONTFIX|OBSOLETE|SUPERSEDED|N/A)\b",
        // `… (skipped, too slow)`, `… **deferred**` at the end.
        concat!(
            r"(?i)(?:[\[(][*_\s]*(?:", given_up!(), r"|skip)", reason!(), r"[^()\[\]]*[\])]?",
            r"|\s(?:\*\*?|__?)", given_up!(), r"(?:\*\*?|__?))[\s.*_]*$",
        ),
        // `… — abandoned: reason`, `… - skipped`, `…: won't do`. A comma starts a list of words.
        concat!(
            r"(?i)(?:\s--?\s+|\s*[–—]\s*|:\s+)[*_]*", given_up!(),
            r"[*_]*(?:\s*[.:;–—]|\s-\s|[\s.*_]*$|\s*\([^()]*\)[\s.]*$|\s+(?:because|since|as|by|per|to|until|till|due|for now|in favou?r|after)\b)",
        ),
    ]
    .map(Pattern::known)
});

static DONE: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::known(concat!(
        r"^[\[(](?i:done|completed?|finished)[\])]|^(?:DONE|COMPLETED?)\s*[:–—-]",
        r"|[\[(](?i:done|completed?|finished)[\])][\s.*_]*$|\s[–—-]+\s*(?:DONE|COMPLETED?)[\s.*_]*$",
        // Struck through and ticked off is done.
        r"|^~~[^~]*~~\s*[✅✔☑✓]",
    ))
});

/// What every mark of a step that was done has, and what one of a step that was given up has. Most steps have neither.
const DONE_STEMS: &[&str] = &["done", "complete", "finished", "~~"];
const GIVEN_UP_STEMS: &[&str] = &[
    "abandoned", "skip", "won", "dropped", "deferred", "postponed", "n/a", "not ", "cancel", "descoped",
    "obsolete", "superseded", "no longer",
];

fn is_done(text: &str) -> bool {
    has_any_folded(text, DONE_STEMS) && DONE.is_match(text)
}

fn is_abandoned(text: &str) -> bool {
    is_struck(text)
        || has_any_folded(text, GIVEN_UP_STEMS) && GIVEN_UP.iter().any(|pattern| pattern.is_match(text))
}

/// Struck from its first word on, and nothing after it but a note. `~~Use a~~ Use b` is an edit of
/// a step that is still there.
fn is_struck(text: &str) -> bool {
    let mut rest = text.trim_start_matches(['*', '_', ' ']);
    let mut struck = false;
    while let Some((inside, after)) = rest.strip_prefix("~~").and_then(|rest| rest.split_once("~~")) {
        if inside.trim().is_empty() {
            return false;
        }
        struck = true;
        rest = after.trim_start_matches(['*', '_', ' ', '.']);
    }
    struck && (rest.is_empty() || rest.starts_with(['(', '[', ':', '-', '–', '—', '→']))
}
