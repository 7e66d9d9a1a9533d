//! D: on the task list, not in the plan. Is it on the list, and is it really in no step, in whatever words?
//! Pure.

use super::case::Case;
use super::quotes::stands_in;
use super::tables::MORE_CHORES;
use super::topics::{alike, meaning, share};
use super::{Judged, reason};
use crate::facts::drift::{self, Standing};
use crate::facts::ordinary::{CHORES, COVERED};
use crate::plan::mentions::mentions;
use crate::plan::{Mark, Step};
use crate::words::{has_words, normalised, padded};

/// From this share on, what a task means stands somewhere in the plan.
const SPOKEN_OF: f32 = 0.75;

pub(super) fn judge(case: &Case<'_>) -> Judged {
    let Some(plan) = case.plan() else { return Judged::refuted(reason::NO_PLAN) };
    let mut todos = case.session().todos.iter().enumerate();
    let Some((at, todo)) = todos.find(|(_, todo)| stands_in(&case.proposal.quote, &todo.text)) else {
        return Judged::cannot_verify("quote not found in the task list");
    };
    if matches!(todo.status.as_str(), "cancelled" | "canceled" | "deleted" | "dropped") {
        return Judged::refuted("it was taken off the list");
    }
    let standing = drift::tasks(case.evidence).get(at).copied();
    // That a step has some of its words says nothing where another task is that step.
    let is_unplanned = standing == Some(Standing::Unplanned);
    let covers = |step: &&Step| names(step, &todo.text) || !is_unplanned && is_like(step, &todo.text);
    if let Some(step) = plan.promised().filter(|step| step.mark != Mark::Abandoned).find(covers) {
        return Judged::refuted(format!("step {} of the plan covers it", step.number));
    }
    if stands_in(&todo.text, &plan.text) {
        return Judged::refuted("the plan mentions it");
    }
    let words = normalised(&todo.text);
    let is_chore = |word: &str| CHORES.contains(&word) || MORE_CHORES.contains(&word);
    let is_of_tests = ["test", "tests"].iter().any(|word| has_words(&padded(&words), word));
    if words.split(' ').take(2).any(is_chore) || is_of_tests {
        return Judged::cannot_verify("it is a chore of any work");
    }
    let wanted = meaning(&todo.text);
    let is_asked = |text: &str| alike(text, &todo.text) || share(&wanted, &meaning(text)) >= COVERED;
    if case.session().asks.iter().any(|ask| is_asked(&ask.text)) {
        return Judged::refuted("the person asked for it");
    }
    if wanted.is_empty() || share(&wanted, &meaning(&plan.text)) >= SPOKEN_OF {
        return Judged::cannot_verify("the plan speaks of it in other places");
    }
    match standing {
        Some(Standing::Step(number)) => Judged::refuted(format!("step {number} of the plan covers it")),
        Some(Standing::InPlaceOf(number)) => {
            Judged::cannot_verify(format!("it may be step {number} of the plan in other words"))
        }
        _ => Judged::confirmed("it is on the task list, and no step is like it"),
    }
}

/// Whether a task names a step: by its number, or by a file or a thing that both name.
fn names(step: &Step, todo: &str) -> bool {
    let words = padded(&normalised(todo));
    let by_number = ["step", "task", "phase", "item"]
        .iter()
        .any(|kind| has_words(&words, &format!("{kind} {}", step.number)));
    let named = mentions(todo);
    by_number
        || named.paths.iter().any(|path| step.paths.contains(path))
        || named.symbols.iter().any(|symbol| step.symbols.contains(symbol))
}

/// Whether a task is a step in other words.
fn is_like(step: &Step, todo: &str) -> bool {
    let (wanted, offered) = (meaning(todo), meaning(&step.text));
    alike(&step.text, todo) || (wanted.len() > 1 && share(&wanted, &offered) >= COVERED)
}
