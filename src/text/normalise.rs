//! Comparing what people wrote: takes texts and paths as they stand, gives the words that count. Pure. Must not
//! judge what the words mean.

/// Words for comparing: lower case, alphanumeric only, single spaces. What marks a step (boxes, emphasis,
/// numbering) does not count.
pub fn normalised(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !c.is_ascii() && c.is_alphanumeric() {
            out.extend(c.to_lowercase());
        } else if !out.ends_with(' ') && !out.is_empty() {
            out.push(' ');
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Letters and digits only, in lower case: `--dry-run`, `dry_run` and `dryRun` are one.
pub fn bare(text: &str) -> String {
    if text.is_ascii() {
        let mut letters = Vec::with_capacity(text.len());
        push_bare_ascii(text.as_bytes(), &mut letters);
        return String::from_utf8(letters).unwrap_or_default();
    }
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Adds the bare form of an ASCII text.
pub fn push_bare_ascii(text: &[u8], letters: &mut Vec<u8>) {
    let mut end = letters.len();
    letters.resize(end + text.len(), 0);
    for byte in text {
        // What does not count is written over by what comes next.
        letters[end] = byte.to_ascii_lowercase();
        end += usize::from(byte.is_ascii_alphanumeric());
    }
    letters.truncate(end);
}

/// Words with a space at each end, so that whole words can be looked for in them.
pub fn padded(words: &str) -> String {
    format!(" {words} ")
}

/// Whether padded words hold this word, or these in a row.
pub fn has_words(padded: &str, wanted: &str) -> bool {
    let bytes = padded.as_bytes();
    let is_blank = |at: Option<usize>| at.is_some_and(|at| bytes.get(at) == Some(&b' '));
    let is_whole = |at: usize| is_blank(at.checked_sub(1)) && is_blank(Some(at + wanted.len()));
    padded.match_indices(wanted).any(|(at, _)| is_whole(at))
        // Places that lie upon each other are not told one by one.
        || (wanted.contains(' ') || wanted.is_empty()) && padded.contains(&self::padded(wanted))
}

/// Whether padded words hold one of these: one look at each word, whatever their number.
pub fn has_any_words(padded: &str, wanted: &[&str]) -> bool {
    let bytes = padded.as_bytes();
    let mut starts = padded.match_indices(' ').map(|(blank, _)| &bytes[blank + 1..]);
    starts.any(|rest| {
        wanted.iter().any(|wanted| {
            let wanted = wanted.as_bytes();
            !rest.is_empty()
                && rest.first() == wanted.first()
                && rest.get(wanted.len()) == Some(&b' ')
                && rest.starts_with(wanted)
        })
    })
}

/// Whether a text names a file, by its whole name: `test_cache.py` does not name `cache.py`.
pub fn names_file(text: &str, name: &str) -> bool {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            !text[..at].ends_with(is_inside) && !text[at + name.len()..].starts_with(is_inside)
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_marks_a_step_does_not_count() {
        assert_eq!(normalised("- [x] **Create** `src/Alpha.txt`!"), "x create src alpha txt");
        assert_eq!(normalised(" \n"), "");
    }

    #[test]
    fn words_are_found_whole() {
        let words = padded("all tests pass");
        assert!(has_words(&words, "tests") && has_words(&words, "all tests") && !has_words(&words, "test"));
    }

    proptest! {
        #[test]
        fn whole_words_are_found_as_they_stand(
            words in "( |a|b|ab){0,12}",
            wanted in prop::collection::vec("[ab]{1,2}( [ab]{1,2}){0,2}", 0..4),
        ) {
            let words = padded(&words);
            let is_there = |wanted: &String| words.contains(&padded(wanted));
            for one in &wanted {
                prop_assert_eq!(has_words(&words, one), is_there(one), "{:?} in {:?}", one, words);
            }
            let table: Vec<&str> = wanted.iter().map(String::as_str).collect();
            prop_assert_eq!(has_any_words(&words, &table), wanted.iter().any(is_there), "{:?} in {:?}", wanted, words);
        }
    }

    #[test]
    fn a_file_is_named_by_its_whole_name() {
        assert!(
            names_file("see `app/cache.py`.", "cache.py") && !names_file("tests/test_cache.py", "cache.py")
        );
    }
}
