//! What was promised: the plan in play, before and now, split into steps.

pub mod find;
pub mod mentions;
pub mod places;
pub mod steps;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::session::file_history::CHANGE_CAP;
use crate::session::{Original, Touch};
use crate::text::normalise::normalised;
use crate::text::unified_diff;
pub use find::{Read, ReadText, find, given};
pub use places::PlanPlaces;
use steps::parse_steps;
pub use steps::{Mark, Step, StepKind};

/// How the plan came into play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanSource {
    /// Approved in the session; its text is the transcript's.
    Approved,
    /// Approved in the session; its text is its file's, which was kept up to date.
    ApprovedFile,
    /// A plan file that the session changed.
    TouchedFile,
    /// A plan file that the person named or that the session read.
    NamedFile,
    /// A file that was given for this audit, whatever the session did with it.
    GivenFile,
}

/// The plan in play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// How it came into play.
    pub source: PlanSource,
    /// Its file, if it has one on disk.
    pub path: Option<String>,
    /// Its current text.
    pub text: String,
    /// Its current steps.
    pub steps: Vec<Step>,
    /// Its text when the session began, when it was approved or when the session first wrote it, if
    /// known.
    pub before: Option<PlanBefore>,
    /// The steps of the earlier plan that the current one has in no form. Their numbers follow those
    /// of `steps`: under its old number one would be taken for another step of the plan.
    #[serde(skip)]
    pub removed: Vec<Step>,
    /// The numbers of steps that were ticked before the session began, in order: not this session's
    /// claim.
    pub ticked_before: Vec<usize>,
}

/// Lines around each change in a plan's diff.
const DIFF_CONTEXT: usize = 2;

impl Plan {
    /// Returns a plan whose earlier text is not known.
    pub fn new(source: PlanSource, text: String, path: Option<&Path>) -> Self {
        Self {
            source,
            path: path.map(|path| path.to_string_lossy().into_owned()),
            steps: parse_steps(&text),
            text,
            before: None,
            removed: Vec::new(),
            ticked_before: Vec::new(),
        }
    }

    /// Returns every step that was promised: those of the current plan, and those that were removed
    /// from it.
    pub fn promised(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().chain(&self.removed)
    }

    /// Returns the plan with its earlier text, if that is known, and what was removed and ticked
    /// since. In a file that the session wrote itself, every tick is its claim.
    #[must_use]
    pub fn since(self, before: Option<PlanBefore>) -> Self {
        let older = before.as_ref().filter(|before| before.from != BeforeSource::FirstWritten);
        let ticked_before = older.map(|before| ticked_before(&self.steps, &before.steps));
        let mut plan = Self { ticked_before: ticked_before.unwrap_or_default(), before, ..self };
        plan.find_removed();
        plan
    }

    /// Parses the steps again, after a change of the texts. What was ticked before is known already.
    pub fn parse_again(&mut self) {
        self.steps = parse_steps(&self.text);
        if let Some(before) = &mut self.before {
            before.steps = parse_steps(&before.text);
        }
        self.find_removed();
    }

    fn find_removed(&mut self) {
        let before = self.before.as_ref().filter(|before| before.text != self.text);
        let steps = before.map(|before| before.steps.as_slice()).unwrap_or_default();
        let is_there = are_in(&self.text, &self.steps, steps);
        let gone = steps.iter().zip(is_there).filter(|(_, there)| !there).map(|(step, _)| step.clone());
        self.removed =
            (self.steps.len() + 1..).zip(gone).map(|(number, step)| Step { number, ..step }).collect();
    }

    /// Returns what has changed in the plan since `before` as a unified diff; `None` if nothing
    /// has, or if the earlier text is unknown.
    pub fn diff(&self) -> Option<String> {
        let before = &self.before.as_ref()?.text;
        (before.trim_end() != self.text.trim_end())
            .then(|| unified_diff(before, &self.text, DIFF_CONTEXT, false))
    }

    /// Returns whether this session ticked the step.
    pub fn ticked_now(&self, step: &Step) -> bool {
        step.mark == Mark::Ticked && self.ticked_before.binary_search(&step.number).is_err()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanBefore {
    /// Its text at that time.
    pub text: String,
    /// Its steps at that time.
    #[serde(skip)]
    pub steps: Vec<Step>,
    /// How that is known.
    pub from: BeforeSource,
}

/// How a plan's earlier text is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BeforeSource {
    /// The person approved this text.
    Approved,
    /// The transcript has the file's text before its first change.
    Original,
    /// The session read the whole file.
    FirstRead,
    /// It is in the commit before the session.
    Commit,
    /// The session created the file, and wrote this first.
    FirstWritten,
}

impl PlanBefore {
    pub fn new(text: &str, from: BeforeSource) -> Self {
        let text = find::capped(text).to_owned();
        Self { steps: parse_steps(&text), text, from }
    }

    /// Returns a file's text before its first change, if the transcript has it.
    fn original(first: Option<&Touch>) -> Option<Self> {
        match &first?.original {
            Original::Text(text) => Some(Self::new(text, BeforeSource::Original)),
            Original::Absent | Original::Unknown | Original::Recorded(_) => None,
        }
    }

    /// Returns what the session wrote first, if it created the file; `None` if that text was cut.
    fn first_written(first: &Touch) -> Option<Self> {
        let change = first.change.as_ref()?;
        let is_whole = change.old.is_empty() && change.new.len() < CHANGE_CAP;
        is_whole.then(|| Self::new(&change.new, BeforeSource::FirstWritten))
    }
}

/// Returns the numbers of the ticked ones of these steps that were ticked before.
fn ticked_before(steps: &[Step], before: &[Step]) -> Vec<usize> {
    fn ticked(steps: &[Step]) -> impl Iterator<Item = (usize, String)> {
        let ticked = steps.iter().filter(|step| step.mark == Mark::Ticked);
        ticked.map(|step| (step.number, normalised(&step.text)))
    }
    let then: HashSet<String> = ticked(before).map(|(_, words)| words).collect();
    ticked(steps).filter(|(_, words)| then.contains(words)).map(|(number, _)| number).collect()
}

/// Returns whether a mark of the same step differs between two texts. New and removed steps, and
/// steps without a mark in one text, do not count.
fn marks_changed(before: &[Step], now: &[Step]) -> bool {
    let marks = |steps: &[Step]| -> HashMap<String, Mark> {
        let marked = steps.iter().filter(|step| step.mark != Mark::None);
        marked.map(|step| (normalised(&step.text), step.mark)).collect()
    };
    let then = marks(before);
    !then.is_empty()
        && marks(now).iter().any(|(words, mark)| then.get(words).is_some_and(|then| then != mark))
}

/// How many steps are searched for in the whole text; each search is linear in its length.
const MOST_SEARCHED: usize = 256;

/// Returns which steps are in a text whose own steps are `there`: by their words, in whatever form.
fn are_in(text: &str, there: &[Step], steps: &[Step]) -> Vec<bool> {
    if steps.is_empty() {
        return Vec::new();
    }
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

    use super::steps::parse_steps;
    use crate::testing::{plan, plan_from};

    fn marks_changed(before: &str, now: &str) -> bool {
        super::marks_changed(&parse_steps(before), &parse_steps(now))
    }

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
        let promised: Vec<_> = plan.promised().map(|step| (step.number, step.text.as_str())).collect();
        assert_eq!(promised, [(1, "make a"), (2, "make b"), (3, "make `c.rs`")]);
        assert_eq!(plan.removed[1].paths, ["c.rs"]);
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
            prop_assert_eq!(&plan.removed, &[], "{:?} from {:?}", now, before);
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
