//! The words of a heading -> whether it is a step by its form (`Phase 2`, `3. Do x`), and where its
//! title begins. Must not judge what the title says.

use std::sync::LazyLock;

use crate::pattern::Pattern;

static LABEL: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::known(concat!(
        r"^(?:(?i:step|phase|task|part|milestone|stage)[ \t]+",
        // A letter or a Roman numeral counts only before a delimiter: "Part I of it" is prose.
        r"(?:#?[0-9]+(?:\.[0-9]+)*[A-Za-z]?(?:[ \t:.)–—-]+|(?-u:\b)|$)|[A-Z]{1,4}(?:[ \t]*[:.)–—-]+|$))",
        r"|[0-9]{1,3}(?:\.[0-9]{1,3})*[.):]+[ \t]+",
        r"|[0-9]{1,3}(?:\.[0-9]{1,3})+[ \t]+)",
    ))
});

/// The title behind the label, if `words` have the form of a step.
pub(super) fn title(words: &str) -> Option<&str> {
    // Emphasis and decoration (`🚀 Phase 1`) may stand before the label.
    let words = words.trim_start_matches(|c: char| !c.is_alphanumeric());
    let label = LABEL.find(words)?;
    let title = words[label.end..].trim_start_matches([' ', '\t', ':', '-', '–', '—', '.']);
    let numbered = words.starts_with(|c: char| c.is_ascii_digit());
    // "1.2.0 (2024-05-01)" is a version's heading, and a bare number is none.
    let named = title.starts_with(|c: char| !c.is_ascii_digit() && c != '(');
    (!numbered || named).then_some(title)
}

/// Whether a paragraph that opens with `bold` and goes on with `rest` is a heading in disguise.
pub(super) fn is_bold_step(bold: &str, rest: &str) -> bool {
    let rest = rest.trim_start();
    title(bold).is_some_and(|title| {
        // "**Phase 1** covers …" is prose; "**Phase 1**: …" is not.
        !title.trim_matches(['*', '_', ' ']).is_empty()
            || bold.trim_end_matches(['*', '_']).ends_with(':')
            || rest.is_empty()
            || rest.starts_with([':', '-', '–', '—', '('])
    })
}
