//! Takes a sentence as written, gives it in a form in which wordings can be looked for. Pure. Must not judge what
//! it claims.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use crate::pattern::Pattern;
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

/// A wording: a pattern that is made when a text first has what every match of it has. Most messages need few of
/// them, and a look for a stem costs nothing.
#[derive(Debug)]
pub(crate) struct Wording {
    text: Cow<'static, str>,
    needs: Needs,
    made: OnceLock<Option<Pattern>>,
}

/// What every match of a wording has: one of each of these sets of stems. An empty set asks for nothing.
pub(crate) type Needs = [&'static [&'static str]; 2];

impl Wording {
    pub(crate) const fn new(text: Cow<'static, str>, needs: Needs) -> Self {
        Self { text, needs, made: OnceLock::new() }
    }

    /// A wording whose text is known from the start.
    pub(crate) const fn of(text: &'static str, needs: Needs) -> Self {
        Self::new(Cow::Borrowed(text), needs)
    }

    /// The pattern, if the words may hold it; `None`, too, for a wording that is none, which a test would tell.
    pub(crate) fn in_question(&self, words: &str) -> Option<&Pattern> {
        let may_hold = |stems: &&[&str]| stems.is_empty() || stems.iter().any(|stem| words.contains(stem));
        self.needs.iter().all(may_hold).then(|| self.pattern())?
    }

    /// Its classes are those of plain letters.
    pub(crate) fn pattern(&self) -> Option<&Pattern> {
        self.made.get_or_init(|| Pattern::new(&format!("(?-u){}", self.text)).ok()).as_ref()
    }

    pub(crate) fn is_match(&self, words: &str) -> bool {
        self.in_question(words).is_some_and(|pattern| pattern.is_match(words))
    }

    pub(crate) fn find(&self, words: &str) -> Option<Range<usize>> {
        self.in_question(words)?.find(words)
    }

    /// The words with a blank wherever it stands.
    pub(crate) fn blanked<'a>(&self, words: &'a str) -> Cow<'a, str> {
        self.in_question(words).map_or(Cow::Borrowed(words), |pattern| pattern.replace_all(words, " "))
    }
}

/// The same wording as the `regex` crate reads it, to compare with.
#[cfg(test)]
pub(crate) fn reference(wording: &Wording) -> regex::Regex {
    let lean = wording
        .text
        .replace(r"\b", r"(?-u:\b)")
        .replace(r"\d", "[0-9]")
        .replace(r"\w", "[A-Za-z0-9_]")
        .replace(r"\s", r"[ \t\n\r]")
        .replace(r"\S", r"[^ \t\n\r]");
    regex::Regex::new(&lean).expect("a pattern")
}
