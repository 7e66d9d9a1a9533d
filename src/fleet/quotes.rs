//! What others said, taken out of a reason: it may quote the plan, a file, a command or a person.
//! Of what is quoted only paths stay, which a copy has anyway. Pure.

use crate::plan::mentions::paths_named;

/// Marks that a quote begins and ends with.
const MARKS: [(char, char); 7] =
    [('`', '`'), ('"', '"'), ('\'', '\''), ('“', '”'), ('„', '“'), ('‘', '’'), ('«', '»')];

/// A text without quotes, and without what is `said` elsewhere; but paths stay.
pub(super) fn without_quotes(text: &str, said: &[&str]) -> String {
    let said = said.iter().map(|said| said.trim()).filter(|said| !said.is_empty() && !is_path(said));
    let text = said.fold(text.to_owned(), |text, said| without_words(&text, said));
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text.as_str());
    while let Some(first) = rest.chars().next() {
        // After a letter it is an apostrophe, or an end.
        let may_open = !shown.ends_with(char::is_alphanumeric);
        let end = MARKS.iter().find(|(open, _)| *open == first && may_open).map(|(_, close)| *close);
        let inside = &rest[first.len_utf8()..];
        shown.push(first);
        rest = inside;
        if let Some((quote, after)) = end.and_then(|end| quote_before(inside, end)) {
            shown.push_str(if is_path(quote) { quote } else { "…" });
            rest = after;
        }
    }
    shown
}

/// Whether a quote is one path, and nothing but a position in the file besides.
fn is_path(quote: &str) -> bool {
    let is_position =
        |rest: &str| rest.chars().all(|letter| ":#L-".contains(letter) || letter.is_ascii_digit());
    match paths_named(quote).as_slice() {
        [named] => quote.strip_prefix(named.path.as_str()).is_some_and(is_position),
        _ => false,
    }
}

/// A text without what was said. One word is taken out where it stands by itself: it may be a part
/// of others.
fn without_words(text: &str, said: &str) -> String {
    if said.contains(char::is_whitespace) {
        return text.replace(said, "…");
    }
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(said) {
        let (before, after) = (&rest[..at], &rest[at + said.len()..]);
        shown.push_str(before);
        let is_part = shown.ends_with(char::is_alphanumeric) || after.starts_with(char::is_alphanumeric);
        shown.push_str(if is_part { said } else { "…" });
        rest = after;
    }
    shown + rest
}

/// What stands before the mark that ends a quote, and what follows, with the mark.
fn quote_before(text: &str, end: char) -> Option<(&str, &str)> {
    let mut ends = text.char_indices().filter(|(_, letter)| *letter == end);
    let (at, _) = ends.find(|(at, _)| !text[at + end.len_utf8()..].starts_with(char::is_alphanumeric))?;
    Some(text.split_at(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_told_what_a_plan_a_file_or_a_person_says() {
        for (text, shown) in [
            ("It is ticked, and `make it so` failed.", "It is ticked, and `…` failed."),
            ("`src/a.rs:12` is a stub, 'todo!()' is all of it", "`src/a.rs:12` is a stub, '…' is all of it"),
            ("it has \"good morning\", not “good evening”", "it has \"…\", not “…”"),
            ("Ann's file doesn't say 'it isn't so' in Bob's words", "Ann's … doesn't say '…' in Bob's words"),
            ("es heißt „guten Tag“, « bon jour »", "es heißt „…“, «…»"),
            ("an end that is missing: \"so it goes on", "an end that is missing: \"so it goes on"),
            ("the plan says good evening to all", "the plan says … to all"),
        ] {
            assert_eq!(without_quotes(text, &["good evening", "file", ""]), shown, "{text}");
        }
    }

    #[test]
    fn a_password_of_one_word_left_in_a_reason() {
        for (text, shown) in [
            ("it has `hunter2` in it", "it has `…` in it"),
            ("the token is \"correcthorse\", not 'battery'", "the token is \"…\", not '…'"),
            ("it is hunter2, which hunter22 is not", "it is …, which hunter22 is not"),
            ("see 'ann@example.org' and `db.internal`", "see '…' and `…`"),
            ("`docs/plan.md` and 'notes.md#L3-L9' stay", "`docs/plan.md` and 'notes.md#L3-L9' stay"),
            ("`docs/plan.md hunter2` does not", "`…` does not"),
        ] {
            assert_eq!(without_quotes(text, &["hunter2", "docs/plan.md"]), shown, "{text}");
        }
    }
}
