//! What the findings and the first reader's outcome come to. Pure.

use super::reason;
use crate::config::AuditConfig;
use crate::decision::{Cause, NEWER_STOP, Outcome, OutcomeKind};
use crate::finding::{Advisory, Finding, Source, Status};
use crate::readers::ReaderOutcome;
use crate::redact::mask;

/// An audit that could not be made. Why may be the client's words, which nobody has masked yet.
pub fn could_not(cause: Cause, why: &str) -> Outcome {
    Outcome::could_not_check(cause, format!("this stop was not audited: {}", mask(why).text))
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
        with(Status::Confirmed).partition(|finding| config.blocks_for(finding));
    // A candidate that only the facts bring up is normal work until a reader agrees that it is not: only the log has
    // it.
    let (candidates, proposed): (Vec<&Finding>, Vec<&Finding>) =
        with(Status::CannotVerify).partition(|finding| finding.source == Source::Facts);
    let unverified: Vec<&Finding> = proposed.into_iter().chain(idle).collect();
    let ignored: Vec<&Finding> = with(Status::Ignored).collect();
    // A client that ends us throws our answer away: a block would be counted and never seen.
    let is_heard = !matches!(auditor, ReaderOutcome::Interrupted(_) | ReaderOutcome::Superseded);
    if !holding.is_empty() && is_heard {
        let reason = reason::reason(reason_template, decision, &holding, &unverified);
        return Outcome::block(Cause::Findings, reason);
    }
    match auditor {
        ReaderOutcome::Answered(_) | ReaderOutcome::NotAsked if !unverified.is_empty() => {
            let listed = reason::one_line(&unverified);
            let words = format!("let go, with what could not be verified: {listed}");
            Outcome::advise(Cause::OnlyUnverified, words)
        }
        // The person said so in the config: only the log has it.
        ReaderOutcome::Answered(_) | ReaderOutcome::NotAsked if !ignored.is_empty() => {
            Outcome::pass(Cause::OnlyUnverified, reason::one_line(&ignored))
        }
        ReaderOutcome::Answered(_) | ReaderOutcome::NotAsked if !candidates.is_empty() => {
            let words = format!("candidates of the facts alone: {}", reason::one_line(&candidates));
            Outcome::pass(Cause::OnlyUnverified, words)
        }
        ReaderOutcome::Answered(_) | ReaderOutcome::NotAsked => Outcome::pass(Cause::Clean, ""),
        ReaderOutcome::TimedOut(after) => could_not(
            Cause::AuditorTimeout,
            &format!("the first reader gave no answer in {:.0} s", after.as_secs_f64()),
        ),
        ReaderOutcome::Unavailable(why) => could_not(Cause::AuditorUnavailable, &why.to_string()),
        ReaderOutcome::Unreadable(why) => {
            could_not(Cause::AuditorUnreadable, &format!("the first reader's answer does not count: {why}"))
        }
        ReaderOutcome::Superseded => Outcome::pass(Cause::Superseded, NEWER_STOP),
        ReaderOutcome::Interrupted(signal) => could_not(Cause::Error, &format!("ended by {signal}")),
    }
}

/// Adds what the agent disputed before and is not blocked for again.
pub fn with_disputed(mut outcome: Outcome, disputed: &[Finding]) -> Outcome {
    if disputed.is_empty() {
        return outcome;
    }
    if outcome.is_pass() {
        outcome.cause = Cause::OnlyUnverified;
    }
    let listed = reason::one_line(&disputed.iter().collect::<Vec<_>>());
    with_words(outcome, &format!("disputed by the agent before, and not held again: {listed}"))
}

/// Adds what the person should know.
pub fn advised(outcome: Outcome, advisories: &[&Advisory]) -> Outcome {
    if advisories.is_empty() {
        return outcome;
    }
    let listed: Vec<_> =
        advisories.iter().map(|advisory| format!("{} ({})", advisory.text, advisory.evidence)).collect();
    with_words(outcome, &format!("worth knowing: {}", listed.join("; ")))
}

/// Adds words for the person. A block tells only of what blocks.
fn with_words(outcome: Outcome, more: &str) -> Outcome {
    match outcome.kind {
        OutcomeKind::Block => outcome,
        OutcomeKind::Pass => Outcome::advise(outcome.cause, format!("let go; {more}")),
        OutcomeKind::Advise | OutcomeKind::CouldNotCheck => {
            Outcome { words: format!("{}; {more}", outcome.words), ..outcome }
        }
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

    fn held() -> Outcome {
        Outcome::block(Cause::Findings, "b is missing")
    }

    #[test]
    fn a_candidate_that_nobody_agrees_with_is_told_to_nobody() {
        for (source, kind) in [(Source::Facts, OutcomeKind::Pass), (Source::Both, OutcomeKind::Advise)] {
            let outcome = outcome(&[candidate(source)]);
            assert_eq!((outcome.kind, outcome.cause), (kind, Cause::OnlyUnverified));
            assert!(!outcome.words.is_empty());
        }
    }

    #[test]
    fn what_was_disputed_before_is_told_and_never_holds() {
        let check = "disputed in this session: \"It is generated.\"".into();
        let finding = [Finding { check, ..candidate(Source::Facts) }];
        let told = "disputed by the agent before, and not held again: [B] \"src/helper.rs\" (disputed in this session: \"It is generated.\")";
        let late = |words: &str| could_not(Cause::AuditorTimeout, words);
        for (before, after) in [
            (outcome(&[]), Outcome::advise(Cause::OnlyUnverified, format!("let go; {told}"))),
            (late("late"), late(&format!("late; {told}"))),
            (held(), held()),
        ] {
            assert_eq!(with_disputed(before.clone(), &finding), after);
            assert_eq!(with_disputed(before.clone(), &[]), before);
        }
    }

    #[test]
    fn advice_goes_along_and_never_holds() {
        let (text, evidence) = ("a branch was overwritten".into(), "git push --force".into());
        let advisory = Advisory { kind: AdvisoryKind::ForcePush, text, evidence };
        let told = "let go; worth knowing: a branch was overwritten (git push --force)";
        for (before, after) in [(outcome(&[]), Outcome::advise(Cause::Clean, told)), (held(), held())] {
            assert_eq!(advised(before.clone(), &[&advisory]), after);
            assert_eq!(advised(before.clone(), &[]), before);
        }
    }
}
