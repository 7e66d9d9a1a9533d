//! C: steps that nobody marked as done or dropped, though the session says that all is finished and nothing in it
//! worked on them, or says itself that they were left. An unfinished plan is normal, and no candidate.

use std::collections::{HashMap, HashSet};

use super::{MOST, PlannedStep, Promised, candidate, detours, is_plan};
use crate::evidence::{Evidence, FileState};
use crate::facts::alike::Bag;
use crate::facts::claims;
use crate::facts::ordinary::{asks_for_work, is_chore, is_reference};
use crate::finding::{Category, Finding};
use crate::plan::{Mark, StepKind};
use crate::words::{base_name, has_words, normalised, padded};

/// A step is known by the words that few other steps have; up to this share of them may turn up by chance.
const BY_CHANCE: f32 = 0.25;
/// A word of more steps than this tells none of them apart.
const COMMON: usize = 2;
/// A sentence with so many of a step's words speaks of that step.
const SPOKEN_OF: f32 = 0.6;
/// So much of each text that the session wrote counts.
const TEXT: usize = 8_000;

/// Words that say plainly that something was left. The others of `claims` ("instead", "replaced") are as often said
/// of work that was done.
const LEFT: &[&str] = &[
    "abandoned", "deferred", "deferring", "dropped", "left out", "not implemented", "not needed", "omitted",
    "out of scope", "postponed", "skipped", "skipping", "unnecessary", "won t", "didn t", "did not",
    "decided against", "for later", "follow up", "future work",
];

