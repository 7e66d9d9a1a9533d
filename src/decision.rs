//! The decision on a stop. Pure: the one place where an outcome becomes an answer, in one exhaustive match.

use serde::{Deserialize, Serialize};

use crate::client::hook_reply::Reply;

/// Why a stop was blocked or let go, as the log names it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The hook fired inside our own auditor.
    InsideAuditor,
    /// The person switched it off.
    Off,
    /// The session goes on because it was blocked already.
    LoopGuard,
    /// The session is planning.
    PlanMode,
    /// Work is still running.
    BackgroundWork,
    /// The session was blocked often enough.
    Budget,
    /// No plan in play, or no work since the last audit.
    NothingToAudit,
    /// The same evidence as at the last clean audit, or another hook has this stop in hand.
    Unchanged,
    /// A newer stop of the session came while this one was being audited in the background.
    Superseded,
    /// What a background audit found no longer fits: the session, or what it spoke of, has moved on.
    MovedOn,
    /// A check that the person set fails.
    CheckFailed,
    /// A check that the person set could not be made.
    CheckNotMade,
    /// Confirmed findings.
    Findings,
    /// None.
    Clean,
    /// Findings, none of which may block a stop.
    OnlyUnverified,
    /// The auditor took too long.
    AuditorTimeout,
    /// There was no auditor to be had.
    AuditorUnavailable,
    /// Its answer does not count.
    AuditorUnreadable,
    /// Boxes or tasks are open that the session claims as done.
    OpenItems,
    /// The final message lacks the section that is wanted of it.
    SectionMissing,
    /// Nothing is open that the session claims as done.
    NothingOpen,
    /// A checklist can't be read.
    ChecklistUnreadable,
    /// A feature of the session's loop is open.
    FeatureOpen,
    /// The session's loop is over, or goes on in a fresh session.
    LoopOver,
    /// The files of the session's loop can't be read.
    LoopUnreadable,
    /// Tasks of the session are not over.
    PendingTasks,
    /// None is left.
    NoTasks,
    /// They could not be looked at.
    TasksUnknown,
    /// The session has registered no worker.
    NoWorker,
    /// A worker is kept at its queue.
    KeepAlive,
    /// A worker's time without work is up.
    WorkerIdle,
    /// Stdin was not the hook's JSON.
    BadInput,
    /// Something of ours failed.
    Error,
    /// An older log does not say, or a newer one has a word of its own. Nothing is decided for it.
    #[default]
    #[serde(other)]
    Unknown,
}

impl Cause {
    /// All for which something is decided, in order.
    pub const ALL: [Self; 33] = [
        Self::InsideAuditor,
        Self::Off,
        Self::LoopGuard,
        Self::PlanMode,
        Self::BackgroundWork,
        Self::Budget,
        Self::NothingToAudit,
        Self::Unchanged,
        Self::Superseded,
        Self::MovedOn,
        Self::CheckFailed,
        Self::CheckNotMade,
        Self::Findings,
        Self::Clean,
        Self::OnlyUnverified,
        Self::AuditorTimeout,
        Self::AuditorUnavailable,
        Self::AuditorUnreadable,
        Self::OpenItems,
        Self::SectionMissing,
        Self::NothingOpen,
        Self::ChecklistUnreadable,
        Self::FeatureOpen,
        Self::LoopOver,
        Self::LoopUnreadable,
        Self::PendingTasks,
        Self::NoTasks,
        Self::TasksUnknown,
        Self::NoWorker,
        Self::KeepAlive,
        Self::WorkerIdle,
        Self::BadInput,
        Self::Error,
    ];

    /// Those with which a stop goes through because it could not be checked.
    const UNCHECKED: [Self; 9] = [
        Self::CheckNotMade,
        Self::AuditorTimeout,
        Self::AuditorUnavailable,
        Self::AuditorUnreadable,
        Self::ChecklistUnreadable,
        Self::LoopUnreadable,
        Self::TasksUnknown,
        Self::BadInput,
        Self::Error,
    ];

