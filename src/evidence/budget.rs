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

    proptest! {
        #[test]
        fn no_more_than_the_room_and_a_mark_is_taken(text in "\\PC{0,300}", room in 0usize..400, total in 0usize..400) {
            for end in [false, true] {
                let mut budget = Budget::new(total);
                let cut = if end { budget.end_of(&text, room) } else { budget.start_of(&text, room) };
                prop_assert!(cut.text.len() <= room.min(total).max(MARK_ROOM) + MARK_ROOM);
                prop_assert_eq!(cut.missing == 0, text.len() <= room.min(total));
            }
        }
    }
}
