//! The mark of a step, by symbols only, and its text without the box that has it. Must not read
//! words: whether "(skipped)" takes a step back is for a reader.

use super::{Mark, headings};

/// A step's text and its mark.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Marked<'a> {
    pub mark: Mark,
    /// Whether the mark was a box to tick, rather than a symbol.
    pub boxed: bool,
    pub text: &'a str,
}

/// Boxes in brackets, by their meaning.
const BRACKETS: &[(Mark, &[&str])] = &[
    (Mark::Open, &["[ ]", "[]", "[/]"]),
    (Mark::Ticked, &["[x]", "[X]", "[✓]", "[✔]", "[✅]"]),
    (Mark::Abandoned, &["[-]", "[~]", "[>]"]),
];
const BOXES: &[(Mark, &str)] = &[(Mark::Open, "☐⬜🔲"), (Mark::Ticked, "☑☒🗹")];
/// A cross means that something is missing, not that it was given up.
const SIGNS: &[(Mark, &str)] =
    &[(Mark::Ticked, "✅✔✓"), (Mark::Open, "❌✗✘⏳⌛⏸🚧🔄"), (Mark::Abandoned, "⏭")];

/// Parses the mark of a list item or a paragraph: at its start, or a symbol at its end.
pub(super) fn of_item(words: &str) -> Marked<'_> {
    let opened = opening(words);
    let mark = match opened.mark {
        _ if is_struck(opened.text) => Mark::Abandoned,
        Mark::None => closing(opened.text).unwrap_or(Mark::None),
        mark => mark,
    };
    Marked { mark, ..opened }
}

/// Parses the mark of a heading, which may also follow the label (`3. ✅ …`).
pub(super) fn of_heading(words: &str) -> Marked<'_> {
    let mut marked = of_item(words);
    let title = headings::counted(marked.text).map_or(marked.text, |heading| heading.title);
    if is_struck(title) {
        marked.mark = Mark::Abandoned;
    } else if marked.mark == Mark::None {
        marked.mark = opening(title).mark;
    }
    marked
}

/// Returns a heading without its marks, and whether one was a box, which makes it a step whatever
/// its text.
pub(super) fn without_box(words: &str) -> (&str, bool) {
    let opened = opening(words);
    (opened.text, opened.boxed)
}

/// Parses the marks at the start of a text; the first of several counts.
pub(super) fn opening(words: &str) -> Marked<'_> {
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

/// Parses the symbol at the end of a text, set off by a space. Text in brackets or in capitals may
/// follow it (`Phase 1 ✅ (2024-05-01)`).
pub(super) fn closing(words: &str) -> Option<Mark> {
    let (at, mark) = words
        .char_indices()
        .rev()
        .find_map(|(at, c)| look_up(BOXES, c).or(look_up(SIGNS, c)).map(|mark| (at, mark)))?;
    let behind = words[at..].chars().skip(1).collect::<String>();
    let behind = behind.trim_start_matches('\u{fe0f}').trim_matches([' ', '*', '_', '.']);
    let is_note = behind.starts_with('(') && behind.ends_with(')') || !behind.contains(char::is_lowercase);
    let is_set_off = words[..at].ends_with([' ', '*', '_', '~']);
    // "show ✅ or ❌", "✅/❌" and a symbol in backticks are about symbols.
    let others = words[..at].chars().any(|c| look_up(SIGNS, c).is_some());
    (is_set_off && is_note && !behind.contains('`') && !others).then_some(mark)
}

fn one_mark(text: &str) -> Option<(Mark, bool, &str)> {
    for (mark, brackets) in BRACKETS {
        if let Some(rest) = brackets.iter().find_map(|bracket| text.strip_prefix(bracket)) {
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

fn look_up(table: &[(Mark, &str)], sign: char) -> Option<Mark> {
    table.iter().find(|(_, signs)| signs.contains(sign)).map(|(mark, _)| *mark)
}

/// Returns whether a text is struck through from its first word on, with nothing after it but a
/// note. `~~Use a~~ Use b` is an edit of a step that still exists.
pub(super) fn is_struck(text: &str) -> bool {
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
