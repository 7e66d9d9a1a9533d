//! What a plan was when the session began, when it was approved or when the session first wrote it,
//! and which of its ticks are older than the session. Pure; must not read a file.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::Plan;
use super::find::capped;
use super::steps::{Mark, Step, parse_steps};
use crate::session::file_history::CHANGE_CAP;
use crate::session::{Original, Touch};
use crate::text::normalise::normalised;

/// What a plan was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanBefore {
    /// Its text then.
    pub text: String,
    /// How that is known.
    pub from: BeforeSource,
}

/// How it is known what a plan was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BeforeSource {
    /// The person approved this text.
    Approved,
    /// The transcript says what the file was before its first change.
    Original,
    /// The session read the whole file.
    FirstRead,
    /// It stands in the commit before the session.
    Commit,
    /// The session made the file, and wrote this first.
    FirstWritten,
}

impl PlanBefore {
    pub(super) fn new(text: &str, from: BeforeSource) -> Self {
        Self { text: capped(text).to_owned(), from }
    }

    /// What was approved.
    pub(super) fn approved(text: &str) -> Self {
        Self::new(text, BeforeSource::Approved)
    }

    /// What a file was before its first change, if that is in the transcript.
    pub(super) fn original(first: Option<&Touch>) -> Option<Self> {
        match &first?.original {
            Original::Text(text) => Some(Self::new(text, BeforeSource::Original)),
            Original::Absent | Original::Unknown | Original::Recorded(_) => None,
        }
    }

    /// What the session wrote first, where it made the file; `None` where that text was cut.
    pub(super) fn first_written(first: &Touch) -> Option<Self> {
        let change = first.change.as_ref()?;
        let is_whole = change.old.is_empty() && change.new.len() < CHANGE_CAP;
        is_whole.then(|| Self::new(&change.new, BeforeSource::FirstWritten))
    }
}

/// Returns the numbers of a plan's ticked steps that had their tick before.
pub(super) fn ticked_before(plan: &Plan, before: &str) -> Vec<usize> {
    let ticked = |steps: &[Step]| -> Vec<(usize, String)> {
        let ticked = steps.iter().filter(|step| step.mark == Mark::Ticked);
        ticked.map(|step| (step.number, normalised(&step.text))).collect()
    };
    let then: HashSet<String> = ticked(&parse_steps(before)).into_iter().map(|(_, words)| words).collect();
    ticked(&plan.steps)
        .into_iter()
        .filter(|(_, words)| then.contains(words))
        .map(|(number, _)| number)
        .collect()
}

/// Whether a mark of the same step differs between two texts. Steps that are new or gone, and a
/// mark where none was, do not count.
pub(super) fn marks_changed(before: &str, now: &str) -> bool {
    let marks = |text: &str| -> HashMap<String, Mark> {
        let marked = parse_steps(text).into_iter().filter(|step| step.mark != Mark::None);
        marked.map(|step| (normalised(&step.text), step.mark)).collect()
    };
    let then = marks(before);
    !then.is_empty()
        && marks(now).iter().any(|(words, mark)| then.get(words).is_some_and(|then| then != mark))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_mark_changes_where_the_same_step_has_another() {
        assert!(marks_changed("- [ ] a\n- [x] b", "- [x] a\n- [x] b"));
        assert!(marks_changed("| a | ⏳ |\n|---|---|\n| b | ⏳ |", "| a | ✅ |\n|---|---|\n| b | ✅ |"));
        assert!(!marks_changed("- [ ] a", "- [ ] a\n- [x] b"));
        assert!(!marks_changed("- a", "- [x] a"));
        assert!(!marks_changed("- [ ] a\n\ntext", "- [ ] a\n\nmore text"));
    }

    proptest! {
        #[test]
        fn ticking_is_seen_and_nothing_else_is(
            words in prop::collection::btree_set("[a-z]{2,8}", 1..8),
            tick in any::<bool>(),
        ) {
            let before: String = words.iter().map(|word| format!("- [ ] {word}\n")).collect();
            let now = if tick { before.replacen("[ ]", "[x]", 1) } else { format!("{before}\nmore\n") };
            prop_assert_eq!(marks_changed(&before, &now), tick);
        }
    }
}
