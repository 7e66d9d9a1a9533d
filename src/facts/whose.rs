//! Takes a step and a file that the session changed, says whether that change may be work on the step. Pure. Where
//! several steps name one file, a change of it is for those whose own names it has; doubt is a yes.

use std::collections::HashMap;

use crate::claims::deeds::promised_names;
use crate::evidence::{Entered, FileEvidence};
use crate::plan::{Plan, Step};

/// Which names the steps of a plan put into files, and how many steps each of them.
#[derive(Debug)]
pub struct Names(HashMap<String, usize>);

impl Names {
    /// Those of a plan.
    pub fn of(plan: &Plan) -> Self {
        let mut counts = HashMap::new();
        for step in plan.promised() {
            let mut names = promised_names(step);
            names.sort_unstable();
            names.dedup();
            for name in names {
                *counts.entry(name).or_default() += 1;
            }
        }
        Self(counts)
    }

    /// The names that this step, and no other, puts into files.
    pub fn own(&self, step: &Step) -> Vec<String> {
        let mut names = promised_names(step);
        names.retain(|name| self.0.get(name).is_some_and(|count| *count == 1));
        names
    }

    /// Whether the change of a file that the step names may be work on it.
    pub fn may_be_for(&self, step: &Step, file: &FileEvidence) -> bool {
        let is_shared = file.steps.iter().any(|number| *number != step.number);
        !is_shared || !lacks_all(&self.own(step), file)
    }
}

/// Whether a file, of which all was seen, has none of these names.
pub fn lacks_all(names: &[String], file: &FileEvidence) -> bool {
    let has = |name: &String| {
        file.signs.holds.contains(name) || file.entered == Entered::Whole && file.text.contains(name.as_str())
    };
    !names.is_empty() && file.signs.read_whole && !names.iter().any(has)
}
