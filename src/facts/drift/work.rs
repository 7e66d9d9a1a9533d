//! What the session did, in words, for looking steps up: takes the evidence, says of a step whether anything that was
//! written, ran or was said was for it. Pure. Read generously: doubt is a yes.

use std::collections::HashSet;

use super::{PlannedStep, Promised, is_plan};
use crate::evidence::{Evidence, FileEvidence};
use crate::facts::alike::Bag;
use crate::facts::steps::{is_promised, stand_in};
use crate::facts::whose::lacks_all;
use crate::plan::Step;
use crate::session::shell;
use crate::words::base_name;

/// A step is known by the words that few other steps have; up to this share of them may turn up by chance.
const BY_CHANCE: f32 = 0.25;
/// So much of each text that the session wrote counts.
const TEXT: usize = 8_000;

/// Everything that the session wrote, ran and said, in words.
pub(super) struct Work {
    bag: Bag,
    lines: Vec<String>,
    /// Whether something was written that is not to be seen: older changes are not kept.
    is_blind: bool,
    /// Whether a command may have changed files that it does not name.
    may_be_anything: bool,
}

impl Work {
    pub(super) fn of(evidence: &Evidence) -> Self {
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
        let effects = session.commands.iter().filter(|command| command.may_have_effects());
        let commands: Vec<String> = effects.map(|command| command.line.clone()).collect();
        let ran = commands.iter().map(|line| start(line));
        let todos = session.todos.iter().map(|todo| Bag::of(&todo.text));
        let handed = session.delegations.iter().map(|delegation| Bag::of(&delegation.description));
        let said = session.final_message.iter().map(|message| Bag::of(message));
        let bag = Bag::all(touches.chain(texts).chain(ran).chain(todos).chain(handed).chain(said));
        let may_be_anything =
            session.commands.iter().any(|command| shell::may_change_anything(&command.line));
        Self { bag, lines: commands, is_blind, may_be_anything }
    }

    /// Whether anything of it was for the step.
    pub(super) fn shows(
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
        if files.iter().any(|file| is_worked_on(file)) || has_own_name_of(step, promised, evidence) {
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

    /// Whether a file that the step promises to change is as it was, or was changed for other steps only: then no word
    /// in common tells that it was worked on.
    fn is_idle(&self, step: &Step, file: &FileEvidence, evidence: &Evidence) -> bool {
        is_promised(step, &file.name)
            && (file.was_changed() || file.signs.is_unchanged() || !self.may_be_anything)
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
        !names.is_empty() && !promised.steps.iter().any(is_of_another) && names.shared(&self.bag) == 0
    }
}

/// Whether a file that the session changed has a name that only this step has.
fn has_own_name_of(step: &Step, promised: &Promised<'_>, evidence: &Evidence) -> bool {
    let names = promised.names.own(step);
    let mut changed = evidence.files.iter().filter(|file| file.was_changed());
    !names.is_empty() && changed.any(|file| file.signs.read_whole && !lacks_all(&names, file))
}
