//! Takes evidence, gives everything that is claimed as done: steps that the session ticked or speaks of as done,
//! steps of a plan that it calls finished, and what its final message says was done to files. Pure. Must not
//! look at files: what is claimed is one thing, what is there another.

use super::parts::asked_for_other_parts;
use crate::deeds::promised_names;
use crate::evidence::Evidence;
use crate::facts::claims;
use crate::plan::{Mark, Plan, Step};
use crate::session::Command;
use crate::words::{base_name, has_words, normalised, padded};

/// How something is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// The session ticked the step.
    Ticked,
    /// The final message says so of this very thing.
    Said,
    /// The final message says that the whole is over.
    Whole,
}

/// One claim.
#[derive(Debug, Clone)]
pub struct Claim<'a> {
    /// Its words: the step's, or the sentence's.
    pub words: &'a str,
    /// The step, where it is one.
    pub step: Option<&'a Step>,
    /// How it is claimed.
    pub how: How,
    /// The files in its words, as written.
    pub paths: &'a [String],
    /// The names of things in files.
    pub names: Vec<String>,
    /// It is a mere list, with no word that says what was done.
    pub listed: bool,
}

/// Whether the final message says that all of it is done, and there was any work: a plan that is written and not begun is
/// not carried out.
pub fn says_all_is_done(evidence: &Evidence) -> bool {
    let message = evidence.session.final_message.as_deref().unwrap_or_default();
    let nothing_yet = claims::all_sentences(message).any(|sentence| {
        let words = padded(&normalised(sentence));
        has_words(&words, "nothing") && has_words(&words, "yet")
    });
    claims::says_all_is_done(message) && has_worked(evidence) && !nothing_yet
}

/// Whether the session changed anything but the plan.
fn has_worked(evidence: &Evidence) -> bool {
    let plan = evidence.plan.as_ref().and_then(|plan| plan.path.as_deref());
    let is_plan = |path: &str| plan.is_some_and(|plan| base_name(plan) == base_name(path));
    evidence.session.done_touches().any(|touch| !is_plan(&touch.path))
        || evidence.session.commands.iter().any(Command::may_have_effects)
}

/// Everything that is claimed as done, the surest claims first.
pub fn claimed(evidence: &Evidence) -> Vec<Claim<'_>> {
    let message = evidence.session.final_message.as_deref().unwrap_or_default();
    let is_over = says_all_is_done(evidence);
    let said = claims::sentences(message);
    let mut all: Vec<Claim<'_>> = Vec::new();
    if let Some(plan) = &evidence.plan {
        for step in plan.promised() {
            let is_over = is_over && !asked_for_other_parts(evidence, step);
            if let Some(how) = how_claimed(plan, step, &said, is_over) {
                all.push(Claim {
                    words: &step.text,
                    step: Some(step),
                    how,
                    paths: &step.paths,
                    names: promised_names(step),
                    listed: false,
                });
            }
        }
    }
    let ticked = evidence.session.todos.iter().zip(&evidence.todo_paths);
    all.extend(ticked.filter(|(todo, _)| todo.status == "completed").map(|(todo, paths)| Claim {
        words: &todo.text,
        step: None,
        how: How::Ticked,
        paths,
        names: Vec::new(),
        listed: false,
    }));
    // A bare list of files is what was done only where anything was: else it may be of anything.
    let has_worked = has_worked(evidence);
    let deeds = evidence.deeds.iter().filter(|deed| !deed.listed || has_worked);
    all.extend(deeds.map(|deed| Claim {
        words: &deed.text,
        step: None,
        how: How::Said,
        paths: &deed.paths,
        names: deed.symbols.clone(),
        listed: deed.listed,
    }));
    all.retain(|claim| !is_taken_back(claim, message, evidence));
    all.sort_by_key(|claim| claim.how == How::Whole);
    all
}

fn how_claimed(plan: &Plan, step: &Step, said: &[&str], is_over: bool) -> Option<How> {
    if step.mark == Mark::Abandoned || plan.ticked_before.contains(&step.number) {
        return None;
    }
    if plan.ticked_now(step) {
        return Some(How::Ticked);
    }
    if said.iter().any(|sentence| is_of_step(sentence, step)) {
        return Some(How::Said);
    }
    (is_over && !is_reference(step)).then_some(How::Whole)
}

/// Whether a sentence speaks of a step by its number: "step 3 is done".
fn is_of_step(sentence: &str, step: &Step) -> bool {
    has_words(&padded(&normalised(sentence)), &format!("step {}", step.number))
}

/// Sections of a plan whose items are there to be known, not to be done.
const REFERENCES: &[&str] = &[
    "alternatives", "background", "context", "critical", "existing", "future", "goals", "key files", "later",
    "non goals", "notes", "open questions", "optional", "out of scope", "reference", "references", "related",
    "risks", "scope", "verification",
];

/// Whether a step stands in a section of things to be known.
pub fn is_reference(step: &Step) -> bool {
    let section = padded(&normalised(step.section.as_deref().unwrap_or_default()));
    REFERENCES.iter().any(|word| has_words(&section, word))
}

/// Whether the message itself says that it was not done, or the person called it off.
fn is_taken_back(claim: &Claim<'_>, message: &str, evidence: &Evidence) -> bool {
    let speaks_of_it = |sentence: &str| {
        claim.paths.iter().any(|path| sentence.contains(base_name(path)))
            || claim.step.is_some_and(|step| is_of_step(sentence, step) || is_like(sentence, &step.text))
    };
    let called_off = evidence.session.asks.iter().any(|ask| claims::calls_off(&ask.text, speaks_of_it));
    called_off || claims::admits(message, speaks_of_it)
}

/// Whether a sentence is about a step: most of the step's words are in it.
fn is_like(sentence: &str, step: &str) -> bool {
    let sentence = padded(&normalised(sentence));
    let step = normalised(step);
    let words: Vec<&str> = step.split(' ').filter(|word| word.len() > 3).collect();
    let shared = words.iter().filter(|word| has_words(&sentence, word)).count();
    words.len() > 2 && shared * 4 >= words.len() * 3
}
