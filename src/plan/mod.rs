//! What was promised: the plan in play, as it was and as it is, split into steps.

pub mod before;
pub mod find;
pub mod mentions;
pub mod places;
pub mod steps;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use similar::TextDiff;

use crate::text::normalise::normalised;
pub use before::{BeforeSource, PlanBefore};
pub use find::{Read, ReadText, find, given};
pub use places::PlanPlaces;
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    #[serde(default)]
    pub before: Option<PlanBefore>,
    /// Numbers of steps that were ticked before the session began: not this session's claim.
    pub ticked_before: Vec<usize>,
}

/// Lines around each change in a plan's diff.
const DIFF_CONTEXT: usize = 2;

/// The most lines on both sides, multiplied, that are compared line by line.
const MOST_COMPARED: usize = 4_000_000;

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
        let steps = steps::parse_steps(&before.text);
        let is_there = Presence::new(&self.text, &self.steps).find(&steps);
        let gone = steps.into_iter().zip(is_there).filter(|(_, there)| !there).map(|(step, _)| step);
        (self.steps.len() + 1..).zip(gone).map(|(number, step)| Step { number, ..step }).collect()
    }

    /// Returns what has changed in the plan since `before` as a unified diff; `None` where nothing
    /// has, or where it is not known what the plan was.
    pub fn diff(&self) -> Option<String> {
        let before = &self.before.as_ref()?.text;
        (before.trim_end() != self.text.trim_end()).then(|| diff(before, &self.text))
    }

    /// Whether the person approved it.
    pub fn is_approved(&self) -> bool {
        matches!(self.source, PlanSource::Approved | PlanSource::ApprovedFile)
    }

    /// Whether this session ticked the step.
    pub fn ticked_now(&self, step: &Step) -> bool {
        step.mark == Mark::Ticked && !self.ticked_before.contains(&step.number)
    }
}

/// Finds steps of one text in another by their words, in whatever form they stand there.
struct Presence {
    /// The words of each step.
    steps: HashSet<String>,
    /// All words, with a blank around each.
    whole: String,
}

/// So many steps are looked for in the whole text; each takes its length.
const MOST_SEARCHED: usize = 256;

impl Presence {
    fn new(text: &str, steps: &[Step]) -> Self {
        let steps = steps.iter().map(|step| normalised(&step.text)).collect();
        Self { steps, whole: format!(" {} ", normalised(text)) }
    }

    /// Whether each of the steps is there.
    fn find(&self, steps: &[Step]) -> Vec<bool> {
        let mut searched = 0;
        let mut is_there = |step: &Step| {
            let words = normalised(&step.text);
            self.steps.contains(&words) || {
                searched += 1;
                searched <= MOST_SEARCHED && self.whole.contains(&format!(" {words} "))
            }
        };
        steps.iter().map(&mut is_there).collect()
    }
}

/// A unified diff. Texts with too many different lines are shown as one change, since comparing
/// them takes the product.
fn diff(before: &str, now: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), now.lines().collect());
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let tail =
        old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    if old.len() * new.len() <= MOST_COMPARED {
        let diff = TextDiff::from_lines(before, now);
        return diff.unified_diff().context_radius(DIFF_CONTEXT).missing_newline_hint(false).to_string();
    }
    let mut text = format!("@@ -{},{} +{},{} @@\n", head + 1, old.len(), head + 1, new.len());
    for (sign, lines) in [("-", old), ("+", new)] {
        text.extend(lines.iter().flat_map(|line| [sign, line, "\n"]));
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plan(before: Option<&str>, now: &str) -> Plan {
        Plan {
            source: PlanSource::TouchedFile,
            path: None,
            text: now.to_owned(),
            steps: steps::parse_steps(now),
            before: before.map(|text| PlanBefore { text: text.to_owned(), from: BeforeSource::Original }),
            ticked_before: Vec::new(),
        }
    }

    #[test]
    fn a_diff_shows_what_was_taken_out_of_a_plan() {
        let before = "# Plan\n\n- [ ] a\n- [ ] b\n- [ ] c\n- [ ] d\n- [ ] e\n";
        let now = "# Plan\n\n- [x] a\n- [ ] c\n- [ ] d\n- [ ] e\n";
        let expected = "@@ -1,6 +1,5 @@\n # Plan\n \n-- [ ] a\n-- [ ] b\n+- [x] a\n - [ ] c\n - [ ] d\n";
        assert_eq!(plan(Some(before), now).diff().as_deref(), Some(expected));
        assert_eq!(plan(Some(now), now).diff(), None);
        assert_eq!(plan(None, now).diff(), None);
    }

    #[test]
    fn a_step_that_is_gone_is_still_promised_and_one_in_another_form_is_not_gone() {
        let plan = plan(Some("1. make a\n2. make b\n3. make `c.rs`\n4. make d"), "- [x] make a\n\nmake d\n");
        let promised: Vec<_> = plan.promised().into_iter().map(|step| (step.number, step.text)).collect();
        let expected =
            [(1, "make a"), (2, "make b"), (3, "make `c.rs`")].map(|(n, text)| (n, text.to_owned()));
        assert_eq!(promised, expected);
        assert_eq!(plan.removed_steps()[1].paths, ["c.rs"]);
    }

    #[test]
    fn plans_that_have_nothing_in_common_are_compared_at_once() {
        let (before, now) = ("- [ ] a\n".repeat(16_000), "- [ ] b\n".repeat(16_000));
        let diff = plan(Some(&before), &now).diff().expect("a difference");
        assert!(diff.starts_with("@@ -1,16000 +1,16000 @@\n-- [ ] a\n") && diff.ends_with("+- [ ] b\n"));
    }

    proptest! {
        #[test]
        fn a_plan_that_only_grew_has_lost_nothing(
            lines in prop::collection::vec("(- |1\\. |- \\[ \\] |# |\\| )?(one|two|`a\\.rs`|[a-z]{1,6})", 0..12),
            more in "(- |1\\. )new [a-z]{1,6}",
        ) {
            let before = lines.join("\n");
            let now = format!("{more}\n\n{before}\n\n{more}\n");
            let plan = plan(Some(&before), &now);
            prop_assert_eq!(plan.removed_steps(), Vec::new(), "{:?} from {:?}", now, before);
            prop_assert!(plan.diff().is_some());
        }
    }
}
