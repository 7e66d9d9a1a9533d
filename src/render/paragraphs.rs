//! Wrapped paragraphs and labelled lines for a terminal. The text has colours, which the printing
//! code strips if they do not belong there. Pure. Text from a workspace must not control the
//! terminal: control characters are shown as a mark.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use crate::finding::Finding;
use crate::render::wording::{by_whom, check_label, describe_second, quoted};
use crate::text::harmless;

pub(super) const TITLE: Style = Style::new().bold();
pub(super) const CONFIRMED: Style = AnsiColor::Red.on_default().bold();
pub(super) const UNVERIFIED: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const CLEAN: Style = AnsiColor::Green.on_default().bold();
pub(super) const LABEL: Style = Style::new().dimmed();

/// The width of labels.
const LABELS: usize = 9;

/// The text so far.
pub(super) struct Paragraphs {
    pub(super) text: String,
    pub(super) width: usize,
}

impl Paragraphs {
    pub(super) fn new(width: usize) -> Self {
        Self { text: String::new(), width }
    }

    pub(super) fn gap(&mut self) {
        self.text.push('\n');
    }

    /// Adds a paragraph in one style, indented from the second line on.
    pub(super) fn wrapped(&mut self, words: &str, style: Style, indent: &str) {
        let options = options(self.width.max(20)).subsequent_indent(indent);
        for line in textwrap::wrap(&harmless(words), options) {
            let _ = writeln!(self.text, "{style}{line}{style:#}");
        }
    }

    /// Adds a text line by line, each wrapped, with an indent.
    pub(super) fn lines(&mut self, text: &str, indent: &str) {
        for line in text.lines() {
            if line.trim().is_empty() {
                self.gap();
            } else {
                self.wrapped(&format!("{indent}{line}"), Style::new(), indent);
            }
        }
    }

    /// Adds a label and its text, with further lines indented; nothing if the text is empty.
    pub(super) fn labelled(&mut self, label: &str, words: &str) {
        self.labelled_at(5, label, words);
    }

    /// Adds what is known about a finding, and who says so. `said_in` and `step` are phrases.
    pub(super) fn judged(&mut self, finding: &Finding, said_in: &str, step: &str, second_was_asked: bool) {
        self.labelled("words", &quoted(&finding.claim));
        self.labelled("said in", said_in);
        self.labelled("step", step);
        self.labelled("path", finding.path.as_deref().unwrap_or_default());
        self.labelled("found", &finding.why);
        self.labelled("proof", &quoted(&finding.proof));
        self.labelled("settle", &finding.settle);
        self.labelled("found by", by_whom(finding.source));
        self.labelled("checks", check_label(finding));
        self.labelled("second", &describe_second(finding, second_was_asked));
    }

    /// Adds a label and its text with another indent.
    pub(super) fn labelled_at(&mut self, left: usize, label: &str, words: &str) {
        let words = squeezed(words);
        if words.is_empty() {
            return;
        }
        let indent = " ".repeat(left + LABELS);
        let options = options(self.width.max(40)).initial_indent(&indent).subsequent_indent(&indent);
        for (at, line) in textwrap::wrap(&harmless(&words), options).into_iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            let rest = line.get(indent.len()..).unwrap_or_default();
            let _ = writeln!(self.text, "{:left$}{LABEL}{label:<LABELS$}{LABEL:#}{rest}", "");
        }
    }
}

/// Returns a text on one line, with single spaces.
pub(super) fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lines are never broken within a word, not even at a hyphen: a path must stay in one piece to be
/// copied.
pub(super) fn options<'a>(width: usize) -> textwrap::Options<'a> {
    textwrap::Options::new(width).break_words(false).word_splitter(textwrap::WordSplitter::NoHyphenation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_never_cut() {
        let mut page = Paragraphs::new(40);
        page.labelled("path", "see the-folder-of/many-words-and-hyphens.md");
        let plain = anstream::adapter::strip_str(&page.text).to_string();
        assert_eq!(plain, "     path     see\n              the-folder-of/many-words-and-hyphens.md\n");
    }

    #[test]
    fn what_steers_a_terminal_is_shown_as_a_mark() {
        let mut page = Paragraphs::new(60);
        page.labelled("words", "a\u{1b}[2Jb\u{7}");
        page.wrapped("x\u{9b}31m", Style::new(), "");
        let plain = anstream::adapter::strip_str(&page.text).to_string();
        assert_eq!(plain, "     words    a\u{fffd}[2Jb\u{fffd}\nx\u{fffd}31m\n");
    }
}
