//! Takes a sentence as written, gives it in a form in which wordings can be looked for. Pure. Must not judge what
//! it claims.

use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use crate::session::shell::deeds::does;
use crate::session::shell::wrappers::{flat_parts, program_words};
use crate::session::shell::{Check, Deed};

/// A sentence for comparing: lower case, single spaces, emphasis, list and heading marks and what stands in double
/// quotes off, commands in backticks by what they do.
pub(super) fn plain(sentence: &str) -> String {
    let mut out = String::with_capacity(sentence.len());
    for (at, piece) in sentence.split('`').enumerate() {
        if at % 2 == 1 && sentence.matches('`').count() > at {
            out.push_str(code_word(piece));
        } else {
            out.push_str(piece);
        }
    }
    let unquoted: String = without_quotes(&out);
    let mut words = String::with_capacity(unquoted.len());
    for c in unquoted.chars() {
        match c {
            '’' => words.push('\''),
            '✔' | '✓' | '☑' => words.push('✅'),
            '*' | '_' | '-' | '🎉' | '🟢' => words.push(' '),
            '–' => words.push('—'),
            '|' => words.push_str(" | "),
            c => words.extend(c.to_lowercase()),
        }
    }
    let words = words.split_whitespace().map(|word| if is_file_name(word) { "§code" } else { word });
    let joined = words.collect::<Vec<_>>().join(" ");
    let start = joined.trim_start_matches(|c: char| {
        matches!(c, '#' | '>' | '+' | '•' | '|' | ' ' | '✅' | '\u{fe0f}' | '.' | ')')
            || c.is_ascii_digit() && joined.starts_with(|c: char| c.is_ascii_digit()) && is_numbering(&joined)
    });
    let start = start.replace("[x]", "✅").replace(" ,", ",").replace(" :", ":").replace(" .", ".");
    if joined.contains('✅') && !start.contains('✅') {
        format!("{start} ✅").trim().to_owned()
    } else {
        start.trim().to_owned()
    }
}

/// `TODO.md`, `src/plan.rs`: what a file is called says nothing of what is claimed.
pub(super) fn is_file_name(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '§');
    word.rsplit_once('.').is_some_and(|(stem, ending)| {
        stem.ends_with(char::is_alphanumeric)
            && (2..=5).contains(&ending.len())
            && ending.starts_with(|c: char| c.is_ascii_lowercase())
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// "1. ", "2) ": a number that counts an item.
fn is_numbering(words: &str) -> bool {
    let rest = words.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.starts_with(". ") || rest.starts_with(") ")
}

fn without_quotes(text: &str) -> String {
    let text = text.replace(['“', '”'], "\"");
    if text.matches('"').count() % 2 == 1 {
        return text;
    }
    text.split('"').step_by(2).collect::<Vec<_>>().join(" ")
}

/// What stands in backticks: a command by what it does, the name of a commit, or any code.
fn code_word(code: &str) -> &'static str {
    let is_hash = (7..=40).contains(&code.len()) && code.chars().all(|c| c.is_ascii_hexdigit());
    if is_hash {
        return "§hash";
    }
    if code.len() > 200 {
        return "§code";
    }
    let parts = flat_parts(code);
    let found = parts.iter().find_map(|part| does(program_words(&part.words)).deeds.into_iter().next());
    match found {
        Some(Deed::Check(Check::Tests)) => "§tests",
        Some(Deed::Check(Check::Build)) => "§build",
        Some(Deed::Check(Check::Lint)) => "§lint",
        Some(Deed::Check(Check::Types)) => "§types",
        Some(Deed::Check(Check::Format)) => "§format",
        Some(Deed::Deploy) => "§deploy",
        _ => "§code",
    }
}

/// Whether a wording stands in the words.
pub(super) fn is_match(regex: &LazyLock<Option<Regex>>, words: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(words))
}

/// A wording that is made into a pattern when it is first needed: most messages need few of them, and making one
/// takes longer than reading a message.
#[derive(Debug)]
pub(crate) struct Wording {
    text: String,
    made: OnceLock<Option<Regex>>,
}

impl Wording {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), made: OnceLock::new() }
    }

    /// The pattern; `None` for a wording that is none, which a test would tell.
    pub(crate) fn regex(&self) -> Option<&Regex> {
        self.made.get_or_init(|| pattern(&self.text)).as_ref()
    }

    pub(crate) fn is_match(&self, words: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(words))
    }
}

/// A wording as a pattern. Its classes are those of plain letters: those of all scripts take long to make, and
/// looking for their word ends in a text with a dash or a tick takes long each time.
pub(crate) fn pattern(wording: &str) -> Option<Regex> {
    let lean = wording
        .replace(r"\b", r"(?-u:\b)")
        .replace(r"\d", "[0-9]")
        .replace(r"\w", "[A-Za-z0-9_]")
        .replace(r"\s", r"[ \t\n\r]")
        .replace(r"\S", r"[^ \t\n\r]");
    Regex::new(&lean).ok()
}
