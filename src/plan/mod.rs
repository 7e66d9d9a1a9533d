//! What was promised: the plan in play, as it was and as it is, split into steps.

pub mod find;
pub mod mentions;
pub mod places;
pub mod steps;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::session::file_history::CHANGE_CAP;
use crate::session::{Original, Touch};
use crate::text::normalise::normalised;
use crate::text::unified_diff;
pub use find::{Read, ReadText, find, given};
pub use places::PlanPlaces;
use steps::parse_steps;
pub use steps::{Mark, Step, StepKind};

/// How the plan came to be in play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanSource {
    /// Approved in the session; its text is the transcript's.
    Approved,
    /// Approved in the session; its text is its file's, which was kept up.
    ApprovedFile,
    /// A plan file that the session changed.
    TouchedFile,
    /// A plan file that the person named or that the session read.
    NamedFile,
    /// A file that was put up for this audit, whatever the session did with it.
    GivenFile,
}

/// The plan in play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// How it came to be in play.
    pub source: PlanSource,
    /// Its file, where it has one on disk.
    pub path: Option<String>,
    /// Its text as it is now.
    pub text: String,
    /// Its steps as they are now.
    pub steps: Vec<Step>,
    /// What it was when the session began, when it was approved or when the session first wrote it, where that is known.
    pub before: Option<PlanBefore>,
    /// Numbers of steps that were ticked before the session began, in order: not this session's claim.
    pub ticked_before: Vec<usize>,
}

/// Lines around each change in a plan's diff.
const DIFF_CONTEXT: usize = 2;

impl Plan {
    /// Returns every step that was promised: those of the plan as it is now, and those that were
    /// taken out of it.
    pub fn promised(&self) -> Vec<Step> {
        let mut steps = self.steps.clone();
        steps.extend(self.removed_steps());
        steps
    }

    /// Returns the steps of the plan as it was that are not in it any more, in whatever form. Their
    /// numbers follow those of `steps`: under its old number one would pass for another step of the
    /// plan.
    pub fn removed_steps(&self) -> Vec<Step> {
        let Some(before) = self.before.as_ref().filter(|before| before.text != self.text) else {
            return Vec::new();
        };
        let steps = parse_steps(&before.text);
        let is_there = are_in(&self.text, &self.steps, &steps);
        let gone = steps.into_iter().zip(is_there).filter(|(_, there)| !there).map(|(step, _)| step);
        (self.steps.len() + 1..).zip(gone).map(|(number, step)| Step { number, ..step }).collect()
    }

    /// Returns what has changed in the plan since `before` as a unified diff; `None` where nothing
    /// has, or where it is not known what the plan was.
    pub fn diff(&self) -> Option<String> {
        let before = &self.before.as_ref()?.text;
        (before.trim_end() != self.text.trim_end())
            .then(|| unified_diff(before, &self.text, DIFF_CONTEXT, false))
    }

