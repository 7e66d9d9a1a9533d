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

/// A number of bytes, as people say it. With whole numbers alone: one logarithm, and every start of the program would load
/// a library for it.
pub(crate) fn in_bytes(bytes: u64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    // Tenths of the unit, rounded.
    let (mut tenths, mut unit) = (u128::from(bytes) * 10, None);
    for name in units {
        if (tenths + 5) / 10 < 1_000 {
            break;
        }
        (tenths, unit) = ((tenths + 500) / 1_000, Some(name));
    }
    match unit {
        None => format!("{bytes} B"),
        Some(unit) => format!("{}.{} {unit}", tenths / 10, tenths % 10),
    }
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

    #[test]
    fn bytes_are_said_in_units_of_their_size() {
        for (bytes, said) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (1_250, "1.3 kB"),
            (200_000_000, "200.0 MB"),
            (1_000_000_000, "1.0 GB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(in_bytes(bytes), said);
        }
    }
}
