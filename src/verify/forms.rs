//! A text that was promised, looked for in a file's content: as it stands, and in other forms. Pure. Takes the
//! words as the auditor gives them; must not need to know where the content comes from.

use super::names;
use crate::words::normalised;

/// The text to look for, without the quotes around it.
pub fn needle_of(written: &str) -> &str {
    let mut needle = written.trim();
    for (open, close) in [('`', '`'), ('"', '"'), ('\'', '\''), ('“', '”')] {
        let inner = needle.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        needle = inner.filter(|inner| !inner.contains([open, close])).unwrap_or(needle);
    }
    needle.trim()
}

/// Whether a text to look for can't be found as it stands: a part of it is hidden or left out.
pub fn is_hidden(needle: &str) -> bool {
    needle.contains("[masked:") || needle.contains('…')
}

/// Whether content holds a promised text after all, in another form: `--dry-run` as a field `dry_run`, a
/// heading of another level. The words of a heading elsewhere in the text are not it.
pub fn holds_another_form(text: &str, needle: &str) -> bool {
    if needle.starts_with('#') {
        let wanted = normalised(needle);
        return !wanted.is_empty()
            && text.lines().any(|line| {
                let is_heading = line.starts_with(['#', '=', '*', '<']) || line.starts_with("+#");
                is_heading && normalised(line).contains(&wanted)
            });
    }
    let wanted = names::bare(needle);
    wanted.len() > 2 && names::bare(text).contains(&wanted)
}

/// Whether another file of the session holds it: to the letter, or as the definition of that name.
pub fn holds_it_elsewhere(text: &str, needle: &str) -> bool {
    let name = needle.trim_end_matches(|c: char| "(){};,: ".contains(c));
    let name = name.rsplit([' ', '.', ':']).next().unwrap_or(name);
    (needle.len() > 2 && text.contains(needle)) || (!needle.starts_with('#') && names::defines(text, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_forms_are_the_same_thing() {
        for (text, needle) in [
            ("#[arg(long)] dry_run: bool", "--dry-run"),
            ("function parseJson() {}", "parse_json"),
            ("# Usage\n", "## Usage"),
            ("## usage notes", "## Usage"),
        ] {
            assert!(holds_another_form(text, needle), "{text}: {needle}");
        }
        assert!(!holds_another_form("The usage is simple.", "## Usage"));
        assert!(!holds_another_form("fn other() {}", "parse_json"));
        assert!(holds_it_elsewhere("def validate_row(x):", "validateRow()"));
        assert!(!holds_it_elsewhere("x = validate_row(x)", "validateRow()"));
    }

    #[test]
    fn quotes_around_a_needle_are_not_looked_for() {
        assert_eq!(
            ["`--json`", "\"a b\"", "fn a()", "'a' 'b'"].map(needle_of),
            ["--json", "a b", "fn a()", "'a' 'b'"]
        );
    }
}
