//! Where plan and session parted: takes the evidence, gives candidates of B (done, not planned), C (planned, left) and
//! D (on the task list, not planned). Pure. None of them is proven: the auditor has to agree, and doubt is a no.

mod files;
mod steps;
mod todos;

use crate::evidence::Evidence;
use crate::facts::alike::Bag;
use crate::facts::ordinary::asks_for_work;
use crate::finding::{Category, Finding, Problem, Source, Status};
use crate::plan::{Plan, Step};
use crate::session::Ask;

/// So many of a category are worth a look; the rest would say the same.
const MOST: usize = 4;
/// So many lines of a plan, steps, tasks and files are compared with each other.
const COMPARED: usize = 400;

/// Every candidate.
pub fn candidates(evidence: &Evidence) -> Vec<Finding> {
    let Some(plan) = evidence.plan.as_ref().filter(|plan| !plan.steps.is_empty()) else { return Vec::new() };
    // A session that only wrote the plan has not parted from it.
    if !evidence.session.done_touches().any(|touch| !is_plan(plan, &touch.path)) {
        return Vec::new();
    }
    let promised = Promised::of(plan, evidence);
    let mut found = files::candidates(evidence, &promised);
    found.extend(steps::candidates(evidence, &promised));
    found.extend(todos::candidates(evidence, &promised));
    found
}

/// Whether a path is the plan's own file.
fn is_plan(plan: &Plan, path: &str) -> bool {
    plan.path.as_deref().is_some_and(|own| own == path || own.ends_with(&format!("/{path}")))
}

/// Asks that came after the plan and may have sent the session elsewhere: what follows them may be for them.
fn detours(evidence: &Evidence) -> impl Iterator<Item = &Ask> {
    let session = &evidence.session;
    let approved = session.plans.last().map(|plan| plan.at);
    let from = approved.or(session.asks.first().map(|ask| ask.at)).unwrap_or_default();
    session
        .asks
        .iter()
        .filter(move |ask| ask.at > from)
        .filter(|ask| ask.may_want_work() || asks_for_work(&ask.text))
}

/// A step and what it speaks of.
struct PlannedStep<'a> {
    step: &'a Step,
    /// Its own words.
    bag: Bag,
    /// With those of its section.
    in_section: Bag,
}

/// What was promised and asked, in comparable words, worked out once.
struct Promised<'a> {
    plan: &'a Plan,
    steps: Vec<PlannedStep<'a>>,
    /// Each line of the plan.
    lines: Vec<Bag>,
    /// All of the plan.
    whole: Bag,
    /// Each ask.
    asks: Vec<Bag>,
}

impl<'a> Promised<'a> {
    fn of(plan: &'a Plan, evidence: &Evidence) -> Self {
        let steps = plan.promised().take(COMPARED).map(|step| {
            let bag = Bag::of(&step.text);
            let mut in_section = Bag::of_words(step.section.as_deref().unwrap_or_default());
            in_section.add(&bag);
            PlannedStep { step, bag, in_section }
        });
        let steps: Vec<_> = steps.collect();
        let lines: Vec<Bag> =
            plan.text.lines().map(Bag::of_words).filter(|bag| bag.len() > 1).take(COMPARED).collect();
        let whole =
            Bag::all(std::iter::once(Bag::of(&plan.text)).chain(steps.iter().map(|step| step.bag.clone())));
        let asks = evidence.session.asks.iter().map(|ask| Bag::of(&ask.text)).collect();
        Self { plan, steps, lines, whole, asks }
    }
}

fn candidate(category: Category, why: String, settle: &str) -> Finding {
    Finding {
        category,
        status: Status::CannotVerify,
        source: Source::Facts,
        problem: if matches!(category, Category::B | Category::D) {
            Problem::NotInPlan
        } else {
            Problem::NoTrace
        },
        quote: String::new(),
        path: None,
        why,
        settle: settle.to_owned(),
        verifier: "a candidate: nobody has judged it yet".to_owned(),
        step: None,
        evidence: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
