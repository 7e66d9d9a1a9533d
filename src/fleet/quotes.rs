//! What others said, taken out of a reason: it may quote the plan, a file, a command or a person.
//! Pure.

/// Marks that a quote begins and ends with.
const MARKS: [(char, char); 7] =
    [('`', '`'), ('"', '"'), ('\'', '\''), ('“', '”'), ('„', '“'), ('‘', '’'), ('«', '»')];

/// A text without quotes of more than one word, and without what is `said` elsewhere.
pub(super) fn without_quotes(text: &str, said: &[&str]) -> String {
    let has_words = |text: &str| text.trim().contains(char::is_whitespace);
    let said = said.iter().filter(|said| has_words(said));
    let text = said.fold(text.to_owned(), |text, said| text.replace(said, "…"));
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text.as_str());
    while let Some(first) = rest.chars().next() {
        // After a letter it is an apostrophe, or an end.
        let may_open = !shown.ends_with(char::is_alphanumeric);
        let end = MARKS.iter().find(|(open, _)| *open == first && may_open).map(|(_, close)| *close);
        let inside = &rest[first.len_utf8()..];
        shown.push(first);
        rest = inside;
        if let Some((quote, after)) = end.and_then(|end| quote_before(inside, end)) {
            shown.push_str(if has_words(quote) { "…" } else { quote });
            rest = after;
        }
    }
    shown
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
            ("`src/a.rs` is a stub, 'todo!()' is all of it", "`src/a.rs` is a stub, 'todo!()' is all of it"),
            ("it has \"good morning\", not “good evening”", "it has \"…\", not “…”"),
            (
                "Ann's file doesn't say 'it isn't so' in Bob's words",
                "Ann's file doesn't say '…' in Bob's words",
            ),
            ("es heißt „guten Tag“, « bon jour »", "es heißt „…“, «…»"),
            ("an end that is missing: \"so it goes on", "an end that is missing: \"so it goes on"),
            ("the plan says good evening to all", "the plan says … to all"),
        ] {
            assert_eq!(without_quotes(text, &["good evening", "file", ""]), shown, "{text}");
        }
    }
}
