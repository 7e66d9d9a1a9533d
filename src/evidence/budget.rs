//! One number of bytes for the whole prompt, and what happens at its end: takes text, gives as much of it
//! as may still go in, with a mark where something is missing. Must not cut silently.

/// What is left to spend.
#[derive(Debug)]
pub struct Budget {
    left: usize,
}

/// Text as it goes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The text, with a mark where it was cut.
    pub text: String,
    /// How many of its bytes are missing.
    pub missing: usize,
}

/// Room for the mark itself.
const MARK_ROOM: usize = 60;

impl Budget {
    /// So many bytes.
    pub fn new(bytes: usize) -> Self {
        Self { left: bytes }
    }

    /// What is left.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Spends bytes on something that goes in as it is.
    pub fn spend(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }

    /// The start of a text: as much as `at_most` and what is left allow.
    pub fn start_of(&mut self, text: &str, at_most: usize) -> Cut {
        self.take(text, at_most, |text, room| {
            let end = text.floor_char_boundary(room);
            // Whole lines, unless that would lose most of it.
            let end = text[..end].rfind('\n').map_or(end, |at| if at + 1 > end / 2 { at + 1 } else { end });
            let missing = text.len() - end;
            (
                format!("{}\n[… cut: {missing} of {} bytes are not shown …]\n", &text[..end], text.len()),
                missing,
            )
        })
    }

    /// The end of a text: what happened last is worth more.
    pub fn end_of(&mut self, text: &str, at_most: usize) -> Cut {
        self.take(text, at_most, |text, room| {
            let from = text.ceil_char_boundary(text.len() - room);
            (
                format!(
                    "[… cut: the first {from} of {} bytes are not shown …]\n{}",
                    text.len(),
                    &text[from..]
                ),
                from,
            )
        })
    }

    /// The start and the end of a text: of a long one the middle is left out.
    pub fn both_ends_of(&mut self, text: &str, at_most: usize) -> Cut {
        self.take(text, at_most, |text, room| {
            let start = text.floor_char_boundary(room * 2 / 3);
            let start =
                text[..start].rfind('\n').map_or(start, |at| if at > start / 2 { at + 1 } else { start });
            let end = text.ceil_char_boundary(text.len() - room / 3);
            let missing = end - start;
            let (total, head, tail) = (text.len(), &text[..start], &text[end..]);
            (format!("{head}\n[… cut: {missing} of {total} bytes are not shown …]\n{tail}"), missing)
        })
    }

    /// The newest of so many entries, as many as there is room for, in their order. They come newest first, and what has no
    /// room is not even written; of the first that is too long there is the end.
    pub fn newest_of(
        &mut self,
        total: usize,
        newest_first: impl Iterator<Item = String>,
        at_most: usize,
    ) -> String {
        let missing = |missing| format!("the first {missing} of {total}");
        let mut taken = self.entries(total, newest_first, at_most, Self::end_of, missing);
        taken.reverse();
        self.spend_on(taken.concat())
    }

    /// The first of so many lines, as many as there is room for. What has none is not even written; of the first that is too
    /// long there is the start.
    pub fn first_of(&mut self, total: usize, lines: impl Iterator<Item = String>, at_most: usize) -> String {
        let missing = |missing| format!("{missing} of {total} lines");
        let taken = self.entries(total, lines, at_most, Self::start_of, missing);
        self.spend_on(taken.concat())
    }

    /// As many entries as there is room for, a part of the first that has none, and a mark with the words for how many are
    /// missing.
    fn entries(
        &self,
        total: usize,
        entries: impl Iterator<Item = String>,
        at_most: usize,
        part_of: impl FnOnce(&mut Self, &str, usize) -> Cut,
        words: impl FnOnce(usize) -> String,
    ) -> Vec<String> {
        let (mut taken, cut) = fitting(entries, at_most.min(self.left));
        if let Some(Left { entry, room }) = cut {
            taken.extend(entry.map(|entry| part_of(&mut Self::new(room), &entry, room).text));
            let missing = total.saturating_sub(taken.len());
            taken.extend((missing > 0).then(|| mark(&words(missing))));
        }
        taken
    }

    fn spend_on(&mut self, mut text: String) -> String {
        text.truncate(text.trim_end().len());
        self.spend(text.len());
        text
    }

    fn take(&mut self, text: &str, at_most: usize, cut: impl Fn(&str, usize) -> (String, usize)) -> Cut {
        let room = at_most.min(self.left);
        let taken = if text.len() <= room {
            Cut { text: text.to_owned(), missing: 0 }
        } else {
            let (text, missing) = cut(text, room.saturating_sub(MARK_ROOM).min(text.len()));
            Cut { text, missing }
        };
        self.spend(taken.text.len());
        taken
    }
}

/// With less room than this a part of an entry says nothing.
const LEAST: usize = 3 * MARK_ROOM;

