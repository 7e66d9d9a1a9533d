//! Takes what every gate makes of one stop, gives what that comes to: one outcome, with all that holds in one reason. Pure.

use crate::decision::{Cause, Outcome};

/// What one gate makes of a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The gate's name.
    pub gate: &'static str,
    /// Whether it keeps the session at work, and has limits of its own.
    pub keeps_working: bool,
    /// What it says.
    pub outcome: Outcome,
}

/// What all of them make of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedResult {
    /// In one.
    pub outcome: Outcome,
    /// Whether a hold is one of the session's budget: a gate holds that does not just keep it at work.
    pub uses_budget: bool,
}

/// What stands between what two gates say to the agent.
const BETWEEN_REASONS: &str = "\n\n";

/// Joins them, in their order. What holds comes first, then what could not be checked, then what the person should know;
/// where nothing of that is said, the last gate's word counts, which is the audit's where there is one.
pub fn join(told: &[Told]) -> MergedResult {
    let holds: Vec<(&Told, Cause, &str)> = told
        .iter()
        .filter_map(|told| match &told.outcome {
            Outcome::Hold { cause, reason } => Some((told, *cause, reason.as_str())),
            _ => None,
        })
        .collect();
    if let [(_, cause, first), rest @ ..] = &holds[..] {
        let mut reason = (*first).to_owned();
        for (_, _, next) in rest {
            reason.truncate(reason.trim_end().len());
            reason.push_str(BETWEEN_REASONS);
            reason.push_str(next);
        }
        let uses_budget = holds.iter().any(|(told, ..)| !told.keeps_working);
        return MergedResult { outcome: Outcome::Hold { cause: *cause, reason }, uses_budget };
    }
    MergedResult { outcome: without_a_hold(told), uses_budget: false }
}

fn without_a_hold(told: &[Told]) -> Outcome {
    let unchecked = told.iter().find_map(|told| match &told.outcome {
        Outcome::CouldNotCheck { cause, .. } => Some(*cause),
        _ => None,
    });
    let advised = told.iter().find_map(|told| match &told.outcome {
        Outcome::Advise { cause, .. } => Some(*cause),
        _ => None,
    });
    let messages: Vec<&str> = told
        .iter()
        .filter_map(|told| match &told.outcome {
            Outcome::CouldNotCheck { message, .. } | Outcome::Advise { message, .. } => {
                Some(message.as_str())
            }
            Outcome::Pass { .. } | Outcome::Hold { .. } => None,
        })
        .collect();
    let message = messages.join("; ");
    match (unchecked, advised) {
        (Some(cause), _) => Outcome::CouldNotCheck { cause, message },
        (None, Some(cause)) => Outcome::Advise { cause, message },
        (None, None) => told.last().map_or(
            Outcome::Pass { cause: Cause::NothingToAudit, detail: Some("no gate is set".to_owned()) },
            |told| told.outcome.clone(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(gate: &'static str, outcome: Outcome) -> Told {
        Told { gate, keeps_working: gate == "loop", outcome }
    }

    fn hold(cause: Cause, reason: &str) -> Outcome {
        Outcome::Hold { cause, reason: reason.into() }
    }

    fn pass(detail: &str) -> Outcome {
        Outcome::Pass { cause: Cause::Clean, detail: Some(detail.into()) }
    }

    #[test]
    fn one_hold_is_said_as_it_is() {
        let all = [told("checks", pass("a")), told("audit", hold(Cause::Findings, "b is missing\n"))];
        let joined = join(&all);
        assert_eq!((&joined.outcome, joined.uses_budget), (&all[1].outcome, true));
    }

    #[test]
    fn several_are_one_reason_in_their_order() {
        let all = [
            told("loop", hold(Cause::Unknown, "go on with f2\n")),
            told("audit", hold(Cause::Findings, "b is missing\n")),
        ];
        let joined = join(&all);
        assert_eq!(joined.outcome, hold(Cause::Unknown, "go on with f2\n\nb is missing\n"));
        assert!(joined.uses_budget);
    }

    #[test]
    fn what_only_keeps_a_session_at_work_uses_no_budget() {
        let joined = join(&[told("loop", hold(Cause::Unknown, "go on")), told("audit", pass("fine"))]);
        assert_eq!((joined.outcome.wants_block(), joined.uses_budget), (true, false));
    }

    #[test]
    fn what_could_not_be_checked_comes_before_advice_and_both_are_told() {
        let all = [
            told("audit", Outcome::Advise { cause: Cause::OnlyUnverified, message: "one".into() }),
            told("checks", Outcome::CouldNotCheck { cause: Cause::Error, message: "two".into() }),
        ];
        let message = "one; two".to_owned();
        assert_eq!(join(&all).outcome, Outcome::CouldNotCheck { cause: Cause::Error, message });
    }

    #[test]
    fn where_all_pass_the_last_one_says_why() {
        assert_eq!(join(&[told("checks", pass("a")), told("audit", pass("b"))]).outcome, pass("b"));
    }

    proptest! {
        #[test]
        fn a_stop_is_held_if_and_only_if_a_gate_holds_it(kinds in proptest::collection::vec(0u8..4, 0..6)) {
            let outcome = |kind: &u8| match kind {
                0 => pass("x"),
                1 => hold(Cause::Findings, "r"),
                2 => Outcome::Advise { cause: Cause::Clean, message: "m".into() },
                _ => Outcome::CouldNotCheck { cause: Cause::Error, message: "m".into() },
            };
            let all: Vec<Told> = kinds.iter().map(|kind| told("audit", outcome(kind))).collect();
            let joined = join(&all);
            prop_assert_eq!(joined.outcome.wants_block(), kinds.contains(&1));
            prop_assert_eq!(joined.uses_budget, kinds.contains(&1));
        }
    }
}
