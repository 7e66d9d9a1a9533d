//! Where plan and session parted: takes the evidence, gives candidates of B (done, not planned), C (planned, left) and
//! D (on the task list, not planned). Pure. None of them is proven: the auditor has to agree, and doubt is a no.

mod files;
mod steps;
mod todos;
mod work;

pub use todos::Standing;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::facts::alike::{Bag, Sketch};
use crate::facts::ordinary::asks_for_work;
use crate::facts::whose::Names;
use crate::finding::{Category, Finding, Problem, Source, Status};
use crate::plan::{Plan, Step};
use crate::readings::{What, recall};
use crate::session::Ask;
use crate::words::base_name;

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

/// How each task of the session's list stands to the plan; nothing where there is no plan.
pub fn tasks(evidence: &Evidence) -> Vec<Standing> {
    let plan = evidence.plan.as_ref().filter(|plan| !plan.steps.is_empty());
    plan.map(|plan| todos::standings(evidence, &Promised::of(plan, evidence))).unwrap_or_default()
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
    /// With those of its section and of the lines below it.
    with_details: Bag,
    /// What its files are called.
    called: Vec<Bag>,
    /// All of that.
    sketch: Sketch,
}

/// What a plan speaks of.
#[derive(Serialize, Deserialize)]
struct PlanBags {
    /// Each step: its own words, those with its details, and what its files are called.
    steps: Vec<(Bag, Bag, Vec<Bag>)>,
    /// Each line that is no step.
    lines: Vec<Bag>,
    /// All of it.
    whole: Bag,
}

impl PlanBags {
    /// Those of a plan, which was masked. A session asks for them at every stop and changes its plan at few.
    fn of(plan: &Plan) -> Self {
        // All that is made of steps that stand in the text no more.
        let dropped = plan.dropped.iter().flat_map(|step| {
            [&step.text, step.section.as_deref().unwrap_or_default()]
                .into_iter()
                .chain(step.paths.iter().map(String::as_str))
        });
        let texts: Vec<&str> = std::iter::once(plan.text.as_str()).chain(dropped).collect();
        let known: Self = recall(What::PlanBags, &texts.join("\n\0"), || Self::worked_out(plan));
        let is_whole = known.steps.len() == plan.promised().take(COMPARED).count();
        if is_whole { known } else { Self::worked_out(plan) }
    }

    fn worked_out(plan: &Plan) -> Self {
        let all: Vec<&str> = plan.text.lines().collect();
        let ends = plan.steps.iter().skip(1).map(|next| next.line - 1).chain([all.len()]);
        let details: Vec<String> = plan
            .steps
            .iter()
            .zip(ends)
            .map(|(step, end)| all.get(step.line..end).unwrap_or_default().join("\n"))
            .collect();
        let steps = plan.promised().take(COMPARED).enumerate().map(|(at, step)| {
            let bag = Bag::of(&step.text);
            let mut with_details = Bag::of_words(step.section.as_deref().unwrap_or_default());
            with_details.add(&bag);
            with_details.add(&Bag::of_words(details.get(at).map_or("", String::as_str)));
            let stem = |path: &String| {
                let file = base_name(path);
                Bag::of_words(file.split('.').find(|part| !part.is_empty()).unwrap_or(file))
            };
            let called = step.paths.iter().map(stem).filter(|called| !called.is_empty()).collect();
            (bag, with_details, called)
        });
        let steps: Vec<_> = steps.collect();
        let of_steps: HashSet<usize> = plan.steps.iter().map(|step| step.line).collect();
        let lines = all.iter().enumerate().filter(|(at, _)| !of_steps.contains(&(at + 1))).take(COMPARED);
        let lines = lines.map(|(_, line)| Bag::of_words(line)).filter(|bag| bag.len() > 1).collect();
        let whole =
            Bag::all(std::iter::once(Bag::of(&plan.text)).chain(steps.iter().map(|(bag, ..)| bag.clone())));
        Self { steps, lines, whole }
    }
}

/// What was promised and asked, in comparable words, worked out once.
struct Promised<'a> {
    plan: &'a Plan,
    steps: Vec<PlannedStep<'a>>,
    /// Each line of the plan that is no step.
    lines: Vec<Bag>,
    /// All of the plan.
    whole: Bag,
    /// Each ask.
    asks: Vec<Bag>,
    /// What the steps put into files.
    names: Names,
}

impl<'a> Promised<'a> {
    fn of(plan: &'a Plan, evidence: &Evidence) -> Self {
        let PlanBags { steps, lines, whole } = PlanBags::of(plan);
        let steps = plan.promised().zip(steps).map(|(step, (bag, with_details, called))| {
            // Its own words are among those of its details.
            let sketch = Sketch::of(called.iter().chain([&with_details]));
            PlannedStep { step, bag, with_details, called, sketch }
        });
        let steps = steps.collect();
        let asks = evidence.session.asks.iter().map(|ask| Bag::of(&ask.text)).collect();
        Self { plan, steps, lines, whole, asks, names: Names::of(plan) }
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
