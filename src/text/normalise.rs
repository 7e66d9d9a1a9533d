//! Compares what people wrote by letters and digits alone. Pure. Must not judge what the words
//! mean.

/// Returns the words of a text in lower case, separated by single spaces. What marks a step (boxes,
/// emphasis, numbering) does not count.
pub fn normalised(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if c.is_alphanumeric() {
            out.extend(c.to_lowercase());
        } else if !out.ends_with(' ') && !out.is_empty() {
            out.push(' ');
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Returns letters and digits only, in lower case: `--dry-run`, `dry_run` and `dryRun` are the
/// same.
pub fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns whether a text names a file, by its whole name: `test_cache.py` does not name
/// `cache.py`.
pub fn names_file(text: &str, name: &str) -> bool {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            !text[..at].ends_with(is_inside) && !text[at + name.len()..].starts_with(is_inside)
        })
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
    fn a_file_is_named_by_its_whole_name() {
        assert!(
            names_file("see `app/cache.py`.", "cache.py") && !names_file("tests/test_cache.py", "cache.py")
        );
    }
}
