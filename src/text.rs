//! Cutting text to size: takes a text and a number of bytes, gives as much of it as may stay. Must not split a
//! character, and must not cut without a mark that says how much is missing. And counting in words.

/// The first `cap` bytes or a little less.
pub fn first_part(text: &str, cap: usize) -> String {
    if text.len() <= cap {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(cap);
    format!("{}[… {} bytes cut …]", &text[..end], text.len() - end)
}

/// The last `cap` bytes or a little less.
pub fn last_part(text: &str, cap: usize) -> String {
    if text.len() <= cap {
        return text.to_owned();
    }
    let from = text.ceil_char_boundary(text.len() - cap);
    format!("[… {from} bytes cut …]{}", &text[from..])
}

/// One of something, or several.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_at_a_character_and_says_so() {
        assert_eq!(first_part("äöüß", 8), "äöüß");
        assert_eq!(first_part("äöüß", 4), "äö[… 4 bytes cut …]");
        assert_eq!(first_part("äöüß", 5), "äö[… 4 bytes cut …]");
        assert_eq!(last_part("äöüß", 8), "äöüß");
        assert_eq!(last_part("äöüß", 4), "[… 4 bytes cut …]üß");
        assert_eq!(last_part("äöüß", 5), "[… 4 bytes cut …]üß");
    }
}
