//! D: tasks of the session's own list that no step, no line of the plan and no ask speaks of. Chores are none.
//!
//! A list says the plan in other words, mostly in its order. So a step belongs to the task that fits it best, and a task
//! that fits none may still be the one step that is left over at its place.

use super::{COMPARED, MOST, PlannedStep, Promised, candidate, detours};
use crate::evidence::Evidence;
use crate::facts::alike::{Bag, Sketch, same_work, share};
use crate::facts::ordinary::is_chore;
use crate::finding::{Category, Finding};
use crate::plan::{Mark, mentions};
use crate::session::Todo;

/// A task with so many of its words on one line of the plan, or in one ask, stands there.
const ON_A_LINE: f32 = 0.6;
/// A task with so many of its words anywhere in the plan is spoken of; with so many in one step it is that step,
/// whatever other task is.
const ANYWHERE: f32 = 0.75;
/// How well a task fits a step that it names.
const BY_NAME: f32 = 2.0;

/// How a task of the list stands to the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It goes along with any work, or says too little.
    Chore,
    /// It is this step.
    Step(usize),
    /// It stands where only this step can, in other words.
    InPlaceOf(usize),
    /// Plan or person speak of it in other places.
    SpokenOf,
    /// Nothing speaks of it.
    Unplanned,
}

pub(super) fn candidates(evidence: &Evidence, promised: &Promised<'_>) -> Vec<Finding> {
    let todos = todos(evidence);
    let standings = standings(evidence, promised);
    let work = standings.iter().filter(|standing| **standing != Standing::Chore).count();
    let unplanned: Vec<&Todo> = todos
        .iter()
        .zip(&standings)
        .filter(|(_, standing)| **standing == Standing::Unplanned)
        .map(|(todo, _)| todo)
        .collect();
    // A list that has hardly anything of the plan is not about the plan. After a detour much of it may be for that.
    let at_most = (if detours(evidence).next().is_some() { work / 3 } else { work / 2 }).max(1);
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

fn todos(evidence: &Evidence) -> &[Todo] {
    &evidence.session.todos[..evidence.session.todos.len().min(COMPARED)]
}

/// Whether most of the work was done before the plan was approved: the list may be older than the plan.
fn is_late(evidence: &Evidence) -> bool {
    let session = &evidence.session;
    let Some(approved) = session.plans.last().map(|plan| plan.at) else { return false };
    let before = session.done_touches().filter(|touch| touch.at < approved).count();
    before * 2 > session.done_touches().count()
}

/// How each task of the list stands to the plan, in the list's order.
pub(super) fn standings(evidence: &Evidence, promised: &Promised<'_>) -> Vec<Standing> {
    let todos = todos(evidence);
    let bags: Vec<Bag> = todos.iter().map(|todo| Bag::of(&todo.text)).collect();
    let kinds = Bag::of_words(KINDS);
    let fits: Vec<Vec<f32>> = bags
        .iter()
        .map(|bag| {
            let sketch = Sketch::of([bag]);
            let kinds = bag.shared(&kinds);
            let fit = |planned: &PlannedStep<'_>| {
                // Most tasks have nothing to do with most steps.
                if sketch.may_share(&planned.sketch) { fit(bag, planned, kinds) } else { 0.0 }
            };
            promised.steps.iter().map(fit).collect()
        })
        .collect();
    let best = |step: usize| fits.iter().map(|fits| fits[step]).fold(0.0, f32::max);
    let best: Vec<f32> = (0..promised.steps.len()).map(best).collect();
    let step_of = |todo: usize| {
        let is_its_own = |step: &usize| {
            let fit = fits[todo][*step];
            fit >= ANYWHERE || fit > 0.0 && fit >= best[*step]
        };
        let steps = (0..promised.steps.len()).filter(is_its_own);
        steps.max_by(|one, other| fits[todo][*one].total_cmp(&fits[todo][*other]))
    };
    let mut standings: Vec<Standing> = todos
        .iter()
        .enumerate()
        .map(|(at, todo)| match step_of(at) {
            _ if is_chore(&todo.text) => Standing::Chore,
            Some(step) => Standing::Step(promised.steps[step].step.number),
            // One word says too little to be missed anywhere.
            None if bags[at].len() < 2 => Standing::Chore,
            None if is_spoken_of(&bags[at], promised) => Standing::SpokenOf,
            None => Standing::Unplanned,
        })
        .collect();
    put_in_place(&mut standings, todos, promised);
    standings
}

