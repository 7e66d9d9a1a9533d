//! Turns the findings and the first reader's outcome into the audit's outcome. Pure.

use super::reason;
use crate::config::AuditConfig;
use crate::decision::{Cause, NEWER_STOP, Outcome, OutcomeKind};
use crate::finding::{Advisory, Finding, Source, Status, WORTH_KNOWING};
use crate::readers::ReaderOutcome;
use crate::redact::mask;
use crate::text::first_part;

/// Returns the outcome of an audit that could not be made. `why` may be the client's own text,
/// which is not masked yet.
pub fn could_not(cause: Cause, why: &str) -> Outcome {
    Outcome::could_not_check(cause, format!("this stop was not audited: {}", mask(why).text))
}

/// Returns the outcome for the findings and the first reader's outcome. Confirmed facts block even
/// if no reader could be asked; all other findings need one.
pub fn outcome_of(
    auditor: &ReaderOutcome,
    findings: &[Finding],
    config: &AuditConfig,
    (reason_template, decision): (&str, &str),
) -> Outcome {
    let with = |status: Status| findings.iter().filter(move |finding| finding.status == status);
    let (holding, idle): (Vec<&Finding>, Vec<&Finding>) =
        with(Status::Confirmed).partition(|finding| config.blocks_for(finding));
    // A candidate that only the facts suggest is normal work unless a reader says otherwise, so it
    // only goes to the log.
    let (candidates, proposed): (Vec<&Finding>, Vec<&Finding>) =
        with(Status::CannotVerify).partition(|finding| finding.source == Source::Facts);
    let unverified: Vec<&Finding> = proposed.into_iter().chain(idle).collect();
    let ignored: Vec<&Finding> = with(Status::Ignored).collect();
    // If the client ends us, it discards our answer: a block would be counted and never seen.
    let is_heard = !matches!(auditor, ReaderOutcome::Interrupted(_) | ReaderOutcome::Superseded);
    if !holding.is_empty() && is_heard {
        let reason = reason::reason(reason_template, decision, &holding, &unverified);
        return Outcome::block(Cause::Findings, reason);
    }
    match auditor {
        ReaderOutcome::Answered(_) | ReaderOutcome::NotAsked if !unverified.is_empty() => {
            let listed = reason::one_line(&unverified);
            let words = format!("allowed, with findings that could not be verified: {listed}");
            Outcome::advise(Cause::OnlyUnverified, words)
        }
        // The person ignores these in the config: they only go to the log.
        ReaderOutcome::Answered(_) | ReaderOutcome::NotAsked if !ignored.is_empty() => {
            Outcome::pass(Cause::OnlyIgnored, reason::one_line(&ignored))
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
            could_not(Cause::AuditorUnreadable, &format!("the first reader's answer is not valid: {why}"))
        }
        ReaderOutcome::Superseded => Outcome::pass(Cause::Superseded, NEWER_STOP),
        ReaderOutcome::Interrupted(signal) => could_not(Cause::Error, &format!("ended by {signal}")),
    }
}

/// Adds findings that the agent disputed before, which don't block again.
pub fn with_disputed(mut outcome: Outcome, disputed: &[Finding]) -> Outcome {
    if disputed.is_empty() {
        return outcome;
    }
    if outcome.is_pass() {
        outcome.cause = Cause::OnlyUnverified;
    }
    let listed = reason::one_line(&disputed.iter().collect::<Vec<_>>());
    with_message(outcome, &format!("disputed by the agent before, so not blocked again: {listed}"))
}

/// How many advisories are listed, and how much of each one's evidence: people read few lines at a
/// stop.
const MOST_ADVISED: usize = 5;
const EVIDENCE_CAP: usize = 120;

/// Adds the advisories for the person.
pub fn advised(outcome: Outcome, advisories: &[&Advisory]) -> Outcome {
    if advisories.is_empty() {
        return outcome;
    }
    let line = |advisory: &&Advisory| {
        let evidence: Vec<_> = advisory.evidence.split_whitespace().collect();
        format!(
            "\n- {}: {}",
            advisory.text.trim_end_matches('.'),
            first_part(&evidence.join(" "), EVIDENCE_CAP)
        )
    };
    let listed: String = advisories.iter().take(MOST_ADVISED).map(line).collect();
    let more = advisories.len().saturating_sub(MOST_ADVISED);
    let more =
        if more > 0 { format!("\n- and {more} more, in `punchlist log show last`") } else { String::new() };
    with_message(outcome, &format!("{WORTH_KNOWING}{listed}{more}"))
}

/// Adds text for the person, unless the outcome is a block: that lists only what blocks.
pub fn with_message(outcome: Outcome, more: &str) -> Outcome {
    match outcome.kind {
        OutcomeKind::Block => outcome,
        OutcomeKind::Pass => Outcome::advise(outcome.cause, more),
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
        let told = "disputed by the agent before, so not blocked again: [B] \"src/helper.rs\" (disputed in this session: \"It is generated.\")";
        let late = |words: &str| could_not(Cause::AuditorTimeout, words);
        for (before, after) in [
            (outcome(&[]), Outcome::advise(Cause::OnlyUnverified, told)),
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
        let told = "worth knowing:\n- a branch was overwritten: git push --force";
        for (before, after) in [(outcome(&[]), Outcome::advise(Cause::Clean, told)), (held(), held())] {
            assert_eq!(advised(before.clone(), &[&advisory]), after);
            assert_eq!(advised(before.clone(), &[]), before);
        }
    }
}