/// What is left where not all entries have room.
struct Left {
    /// The first that has none, if a part of it is worth showing.
    entry: Option<String>,
    /// The room for that.
    room: usize,
}

/// As many entries as there is room for with a mark behind them.
fn fitting(entries: impl Iterator<Item = String>, room: usize) -> (Vec<String>, Option<Left>) {
    let (mut taken, mut bytes) = (Vec::<String>::new(), 0);
    for entry in entries {
        if bytes + entry.len() > room {
            let mut first_out = entry;
            while bytes + MARK_ROOM > room
                && let Some(last) = taken.pop()
            {
                bytes -= last.len();
                first_out = last;
            }
            let room = room.saturating_sub(bytes + MARK_ROOM);
            let entry = Some(first_out).filter(|_| taken.is_empty() || room >= LEAST);
            return (taken, Some(Left { entry, room }));
        }
        bytes += entry.len();
        taken.push(entry);
    }
    (taken, None)
}

fn mark(what: &str) -> String {
    format!("[… cut: {what} are not shown …]\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cut_says_how_much_is_missing() {
        let text = "line one\nline two\n".repeat(20);
        let cut = Budget::new(1_000).start_of(&text, 200);
        assert!(
            cut.text.ends_with(&format!("\n[… cut: {} of 360 bytes are not shown …]\n", cut.missing)),
            "{}",
            cut.text
        );
        let cut = Budget::new(200).end_of(&text, 1_000);
        assert!(
            cut.text
                .starts_with(&format!("[… cut: the first {} of 360 bytes are not shown …]\n", cut.missing))
        );
    }

    #[test]
    fn what_has_no_room_is_not_written_and_is_counted() {
        let entry = |number: usize| format!("{number}. ten more letters\n");
        let written = std::cell::Cell::new(0);
        let entries = |numbers: Vec<usize>| {
            let written = &written;
            numbers.into_iter().map(move |number| {
                written.set(written.get() + 1);
                entry(number)
            })
        };
        let newest = Budget::new(1_000).newest_of(900, entries((0..900).rev().collect()), 110);
        assert_eq!(
            newest,
            "[… cut: the first 898 of 900 are not shown …]\n898. ten more letters\n899. ten more letters"
        );
        let first = Budget::new(110).first_of(900, entries((0..900).collect()), 1_000);
        assert_eq!(
            first,
            "0. ten more letters\n1. ten more letters\n[… cut: 898 of 900 lines are not shown …]"
        );
        assert!(written.get() < 14, "{}", written.get());
        assert_eq!(Budget::new(90).first_of(3, entries(vec![1, 2, 3]), 90).lines().count(), 3, "no mark");
    }

    #[test]
    fn an_entry_that_is_too_long_by_itself_is_cut() {
        let long = "x".repeat(500);
        let newest = Budget::new(200).newest_of(2, [long.clone(), "old".into()].into_iter(), 200);
        assert!(
            newest.starts_with("[… cut: the first 1 of 2 are not shown …]\n[… cut: the first "),
            "{newest}"
        );
        let first = Budget::new(200).first_of(1, [long].into_iter(), 200);
        assert!(first.starts_with("xxx") && first.ends_with(" of 500 bytes are not shown …]"), "{first}");
        // What is old and long is not dropped where there is room for much of it.
        let spec = format!("1. {}the last word\n", "much ".repeat(900));
        let asks = [3, 2].map(|number| format!("{number}. go on\n"));
        let newest = Budget::new(3_000).newest_of(3, asks.into_iter().chain([spec]), 2_000);
        assert!(newest.ends_with("much the last word\n2. go on\n3. go on"), "{newest}");
        assert!((1_700..=2_000).contains(&newest.len()), "{}", newest.len());
    }

    proptest! {
        #[test]
        fn entries_take_no_more_than_the_room_and_their_marks(
            entries in prop::collection::vec("x\\PC{0,40}\n", 0..20),
            room in 0usize..400,
        ) {
            let total = entries.len();
            let whole = entries.concat();
            for text in [
                Budget::new(room).newest_of(total, entries.iter().rev().cloned(), room),
                Budget::new(room).first_of(total, entries.iter().cloned(), room),
            ] {
                prop_assert!(text.len() <= room.max(MARK_ROOM) + 2 * MARK_ROOM);
                prop_assert_eq!(text == whole.trim_end(), whole.len() <= room);
            }
        }

        #[test]
        fn no_more_than_the_room_and_a_mark_is_taken(text in "\\PC{0,300}", room in 0usize..400, total in 0usize..400) {
            for part in [Budget::start_of, Budget::end_of, Budget::both_ends_of] {
                let mut budget = Budget::new(total);
                let cut = part(&mut budget, &text, room);
                prop_assert!(cut.text.len() <= room.min(total).max(MARK_ROOM) + MARK_ROOM);
                prop_assert_eq!(cut.missing == 0, text.len() <= room.min(total));
            }
        }
    }
}
