//! Takes evidence, gives everything that is claimed as done: steps that the session ticked or speaks of as done,
//! steps of a plan that it calls finished, and what its final message says was done to files. Pure. Must not
//! look at files: what is claimed is one thing, what is there another.

use super::parts::asked_for_other_parts;
use crate::claims;
use crate::claims::deeds::promised_names;
use crate::evidence::Evidence;
use crate::facts::ordinary::is_reference;
use crate::plan::{Mark, Plan, Step};
use crate::session::{Command, Session};
use crate::words::{base_name, has_words, names_file, normalised, padded};

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
    /// It stands under a title that says that the file was changed.
    pub changed: bool,
    /// The step that it is a part of, where that says which file it is about.
    pub home: Option<&'a Step>,
}

/// Whether the final message says that all of it is done, and there was any work: a plan that is written and not begun is
/// not carried out.
pub fn says_all_is_done(evidence: &Evidence) -> bool {
    let message = evidence.session.final_message.as_deref().unwrap_or_default();
    let (session, plan) = (&evidence.session, evidence.plan.as_ref());
    claims::says_all_is_done(message) && has_worked(session, plan) && !has_only_planned(session, plan)
}

/// Whether the session wrote a plan and nothing else, or says itself that nothing is done yet.
pub fn has_only_planned(session: &Session, plan: Option<&Plan>) -> bool {
    let message = session.final_message.as_deref().unwrap_or_default();
    let nothing_yet = claims::all_sentences(message).any(|sentence| {
        let words = padded(&normalised(sentence));
        has_words(&words, "nothing") && has_words(&words, "yet")
    });
    nothing_yet || session.done_touches().next().is_some() && !has_worked(session, plan)
}

/// Whether the session changed anything but the plan.
fn has_worked(session: &Session, plan: Option<&Plan>) -> bool {
    has_written(session, plan) || session.commands.iter().any(Command::may_have_effects)
}

/// Whether the session wrote a file that is not the plan.
fn has_written(session: &Session, plan: Option<&Plan>) -> bool {
    let plan = plan.and_then(|plan| plan.path.as_deref());
    let is_plan = |path: &str| plan.is_some_and(|plan| base_name(plan) == base_name(path));
    session.done_touches().any(|touch| !is_plan(&touch.path))
}

/// Everything that is claimed as done, the surest claims first.
pub fn claimed(evidence: &Evidence) -> Vec<Claim<'_>> {
    let message = evidence.session.final_message.as_deref().unwrap_or_default();
    let is_over = says_all_is_done(evidence);
    let said: Vec<Words<'_>> =
        claims::sentences(message).into_iter().map(Words::of).filter(Words::counts_steps).collect();
    let mut all: Vec<Claim<'_>> = Vec::new();
    if let Some(plan) = &evidence.plan {
        for step in plan.promised() {
            let is_over = is_over && !asked_for_other_parts(&evidence.session, step);
            if let Some(how) = how_claimed(plan, step, &said, is_over) {
                all.push(Claim {
                    words: &step.text,
                    step: Some(step),
                    how,
                    paths: &step.paths,
                    names: promised_names(step),
                    listed: false,
                    changed: false,
                    home: home_of(plan, step),
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
        changed: false,
        home: None,
    }));
    // A bare list of files is what was done only where a file was written: a review lists files, too.
    let has_written = has_written(&evidence.session, evidence.plan.as_ref());
    let deeds = evidence.deeds.iter().filter(|deed| !deed.listed || has_written);
    all.extend(deeds.map(|deed| Claim {
        words: &deed.text,
        step: None,
        how: How::Said,
        paths: &deed.paths,
        names: deed.symbols.clone(),
        listed: deed.listed,
        changed: deed.changed,
        home: None,
    }));
    let cancelled = evidence.session.asks.iter().flat_map(|ask| claims::cancellations(&ask.text));
    let taken_back: Vec<Words<'_>> =
        claims::admissions(message).into_iter().chain(cancelled).map(Words::of).collect();
    all.retain(|claim| !taken_back.iter().any(|said| speaks_of(said, claim)));
    all.sort_by_key(|claim| claim.how == How::Whole);
    all
}

/// For a nested item that names no file, the step above it, if that names one: "Tests in `a_test.go`:" and below it
/// the names of the tests.
fn home_of<'a>(plan: &'a Plan, step: &Step) -> Option<&'a Step> {
    if step.depth == 0 || !step.paths.is_empty() {
        return None;
    }
    let above = plan.steps.iter().rev().skip_while(|other| other.number >= step.number);
    above.into_iter().find(|other| other.depth < step.depth).filter(|home| home.paths.len() == 1)
}

fn how_claimed(plan: &Plan, step: &Step, said: &[Words<'_>], is_over: bool) -> Option<How> {
    if step.mark == Mark::Abandoned || plan.ticked_before.contains(&step.number) {
        return None;
    }
    if plan.ticked_now(step) {
        return Some(How::Ticked);
    }
    if said.iter().any(|said| said.is_of_step(step)) {
        return Some(How::Said);
    }
    (is_over && !is_reference(step)).then_some(How::Whole)
}

/// A sentence, as written and ready to be looked through: each is held against every step.
struct Words<'a> {
    text: &'a str,
    padded: String,
}

impl<'a> Words<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, padded: padded(&normalised(text)) }
    }

    fn counts_steps(&self) -> bool {
        has_words(&self.padded, "step")
    }

    /// Whether it speaks of a step by its number: "step 3 is done".
    fn is_of_step(&self, step: &Step) -> bool {
        self.counts_steps() && has_words(&self.padded, &format!("step {}", step.number))
    }

    /// Whether most of a step's words are in it.
    fn is_like(&self, step: &str) -> bool {
        let step = normalised(step);
        let words: Vec<&str> = step.split(' ').filter(|word| word.len() > 3).collect();
        let shared = words.iter().filter(|word| has_words(&self.padded, word)).count();
        words.len() > 2 && shared * 4 >= words.len() * 3
    }
}

/// Whether words in which something is taken back are about a claim.
fn speaks_of(said: &Words<'_>, claim: &Claim<'_>) -> bool {
    claim.paths.iter().any(|path| names_file(said.text, base_name(path)))
        || claim.step.is_some_and(|step| said.is_of_step(step) || said.is_like(&step.text))
}
