//! The decision on a stop: merges the outcomes of all gates into one, and turns that into an
//! answer, in one exhaustive match. Pure.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use crate::client::hook_reply::Reply;

/// Why a stop was blocked or let go, as the log names it.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, VariantArray, IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Cause {
    /// The hook fired inside our own sealed call.
    InsideAuditor,
    Off,
    /// The session continues because it was blocked already.
    LoopGuard,
    PlanMode,
    BackgroundWork,
    /// The session has been blocked often enough.
    Budget,
    /// No plan in play, or no work since the last audit.
    NothingToAudit,
    /// Another client runs the hook; its transcripts can't be read here.
    UnknownClient,
    /// The same evidence as at the last clean audit, or another hook is handling this stop.
    Unchanged,
    /// A newer stop of the session came while this one was being audited in the background.
    Superseded,
    /// The findings of a background audit are out of date: the session, or their subject, has moved
    /// on.
    MovedOn,
    CheckFailed,
    CheckNotMade,
    Findings,
    Clean,
    /// Findings, none of which may block a stop.
    OnlyUnverified,
    /// Findings, all of which the config ignores.
    OnlyIgnored,
    AuditorTimeout,
    AuditorUnavailable,
    AuditorUnreadable,
    /// Boxes or tasks are open that the session claims as done.
    OpenItems,
    /// The final message lacks the required section.
    SectionMissing,
    /// Nothing is open that the session claims as done.
    NothingOpen,
    ChecklistUnreadable,
    FeatureOpen,
    /// The session's loop is over, or goes on in a fresh session.
    LoopOver,
    LoopUnreadable,
    /// All features are set to pass, and nothing could show it.
    LoopUnproven,
    PendingTasks,
    NoTasks,
    TasksUnknown,
    NoWorker,
    /// A worker is kept at its queue.
    KeepAlive,
    /// A worker's time without work is up.
    WorkerIdle,
    /// The session's counters can't be read or written.
    StateUnusable,
    /// Stdin was not the hook's JSON.
    BadInput,
    /// An internal error.
    Error,
    /// An older log does not say, or a newer one has a cause unknown here. No decision uses it.
    #[default]
    #[serde(other)]
    Unknown,
}

impl Cause {
    /// Returns all causes of decisions, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::VARIANTS.iter().copied().filter(|cause| *cause != Self::Unknown)
    }

    /// The causes that let a stop through because it could not be checked.
    const UNCHECKED: [Self; 11] = [
        Self::CheckNotMade,
        Self::AuditorTimeout,
        Self::AuditorUnavailable,
        Self::AuditorUnreadable,
        Self::ChecklistUnreadable,
        Self::LoopUnreadable,
        Self::LoopUnproven,
        Self::TasksUnknown,
        Self::StateUnusable,
        Self::BadInput,
        Self::Error,
    ];

    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// How the log describes [`Cause::Superseded`].
pub const NEWER_STOP: &str = "a newer stop of the session has taken over";

/// Returns whether a cause, as the log writes it, means that a stop could not be checked.
pub fn could_not_check(cause: &str) -> bool {
    Cause::UNCHECKED.iter().any(|unchecked| unchecked.name() == cause)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub kind: OutcomeKind,
    pub cause: Cause,
    /// What the agent is told of a block, the person of advice and of what could not be checked,
    /// and the log of a stop that passes; empty if there is nothing to say.
    pub words: String,
}

/// The kinds of outcome, by their names in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum OutcomeKind {
    /// The stop may go through.
    Pass,
    #[strum(serialize = "hold")]
    Block,
    /// The stop may go through, and the person should know something.
    Advise,
    /// It could not be checked, which is not "wrong".
    CouldNotCheck,
}

impl Outcome {
    pub fn pass(cause: Cause, words: impl Into<String>) -> Self {
        Self { kind: OutcomeKind::Pass, cause, words: words.into() }
    }

    pub fn block(cause: Cause, words: impl Into<String>) -> Self {
        Self { kind: OutcomeKind::Block, cause, words: words.into() }
    }

    pub fn advise(cause: Cause, words: impl Into<String>) -> Self {
        Self { kind: OutcomeKind::Advise, cause, words: words.into() }
    }

    pub fn could_not_check(cause: Cause, words: impl Into<String>) -> Self {
        Self { kind: OutcomeKind::CouldNotCheck, cause, words: words.into() }
    }

    pub fn is_pass(&self) -> bool {
        self.kind == OutcomeKind::Pass
    }

    pub fn wants_block(&self) -> bool {
        self.kind == OutcomeKind::Block
    }
}

