//! Who says that what is done. Takes the final message, the plan and the asks, says whether the session calls
//! the plan finished, claims a step, or leaves it. Pure. "Done." is said of what was asked last: it claims the
//! whole plan only where the whole plan was asked for.

use super::case::Case;
use super::names::line_names;
use super::quotes::stands_in;
use super::topics::alike;
use super::{Judged, reason};
use crate::claims;
use crate::evidence::Evidence;
use crate::facts::claimed::has_only_planned;
use crate::facts::parts::asked_for_other_parts;
use crate::plan::{Mark, Plan, Step};
use crate::session::Session;
use crate::words::{has_any_words, has_words, normalised, padded};

/// Words for the whole of a plan in a sentence that says that something is over.
const WHOLE: &[&str] = &[
    "all", "both", "entire", "every", "everything", "implementation", "items", "plan", "steps", "tasks",
    "whole",
];

/// Words with which a person asks for a plan, or to go on with it.
const OF_THE_PLAN: &[&str] = &[
    "all", "carry", "checklist", "continue", "everything", "execute", "finish", "go", "implement", "items",
    "next", "ok", "plan", "proceed", "resume", "rest", "start", "step", "steps", "tasks", "todo", "yes",
];

/// Words that speak of what is to come, or may come.
const TO_COME: &[&str] = &[
    "could", "if", "later", "may", "might", "need", "needs", "next", "once", "shall", "should", "todo",
    "unless", "until", "want", "will", "would",
];

/// Whether the session says that the plan, with `step` in it, is finished.
pub(super) fn says_plan_is_over(evidence: &Evidence, step: Option<&Step>) -> bool {
    let is_left_out = step.is_some_and(|step| asked_for_other_parts(&evidence.session, step));
    says_it_is_over(&evidence.session, evidence.plan.as_ref(), is_left_out)
}

/// The same before there is any evidence; without a plan, of all that the session was asked for. `is_left_out` is said of a step
/// that the person did not ask for when they asked for others.
pub fn says_it_is_over(session: &Session, plan: Option<&Plan>, is_left_out: bool) -> bool {
    let message = session.final_message.as_deref().unwrap_or_default();
    // A plan that was written is no plan that was carried out.
    !has_only_planned(session, plan)
        && claims::sentences(message).into_iter().filter(|sentence| claims::says_finished(sentence)).any(
            |sentence| {
                let words = padded(&normalised(sentence));
                let is_of_all = has_any_words(&words, WHOLE);
                let is_of_the_plan = has_words(&words, "plan") || has_words(&words, "all steps");
                if is_left_out { is_of_the_plan } else { is_of_all || was_plan_asked_for_last(session, plan) }
            },
        )
}

/// Whether the person's newest words that ask for anything are about the plan. Where they spoke only once,
/// they are.
fn was_plan_asked_for_last(session: &Session, plan: Option<&Plan>) -> bool {
    let asks = &session.asks;
    let Some(last) = asks.iter().rev().find(|ask| ask.may_want_work()).filter(|_| asks.len() > 1) else {
        return true;
    };
    let words = padded(&normalised(&last.text));
    let mut steps = plan.into_iter().flat_map(Plan::promised);
    last.at == asks[0].at
        || has_any_words(&words, OF_THE_PLAN)
        || steps.any(|step| alike(&step.text, &last.text))
}

/// Whether a sentence speaks of what a finding is about: its file, or its step.
pub(super) fn speaks_of(sentence: &str, case: &Case<'_>) -> bool {
    line_names(sentence, case.file_name()) || case.step.is_some_and(|step| alike(sentence, &step.text))
}

/// Whether the person called it off.
pub(super) fn called_off(case: &Case<'_>) -> bool {
    let mut asks = case.session().asks.iter();
    asks.any(|ask| claims::calls_off(&ask.text, |sentence| speaks_of(sentence, case)))
}

/// Whether a sentence of the final message speaks of what is to come.
pub(super) fn is_to_come(sentence: &str) -> bool {
    let words = padded(&normalised(sentence));
    sentence.ends_with('?') || has_any_words(&words, TO_COME) || claims::admits(sentence, |_| true)
}

/// Why nobody claims what a finding calls false, if so. An unfinished plan is normal: a step counts as claimed
/// when it was ticked in this session, when the final message claims that step or file, or when it says that
/// the whole plan is done.
pub(super) fn nobody_claims(case: &Case<'_>) -> Option<Judged> {
    let (quote, message) = (&case.proposal.quote, case.message());
    let claims_words = || {
        let mut claimed = claims::sentences(message).into_iter();
        claimed.any(|sentence| stands_in(quote, sentence) || stands_in(sentence, quote))
    };
    let in_message = stands_in(quote, message);
    if in_message && claims_words() {
        return None;
    }
    let is_over = says_plan_is_over(case.evidence, case.step);
    let Some((plan, step)) = case.plan().zip(case.step) else {
        // Under "all done" a list of files claims them, with no verb of its own.
        let is_listed = || {
            let mut all = claims::all_sentences(message);
            all.any(|sentence| stands_in(quote, sentence) && !is_to_come(sentence))
        };
        return (!(in_message && is_over && is_listed()))
            .then(|| Judged::refuted(if in_message { reason::NOT_CLAIMED } else { reason::NO_STEP }));
    };
    if step.mark == Mark::Abandoned {
        return Some(Judged::refuted("the plan marks the step as abandoned"));
    }
    let claims_it = || claims::sentences(message).iter().any(|sentence| speaks_of(sentence, case));
    if plan.ticked_now(step) || claims_it() {
        return None;
    }
    match step.mark {
        // What was ticked long ago may have been undone since, with good reason.
        Mark::Ticked => Some(Judged::cannot_verify("the step was ticked before this session")),
        _ if is_over => None,
        _ => Some(Judged::refuted("the step is open and nobody claims that it is done")),
    }
}
