//! C: steps that nobody marked as done or dropped, though the session says that all is finished and nothing in it
//! worked on them, or says itself that they were left. An unfinished plan is normal, and no candidate.

use std::collections::{HashMap, HashSet};

use super::work::Work;
use super::{MOST, PlannedStep, Promised, candidate, detours};
use crate::claims;
use crate::evidence::{Evidence, FileState};
use crate::facts::alike::Bag;
use crate::facts::claimed::has_only_planned;
use crate::facts::left::{self, speaks_of};
use crate::facts::ordinary::{asks_for_work, is_chore, is_optional, is_reference};
use crate::finding::{Category, Finding};
use crate::plan::{Mark, Step, StepKind};
use crate::words::{has_words, normalised, padded};

/// A word of more steps than this tells none of them apart.
const COMMON: usize = 2;

pub(super) fn candidates(evidence: &Evidence, promised: &Promised<'_>) -> Vec<Finding> {
    let message = evidence.session.final_message.as_deref().unwrap_or_default();
    let is_over = says_the_plan_is_over(message, evidence);
    let left: Vec<Bag> = left::sentences(message);
    let untouched = if is_over { untouched(evidence, promised) } else { HashSet::new() };
    let mut told = HashSet::new();
    let open = promised.steps.iter().filter(|planned| is_open(planned, promised));
    open.filter_map(|planned| {
        let why = if left.iter().any(|sentence| speaks_of(sentence, &planned.bag)) {
            "the final message says that the step was left, and the plan lists it as if nothing had happened"
        } else if left::is_replaced(message, planned.step, promised.plan, evidence) {
            "the final message says that something else was done, and the plan lists the step as if nothing had happened"
        } else if untouched.contains(&planned.step.number) {
            "the session says that all is done, and nothing in it worked on the step"
        } else {
            return None;
        };
        Some((planned, why))
    })
    .filter(|(planned, _)| !(is_called_off(planned, evidence) || is_over && misses_a_file(planned, evidence)))
    // The parts of one forgotten section say one thing.
    .filter(|(planned, _)| {
        let section = planned.step.section.clone().filter(|_| planned.step.depth > 0);
        told.insert(section.unwrap_or_else(|| planned.step.text.clone()))
    })
    .take(MOST)
    .map(|(planned, why)| Finding {
        quote: planned.step.text.clone(),
        step: Some(planned.step.number),
        ..candidate(Category::C, why.to_owned(), "do the step, or mark it as dropped in the plan")
    })
    .collect()
}

/// Whether the message says of the plan that it is finished. After a detour "done" is said of the detour, unless
/// it names the whole.
fn says_the_plan_is_over(message: &str, evidence: &Evidence) -> bool {
    let is_of_the_plan = || {
        claims::sentences(message).iter().any(|sentence| {
            let words = padded(&normalised(sentence));
            ["plan", "steps", "everything", "all tasks", "all phases"]
                .iter()
                .any(|whole| has_words(&words, whole))
        })
    };
    // Who asks how to go on has not come to the end.
    !message.trim_end().ends_with('?')
        && claims::says_finished(message)
        && !has_only_planned(&evidence.session, evidence.plan.as_ref())
        && (detours(evidence).next().is_none() || is_of_the_plan())
}

/// Steps that nothing worked on. Where most of them seem so, it is our reading that fails.
fn untouched(evidence: &Evidence, promised: &Promised<'_>) -> HashSet<usize> {
    let work = Work::of(evidence);
    let common = common_words(promised);
    let lists = Lists::of(promised);
    let tasks = promised.steps.iter().enumerate().filter(|(_, planned)| {
        is_a_task(planned, &lists)
            && planned.step.mark != Mark::Abandoned
            && !is_reference(planned.step)
            && !is_chore(&planned.step.text)
    });
    let tasks: Vec<_> = tasks.collect();
    let shows = |at: usize| {
        // What is nested in a step is a part of it.
        let depth = promised.steps[at].step.depth;
        let parts = promised.steps[at + 1..].iter().take_while(|part| part.step.depth > depth);
        promised.steps[at..=at].iter().chain(parts).any(|part| work.shows(part, &common, promised, evidence))
    };
    let idle: HashSet<usize> =
        tasks.iter().filter(|(at, _)| !shows(*at)).map(|(_, planned)| planned.step.number).collect();
    if idle.len() * 2 > tasks.len().max(2) { HashSet::new() } else { idle }
}

fn is_open(planned: &PlannedStep<'_>, promised: &Promised<'_>) -> bool {
    let step = planned.step;
    let is_dropped = promised.plan.dropped.iter().any(|dropped| dropped.number == step.number);
    (matches!(step.mark, Mark::Open | Mark::None) || is_dropped && step.mark != Mark::Abandoned)
        && !is_reference(step)
        && !is_optional(step)
        && !is_chore(&step.text)
}

fn is_called_off(planned: &PlannedStep<'_>, evidence: &Evidence) -> bool {
    let mut asks = evidence.session.asks.iter();
    asks.any(|ask| claims::calls_off(&ask.text, |sentence| speaks_of(&Bag::of(sentence), &planned.bag)))
}

/// That a promised file is not there is another finding.
fn misses_a_file(planned: &PlannedStep<'_>, evidence: &Evidence) -> bool {
    let mut files = evidence.files.iter().filter(|file| file.steps.contains(&planned.step.number));
    files.any(|file| matches!(file.state, FileState::Missing { .. }))
}

/// Whether a step is something to do, and not a remark: it has a box or a number, it opens with a verb, or it stands in
/// a list of those that do.
fn is_a_task(planned: &PlannedStep<'_>, lists: &Lists<'_>) -> bool {
    let step = planned.step;
    match step.kind {
        StepKind::Checkbox => true,
        // The steps below a heading speak for it.
        StepKind::Heading => false,
        StepKind::Numbered => step.depth == 0,
        StepKind::Bullet => step.depth == 0 && (asks_for_work(&step.text) || lists.is_of_tasks(step)),
    }
}

/// For the bullets of each section how many there are, and how many of them open with a verb.
struct Lists<'a>(HashMap<Option<&'a str>, (usize, usize)>);

impl<'a> Lists<'a> {
    fn of(promised: &Promised<'a>) -> Self {
        let mut counts: HashMap<Option<&str>, (usize, usize)> = HashMap::new();
        let bullets = promised.steps.iter().map(|planned| planned.step);
        for step in bullets.filter(|step| step.kind == StepKind::Bullet && step.depth == 0) {
            let count = counts.entry(step.section.as_deref()).or_default();
            count.0 += 1;
            count.1 += usize::from(asks_for_work(&step.text));
        }
        Self(counts)
    }

    fn is_of_tasks(&self, step: &Step) -> bool {
        self.0.get(&step.section.as_deref()).is_some_and(|(all, tasks)| tasks * 2 > *all)
    }
}

fn common_words(promised: &Promised<'_>) -> HashSet<u64> {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for stem in promised.steps.iter().flat_map(|step| step.bag.stems()) {
        *counts.entry(*stem).or_default() += 1;
    }
    counts.into_iter().filter(|(_, count)| *count > COMMON).map(|(stem, _)| stem).collect()
}
