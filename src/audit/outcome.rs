//! Takes findings and the auditor's ending, gives what they come to. Pure.

use super::reason;
use crate::auditor::AuditorOutcome;
use crate::config::AuditConfig;
use crate::decision::{Cause, Outcome};
use crate::evidence::redact::mask;
use crate::finding::{Finding, Status};

/// An audit that could not be made. Why may be the client's words, which nobody has masked yet.
pub fn could_not(cause: Cause, why: &str) -> Outcome {
    Outcome::CouldNotCheck { cause, message: format!("this stop was not audited: {}", mask(why).text) }
}

/// What the findings and the auditor's ending come to. Confirmed facts hold even where no auditor was to be
/// had; everything else needs its word.
pub fn outcome_of(
    auditor: &AuditorOutcome,
    findings: &[Finding],
    config: &AuditConfig,
    reason_template: &str,
) -> Outcome {
    let with = |status: Status| findings.iter().filter(move |finding| finding.status == status);
    let (holding, idle): (Vec<&Finding>, Vec<&Finding>) =
        with(Status::Confirmed).partition(|finding| config.block_on.contains(&finding.category));
    let unverified: Vec<&Finding> = with(Status::CannotVerify).chain(idle).collect();
    // Whoever tells us to end throws our answer away: a block would be counted and never seen.
    let is_heard = !matches!(auditor, AuditorOutcome::Interrupted(_));
    if !holding.is_empty() && is_heard {
        let reason = reason::reason(reason_template, &holding, &unverified);
        return Outcome::Hold { cause: Cause::Findings, reason };
    }
    match auditor {
        AuditorOutcome::Answered(_) | AuditorOutcome::NotAsked if unverified.is_empty() => {
            Outcome::Pass { cause: Cause::Clean, detail: None }
        }
        AuditorOutcome::Answered(_) | AuditorOutcome::NotAsked => Outcome::Advise {
            cause: Cause::OnlyUnverified,
            message: format!("let go, with what could not be verified: {}", reason::one_line(&unverified)),
        },
        AuditorOutcome::TimedOut(after) => could_not(
            Cause::AuditorTimeout,
            &format!("the auditor gave no answer in {:.0} s", after.as_secs_f64()),
        ),
        AuditorOutcome::Unavailable(why) => could_not(Cause::AuditorUnavailable, &why.to_string()),
        AuditorOutcome::Unreadable(why) => {
            could_not(Cause::AuditorUnreadable, &format!("the auditor's answer does not count: {why}"))
        }
        AuditorOutcome::Interrupted(signal) => could_not(Cause::Error, &format!("ended by {signal}")),
    }
}