pub(super) fn candidates(evidence: &Evidence, promised: &Promised<'_>) -> Vec<Finding> {
    let message = evidence.session.final_message.as_deref().unwrap_or_default();
    let is_over = says_the_plan_is_over(message, evidence);
    let left: Vec<Bag> = sentences_of_the_left(message);
    if !is_over && left.is_empty() {
        return Vec::new();
    }
    let untouched = if is_over { untouched(evidence, promised) } else { HashSet::new() };
    let mut told = HashSet::new();
    let open = promised.steps.iter().filter(|planned| is_open(planned, promised));
    open.filter_map(|planned| {
        let why = if left.iter().any(|sentence| speaks_of(sentence, &planned.bag)) {
            "the final message says that the step was left, and the plan lists it as if nothing had happened"
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
        && (detours(evidence).next().is_none() || is_of_the_plan())
}

/// Steps that nothing worked on. Where most of them seem so, it is our reading that fails.
fn untouched(evidence: &Evidence, promised: &Promised<'_>) -> HashSet<usize> {
    let work = Work::of(evidence);
    let common = common_words(promised);
    let tasks = promised.steps.iter().enumerate().filter(|(_, planned)| {
        is_a_task(planned)
            && planned.step.mark != Mark::Abandoned
            && !is_reference(planned.step)
            && !is_chore(&planned.step.text)
    });
    let tasks: Vec<_> = tasks.collect();
    let shows = |at: usize| {
        // What is nested in a step is a part of it.
        let depth = promised.steps[at].step.depth;
        let parts = promised.steps[at + 1..].iter().take_while(|part| part.step.depth > depth);
        promised.steps[at..=at].iter().chain(parts).any(|part| work.shows(part, &common, evidence))
    };
    let idle: HashSet<usize> =
        tasks.iter().filter(|(at, _)| !shows(*at)).map(|(_, planned)| planned.step.number).collect();
    if idle.len() * 2 > tasks.len().max(2) { HashSet::new() } else { idle }
}

fn sentences_of_the_left(message: &str) -> Vec<Bag> {
    claims::all_sentences(message)
        .filter(|sentence| {
            let words = padded(&normalised(sentence));
            // "12 passed, 2 skipped" is said of tests.
            LEFT.iter().any(|left| has_words(&words, left)) && !has_words(&words, "passed")
        })
        .map(Bag::of)
        .collect()
}

fn speaks_of(sentence: &Bag, step: &Bag) -> bool {
    step.len() >= 2 && step.shared(sentence) >= 2 && step.within(sentence) >= SPOKEN_OF
}

fn is_open(planned: &PlannedStep<'_>, promised: &Promised<'_>) -> bool {
    let step = planned.step;
    let is_dropped = promised.plan.dropped.iter().any(|dropped| dropped.number == step.number);
    (matches!(step.mark, Mark::Open | Mark::None) || is_dropped && step.mark != Mark::Abandoned)
        && !is_reference(step)
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

/// Whether a step is something to do, and not a remark: it has a box, or it opens with a verb.
fn is_a_task(planned: &PlannedStep<'_>) -> bool {
    let step = planned.step;
    match step.kind {
        StepKind::Checkbox => true,
        // The steps below a heading speak for it.
        StepKind::Heading => false,
        StepKind::Numbered | StepKind::Bullet => step.depth == 0 && asks_for_work(&step.text),
    }
}

fn common_words(promised: &Promised<'_>) -> HashSet<u64> {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for stem in promised.steps.iter().flat_map(|step| step.bag.stems()) {
        *counts.entry(*stem).or_default() += 1;
    }
    counts.into_iter().filter(|(_, count)| *count > COMMON).map(|(stem, _)| stem).collect()
}

/// Everything that the session wrote, ran and said, in words.
struct Work {
    bag: Bag,
    lines: Vec<String>,
    /// Whether something was written that is not to be seen: older changes are not kept.
    is_blind: bool,
}

impl Work {
    fn of(evidence: &Evidence) -> Self {
        let session = &evidence.session;
        let start = |text: &str| Bag::of_words(&text[..text.floor_char_boundary(TEXT)]);
        let is_plan = |path: &str| evidence.plan.as_ref().is_some_and(|plan| is_plan(plan, path));
        let is_seen = |path: &str| {
            let mut files = evidence
                .files
                .iter()
                .filter(|file| path == file.name || path.ends_with(&format!("/{}", file.name)));
            files.any(|file| !file.text.is_empty())
        };
        let is_blind = session
            .done_touches()
            .any(|touch| touch.change.is_none() && !is_plan(&touch.path) && !is_seen(&touch.path));
        let touches = session.done_touches().filter(|touch| !is_plan(&touch.path)).flat_map(|touch| {
            let new = touch.change.as_ref().map(|change| start(&change.new));
            let old = touch.change.as_ref().map(|change| start(&change.old));
            [Some(Bag::of_words(&touch.path)), new, old].into_iter().flatten()
        });
        let texts = evidence.files.iter().filter(|file| file.was_changed()).map(|file| start(&file.text));
        let commands: Vec<String> = session.commands.iter().map(|command| command.line.clone()).collect();
        let ran =
            session.commands.iter().filter(|c| c.may_have_effects()).map(|command| start(&command.line));
        let todos = session.todos.iter().map(|todo| Bag::of(&todo.text));
        let handed = session.delegations.iter().map(|delegation| Bag::of(&delegation.description));
        let said = session.final_message.iter().map(|message| Bag::of(message));
        let bag = Bag::all(touches.chain(texts).chain(ran).chain(todos).chain(handed).chain(said));
        Self { bag, lines: commands, is_blind }
    }

    /// Whether anything of it was for the step.
    fn shows(&self, planned: &PlannedStep<'_>, common: &HashSet<u64>, evidence: &Evidence) -> bool {
        let step = planned.step;
        let files = evidence.files.iter().filter(|file| file.steps.contains(&step.number));
        let mut names = files.map(|file| (base_name(&file.name), file.was_changed()));
        if names.any(|(name, changed)| changed || self.lines.iter().any(|line| line.contains(name))) {
            return true;
        }
        if self.is_blind && step.paths.is_empty() {
            return true;
        }
        let own = planned.bag.only(|stem| !common.contains(&stem));
        own.len() < 2 || own.within(&self.bag) > BY_CHANCE || own.shares_a_name(&self.bag)
    }
}
