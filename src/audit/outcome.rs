//! What the findings and the first reader's outcome come to. Pure.

use super::reason;
use crate::config::AuditConfig;
use crate::decision::{Cause, NEWER_STOP, Outcome};
use crate::finding::{Advisory, Finding, Source, Status};
use crate::readers::ReaderOutcome;
use crate::redact::mask;

/// An audit that could not be made. Why may be the client's words, which nobody has masked yet.
pub fn could_not(cause: Cause, why: &str) -> Outcome {
    Outcome::CouldNotCheck { cause, message: format!("this stop was not audited: {}", mask(why).text) }
}

/// What the findings and the first reader's outcome come to. Confirmed facts block even where no reader could be
/// asked; all other findings need one.
pub fn outcome_of(
    auditor: &ReaderOutcome,
    findings: &[Finding],
    config: &AuditConfig,
    (reason_template, decision): (&str, &str),
) -> Outcome {
    let with = |status: Status| findings.iter().filter(move |finding| finding.status == status);
    let (holding, idle): (Vec<&Finding>, Vec<&Finding>) =
        with(Status::Confirmed).partition(|finding| config.block_on.contains(&finding.category));
    // A candidate that only the facts bring up is normal work until a reader agrees that it is not: only the log has
    // it.
    let (candidates, proposed): (Vec<&Finding>, Vec<&Finding>) =
        with(Status::CannotVerify).partition(|finding| finding.source == Source::Facts);
    let unverified: Vec<&Finding> = proposed.into_iter().chain(idle).collect();
    // A client that ends us throws our answer away: a block would be counted and never seen.
    let is_heard = !matches!(auditor, ReaderOutcome::Interrupted(_) | ReaderOutcome::Superseded);
    if !holding.is_empty() && is_heard {
        let reason = reason::reason(reason_template, decision, &holding, &unverified);
        return Outcome::Block { cause: Cause::Findings, reason };
    }
    match auditor {
        ReaderOutcome::Answered(_) | ReaderOutcome::NotAsked if unverified.is_empty() => {
            if candidates.is_empty() {
                Outcome::Pass { cause: Cause::Clean, detail: None }
            } else {
                let detail = format!("candidates of the facts alone: {}", reason::one_line(&candidates));
                Outcome::Pass { cause: Cause::OnlyUnverified, detail: Some(detail) }
            }
        }
        ReaderOutcome::Answered(_) | ReaderOutcome::NotAsked => Outcome::Advise {
            cause: Cause::OnlyUnverified,
            message: format!("let go, with what could not be verified: {}", reason::one_line(&unverified)),
        },
        ReaderOutcome::TimedOut(after) => could_not(
            Cause::AuditorTimeout,
            &format!("the first reader gave no answer in {:.0} s", after.as_secs_f64()),
        ),
        ReaderOutcome::Unavailable(why) => could_not(Cause::AuditorUnavailable, &why.to_string()),
        ReaderOutcome::Unreadable(why) => {
            could_not(Cause::AuditorUnreadable, &format!("the first reader's answer does not count: {why}"))
        }
        ReaderOutcome::Superseded => {
            Outcome::Pass { cause: Cause::Superseded, detail: Some(NEWER_STOP.to_owned()) }
        }
        ReaderOutcome::Interrupted(signal) => could_not(Cause::Error, &format!("ended by {signal}")),
    }
}

/// Adds what the agent disputed before and is not blocked for again. A block tells only of what blocks.
pub fn with_disputed(outcome: Outcome, disputed: &[&Finding]) -> Outcome {
    if disputed.is_empty() {
        return outcome;
    }
    let again = format!("disputed by the agent before, and not held again: {}", reason::one_line(disputed));
    match outcome {
        Outcome::Pass { .. } => {
            Outcome::Advise { cause: Cause::OnlyUnverified, message: format!("let go; {again}") }
        }
        Outcome::Advise { cause, message } => {
            Outcome::Advise { cause, message: format!("{message}; {again}") }
        }
        Outcome::CouldNotCheck { cause, message } => {
            Outcome::CouldNotCheck { cause, message: format!("{message}; {again}") }
        }
        held @ Outcome::Block { .. } => held,
    }
}

/// Adds what the person should know. A block tells only of what blocks.
pub fn advised(outcome: Outcome, advisories: &[&Advisory]) -> Outcome {
    if advisories.is_empty() {
        return outcome;
    }
    let known = format!("worth knowing: {}", reason::advice(advisories));
    match outcome {
        Outcome::Pass { cause, .. } => Outcome::Advise { cause, message: format!("let go; {known}") },
        Outcome::Advise { cause, message } => {
            Outcome::Advise { cause, message: format!("{message}; {known}") }
        }
        Outcome::CouldNotCheck { cause, message } => {
            Outcome::CouldNotCheck { cause, message: format!("{message}; {known}") }
        }
        held @ Outcome::Block { .. } => held,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::finding::{AdvisoryKind, Category, Kind};
    use crate::testing;

    fn candidate(source: Source) -> Finding {
        Finding {
            status: Status::CannotVerify,
            source,
            why: "no step names it".into(),
            check: "nobody has judged it".into(),
            ..testing::finding(Category::B, Kind::NotInPlan, "", Some("src/helper.rs"))
        }
    }

    fn outcome(findings: &[Finding]) -> Outcome {
        let answered = ReaderOutcome::Answered(String::new());
        outcome_of(&answered, findings, &Config::default().audit, ("", "k3f9"))
    }

    #[test]
    fn a_candidate_that_nobody_agrees_with_is_told_to_nobody() {
        assert!(matches!(
            outcome(&[candidate(Source::Facts)]),
            Outcome::Pass { cause: Cause::OnlyUnverified, detail: Some(_) }
        ));
        assert!(matches!(
            outcome(&[candidate(Source::Both)]),
            Outcome::Advise { cause: Cause::OnlyUnverified, .. }
        ));
    }

    #[test]
    fn what_was_disputed_before_is_told_and_never_holds() {
        let mut finding = candidate(Source::Facts);
        finding.check = "disputed in this session: \"It is generated.\"".into();
        let told = "disputed by the agent before, and not held again: [B] \"src/helper.rs\" (disputed in this session: \"It is generated.\")";
        assert_eq!(
            with_disputed(outcome(&[]), &[&finding]),
            Outcome::Advise { cause: Cause::OnlyUnverified, message: format!("let go; {told}") }
        );
        let unread = could_not(Cause::AuditorTimeout, "late");
        assert_eq!(
            with_disputed(unread, &[&finding]),
            could_not(Cause::AuditorTimeout, &format!("late; {told}"))
        );
        let held = Outcome::Block { cause: Cause::Findings, reason: "b is missing".into() };
        assert_eq!(with_disputed(held.clone(), &[&finding]), held);
        assert_eq!(with_disputed(outcome(&[]), &[]), outcome(&[]));
    }

    #[test]
    fn advice_goes_along_and_never_holds() {
        let advisory = Advisory {
            kind: AdvisoryKind::ForcePush,
            text: "a branch was overwritten".into(),
            evidence: "git push --force".into(),
        };
        assert_eq!(
            advised(outcome(&[]), &[&advisory]),
            Outcome::Advise {
                cause: Cause::Clean,
                message: "let go; worth knowing: a branch was overwritten (git push --force)".into()
            }
        );
        let held = Outcome::Block { cause: Cause::Findings, reason: "b is missing".into() };
        assert_eq!(advised(held.clone(), &[&advisory]), held);
        assert_eq!(advised(outcome(&[]), &[]), outcome(&[]));
    }
}
