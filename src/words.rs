//! Comparing what people wrote: takes texts and paths as they stand, gives the words that count. Pure. Must not
//! judge what the words mean.

/// Words for comparing: lower case, alphanumeric only, single spaces. What marks a step (boxes, emphasis,
/// numbering) does not count.
pub fn normalised(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() {
            out.extend(c.to_lowercase());
        } else if !out.ends_with(' ') && !out.is_empty() {
            out.push(' ');
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Words with a space at each end, so that whole words can be looked for in them.
pub fn padded(words: &str) -> String {
    format!(" {words} ")
}

/// Whether padded words hold this word, or these in a row.
pub fn has_words(padded: &str, wanted: &str) -> bool {
    padded.contains(&self::padded(wanted))
}

/// The last part of a path, a folder's too.
pub fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn a_folder_has_a_name_too() {
        assert_eq!([base_name("src/a.rs"), base_name("src/api/"), base_name("a")], ["a.rs", "api", "a"]);
    }
}