    /// As the log writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::InsideAuditor => "inside-auditor",
            Self::Off => "off",
            Self::LoopGuard => "loop-guard",
            Self::PlanMode => "plan-mode",
            Self::BackgroundWork => "background-work",
            Self::Budget => "budget",
            Self::NothingToAudit => "nothing-to-audit",
            Self::Unchanged => "unchanged",
            Self::Superseded => "superseded",
            Self::MovedOn => "moved-on",
            Self::CheckFailed => "check-failed",
            Self::CheckNotMade => "check-not-made",
            Self::Findings => "findings",
            Self::Clean => "clean",
            Self::OnlyUnverified => "only-unverified",
            Self::AuditorTimeout => "auditor-timeout",
            Self::AuditorUnavailable => "auditor-unavailable",
            Self::AuditorUnreadable => "auditor-unreadable",
            Self::OpenItems => "open-items",
            Self::SectionMissing => "section-missing",
            Self::NothingOpen => "nothing-open",
            Self::ChecklistUnreadable => "checklist-unreadable",
            Self::FeatureOpen => "feature-open",
            Self::LoopOver => "loop-over",
            Self::LoopUnreadable => "loop-unreadable",
            Self::PendingTasks => "pending-tasks",
            Self::NoTasks => "no-tasks",
            Self::TasksUnknown => "tasks-unknown",
            Self::NoWorker => "no-worker",
            Self::KeepAlive => "keep-alive",
            Self::WorkerIdle => "worker-idle",
            Self::BadInput => "bad-input",
            Self::Error => "error",
        }
    }
}

/// How the log tells of [`Cause::Superseded`].
pub const NEWER_STOP: &str = "a newer stop of the session has taken over";

/// Whether a cause, as the log writes it, says that a stop could not be checked.
pub fn could_not_check(cause: &str) -> bool {
    Cause::UNCHECKED.iter().any(|unchecked| unchecked.name() == cause)
}

/// What checking a stop came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing stands in its way.
    Pass {
        /// Why.
        cause: Cause,
        /// In words, for the log.
        detail: Option<String>,
    },
    /// It should be blocked.
    Block {
        /// Why.
        cause: Cause,
        /// What the agent is told.
        reason: String,
    },
    /// Nothing stands in its way, and the person should know something.
    Advise {
        /// Why.
        cause: Cause,
        /// What the person is told.
        message: String,
    },
    /// It could not be checked, which is not "wrong".
    CouldNotCheck {
        /// Why.
        cause: Cause,
        /// What the person is told.
        message: String,
    },
}

/// Whether a block was counted. Only a block that was counted may be given: a guard that can't count can't
/// promise to let go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Counting {
    /// Nothing was to be counted.
    NotNeeded,
    /// It was counted.
    Counted,
    /// Another stop of the session has used up the budget meanwhile.
    Spent,
    /// A newer stop has taken over, and decides.
    Superseded,
    /// It could not be counted.
    Failed(String),
}

/// Whether a stop is blocked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The stop is blocked.
    Block,
    /// The stop goes through.
    #[default]
    Allow,
}

/// The decision on one stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Blocked or let go.
    pub action: Action,
    /// Why.
    pub cause: Cause,
    /// In words, for the log.
    pub detail: Option<String>,
    /// In a dry run: the stop would have been blocked.
    pub would_block: bool,
    /// The answer to the client.
    pub reply: Reply,
}

impl Outcome {
    /// Its name in the log.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pass { .. } => "pass",
            Self::Block { .. } => "hold",
            Self::Advise { .. } => "advise",
            Self::CouldNotCheck { .. } => "could-not-check",
        }
    }

    /// Why.
    pub fn cause(&self) -> Cause {
        match self {
            Self::Pass { cause, .. }
            | Self::Block { cause, .. }
            | Self::Advise { cause, .. }
            | Self::CouldNotCheck { cause, .. } => *cause,
        }
    }

    /// In words, to whomever they are said.
    pub fn words(&self) -> Option<&str> {
        match self {
            Self::Pass { detail, .. } => detail.as_deref(),
            Self::Block { reason, .. } => Some(reason),
            Self::Advise { message, .. } | Self::CouldNotCheck { message, .. } => Some(message),
        }
    }

    /// Whether a block would have to be counted for it.
    pub fn wants_block(&self) -> bool {
        matches!(self, Self::Block { .. })
    }
}