/// Whether a block was counted. Only a counted block may be given: a guard that can't count can't
/// promise to let go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Counting {
    /// There was nothing to count.
    NotNeeded,
    Counted,
    /// Another stop of the session has used up the budget in the meantime.
    Spent,
    /// A newer stop has taken over, and decides.
    Superseded,
    Failed(String),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    Block,
    #[default]
    Allow,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub action: Action,
    pub cause: Cause,
    /// The explanation for the log.
    pub detail: Option<String>,
    /// In a dry run: the stop would have been blocked.
    pub would_block: bool,
    pub reply: Reply,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    pub outcome: Outcome,
    /// Whether a block counts against the session's budget: at least one of the blocking gates does
    /// more than keep the session working.
    pub uses_budget: bool,
}

/// Merges outcomes in their order, each with whether its gate keeps the session working. Blocks
/// come first, with one reason for all; then what could not be checked, then what the person should
/// know. If there is none of these, the last outcome counts, which is the audit's if there is one.
pub fn merge(outcomes: &[(&Outcome, bool)]) -> Merged {
    let all = || outcomes.iter().map(|(outcome, _)| *outcome);
    let first = |kind| all().find(|outcome| outcome.kind == kind);
    let uses_budget = outcomes.iter().any(|(outcome, keeps_working)| outcome.wants_block() && !keeps_working);
    let outcome = if let Some(block) = first(OutcomeKind::Block) {
        Outcome::block(block.cause, join(all().filter(|outcome| outcome.wants_block())))
    } else if let Some(told) = first(OutcomeKind::CouldNotCheck).or(first(OutcomeKind::Advise)) {
        let words: Vec<&str> =
            all().filter(|outcome| !outcome.is_pass()).map(|outcome| outcome.words.as_str()).collect();
        Outcome { words: words.join("; "), ..told.clone() }
    } else {
        all().next_back().cloned().unwrap_or_else(|| Outcome::pass(Cause::NothingToAudit, "no gate is set"))
    };
    Merged { outcome, uses_budget }
}

/// Joins the reasons of several blocks. A last paragraph that two of them share appears once, in
/// the later one.
fn join<'o>(blocks: impl Iterator<Item = &'o Outcome>) -> String {
    let mut reason = String::new();
    for block in blocks {
        let closing = block.words.trim_end().rsplit_once("\n\n").map(|(_, closing)| closing);
        let said = closing.and_then(|closing| reason.strip_suffix(closing)).map_or(reason.len(), str::len);
        reason.truncate(said);
        if !reason.is_empty() {
            reason.truncate(reason.trim_end().len());
            reason.push_str("\n\n");
        }
        reason.push_str(&block.words);
    }
    reason
}

