//! Merges the outcomes of all gates into one, with one reason for all blocks. Pure.

use crate::decision::{Cause, Outcome};

/// What all gates come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The one outcome.
    pub outcome: Outcome,
    /// Whether a block counts against the session's budget: a gate blocks that does not just keep it at work.
    pub uses_budget: bool,
}

impl Merged {
    /// An outcome that no gate has decided.
    pub fn without_gates(outcome: Outcome) -> Self {
        Self { outcome, uses_budget: false }
    }
}

/// Merges outcomes in their order, each with whether its gate keeps the session at work. Blocks come first, then
/// what could not be checked, then what the person should know; where there is none of that the last outcome
/// counts, which is the audit's where there is one.
pub fn merge(outcomes: &[(&Outcome, bool)]) -> Merged {
    let (mut reasons, mut messages): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let (mut blocked, mut unchecked, mut advised) = (None, None, None);
    let mut uses_budget = false;
    for (outcome, keeps_working) in outcomes {
        match outcome {
            Outcome::Block { cause, reason } => {
                blocked = blocked.or(Some(*cause));
                uses_budget |= !keeps_working;
                reasons.push(reason);
            }
            Outcome::CouldNotCheck { cause, message } => {
                unchecked = unchecked.or(Some(*cause));
                messages.push(message);
            }
            Outcome::Advise { cause, message } => {
                advised = advised.or(Some(*cause));
                messages.push(message);
            }
            Outcome::Pass { .. } => {}
        }
    }
    let message = messages.join("; ");
    let outcome = match (blocked, unchecked, advised) {
        (Some(cause), _, _) => Outcome::Block { cause, reason: joined(&reasons) },
        (None, Some(cause), _) => Outcome::CouldNotCheck { cause, message },
        (None, None, Some(cause)) => Outcome::Advise { cause, message },
        (None, None, None) => match outcomes.last() {
            Some((outcome, _)) => (*outcome).clone(),
            None => Outcome::Pass { cause: Cause::NothingToAudit, detail: Some("no gate is set".to_owned()) },
        },
    };
    Merged { outcome, uses_budget }
}

fn joined(reasons: &[&str]) -> String {
    let last = reasons.len().saturating_sub(1);
    let trimmed = reasons.iter().enumerate();
    let trimmed = trimmed.map(|(at, reason)| if at == last { reason } else { reason.trim_end() });
    trimmed.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block(cause: Cause, reason: &str) -> Outcome {
        Outcome::Block { cause, reason: reason.into() }
    }

    fn pass(detail: &str) -> Outcome {
        Outcome::Pass { cause: Cause::Clean, detail: Some(detail.into()) }
    }

    #[test]
    fn blocks_are_one_reason_in_their_order() {
        let (audit, feature) =
            (block(Cause::Findings, "b is missing\n"), block(Cause::FeatureOpen, "go on\n"));
        let alone = merge(&[(&pass("a"), false), (&audit, false)]);
        assert_eq!(alone, Merged { outcome: audit.clone(), uses_budget: true });
        let both = merge(&[(&feature, true), (&audit, false)]);
        let outcome = block(Cause::FeatureOpen, "go on\n\nb is missing\n");
        assert_eq!(both, Merged { outcome, uses_budget: true });
        let working = merge(&[(&feature, true), (&pass("fine"), false)]);
        assert_eq!(working, Merged { outcome: feature, uses_budget: false });
    }

    #[test]
    fn what_could_not_be_checked_comes_before_advice_and_both_are_told() {
        let advice = Outcome::Advise { cause: Cause::OnlyUnverified, message: "one".into() };
        let unchecked = Outcome::CouldNotCheck { cause: Cause::Error, message: "two".into() };
        let message = "one; two".to_owned();
        assert_eq!(
            merge(&[(&advice, false), (&unchecked, false)]).outcome,
            Outcome::CouldNotCheck { cause: Cause::Error, message }
        );
    }

    #[test]
    fn where_all_pass_the_last_one_says_why() {
        assert_eq!(merge(&[(&pass("a"), false), (&pass("b"), false)]).outcome, pass("b"));
    }

    proptest! {
        #[test]
        fn a_stop_is_blocked_if_and_only_if_a_gate_blocks_it(kinds in proptest::collection::vec(0u8..4, 0..6)) {
            let outcome = |kind: &u8| match kind {
                0 => pass("x"),
                1 => block(Cause::Findings, "r"),
                2 => Outcome::Advise { cause: Cause::Clean, message: "m".into() },
                _ => Outcome::CouldNotCheck { cause: Cause::Error, message: "m".into() },
            };
            let all: Vec<Outcome> = kinds.iter().map(outcome).collect();
            let merged = merge(&all.iter().map(|outcome| (outcome, false)).collect::<Vec<_>>());
            prop_assert_eq!(merged.outcome.wants_block(), kinds.contains(&1));
            prop_assert_eq!(merged.uses_budget, kinds.contains(&1));
        }
    }
}
