//! Takes what the person said, gives the Markdown files that they want carried out or built, as written. Pure. Must not
//! read them: what is named need not exist.

use crate::session::Ask;
use crate::words::{base_name, has_any_words, is_markdown, normalised, padded};

/// Words with which a person has all of a text carried out.
const CARRY_OUT: &[&str] = &[
    "all of", "carry out", "do all", "do everything", "everything in", "everything from", "execute",
    "go through", "steps from", "steps in", "tick", "work through",
];

/// Words right before a page that says what to build: "implement docs/report.md".
const BEFORE_A_SPEC: &[&str] = &[
    "according to", "as in", "described in", "follow", "following", "implement", "laid out in",
    "outlined in", "per", "specified in",
];

/// And right behind it: "docs/report.md says what we want".
const BEHIND_A_SPEC: &[&str] = &[
    "describes", "explains", "has the details", "is the spec", "lays out", "lists", "says", "specifies",
    "tells",
];

/// Pages that are there for everybody, whatever is to be built.
const NO_SPECS: &[&str] = &["AGENTS.md", "CHANGELOG.md", "CLAUDE.md", "CONTRIBUTING.md", "README.md"];

/// Pages that the person wants carried out, whatever they are called, the newest ask first.
pub(super) fn orders<'a>(asks: &[&'a Ask]) -> impl Iterator<Item = &'a str> {
    fn pages<'a>(ask: &&'a Ask) -> impl Iterator<Item = &'a str> {
        ask.text.split_whitespace().map(without_marks).filter(|name| is_markdown(name))
    }
    let asks = asks.iter().rev().filter(|ask| {
        pages(ask).next().is_some() && has_any_words(&padded(&normalised(&ask.text)), CARRY_OUT)
    });
    asks.flat_map(pages)
}

/// Pages of which the person says that they tell what to build, the newest ask first.
pub(super) fn specs<'a>(asks: &[&'a Ask]) -> impl Iterator<Item = &'a str> {
    asks.iter().rev().flat_map(|ask| {
        let words: Vec<&str> = ask.text.split_whitespace().collect();
        let is_told = |at: usize| {
            let before = format!(" {}", normalised(&words[at.saturating_sub(3)..at].join(" ")));
            let behind = format!("{} ", normalised(&words[at + 1..words.len().min(at + 4)].join(" ")));
            BEFORE_A_SPEC.iter().any(|phrase| before.ends_with(&format!(" {phrase}")))
                || BEHIND_A_SPEC.iter().any(|phrase| behind.starts_with(&format!("{phrase} ")))
        };
        let is_page = |name: &str| is_markdown(name) && !NO_SPECS.contains(&base_name(name));
        let told = (0..words.len()).filter(|at| is_page(without_marks(words[*at])) && is_told(*at));
        told.map(|at| without_marks(words[at])).collect::<Vec<_>>()
    })
}

fn without_marks(word: &str) -> &str {
    word.trim_matches(|c: char| "`'\"()[]<>,;:!?@".contains(c)).trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let ask = Ask { text: text.into(), at: 1 };
        specs(&[&ask]).map(String::from).collect()
    }

    #[test]
    fn a_page_that_tells_what_to_build_is_heard() {
        for ask in [
            "Could you build the report? docs/report.md says what we want.",
            "please implement `docs/report.md`",
            "Build the report as described in docs/report.md.",
            "Make it according to docs/report.md, please",
        ] {
            assert_eq!(told(ask), ["docs/report.md"], "{ask}");
        }
        for ask in [
            "Implement the flag and describe it in docs/report.md",
            "README.md says that it needs Ruby 3, implement README.md",
            "fix the typos in docs/report.md",
        ] {
            assert_eq!(told(ask), Vec::<String>::new(), "{ask}");
        }
    }
}
