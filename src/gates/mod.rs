//! Everything that may hold a stop. A gate takes a [`Stop`] and gives an [`Outcome`]; what it learned on the
//! way goes into the [`StopReport`], for the log. [`look`] has all of them look at a stop, in order; `joined` makes one outcome of that.
//!
//! All of them obey the loop guard and share one budget a session, so that the client's own cap is never reached; but for
//! those that keep a session at work, which have limits of their own (`in_a_row`).

pub mod audit;
pub mod block_followup;
pub mod checklist;
pub mod checks;
pub mod configured;
pub mod consecutive_blocks;
pub mod context;
pub mod feature_loop;
pub mod keep_alive;
pub mod merge;
pub mod own_command;
pub mod pending_tasks;
pub mod self_disable;
pub mod sight;
pub mod staleness;
pub mod stop_lock;
pub mod stop_report;

use std::path::Path;
use std::time::Instant;

pub use crate::gates::context::Known;
pub use crate::gates::merge::{MergedResult, Told};
pub use crate::gates::stop_report::StopReport;

use crate::config::{Config, TaskSource};
use crate::decision::{Cause, Outcome};
use crate::env::Env;
use crate::hook::{Event, HookInput};
use crate::log::record::GateRecord;
use crate::readers::Reader;
use crate::redact::mask;
use crate::state::{NewestStop, StateFolder};
use crate::timing::millis;
use audit::{AUDIT, AuditGate};
use checklist::ChecklistGate;
use checks::ChecksGate;
use feature_loop::FeatureLoopGate;
use keep_alive::KeepAlive;
use pending_tasks::PendingTasks;

/// One stop of one session.
#[derive(Debug)]
pub struct StopContext<'a> {
    /// The name that the decision on it will have.
    pub id: &'a str,
    /// What the client says of it.
    pub input: &'a HookInput,
    /// The environment.
    pub env: &'a Env,
    /// The settings in force.
    pub config: &'a Config,
    /// What is remembered.
    pub state: &'a StateFolder,
    /// Under which name the session is remembered.
    pub session: &'a str,
    /// The project's folder.
    pub project: &'a Path,
    /// When this process started, in milliseconds since 1970.
    pub started_ms: i64,
    /// By when everything has to be over.
    pub deadline: Instant,
    /// In the background only: the claim to decide it, which a newer stop takes away.
    pub claim: Option<&'a NewestStop<'a>>,
}

impl StopContext<'_> {
    /// Whose stop it is: empty for the main agent.
    pub fn agent(&self) -> &str {
        self.input.agent_id.as_deref().unwrap_or_default()
    }
}

/// Something that may hold a stop.
pub trait Gate {
    /// Its name, as the log and the config have it.
    fn name(&self) -> &'static str;

    /// Whether it holds a session only to keep it at work: then it goes by limits of its own, not by the loop guard and the
    /// session's budget.
    fn keeps_working(&self) -> bool {
        false
    }

    /// Looks at a stop. Must not fail: what goes wrong is an outcome too.
    fn check(
        &mut self,
        stop: &StopContext<'_>,
        story: &mut StopReport,
        readers: &mut ReaderPair<'_>,
    ) -> Outcome;
}

/// Whom gates may ask.
pub struct ReaderPair<'a> {
    /// Who proposes, and who answers small questions.
    pub first: &'a mut dyn Reader,
    /// Who tries to refute, where that is somebody else.
    pub second: Option<&'a mut dyn Reader>,
}

/// Whether any gate that keeps sessions at work is set, or is this session's.
pub fn any_keeps_working(stop: &StopContext<'_>, story: &mut StopReport) -> bool {
    story.feature_loop = FeatureLoopGate::of(stop);
    story.feature_loop.is_some() || stop.config.worker.keep_alive
}

/// The gates that are set, the cheap ones first, the audit last. With `guarded` only those that keep a session at work.
fn line_up(stop: &StopContext<'_>, story: &mut StopReport, guarded: bool) -> Vec<Box<dyn Gate>> {
    let mut gates: Vec<Box<dyn Gate>> = Vec::new();
    // A worker is a session, not one of its subagents.
    let is_sessions = stop.input.event == Event::Stop;
    if is_sessions && !guarded && stop.config.tasks.source != TaskSource::Off {
        gates.push(Box::new(PendingTasks));
    }
    if is_sessions && stop.config.worker.keep_alive {
        gates.push(Box::new(KeepAlive));
    }
    if let Some(gate) = story.feature_loop.take() {
        gates.push(Box::new(gate));
    }
    // What a subagent says is no word of the session's.
    if !guarded && stop.config.checklist.is_set() && is_sessions {
        gates.push(Box::new(ChecklistGate));
    }
    let mine = |check| checks::is_for(check, &stop.input.event);
    if !guarded && stop.config.checks.iter().any(mine) {
        gates.push(Box::new(ChecksGate));
    }
    let is_audited = match stop.input.event {
        Event::SubagentStop => stop.config.audit.enabled && stop.config.subagents.audit,
        Event::Stop | Event::SessionStart | Event::Other(_) => stop.config.audit.enabled,
    };
    if !guarded && is_audited {
        gates.push(Box::new(AuditGate));
    }
    gates
}