/// How well a task fits a step: nothing where they speak of different work. So many of its words are for what a thing is.
fn fit(todo: &Bag, planned: &PlannedStep<'_>, kinds: usize) -> f32 {
    if todo.shares_a_name(&planned.bag) {
        return BY_NAME;
    }
    // It says what a file of the step is called, and nothing besides.
    let is_called_so = |called: &Bag| todo.len() <= called.len() + kinds && called.within(todo) >= 1.0;
    if planned.called.iter().any(is_called_so) {
        return 1.0;
    }
    let shared = todo.shared(&planned.with_details);
    let within = share(shared, todo.len());
    let is_on_its_lines = || shared >= 2 && within >= ON_A_LINE;
    if shared > 0 && (is_on_its_lines() || same_work(todo, &planned.bag)) { within } else { 0.0 }
}

/// Words for what a thing is, with which a task says no more than its name: "the retry helper" for `retry.js`.
const KINDS: &str = "class command component endpoint file form handler helper hook module output page people \
    script section service struct test type user view widget";

/// Whether plan or person speak of a task anywhere.
fn is_spoken_of(todo: &Bag, promised: &Promised<'_>) -> bool {
    let on_a_line = |line: &Bag| todo.shared(line) >= 2 && todo.within(line) >= ON_A_LINE;
    todo.within(&promised.whole) >= ANYWHERE
        || todo.shares_a_name(&promised.whole)
        || promised.lines.iter().any(on_a_line)
        || promised.asks.iter().any(|ask| on_a_line(ask) || todo.shares_a_name(ask))
}

/// Gives tasks that fit no step the steps that no task fits, where both stand at the same place in their lists.
fn put_in_place(standings: &mut [Standing], todos: &[Todo], promised: &Promised<'_>) {
    let numbers: Vec<usize> = promised.steps.iter().map(|planned| planned.step.number).collect();
    let taken: Vec<usize> = standings
        .iter()
        .filter_map(|standing| if let Standing::Step(number) = standing { Some(*number) } else { None })
        .collect();
    // A list that is not about the plan has no place in it.
    let mut at = if taken.is_empty() { standings.len() } else { 0 };
    while at < standings.len() {
        if standings[at] != Standing::Unplanned {
            at += 1;
            continue;
        }
        let is_step = |standing: &Standing| matches!(standing, Standing::Step(_));
        let end = standings[at..].iter().position(is_step).map_or(standings.len(), |next| at + next);
        let from = standings[..at].iter().rev().find_map(number_of).unwrap_or(0);
        let until = standings.get(end).and_then(number_of).unwrap_or(usize::MAX);
        let mut free =
            numbers.iter().filter(|number| **number > from && **number < until && !taken.contains(number));
        for (todo, standing) in todos[at..end].iter().zip(&mut standings[at..end]) {
            if *standing != Standing::Unplanned {
                continue;
            }
            if let Some(number) = free.find(|number| may_stand_for(todo, **number, promised)) {
                *standing = Standing::InPlaceOf(*number);
            }
        }
        at = end;
    }
}

fn number_of(standing: &Standing) -> Option<usize> {
    match standing {
        Standing::Step(number) | Standing::InPlaceOf(number) => Some(*number),
        _ => None,
    }
}

/// A task that is not done is no step that is.
fn may_stand_for(todo: &Todo, number: usize, promised: &Promised<'_>) -> bool {
    let step = promised.steps.iter().find(|planned| planned.step.number == number);
    let names_another =
        mentions::mentions(&todo.text).paths.iter().any(|path| mentions::is_surely_a_path(path));
    !names_another
        && step.is_some_and(|planned| planned.step.mark != Mark::Ticked || todo.status == "completed")
}