    /// Whether this session ticked the step.
    pub fn ticked_now(&self, step: &Step) -> bool {
        step.mark == Mark::Ticked && self.ticked_before.binary_search(&step.number).is_err()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanBefore {
    /// Its text then.
    pub text: String,
    /// How that is known.
    pub from: BeforeSource,
}

/// How it is known what a plan was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
    fn new(text: &str, from: BeforeSource) -> Self {
        Self { text: find::capped(text).to_owned(), from }
    }

    /// What a file was before its first change, if that is in the transcript.
    fn original(first: Option<&Touch>) -> Option<Self> {
        match &first?.original {
            Original::Text(text) => Some(Self::new(text, BeforeSource::Original)),
            Original::Absent | Original::Unknown | Original::Recorded(_) => None,
        }
    }

    /// What the session wrote first, where it made the file; `None` where that text was cut.
    fn first_written(first: &Touch) -> Option<Self> {
        let change = first.change.as_ref()?;
        let is_whole = change.old.is_empty() && change.new.len() < CHANGE_CAP;
        is_whole.then(|| Self::new(&change.new, BeforeSource::FirstWritten))
    }
}

/// Returns the numbers of a plan's ticked steps that had their tick before.
fn ticked_before(plan: &Plan, before: &str) -> Vec<usize> {
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
fn marks_changed(before: &str, now: &str) -> bool {
    let marks = |text: &str| -> HashMap<String, Mark> {
        let marked = parse_steps(text).into_iter().filter(|step| step.mark != Mark::None);
        marked.map(|step| (normalised(&step.text), step.mark)).collect()
    };
    let then = marks(before);
    !then.is_empty()
        && marks(now).iter().any(|(words, mark)| then.get(words).is_some_and(|then| then != mark))
}

/// So many steps are looked for in the whole text; each takes its length.
const MOST_SEARCHED: usize = 256;

/// Returns which steps are in a text, whose own steps are `there`: by their words, in whatever form.
fn are_in(text: &str, there: &[Step], steps: &[Step]) -> Vec<bool> {
    let there: HashSet<String> = there.iter().map(|step| normalised(&step.text)).collect();
    let whole = format!(" {} ", normalised(text));
    let mut searched = 0;
    let is_in = |step: &Step| {
        let words = normalised(&step.text);
        there.contains(&words) || {
            searched += 1;
            searched <= MOST_SEARCHED && whole.contains(&format!(" {words} "))
        }
    };
    steps.iter().map(is_in).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::marks_changed;
    use crate::testing::{plan, plan_from};

    #[test]
    fn a_diff_shows_what_was_taken_out_of_a_plan() {
        let before = "# Plan\n\n- [ ] a\n- [ ] b\n- [ ] c\n- [ ] d\n- [ ] e\n";
        let now = "# Plan\n\n- [x] a\n- [ ] c\n- [ ] d\n- [ ] e\n";
        let expected = "@@ -1,6 +1,5 @@\n # Plan\n \n-- [ ] a\n-- [ ] b\n+- [x] a\n - [ ] c\n - [ ] d\n";
        assert_eq!(plan_from(before, now).diff().as_deref(), Some(expected));
        assert_eq!(plan_from(now, now).diff(), None);
        assert_eq!(plan(now).diff(), None);
    }

    #[test]
    fn a_step_that_is_gone_is_still_promised_and_one_in_another_form_is_not_gone() {
        let plan = plan_from("1. make a\n2. make b\n3. make `c.rs`\n4. make d", "- [x] make a\n\nmake d\n");
        let promised: Vec<_> = plan.promised().into_iter().map(|step| (step.number, step.text)).collect();
        let expected =
            [(1, "make a"), (2, "make b"), (3, "make `c.rs`")].map(|(n, text)| (n, text.to_owned()));
        assert_eq!(promised, expected);
        assert_eq!(plan.removed_steps()[1].paths, ["c.rs"]);
    }

    #[test]
    fn plans_that_have_nothing_in_common_are_compared_at_once() {
        let (before, now) = ("- [ ] a\n".repeat(16_000), "- [ ] b\n".repeat(16_000));
        let diff = plan_from(&before, &now).diff().expect("a difference");
        assert!(diff.starts_with("@@ -1,16000 +1,16000 @@\n-- [ ] a\n") && diff.ends_with("+- [ ] b\n"));
    }

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
        fn a_plan_that_only_grew_has_lost_nothing(
            lines in prop::collection::vec("(- |1\\. |- \\[ \\] |# |\\| )?(one|two|`a\\.rs`|[a-z]{1,6})", 0..12),
            more in "(- |1\\. )new [a-z]{1,6}",
        ) {
            let before = lines.join("\n");
            let now = format!("{more}\n\n{before}\n\n{more}\n");
            let plan = plan_from(&before, &now);
            prop_assert_eq!(plan.removed_steps(), Vec::new(), "{:?} from {:?}", now, before);
            prop_assert!(plan.diff().is_some());
        }

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
