//! The start and the end of a long text: takes a text and a number of bytes, gives what may stay.
//! Pure. Must not split a character, nor cut without a mark that says how much is missing.

/// Returns at most so many bytes of the start and of the end of a text, without splitting a
/// character.
pub fn ends(text: &str, start: usize, end: usize) -> (&str, &str) {
    let start = text.floor_char_boundary(start);
    let end = text.ceil_char_boundary(text.len().saturating_sub(end));
    (&text[..start], &text[end..])
}

/// Returns the text, or where it is longer than `cap` bytes its start and its end, half of that
/// each, with a mark between them. People say what they want before or after a log that they paste,
/// and a report says what came of it at either end.
pub fn start_and_end(text: &str, cap: usize) -> String {
    if text.len() <= cap {
        return text.to_owned();
    }
    let (start, end) = ends(text, cap / 2, cap / 2);
    format!("{start}[… {} bytes cut …]{end}", text.len() - start.len() - end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_both_ends_and_says_what_is_missing() {
        assert_eq!(start_and_end("äöüß", 8), "äöüß");
        assert_eq!(start_and_end("äöüßäöüß", 8), "äö[… 8 bytes cut …]üß");
        assert_eq!(start_and_end("äöüßäöüß", 7), "ä[… 12 bytes cut …]ß");
    }
}
