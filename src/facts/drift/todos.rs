//! D: tasks of the session's own list that no step, no line of the plan and no ask speaks of. Chores are none.

use super::{COMPARED, MOST, Promised, candidate, detours};
use crate::evidence::Evidence;
use crate::facts::alike::{Bag, same_work};
use crate::facts::ordinary::is_chore;
use crate::finding::{Category, Finding};

/// A task with so many of its words on one line of the plan, or in one ask, stands there.
const ON_A_LINE: f32 = 0.6;
/// A task with so many of its words anywhere in the plan is spoken of.
const ANYWHERE: f32 = 0.75;

pub(super) fn candidates(evidence: &Evidence, promised: &Promised<'_>) -> Vec<Finding> {
    let todos = &evidence.session.todos[..evidence.session.todos.len().min(COMPARED)];
    let work: Vec<_> = todos.iter().filter(|todo| !is_chore(&todo.text)).collect();
    let all = work.len();
    let unplanned: Vec<_> =
        work.into_iter().filter(|todo| !is_covered(&Bag::of(&todo.text), promised)).collect();
    // A list that has hardly anything of the plan is not about the plan. After a detour much of it may be for that.
    let at_most = (if detours(evidence).next().is_some() { all / 3 } else { all / 2 }).max(1);
    if unplanned.len() > at_most || is_late(evidence) {
        return Vec::new();
    }
    unplanned
        .into_iter()
        .take(MOST)
        .map(|todo| Finding {
            quote: todo.text.clone(),
            ..candidate(
                Category::D,
                format!("it is on the task list ({}), and no step of the plan is like it", todo.status),
                "add it to the plan, or say why it was done",
            )
        })
        .collect()
}

/// Whether most of the work was done before the plan was approved: the list may be older than the plan.
fn is_late(evidence: &Evidence) -> bool {
    let session = &evidence.session;
    let Some(approved) = session.plans.last().map(|plan| plan.at) else { return false };
    let before = session.done_touches().filter(|touch| touch.at < approved).count();
    before * 2 > session.done_touches().count()
}

/// Whether plan or person speak of it. One word says too little to be missed anywhere.
fn is_covered(todo: &Bag, promised: &Promised<'_>) -> bool {
    let on_a_line = |line: &Bag| todo.shared(line) >= 2 && todo.within(line) >= ON_A_LINE;
    todo.len() < 2
        || todo.within(&promised.whole) >= ANYWHERE
        || todo.shares_a_name(&promised.whole)
        || promised.steps.iter().any(|step| same_work(todo, &step.bag) || on_a_line(&step.in_section))
        || promised.lines.iter().any(on_a_line)
        || promised.asks.iter().any(|ask| on_a_line(ask) || todo.shares_a_name(ask))
}
