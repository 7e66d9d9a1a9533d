use std::sync::LazyLock;

use proptest::prelude::*;
use regex::Regex;

use super::Pattern;

/// Patterns of every kind that is known here.
const PATTERNS: &[&str] = &[
    "ab",
    "a|ab|b",
    "(a|ab)(c|bcd)?",
    "^a+b?$",
    "(?m)^a.*b$",
    "(?m)^(?:ab|b)|c$",
    r"\bab\b",
    r"(?-u:\b)[a-c]{2,3}(?-u:\b)",
    r"(?i)s(k)+|É",
    r"(?i:ab)c",
    r"[^a\s]+?b",
    r"\w+—\s*§",
    r"(?:^|[^\w§-])ab(?:$|[.,]| —)",
    r"(?: (?:a|b|—)|[,:])* c",
    r"a(?:(?:,| b) [§\w ]{1,4}?){0,3} c",
    r"(a*)b(c*)(d)?",
    r"(\d+) ?(?:of|/) ?(\d+)",
    r"[A-C0-2_-]{2,}={0,2}",
    r"\x41\.\[b\]",
    r#""([\w:.-]+)"\s*:\s*"((?:[^"\\]|\\.)*)""#,
    r"\b(?:ab|abc|a|b|ba|c d|§|—a|é)\b",
    r"(?:abc|ab|b|c|d|a)+(?:, |a|b|c|—)*?d?",
    r"a{2}|b{1,}|(?:ab?){0,2}c",
];

fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a", "b", "c", "d", "ab", "abc", " ", " a", ",", ".", "-", "—", "§", "\n", "é", "É", "S", "k",
        "\u{212a}", "ſ", "A", "B", "1", "2", " of ", "/", "=", "\"", "\\", ":", "[", "]", "_", "\u{a0}",
    ]);
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

/// Everything that both find, with groups.
fn assert_same(ours: &Pattern, theirs: &Regex, text: &str) {
    let pattern = theirs.as_str();
    let all_ours: Vec<_> = ours.groups_iter(text).collect();
    let all_theirs: Vec<Vec<_>> = theirs
        .captures_iter(text)
        .map(|found| found.iter().map(|group| group.map(|group| group.range())).collect())
        .collect();
    assert_eq!(all_ours, all_theirs, "{pattern} in {text:?}");
    assert_eq!(ours.is_match(text), theirs.is_match(text), "{pattern} in {text:?}");
    assert_eq!(ours.replace_all(text, "-"), theirs.replace_all(text, "-"), "{pattern} in {text:?}");
}

fn both(pattern: &str) -> (Pattern, Regex) {
    (Pattern::known(pattern), Regex::new(pattern).expect("a pattern"))
}

static BOTH: LazyLock<Vec<(Pattern, Regex)>> =
    LazyLock::new(|| PATTERNS.iter().map(|pattern| both(pattern)).collect());

proptest! {
    #[test]
    fn what_is_found_is_what_the_regex_crate_finds(text in text()) {
        for (ours, theirs) in BOTH.iter() {
            assert_same(ours, theirs, &text);
        }
    }
}

#[test]
fn a_text_made_to_send_it_wandering_is_read_in_time() {
    let text = format!("{}c", "a, a ".repeat(4_000));
    for pattern in [r"a(?:(?:,| a) [\w ]{1,24}?){0,3}(?: a|,)*d", r"(?:a|a,| )*(?:a|a,| )*d|c$"] {
        let (ours, theirs) = both(pattern);
        assert_same(&ours, &theirs, &text);
    }
}

#[test]
fn what_is_not_known_is_said() {
    for (pattern, said) in [
        (r"a\p{L}", "the pattern \"a\\\\p{L}\" can't be read at 3: an unknown escape"),
        ("(ab", "the pattern \"(ab\" can't be read at 3: a group without an end"),
        ("*a", "the pattern \"*a\" can't be read at 1: nothing to repeat"),
        ("a)", "the pattern \"a)\" can't be read at 1: a bracket too many"),
        ("(?x)a", "the pattern \"(?x)a\" can't be read at 3: an unknown flag"),
        ("a{3,2}", "the pattern \"a{3,2}\" can't be read at 6: no number of times"),
    ] {
        assert_eq!(Pattern::new(pattern).expect_err(pattern).to_string(), said);
    }
}