/// The same with no secret in its words: they go to the agent, to the person and into the log.
fn masked(outcome: Outcome) -> Outcome {
    let mask = |text: String| mask(&text).text;
    match outcome {
        Outcome::Pass { cause, detail } => Outcome::Pass { cause, detail: detail.map(mask) },
        Outcome::Hold { cause, reason } => Outcome::Hold { cause, reason: mask(reason) },
        Outcome::Advise { cause, message } => Outcome::Advise { cause, message: mask(message) },
        Outcome::CouldNotCheck { cause, message } => Outcome::CouldNotCheck { cause, message: mask(message) },
    }
}

/// Has all gates look at a stop. `guard` is why only those look that keep a session at work.
pub fn look(
    stop: &StopContext<'_>,
    story: &mut StopReport,
    guard: Option<Outcome>,
    readers: &mut ReaderPair<'_>,
) -> MergedResult {
    let agent_type = stop.input.agent_type.as_deref().unwrap_or_default();
    if stop.input.event == Event::SubagentStop && !stop.config.subagents.includes(agent_type) {
        let why = format!("agents of type \"{agent_type}\" are not looked at ([subagents])");
        let outcome = Outcome::Pass { cause: Cause::NothingToAudit, detail: Some(why) };
        return MergedResult { outcome, uses_budget: false };
    }
    let mut gates = line_up(stop, story, guard.is_some());
    if gates.is_empty() {
        let why = if stop.config.audit.enabled {
            "[subagents] audit = false, and no check is set for subagents"
        } else {
            "switched off by [audit] enabled = false, and no other gate is set"
        };
        let off = Outcome::Pass { cause: Cause::Off, detail: Some(why.to_owned()) };
        return MergedResult { outcome: guard.unwrap_or(off), uses_budget: false };
    }
    if let Some(outcome) = stop_lock::take(stop, story) {
        return MergedResult { outcome, uses_budget: false };
    }
    let is_audit_alone = guard.is_none() && gates.iter().all(|gate| gate.name() == AUDIT);
    let (mut told, mut took) = (Vec::new(), Vec::new());
    for gate in &mut gates {
        let begun = Instant::now();
        let outcome = gate.check(stop, story, readers);
        // Titles, notes and output are others' words; those of the audit are masked already.
        let outcome = if gate.name() == AUDIT { outcome } else { masked(outcome) };
        took.push(millis(begun.elapsed()));
        // A later gate need not say again what an earlier one holds for.
        story.held_by.extend(outcome.wants_block().then(|| gate.name()));
        told.push(Told { gate: gate.name(), keeps_working: gate.keeps_working(), outcome });
    }
    checklist::leave_to_the_audit(&mut told, story);
    if !is_audit_alone {
        story.gates.extend(told.iter().zip(took).map(|(told, took_ms)| {
            GateRecord {
                gate: told.gate.to_owned(),
                outcome: told.outcome.name().to_owned(),
                cause: told.outcome.cause(),
                // What the audit holds for stands among the findings.
                detail: told
                    .outcome
                    .words()
                    .filter(|_| !(told.gate == AUDIT && told.outcome.wants_block()))
                    .map(str::to_owned),
                took_ms,
            }
        }));
    }
    // Why the others did not look is what remains to be said where nothing else is.
    told.extend(guard.map(|outcome| Told { gate: "guard", keeps_working: false, outcome }));
    story.held_by = told.iter().filter(|told| told.outcome.wants_block()).map(|told| told.gate).collect();
    merge::join(&told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_gates_words_hold_a_secret() {
        let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let text = || format!("t1: use {secret}");
        for outcome in [
            Outcome::Pass { cause: Cause::Clean, detail: Some(text()) },
            Outcome::Hold { cause: Cause::PendingTasks, reason: text() },
            Outcome::Advise { cause: Cause::LoopOver, message: text() },
            Outcome::CouldNotCheck { cause: Cause::TasksUnknown, message: text() },
        ] {
            let masked = masked(outcome.clone());
            assert!(!masked.words().is_none_or(|words| words.contains(secret)), "{masked:?}");
            assert_eq!((masked.cause(), masked.name()), (outcome.cause(), outcome.name()));
        }
    }
}
