//! A: claimed done, not on disk. Who claims it, and is it really not there? Pure. Only here can the disk alone
//! decide, so that every way out that is not `confirmed` comes first.

use super::case::Case;
use super::names::line_names;
use super::quotes::stands_in;
use super::{Judged, commands, content, elsewhere, files, over, reason, work};
use crate::claims;
use crate::evidence::FileState;
use crate::finding::Problem;

pub(super) fn judge(case: &Case<'_>) -> Judged {
    let quote = &case.proposal.quote;
    let in_plan = case.step.is_some() || case.plan().is_some_and(|plan| stands_in(quote, &plan.text));
    if !in_plan && !stands_in(quote, case.message()) {
        return Judged::cannot_verify("quote not found in the plan or the final message");
    }
    let is_absent = case.look.is_some_and(|look| look.state == FileState::Missing { elsewhere: None });
    // There are more words for work elsewhere than any table of claims has.
    if case.step.is_none() && is_absent && elsewhere::worked_there(case) {
        return Judged::cannot_verify(reason::REMOTE);
    }
    if let Some(objection) = over::nobody_claims(case) {
        return objection;
    }
    if over::called_off(case) {
        return Judged::refuted(reason::CALLED_OFF);
    }
    // By name only: sentences about other steps are like this one, too.
    let speaks_of_it =
        |sentence: &str| line_names(sentence, case.file_name()) || is_quoted_from(case, sentence);
    if claims::admits(case.message(), speaks_of_it) {
        return Judged::cannot_verify(reason::ADMITTED);
    }
    match case.proposal.problem {
        Problem::MissingFile => files::judge(case),
        Problem::MissingContent => content::judge(case),
        Problem::FailedCommand => commands::judge(case),
        Problem::NoTrace => no_trace(case),
        Problem::NotInPlan => Judged::cannot_verify("not in the plan is no proof of a false claim"),
    }
}

/// Whether the finding rests on this very sentence, and on nothing that the plan says.
fn is_quoted_from(case: &Case<'_>, sentence: &str) -> bool {
    case.step.is_none() && stands_in(&case.proposal.quote, sentence)
}

fn no_trace(case: &Case<'_>) -> Judged {
    let Some(look) = case.look else {
        let worked =
            case.plan().zip(case.step).and_then(|(plan, step)| work::on_step(case.evidence, plan, step));
        return match worked {
            Some(how) => Judged::refuted(how),
            None => Judged::cannot_verify("it names nothing that disk or session could show"),
        };
    };
    if let FileState::Missing { .. } = look.state {
        return files::judge(case);
    }
    match work::on_file(case.evidence, &look.name) {
        Some(how) => Judged::refuted(how),
        None => Judged::cannot_verify("the file exists, and only its content could tell"),
    }
}