/// Turns an outcome into the decision.
pub fn decide(outcome: Outcome, dry_run: bool, counting: &Counting) -> Decision {
    let Outcome { kind, cause, words } = outcome;
    let allow = |cause, words: String, reply| {
        let detail = Some(words).filter(|words| !words.is_empty());
        Decision { action: Action::Allow, cause, detail, would_block: false, reply }
    };
    let tell = |cause, words: String| {
        let reply = Reply::Tell(format!("punchlist: {words}"));
        allow(cause, words, reply)
    };
    match (kind, counting) {
        (OutcomeKind::Pass, _) => allow(cause, words, Reply::Silent),
        (_, Counting::Superseded) => allow(Cause::Superseded, NEWER_STOP.into(), Reply::Silent),
        (OutcomeKind::Advise | OutcomeKind::CouldNotCheck, _) => tell(cause, words),
        (OutcomeKind::Block, _) if dry_run => {
            Decision { would_block: true, ..allow(cause, words, Reply::Silent) }
        }
        (OutcomeKind::Block, Counting::Counted) => {
            let (action, reply) = (Action::Block, Reply::Block(words));
            Decision { action, cause, detail: None, would_block: false, reply }
        }
        (OutcomeKind::Block, Counting::Failed(why)) => {
            let words = format!("would block, but the block counter can't be written ({why})");
            Decision { would_block: true, ..tell(Cause::StateUnusable, words) }
        }
        (OutcomeKind::Block, Counting::Spent) => allow(
            Cause::Budget,
            "another stop of the session was blocked in the meantime".into(),
            Reply::Silent,
        ),
        // Unreachable: a block outside a dry run is always counted. If it were not, it must not be
        // given.
        (OutcomeKind::Block, Counting::NotNeeded) => {
            allow(Cause::Error, "a block was not counted".into(), Reply::Silent)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block(cause: Cause, reason: &str) -> Outcome {
        Outcome::block(cause, reason)
    }

    fn hold() -> Outcome {
        block(Cause::Findings, "b is missing")
    }

    /// One outcome of each kind.
    fn outcomes() -> [Outcome; 4] {
        [
            Outcome::pass(Cause::Clean, ""),
            Outcome::advise(Cause::OnlyUnverified, "m"),
            Outcome::could_not_check(Cause::AuditorTimeout, "m"),
            hold(),
        ]
    }

    #[test]
    fn blocks_are_one_reason_in_their_order() {
        let pass = Outcome::pass(Cause::Clean, "fine");
        let (audit, feature) =
            (block(Cause::Findings, "b is missing\n"), block(Cause::FeatureOpen, "go on\n"));
        let both = block(Cause::FeatureOpen, "go on\n\nb is missing\n");
        for (outcomes, outcome, uses_budget) in [
            ([(&pass, false), (&audit, false)], &audit, true),
            ([(&feature, true), (&audit, false)], &both, true),
            ([(&feature, true), (&pass, false)], &feature, false),
        ] {
            assert_eq!(merge(&outcomes), Merged { outcome: outcome.clone(), uses_budget });
        }
    }

    #[test]
    fn blocks_that_end_alike_are_joined_with_one_end() {
        let [check, audit] = ["the check fails", "b is missing"]
            .map(|words| block(Cause::Findings, &format!("{words}\n\nMend it,\nor say why.")));
        let words = "the check fails\n\nb is missing\n\nMend it,\nor say why.";
        assert_eq!(merge(&[(&check, false), (&audit, false)]).outcome.words, words);
    }

    #[test]
    fn what_could_not_be_checked_comes_before_advice_and_both_are_told() {
        let advice = Outcome::advise(Cause::OnlyUnverified, "one");
        let unchecked = Outcome::could_not_check(Cause::Error, "two");
        let merged = merge(&[(&advice, false), (&unchecked, false)]);
        assert_eq!(merged.outcome, Outcome::could_not_check(Cause::Error, "one; two"));
    }

    #[test]
    fn where_all_pass_the_last_one_says_why() {
        let [a, b] = ["a", "b"].map(|words| Outcome::pass(Cause::Clean, words));
        assert_eq!(merge(&[(&a, false), (&b, false)]).outcome, b);
    }

    proptest! {
        #[test]
        fn a_stop_is_blocked_if_and_only_if_a_gate_blocks_it(kinds in proptest::collection::vec(0usize..4, 0..6)) {
            let all: Vec<Outcome> = kinds.iter().map(|kind| outcomes()[*kind].clone()).collect();
            let merged = merge(&all.iter().map(|outcome| (outcome, false)).collect::<Vec<_>>());
            prop_assert_eq!(merged.outcome.wants_block(), kinds.contains(&3));
            prop_assert_eq!(merged.uses_budget, kinds.contains(&3));
        }
    }

    #[test]
    fn only_a_counted_hold_blocks() {
        let failed = Counting::Failed("full".into());
        let counts = [Counting::NotNeeded, Counting::Counted, Counting::Spent, Counting::Superseded, failed];
        for outcome in outcomes() {
            for (dry_run, counting) in
                [false, true].iter().flat_map(|dry| counts.iter().map(move |c| (*dry, c)))
            {
                let decision = decide(outcome.clone(), dry_run, counting);
                let case = format!("{outcome:?} {dry_run} {counting:?}");
                if outcome == hold() && !dry_run && *counting == Counting::Counted {
                    let expected = (Action::Block, Cause::Findings, Reply::Block("b is missing".into()));
                    assert_eq!((decision.action, decision.cause, decision.reply), expected, "{case}");
                    continue;
                }
                assert_eq!((decision.action, decision.reply.exit_code()), (Action::Allow, 0), "{case}");
                // A stop superseded by a newer one is silent.
                if !outcome.is_pass() && *counting == Counting::Superseded {
                    assert_eq!(
                        (decision.cause, decision.reply),
                        (Cause::Superseded, Reply::Silent),
                        "{case}"
                    );
                    assert!(!decision.would_block, "{case}");
                }
            }
        }
    }

    #[test]
    fn a_dry_run_says_what_it_would_have_done_in_the_log_only() {
        let decision = decide(hold(), true, &Counting::NotNeeded);
        assert!(decision.would_block);
        assert_eq!((decision.reply, decision.detail.as_deref()), (Reply::Silent, Some("b is missing")));
    }

    #[test]
    fn a_block_that_can_not_be_counted_is_told_and_not_given() {
        let decision = decide(hold(), false, &Counting::Failed("disk full".into()));
        assert_eq!(
            decision.reply,
            Reply::Tell("punchlist: would block, but the block counter can't be written (disk full)".into())
        );
    }
}
