//! Cuts text to the room that it has in the prompt. Must not cut without a mark that says how much
//! is missing. The mark's wording is part of the recorded prompts.

use crate::text::ends;

/// Text that was cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The text, with a mark where it was cut.
    pub text: String,
    /// How many of its bytes are missing.
    pub missing: usize,
}

const MARK_ROOM: usize = 60;
/// With less room than this, a part of an entry is meaningless.
const LEAST_OF_ENTRY: usize = 3 * MARK_ROOM;

/// Returns the start of a text, in whole lines unless that would lose most of it.
pub fn start_within(text: &str, room: usize) -> Cut {
    within(text, room, |room| {
        let start = to_line_end(text, text.floor_char_boundary(room));
        let missing = text.len() - start.len();
        (format!("{start}\n[… cut: {missing} of {} bytes are not shown …]\n", text.len()), missing)
    })
}

/// Returns the end of a text: what happened last matters more.
pub fn end_within(text: &str, room: usize) -> Cut {
    within(text, room, |room| {
        let (_, end) = ends(text, 0, room);
        let missing = text.len() - end.len();
        (format!("[… cut: the first {missing} of {} bytes are not shown …]\n{end}", text.len()), missing)
    })
}

/// Returns the start and the end of a text, without its middle.
pub fn both_ends_within(text: &str, room: usize) -> Cut {
    within(text, room, |room| {
        let (start, end) = ends(text, room * 2 / 3, room / 3);
        let start = to_line_end(text, start.len());
        let missing = text.len() - start.len() - end.len();
        let mark = format!("[… cut: {missing} of {} bytes are not shown …]", text.len());
        (format!("{start}\n{mark}\n{end}"), missing)
    })
}

/// Returns the text up to `end`, or up to the last line end before it in its second half.
fn to_line_end(text: &str, end: usize) -> &str {
    let line_end = text[..end].rfind('\n').map(|at| at + 1).filter(|at| *at > end / 2);
    &text[..line_end.unwrap_or(end)]
}

fn within(text: &str, room: usize, cut: impl FnOnce(usize) -> (String, usize)) -> Cut {
    if text.len() <= room {
        return Cut { text: text.to_owned(), missing: 0 };
    }
    let (text, missing) = cut(room.saturating_sub(MARK_ROOM).min(text.len()));
    Cut { text, missing }
}

/// Returns the newest of some entries, as many as fit, in their order, and the end of the first
/// that does not fit, if that is worth it. `entries` are oldest first.
pub fn newest_within(entries: &[String], room: usize) -> String {
    let mut from = entries.len();
    let mut bytes = 0;
    while from > 0 && bytes + entries[from - 1].len() <= room {
        from -= 1;
        bytes += entries[from].len();
    }
    if from == 0 {
        return entries.concat().trim_end().to_owned();
    }
    while from < entries.len() && bytes + MARK_ROOM > room {
        bytes -= entries[from].len();
        from += 1;
    }
    let left = room.saturating_sub(bytes + MARK_ROOM);
    let mut part = String::new();
    if from == entries.len() || left >= LEAST_OF_ENTRY {
        from -= 1;
        part = end_within(&entries[from], left).text;
    }
    let first = if part.is_empty() { from } else { from + 1 };
    let mark = match from {
        0 => String::new(),
        missing => format!("[… cut: the first {missing} of {} are not shown …]\n", entries.len()),
    };
    (mark + &part + &entries[first..].concat()).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cut_says_how_much_is_missing() {
        let text = "line one\nline two\n".repeat(20);
        let cut = start_within(&text, 200);
        let mark = format!("\n[… cut: {} of 360 bytes are not shown …]\n", cut.missing);
        assert!(cut.text.ends_with(&mark), "{}", cut.text);
        let cut = end_within(&text, 200);
        let mark = format!("[… cut: the first {} of 360 bytes are not shown …]\n", cut.missing);
        assert!(cut.text.starts_with(&mark), "{}", cut.text);
    }

    #[test]
    fn entries_that_have_no_room_are_counted() {
        let entries: Vec<String> = (0..900).map(|number| format!("{number}. ten more letters\n")).collect();
        assert_eq!(
            newest_within(&entries, 110),
            "[… cut: the first 898 of 900 are not shown …]\n898. ten more letters\n899. ten more letters"
        );
        assert_eq!(newest_within(&entries[1..4], 90).lines().count(), 3, "no mark");
    }

    #[test]
    fn an_entry_that_is_too_long_by_itself_is_cut() {
        let newest = newest_within(&["old".into(), "x".repeat(500)], 200);
        let marks = "[… cut: the first 1 of 2 are not shown …]\n[… cut: the first ";
        assert!(newest.starts_with(marks), "{newest}");
        // An old and long entry is not dropped if there is room for much of it.
        let spec = format!("1. {}the last word\n", "much ".repeat(900));
        let newest = newest_within(&[spec, "2. go on\n".into(), "3. go on\n".into()], 2_000);
        assert!(newest.ends_with("much the last word\n2. go on\n3. go on"), "{newest}");
        assert!((1_700..=2_000).contains(&newest.len()), "{}", newest.len());
    }

    proptest! {
        #[test]
        fn no_more_than_the_room_and_the_marks_is_taken(
            entries in prop::collection::vec("x\\PC{0,40}\n", 0..20),
            room in 0usize..400,
        ) {
            let whole = entries.concat();
            let newest = newest_within(&entries, room);
            prop_assert!(newest.len() <= room.max(MARK_ROOM) + 2 * MARK_ROOM);
            prop_assert_eq!(newest == whole.trim_end(), whole.len() <= room);
            for cut in [start_within(&whole, room), end_within(&whole, room), both_ends_within(&whole, room)] {
                prop_assert!(cut.text.len() <= room.max(MARK_ROOM) + MARK_ROOM);
                prop_assert_eq!(cut.missing == 0, whole.len() <= room);
            }
        }
    }
}
