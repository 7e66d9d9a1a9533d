//! `progress.txt`: parses its head, and updates it in place. Pure. Everything else in the file is
//! the session's notes, and must not change by a byte.

use std::fmt;
use std::ops::Range;

/// The status of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Features are open.
    InProgress,
    /// Every feature passes.
    Complete,
    ReachedLimit,
    /// Too many rounds in a row changed nothing.
    Stalled,
    /// The session's context is full; a fresh session continues.
    HandedOver,
    /// The session says that it needs a person.
    Blocked,
    Paused,
    /// The budget of money or time is used up.
    OverBudget,
    /// Too many of its sessions failed.
    Failed,
    Interrupted,
    /// A status that we don't know.
    Other(String),
}

impl Status {
    /// Our own, as they are written in the file.
    const WORDS: [(Self, &'static str); 10] = [
        (Self::InProgress, "IN_PROGRESS"),
        (Self::Complete, "COMPLETE"),
        (Self::ReachedLimit, "REACHED_LIMIT"),
        (Self::Stalled, "STALLED"),
        (Self::HandedOver, "HANDED_OVER"),
        (Self::Blocked, "BLOCKED"),
        (Self::Paused, "PAUSED"),
        (Self::OverBudget, "OVER_BUDGET"),
        (Self::Failed, "FAILED"),
        (Self::Interrupted, "INTERRUPTED"),
    ];

    /// As it is written in the file.
    pub fn as_str(&self) -> &str {
        if let Self::Other(word) = self {
            return word;
        }
        Self::WORDS.iter().find(|(status, _)| status == self).map_or("", |(_, word)| word)
    }

    /// Parses our statuses in any spelling, or one `UPPER_CASE` word. A sentence is no status.
    pub fn parse(text: &str) -> Option<Self> {
        let word = text.trim().trim_matches(['*', '`', '"', '.', ' ']);
        let plain = word.to_uppercase().replace([' ', '-'], "_");
        let plain = match plain.as_str() {
            "DONE" | "COMPLETED" | "FINISHED" => "COMPLETE",
            "STOPPED" => "PAUSED",
            other => other,
        };
        let known = Self::WORDS.into_iter().find(|(_, word)| *word == plain).map(|(status, _)| status);
        let is_upper_case =
            word.len() > 2 && word.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
        known.or_else(|| is_upper_case.then(|| Self::Other(word.to_owned())))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The head of the file, as far as it is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    pub iteration: Option<u32>,
    pub max: Option<u32>,
    pub status: Option<Status>,
}

/// The head of the file, as we write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopProgress {
    /// How often a feature was handed out.
    pub iteration: u32,
    /// How often one may be.
    pub max: u32,
    pub status: Status,
    /// How many features pass, of how many.
    pub passing: (usize, usize),
    /// The names of the features that are left.
    pub left: Vec<String>,
    /// The time, in RFC 3339.
    pub updated: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Iteration,
    Max,
    Status,
    Passing,
    Left,
    Updated,
}

impl Key {
    const NAMES: [(Self, &'static str); 6] = [
        (Self::Iteration, "iteration"),
        (Self::Max, "max"),
        (Self::Status, "status"),
        (Self::Passing, "passing"),
        (Self::Left, "left"),
        (Self::Updated, "updated"),
    ];

    fn parse(word: &str) -> Option<Self> {
        let plain = word.trim().to_lowercase().replace(|letter: char| !letter.is_alphanumeric(), "_");
        let plain = match plain.trim_matches('_') {
            "current_iteration" => "iteration",
            "max_iterations" | "max_iteration" | "maximum" => "max",
            other => other,
        };
        Self::NAMES.into_iter().find(|(_, name)| *name == plain).map(|(key, _)| key)
    }

    /// Whether a value fits this key. A line whose value doesn't is a note.
    fn accepts(self, value: &str) -> bool {
        match self {
            Self::Iteration | Self::Max => leading_number(value).is_some(),
            Self::Status => Status::parse(value).is_some(),
            Self::Passing | Self::Left | Self::Updated => true,
        }
    }

    /// Whether the key counts anywhere in the file; the others count only in the paragraph of one
    /// that does.
    fn stands_alone(self) -> bool {
        matches!(self, Self::Iteration | Self::Max | Self::Status)
    }
}

/// Splits a value into its leading number and the rest.
fn leading_number(value: &str) -> Option<(u32, &str)> {
    let value = value.trim_matches(['*', '`', '"', ' ', '\t']);
    let digits = value.chars().take_while(char::is_ascii_digit).count();
    let rest = value[digits..].trim_start();
    let ends = rest.is_empty() || rest.starts_with(['/', '(', '*', '`']) || rest.starts_with("of ");
    value[..digits].parse().ok().filter(|_| ends).map(|number| (number, rest))
}

/// Parses a line like `key: value` or `**Key** = value`; returns the key and the range of its
/// value.
fn parse_line(line: &str) -> Option<(Key, Range<usize>)> {
    let at = line.find([':', '='])?;
    let key = Key::parse(line[..at].trim_start_matches(['#', '*', '-', '>', '`', ' ', '\t']))?;
    // `**Status:** X` closes its bold after the colon.
    let rest = &line[at + 1..];
    let skipped = rest.len() - rest.trim_start_matches(['*', ' ', '\t']).len();
    let value = rest[skipped..].trim_end();
    key.accepts(value).then_some((key, at + 1 + skipped..at + 1 + skipped + value.len()))
}

/// A key, the index of its line, and the range of its value in that line.
type KeyLine = (Key, usize, Range<usize>);

/// Finds the first line of each key.
fn find_keys(lines: &[&str]) -> Vec<KeyLine> {
    let found: Vec<_> = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| {
            parse_line(line.trim_end_matches(['\n', '\r'])).map(|(key, value)| (key, at, value))
        })
        .collect();
    let Some(first) = found.iter().find(|(key, ..)| key.stands_alone()).map(|(_, at, _)| *at) else {
        return Vec::new();
    };
    let is_blank = |at: &usize| lines[*at].trim().is_empty();
    let from = (0..first).rev().find(is_blank).map_or(0, |at| at + 1);
    let to = (first..lines.len()).find(is_blank).unwrap_or(lines.len());
    let mut keys: Vec<KeyLine> = Vec::new();
    for (key, at, value) in found {
        let counts = key.stands_alone() || (from..to).contains(&at);
        if counts && !keys.iter().any(|(known, ..)| *known == key) {
            keys.push((key, at, value));
        }
    }
    keys
}

/// Parses the file.
pub fn parse(text: &str) -> Progress {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut progress = Progress::default();
    for (key, at, value) in find_keys(&lines) {
        let value = &lines[at][value];
        match key {
            Key::Iteration => {
                if let Some((iteration, rest)) = leading_number(value) {
                    progress.iteration = Some(iteration);
                    let max = rest.strip_prefix('/').or_else(|| rest.strip_prefix("of "));
                    progress.max = progress.max.or_else(|| max.and_then(leading_number).map(|(max, _)| max));
                }
            }
            Key::Max => progress.max = leading_number(value).map(|(max, _)| max),
            Key::Status => progress.status = Status::parse(value),
            Key::Passing | Key::Left | Key::Updated => {}
        }
    }
    progress
}

/// Returns the note below the status line, where a blocked session says why.
pub fn status_note(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (_, at, _) = find_keys(&lines).into_iter().find(|(key, ..)| *key == Key::Status)?;
    let below = lines.get(at + 1..)?.iter().map(|line| line.trim());
    let note = below.take_while(|line| !line.is_empty()).find(|line| parse_line(line).is_none())?;
    Some(note.trim_start_matches(['#', '-', '*', '>', ' ']).to_owned()).filter(|note| !note.is_empty())
}

/// Returns the text with its head updated. Lines that exist keep their place and form; missing ones
/// follow the last of them, or go to the top.
pub fn update(text: &str, progress: &LoopProgress) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(String::from).collect();
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let found = find_keys(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let (passing, all) = progress.passing;
    let value = |key: Key| match key {
        Key::Iteration => Some(progress.iteration.to_string()),
        Key::Max => Some(progress.max.to_string()),
        Key::Status => Some(progress.status.as_str().to_owned()),
        Key::Passing => Some(format!("{passing} of {all}")),
        Key::Left if progress.left.is_empty() => None,
        Key::Left => Some(progress.left.join(", ")),
        Key::Updated => Some(progress.updated.clone()),
    };
    for (key, at, range) in &found {
        let new = value(*key).unwrap_or_else(|| "nothing".into());
        let old = lines[*at][range.clone()].to_owned();
        // `3/50` and `3 of 50` keep their form.
        let new = match (*key, leading_number(&old)) {
            (Key::Iteration, Some((_, rest))) if rest.starts_with('/') => format!("{new}/{}", progress.max),
            (Key::Iteration, Some((_, rest))) if rest.starts_with("of ") => {
                format!("{new} of {}", progress.max)
            }
            _ => new,
        };
        lines[*at].replace_range(range.clone(), &new);
    }
    let says_max = found.iter().any(|(key, at, _)| {
        *key == Key::Iteration && (lines[*at].contains('/') || lines[*at].contains(" of "))
    });
    let is_there = |key: Key| found.iter().any(|(known, ..)| *known == key) || key == Key::Max && says_max;
    let missing: Vec<String> = Key::NAMES
        .into_iter()
        .filter(|(key, _)| !is_there(*key))
        .filter_map(|(key, name)| Some(format!("{name}: {}{ending}", value(key)?)))
        .collect();
    if missing.is_empty() {
        return lines.concat();
    }
    // After the last line of the first group of keys.
    let first = found.iter().filter(|(key, ..)| key.stands_alone()).map(|(_, at, _)| *at).min();
    if let Some(first) = first {
        let is_ours = |at: usize| found.iter().any(|(_, known, _)| *known == at);
        let last = (first..lines.len()).take_while(|at| is_ours(*at)).last().unwrap_or(first);
        if !lines[last].ends_with('\n') {
            lines[last].push_str(ending);
        }
        lines.splice(last + 1..=last, missing);
    } else {
        let gap = if text.trim().is_empty() { String::new() } else { ending.to_owned() };
        lines.splice(0..0, missing.into_iter().chain([gap]));
    }
    lines.concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn progress_with(status: Status) -> LoopProgress {
        LoopProgress {
            iteration: 4,
            max: 50,
            status,
            passing: (2, 5),
            left: vec!["F3".into(), "F4".into()],
            updated: "2026-11-16T19:20:00Z".into(),
        }
    }

    fn parsed(text: &str) -> (Option<u32>, Option<u32>, Option<String>) {
        let progress = parse(text);
        (progress.iteration, progress.max, progress.status.map(|status| status.as_str().to_owned()))
    }

    #[test]
    fn what_is_said_of_the_loop_is_read_however_it_is_written() {
        for (text, iteration, max, status) in [
            ("iteration: 3\nmax: 10\nstatus: IN_PROGRESS\n", Some(3), Some(10), "IN_PROGRESS"),
            ("Iteration = 3/10\nSTATUS=complete", Some(3), Some(10), "COMPLETE"),
            (
                "# Run\r\n**Iteration:** 3 of 10\r\n- **Status**: In progress\r\n",
                Some(3),
                Some(10),
                "IN_PROGRESS",
            ),
            ("max_iterations: 7\nstatus: WAITING", None, Some(7), "WAITING"),
            ("status: `BLOCKED`", None, None, "BLOCKED"),
        ] {
            assert_eq!(parsed(text), (iteration, max, Some(status.to_owned())), "{text}");
        }
    }

    #[test]
    fn sentences_and_counts_of_other_things_are_notes() {
        let log = "# Claude Progress Log\n## Session 2\nStatus: All features implemented and verified.\nMax: the cat\nIteration: third\nleft: the door open\n";
        assert_eq!(parsed(log), (None, None, None));
        assert_eq!(parsed("Iterations so far: 3\nmaximum speed: 7 km\n"), (None, None, None));
    }

    #[test]
    fn lines_keep_their_place_and_their_form_and_notes_are_kept() {
        let text = "# My run\r\n**Iteration:** 3/10\r\nstatus = IN_PROGRESS\r\n\r\n## Notes\r\n- status of the cart: broken\r\nleft: a mess";
        assert_eq!(
            update(text, &progress_with(Status::ReachedLimit)),
            "# My run\r\n**Iteration:** 4/50\r\nstatus = REACHED_LIMIT\r\npassing: 2 of 5\r\nleft: F3, F4\r\nupdated: 2026-11-16T19:20:00Z\r\n\r\n## Notes\r\n- status of the cart: broken\r\nleft: a mess"
        );
    }

    #[test]
    fn a_file_that_says_nothing_gets_a_head() {
        let head = "iteration: 4\nmax: 50\nstatus: STALLED\npassing: 2 of 5\nleft: F3, F4\nupdated: 2026-11-16T19:20:00Z\n";
        assert_eq!(update("", &progress_with(Status::Stalled)), head);
        assert_eq!(
            update("Session 1: began.\n", &progress_with(Status::Stalled)),
            format!("{head}\nSession 1: began.\n")
        );
        let done = LoopProgress { left: Vec::new(), ..progress_with(Status::Complete) };
        assert!(update(head, &done).contains("status: COMPLETE\npassing: 2 of 5\nleft: nothing\n"));
    }

    #[test]
    fn whoever_is_blocked_may_say_why() {
        assert_eq!(
            status_note("status: BLOCKED\nupdated: x\nNo key for the API.\n").as_deref(),
            Some("No key for the API.")
        );
        assert_eq!(status_note("status: BLOCKED\n\nNotes\n"), None);
        assert_eq!(status_note("nothing"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_and_what_was_written_is_read(text in "([a-zA-Z:=#* \\-/0-9é]{0,20}\r?\n?){0,12}") {
            let written = update(&text, &progress_with(Status::Stalled));
            let progress = parse(&written);
            prop_assert_eq!((progress.iteration, progress.max, progress.status), (Some(4), Some(50), Some(Status::Stalled)));
            prop_assert_eq!(update(&written, &progress_with(Status::Stalled)), written);
        }

        #[test]
        fn every_note_survives(notes in proptest::collection::vec("[a-zA-Z .,]{0,30}", 0..8), ours in any::<bool>()) {
            let head = if ours { "iteration: 1\nstatus: IN_PROGRESS\n\n" } else { "" };
            let text = format!("{head}{}\n", notes.join("\n"));
            let written = update(&text, &progress_with(Status::Complete));
            prop_assert!(written.ends_with(&format!("{}\n", notes.join("\n"))), "{:?}", written);
        }
    }
}