/// Turns an outcome into the decision.
pub fn decide(outcome: Outcome, dry_run: bool, counting: &Counting) -> Decision {
    let allow =
        |cause, detail, reply| Decision { action: Action::Allow, cause, detail, would_block: false, reply };
    match (outcome, dry_run, counting) {
        (Outcome::Pass { cause, detail }, _, _) => allow(cause, detail, Reply::Silent),
        (_, _, Counting::Superseded) => allow(Cause::Superseded, Some(NEWER_STOP.into()), Reply::Silent),
        (Outcome::Advise { cause, message } | Outcome::CouldNotCheck { cause, message }, _, _) => {
            allow(cause, Some(message.clone()), Reply::Tell(format!("punchlist: {message}")))
        }
        (Outcome::Block { cause, reason }, true, _) => {
            Decision { would_block: true, ..allow(cause, Some(reason), Reply::Silent) }
        }
        (Outcome::Block { cause, reason }, false, Counting::Counted) => Decision {
            action: Action::Block,
            cause,
            detail: None,
            would_block: false,
            reply: Reply::Block(reason),
        },
        (Outcome::Block { .. }, false, Counting::Failed(why)) => {
            let message =
                format!("this stop should be held, but the block can't be counted ({why}), so it is not");
            Decision {
                would_block: true,
                ..allow(Cause::Error, Some(message.clone()), Reply::Tell(format!("punchlist: {message}")))
            }
        }
        (Outcome::Block { .. }, false, Counting::Spent) => {
            allow(Cause::Budget, Some("another stop of the session was held meanwhile".into()), Reply::Silent)
        }
        (Outcome::Block { .. }, false, Counting::NotNeeded) => {
            // Not reached: a block that is no dry run is always counted. Were it not, it must not be given.
            allow(Cause::Error, Some("a block was not counted".into()), Reply::Silent)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold() -> Outcome {
        Outcome::Block { cause: Cause::Findings, reason: "b is missing".into() }
    }

    fn counts() -> [Counting; 5] {
        let failed = Counting::Failed("full".into());
        [Counting::NotNeeded, Counting::Counted, Counting::Spent, Counting::Superseded, failed]
    }

    #[test]
    fn a_counted_hold_blocks() {
        let decision = decide(hold(), false, &Counting::Counted);
        assert_eq!(
            (decision.action, decision.cause, decision.reply),
            (Action::Block, Cause::Findings, Reply::Block("b is missing".into()))
        );
    }

    #[test]
    fn nothing_else_ever_blocks() {
        let outcomes = [
            Outcome::Pass { cause: Cause::Clean, detail: None },
            Outcome::Advise { cause: Cause::OnlyUnverified, message: "m".into() },
            Outcome::CouldNotCheck { cause: Cause::AuditorTimeout, message: "m".into() },
            hold(),
        ];
        for outcome in outcomes {
            for dry_run in [false, true] {
                for counting in counts() {
                    if outcome == hold() && !dry_run && counting == Counting::Counted {
                        continue;
                    }
                    let decision = decide(outcome.clone(), dry_run, &counting);
                    assert_eq!(
                        (decision.action, decision.reply.exit_code()),
                        (Action::Allow, 0),
                        "{outcome:?} {dry_run} {counting:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_a_newer_stop_has_taken_over_says_nothing() {
        let told = Outcome::CouldNotCheck { cause: Cause::AuditorTimeout, message: "m".into() };
        for outcome in [hold(), told] {
            for dry_run in [false, true] {
                let decision = decide(outcome.clone(), dry_run, &Counting::Superseded);
                assert_eq!(
                    (decision.action, decision.cause, decision.reply),
                    (Action::Allow, Cause::Superseded, Reply::Silent)
                );
                assert!(!decision.would_block);
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
            Reply::Tell("punchlist: this stop should be held, but the block can't be counted (disk full), so it is not".into())
        );
    }
}
