//! Everything that may block a stop: one file for each gate. A gate takes a [`StopContext`] and
//! returns a [`GateResult`]. `hook::stop` runs the gates and merges their results.
//!
//! All gates obey the loop guard and share one budget of blocks for each session, so that the
//! client's own limit is never reached. The gates that keep a session working have limits of their
//! own (`consecutive_blocks`), and the checks look again at the stop after their own block.

pub mod audit;
pub mod checklist;
pub mod checks;
pub mod configured;
pub mod consecutive_blocks;
pub mod context;
pub mod feature_loop;
pub mod keep_alive;
pub mod pending_tasks;
pub mod touched;

use std::time::{Duration, Instant};

pub use crate::gates::context::{SessionView, StopContext};

use crate::checks::hold::CheckOutcome;
use crate::client::hook_input::Event;
use crate::config::TaskSource;
use crate::decision::Outcome;
use crate::readers::{Readers, Usage};
use crate::redact::mask;
use crate::state::StateChange;
use audit::{AUDIT, AuditDetails, AuditGate};
use checklist::{ChecklistGate, OpenClaims};
use checks::ChecksGate;
use feature_loop::FeatureLoopGate;
use keep_alive::KeepAlive;
use pending_tasks::PendingTasks;

pub trait Gate {
    /// Its name in the log and in the config.
    fn name(&self) -> &'static str;

    /// Whether it only blocks to keep a session working, in which case it has limits of its own,
    /// and neither the loop guard nor the session's budget applies.
    fn keeps_working(&self) -> bool {
        false
    }

    /// Whether it checks this stop despite the loop guard and a spent budget, to follow up on its
    /// own block.
    fn looks_again(&self, _: &StopContext<'_>) -> bool {
        false
    }

    /// Checks a stop. Failures are outcomes, too. `earlier` has the results of the gates before
    /// this one, so that two gates need not say the same thing.
    fn check(&self, stop: &StopContext<'_>, earlier: &[CheckedGate], readers: &mut Readers<'_>)
    -> GateResult;
}

#[derive(Debug)]
pub struct GateResult {
    pub outcome: Outcome,
    pub change: StateChange,
    /// What is wrong with texts that the person configured; the built-in ones were used instead.
    pub config_faults: Vec<String>,
    /// What to tell the person at a later stop if this one is blocked, which leaves no room for the
    /// outcome's text.
    pub if_held: Vec<String>,
    pub details: GateDetails,
}

/// What a gate found out, for the log and for other gates.
#[derive(Debug, Default)]
pub enum GateDetails {
    #[default]
    None,
    OpenClaims(OpenClaims),
    Checks(Vec<CheckOutcome>),
    Audit(Box<AuditDetails>),
}

impl From<Outcome> for GateResult {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            change: StateChange::default(),
            config_faults: Vec::new(),
            if_held: Vec::new(),
            details: GateDetails::None,
        }
    }
}

#[derive(Debug)]
pub struct CheckedGate {
    pub gate: &'static str,
    /// Whether it only blocks to keep a session working.
    pub keeps_working: bool,
    pub took: Duration,
    /// What the readers cost that it asked.
    pub usage: Option<Usage>,
    pub result: GateResult,
}

impl CheckedGate {
    pub fn blocks(&self) -> bool {
        self.result.outcome.wants_block()
    }
}

/// Returns the gates that are set for a stop, the cheap ones first, the audit last.
pub fn for_stop(stop: &StopContext<'_>) -> Vec<Box<dyn Gate>> {
    let config = stop.config;
    let mut gates: Vec<Box<dyn Gate>> = Vec::new();
    // A worker is a session, not one of its subagents.
    if stop.is_main() && config.tasks.source != TaskSource::Off {
        gates.push(Box::new(PendingTasks));
    }
    if stop.is_main() && config.worker.keep_alive {
        gates.push(Box::new(KeepAlive));
    }
    if let Some(gate) = FeatureLoopGate::find(stop) {
        gates.push(Box::new(gate));
    }
    // A subagent's final message is not the session's.
    if stop.is_main() && config.checklist.is_set() {
        gates.push(Box::new(ChecklistGate));
    }
    if config.checks.iter().any(|check| checks::is_for(check, &stop.input.event)) {
        gates.push(Box::new(ChecksGate));
    }
    if config.audit.enabled && (stop.input.event != Event::SubagentStop || config.subagents.audit) {
        gates.push(Box::new(AuditGate));
    }
    gates
}

/// Has each gate check a stop, in order.
pub fn check_all(
    gates: &[Box<dyn Gate>],
    stop: &StopContext<'_>,
    readers: &mut Readers<'_>,
) -> Vec<CheckedGate> {
    let mut checked: Vec<CheckedGate> = Vec::new();
    for gate in gates {
        let (begun, before) = (Instant::now(), readers.budget.made.len());
        let mut result = gate.check(stop, &checked, readers);
        // Titles, notes and output come from others; the audit's are masked already.
        if gate.name() != AUDIT {
            result.outcome.words = mask(&result.outcome.words).text;
        }
        let (gate, keeps_working) = (gate.name(), gate.keeps_working());
        let usage = readers.budget.since(before);
        checked.push(CheckedGate { gate, keeps_working, took: begun.elapsed(), usage, result });
    }
    checklist::leave_to_the_audit(&mut checked);
    checked
}
