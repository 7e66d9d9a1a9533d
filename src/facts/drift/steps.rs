//! C: steps that nobody marked as done or dropped, though the session says that all is finished and nothing in it
//! worked on them, or says itself that they were left. An unfinished plan is normal, and no candidate.

use std::collections::{HashMap, HashSet};

use super::work::Work;
use super::{MOST, PlannedStep, Promised, candidate, detours};
use crate::evidence::{Evidence, FileState};
use crate::facts::alike::Bag;
use crate::facts::claimed::has_only_planned;
use crate::facts::claims;
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
        && !has_only_planned(evidence)
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
        let effects = || session.commands.iter().filter(|command| command.may_have_effects());
        let commands: Vec<String> = effects().map(|command| command.line.clone()).collect();
        let ran = effects().map(|command| start(&command.line));
        let todos = session.todos.iter().map(|todo| Bag::of(&todo.text));
        let handed = session.delegations.iter().map(|delegation| Bag::of(&delegation.description));
        let said = session.final_message.iter().map(|message| Bag::of(message));
        let bag = Bag::all(touches.chain(texts).chain(ran).chain(todos).chain(handed).chain(said));
        Self { bag, lines: commands, is_blind }
    }

    /// Whether anything of it was for the step.
    fn shows(
        &self,
        planned: &PlannedStep<'_>,
        common: &HashSet<u64>,
        promised: &Promised<'_>,
        evidence: &Evidence,
    ) -> bool {
        let step = planned.step;
        let files: Vec<&FileEvidence> =
            evidence.files.iter().filter(|file| file.steps.contains(&step.number)).collect();
        let is_worked_on = |file: &FileEvidence| {
            let is_run = || self.lines.iter().any(|line| line.contains(base_name(&file.name)));
            if file.was_changed() { promised.names.may_be_for(step, file) } else { is_run() }
        };
        if files.iter().any(|file| is_worked_on(file)) || self.has_own_name_of(step, promised, evidence) {
            return true;
        }
        if !files.is_empty() && files.iter().all(|file| self.is_idle(step, file, evidence)) {
            return false;
        }
        if self.is_blind && step.paths.is_empty() {
            return true;
        }
        if self.lacks_what_it_calls_by_name(planned, promised) {
            return false;
        }
        let own = planned.bag.only(|stem| !common.contains(&stem));
        own.len() < 2 || own.within(&self.bag) > BY_CHANCE || own.shares_a_name(&self.bag)
    }

    /// Whether a file that the session changed has a name that only this step has.
    fn has_own_name_of(&self, step: &Step, promised: &Promised<'_>, evidence: &Evidence) -> bool {
        let names = promised.names.own(step);
        let mut changed = evidence.files.iter().filter(|file| file.was_changed());
        !names.is_empty() && changed.any(|file| file.signs.read_whole && !lacks_all(&names, file))
    }

    /// Whether a file that the step promises to change is as it was, or was changed for other steps only: then no word
    /// in common tells that it was worked on.
    fn is_idle(&self, step: &Step, file: &FileEvidence, evidence: &Evidence) -> bool {
        let may_be_run =
            evidence.session.commands.iter().any(|command| shell::may_change_anything(&command.line));
        is_promised(step, &file.name)
            && (file.was_changed() || file.signs.is_unchanged() || !may_be_run)
            && stand_in(evidence, &file.name).is_none()
    }

    /// Whether the step speaks of something with a name of its own ("German", "Redis") that no other step has, and
    /// nothing that was done has it.
    fn lacks_what_it_calls_by_name(&self, planned: &PlannedStep<'_>, promised: &Promised<'_>) -> bool {
        let words = planned.step.text.split_whitespace().skip(1);
        let names = words.filter(|word| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            word.chars().count() > 2 && word.starts_with(char::is_uppercase)
        });
        let names = Bag::of_words(&names.collect::<Vec<_>>().join(" "));
        let is_of_another = |other: &PlannedStep<'_>| {
            other.step.number != planned.step.number && names.shared(&other.bag) > 0
        };
        names.len() > 0 && !promised.steps.iter().any(is_of_another) && names.shared(&self.bag) == 0
    }
}
