//! What is written of a decision: the state of the session, the log, and what comes after. Must not change the
//! decision, but for a block that can't be counted.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::SystemTime;

use jiff::Timestamp;

use crate::audit::record::plan_record;
use crate::client::env_vars;
use crate::config::LogConfig;
use crate::decision::{Action, Counting, Decision};
use crate::exit::complain;
use crate::gates::audit::{AUDIT, AuditDetails};
use crate::gates::{CheckedGate, GateDetails, StopContext};
use crate::hook::block_followup;
use crate::hook::stop::Checked;
use crate::log::record::GateRecord;
use crate::log::{DecisionLog, Record, prune};
use crate::readers::Readers;
use crate::state::{SessionState, StateChange};
use crate::timing::{self, millis};

/// Saves what the gates learned, and counts a block before it is given: a guard that can't count can't promise to
/// let go.
pub fn save_state(stop: &StopContext<'_>, checked: &Checked) -> Counting {
    let Checked { merged, gates, .. } = checked;
    let mut change = StateChange { surroundings: checked.surroundings.clone(), ..StateChange::default() };
    for gate in gates {
        change.extend(&gate.result.change);
    }
    let is_superseded = || stop.newest.is_some_and(|newest| !newest.is_newest());
    let is_block = merged.outcome.wants_block() && !stop.config.gates.dry_run;
    if is_superseded() {
        return Counting::Superseded;
    }
    if change == StateChange::default() && !is_block {
        return Counting::NotNeeded;
    }
    let (mut is_spent, mut was_superseded) = (false, false);
    let update = |session: &mut SessionState| {
        // Checked for the last time: no newer stop can come before this is written.
        was_superseded = is_superseded();
        if was_superseded {
            return;
        }
        change.apply(stop.agent(), session);
        // A subagent's stop may have used up the budget while this one was being audited.
        is_spent = merged.uses_budget && session.blocks >= stop.config.gates.max_blocks;
        if is_block && !is_spent {
            session.blocks += u32::from(merged.uses_budget);
            session.kept_working = !merged.uses_budget;
            session.blocked_ms.insert(stop.agent().to_owned(), crate::clock::now().as_millisecond());
            for gate in gates.iter().filter(|gate| gate.blocks()) {
                *session.blocked_by.entry(gate.gate.to_owned()).or_default() += 1;
            }
        }
    };
    let written = stop.phases.time(timing::REMEMBER, || stop.state.update_session(stop.session, update));
    match (is_block, written) {
        _ if was_superseded => Counting::Superseded,
        (false, _) => Counting::NotNeeded,
        (true, Ok(())) if is_spent => Counting::Spent,
        (true, Ok(())) => Counting::Counted,
        (true, Err(error)) => Counting::Failed(error.to_string()),
    }
}

pub fn record(
    stop: &StopContext<'_>,
    decision: &Decision,
    checked: &Checked,
    faults: &[String],
    started: Timestamp,
) -> Record {
    let gates = &checked.gates;
    let view = stop.view.get();
    let mut record = Record {
        session: stop.input.session_id.clone(),
        agent: stop.input.agent_id.clone(),
        project: Some(stop.project.display().to_string()),
        event: stop.input.event.name().to_owned(),
        decision: decision.action,
        detail: decision.detail.clone(),
        dry_run: stop.config.gates.dry_run,
        would_block: decision.would_block,
        plan: view.and_then(|view| view.plan.as_ref()).map(plan_record),
        transcript: view.map(|view| view.transcript.clone()),
        config_error: (!faults.is_empty()).then(|| faults.join("; ")),
        phases_ms: stop.phases.in_millis(),
        client_version: env_vars::version(stop.env)
            .or_else(|| view.and_then(|view| view.session.version.clone())),
        ..Record::named(stop.id, decision.cause, started)
    };
    // An audit alone is told by the rest of the record.
    if gates.iter().any(|gate| gate.gate != AUDIT) {
        record.gates = gates.iter().map(gate_record).collect();
    }
    if let Some(audit) = audit_of(gates) {
        record.findings.clone_from(&audit.findings);
        record.advisories.clone_from(&audit.advisories);
        record.files.clone_from(&audit.files);
        record.auditor.clone_from(&audit.first);
        record.second_reader.clone_from(&audit.second);
        record.masked = audit.masked;
        record.prompt_bytes = audit.prompt_bytes;
    }
    record.advisories.extend(checked.changed.clone());
    record
}

fn gate_record(checked: &CheckedGate) -> GateRecord {
    let outcome = &checked.result.outcome;
    // What the audit blocks for stands among the findings.
    let is_silent = outcome.words.is_empty() || checked.gate == AUDIT && outcome.wants_block();
    GateRecord {
        gate: checked.gate.to_owned(),
        outcome: <&str>::from(outcome.kind).to_owned(),
        cause: outcome.cause,
        detail: (!is_silent).then(|| outcome.words.clone()),
        took_ms: millis(checked.took),
    }
}

/// What the audit found out, where one of the gates is the audit.
fn audit_of(gates: &[CheckedGate]) -> Option<&AuditDetails> {
    gates.iter().find_map(|gate| match &gate.result.details {
        GateDetails::Audit(audit) => Some(&**audit),
        GateDetails::None | GateDetails::OpenClaims(_) => None,
    })
}

pub fn write_log(log: &DecisionLog, record: &Record) {
    if let Err(error) = log.append(record, crate::clock::now()) {
        complain(&format!("the decision log can't be written: {error}"));
    }
}

/// What is left to do when the decision is logged: follows up on the block before, saves this one for the next
/// stop, counts what the readers cost, and tidies up. Whatever goes wrong in it, the decision stands.
pub fn finish(
    stop: &StopContext<'_>,
    decision: &Decision,
    gates: &[CheckedGate],
    log: &DecisionLog,
    readers: &mut Readers<'_>,
) {
    let audit = audit_of(gates);
    let followed_up = catch_unwind(AssertUnwindSafe(|| {
        let disputed = if block_followup::applies_to(decision.cause) {
            block_followup::follow_up(stop, log, readers)
        } else {
            BTreeMap::new()
        };
        let pending = audit.and_then(|audit| audit.pending.clone());
        if let Some(mut pending) = pending.filter(|_| decision.action == Action::Block) {
            stop.id.clone_into(&mut pending.id);
            pending.decided_ms = crate::clock::now().as_millisecond();
            if let Err(error) = stop.state.keep_pending(stop.session, stop.agent(), &pending) {
                tracing::debug!(%error, "the outcome of this block will not be known");
            }
        }
        disputed
    }));
    let budget = &readers.budget;
    let disputed = followed_up.unwrap_or_default();
    if budget.made > 0 || !disputed.is_empty() {
        let counted = stop.state.update_session(stop.session, |session| {
            session.reader_calls += budget.made;
            session.disputed.extend(disputed);
        });
        let today = crate::clock::local().date();
        let spent = if budget.cost > 0.0 { stop.state.spend(today, budget.cost) } else { Ok(()) };
        if let Err(error) = counted.and(spent) {
            tracing::debug!(%error, "calls and disputes could not be counted");
        }
    }
    if audit.is_some_and(|audit| audit.first.is_some()) {
        let LogConfig { keep, max_size, .. } = stop.config.log;
        prune::tidy(stop.state.root(), keep, max_size, SystemTime::now());
    }
}
