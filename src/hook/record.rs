//! What is written of a decision: the state of the session, the log, and what comes after. Must not
//! change the decision, but for a block that can't be counted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::SystemTime;

use jiff::Timestamp;

use crate::audit::record::plan_record;
use crate::checks::hold::CheckOutcome;
use crate::client::env_vars;
use crate::client::hook_reply::Reply;
use crate::config::LogConfig;
use crate::decision::{Action, Counting, Decision};
use crate::exit::complain;
use crate::fleet;
use crate::gates::audit::{AUDIT, AuditDetails};
use crate::gates::{CheckedGate, GateDetails, StopContext};
use crate::hook::block_followup::{self, FollowUp};
use crate::hook::notices::Notices;
use crate::hook::stop::Checked;
use crate::log::record::{CheckRecord, GateRecord};
use crate::log::{DecisionLog, Record, prune};
use crate::readers::Readers;
use crate::redact::mask;
use crate::state::{SessionState, StateChange};
use crate::timing::{self, millis};

/// Saves what the gates learned, and counts a block before it is given: a guard that can't count
/// can't promise to let go.
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
    let checks = match &checked.result.details {
        GateDetails::Checks(checks) => checks.iter().map(check_record).collect(),
        GateDetails::None | GateDetails::OpenClaims(_) | GateDetails::Audit(_) => Vec::new(),
    };
    GateRecord {
        gate: checked.gate.to_owned(),
        outcome: <&str>::from(outcome.kind).to_owned(),
        cause: outcome.cause,
        detail: (!is_silent).then(|| outcome.words.clone()),
        checks,
        usage: checked.usage.filter(|_| checked.gate != AUDIT),
        took_ms: millis(checked.took),
    }
}

fn check_record(check: &CheckOutcome) -> CheckRecord {
    CheckRecord { name: mask(&check.name).text, outcome: check.outcome.to_owned() }
}

/// What the audit found out, where one of the gates is the audit.
fn audit_of(gates: &[CheckedGate]) -> Option<&AuditDetails> {
    gates.iter().find_map(|gate| match &gate.result.details {
        GateDetails::Audit(audit) => Some(&**audit),
        GateDetails::None | GateDetails::OpenClaims(_) | GateDetails::Checks(_) => None,
    })
}

pub fn write_log(log: &DecisionLog, record: &Record) {
    if let Err(error) = log.append(record, crate::clock::now()) {
        complain(&format!("the decision log can't be written: {error}"));
    }
}

/// What is left to do when the decision is logged: follows up on the block before, saves this one
/// for the next stop, counts what the readers cost, and tidies up. Whatever goes wrong in it, the
/// decision stands. Returns what the person is told of the block before.
pub fn finish(
    stop: &StopContext<'_>,
    decision: &Decision,
    gates: &[CheckedGate],
    log: &DecisionLog,
    readers: &mut Readers<'_>,
) -> Option<String> {
    let audit = audit_of(gates);
    let followed_up = catch_unwind(AssertUnwindSafe(|| {
        let followed_up = if block_followup::applies_to(decision.cause) {
            block_followup::follow_up(stop, log, readers)
        } else {
            FollowUp::default()
        };
        let pending = audit.and_then(|audit| audit.pending.clone());
        if let Some(mut pending) = pending.filter(|_| decision.action == Action::Block) {
            stop.id.clone_into(&mut pending.id);
            pending.decided_ms = crate::clock::now().as_millisecond();
            if let Err(error) = stop.state.save_pending(stop.session, stop.agent(), &pending) {
                tracing::debug!(%error, "the outcome of this block will not be known");
            }
        }
        followed_up
    }));
    let budget = &readers.budget;
    let FollowUp { disputed, summary } = followed_up.unwrap_or_default();
    if !budget.made.is_empty() || !disputed.is_empty() {
        let counted = stop.state.update_session(stop.session, |session| {
            session.reader_calls += u32::try_from(budget.made.len()).unwrap_or(u32::MAX);
            session.disputed.extend(disputed);
        });
        let today = crate::clock::local().date();
        let cost = budget.cost();
        let spent = if cost > 0.0 { stop.state.spend(today, cost) } else { Ok(()) };
        if let Err(error) = counted.and(spent) {
            tracing::debug!(%error, "calls and disputes could not be counted");
        }
    }
    if audit.is_some_and(|audit| audit.first.is_some()) {
        let LogConfig { keep, max_size, .. } = stop.config.log;
        let root = stop.state.root();
        prune::tidy(root, keep, max_size, SystemTime::now(), &|path, file| {
            fleet::waiting_from(root, stop.config, path, file)
        });
    }
    summary
}

/// Adds the lines for the person to the reply, and writes down which of them are not to be told
/// again, and which are still to be told.
pub fn tell(stop: &StopContext<'_>, notices: Notices, reply: Reply) -> Reply {
    // In the background the client shows nobody what is told (the oldest wait, and do): it waits
    // for a prompt, a start or a stop at which it does.
    let not_shown = stop.is_background().then(|| notices.not_shown(&reply));
    let (reply, sent) = notices.send_with(reply);
    let sent = not_shown.unwrap_or(sent);
    if sent.is_empty() {
        return reply;
    }
    let update = |session: &mut SessionState| {
        session.set_shown(sent.shown);
        session.add_pending(sent.waiting);
    };
    if let Err(error) = stop.state.update_session(stop.session, update) {
        tracing::debug!(%error, "what was told will be told again");
    }
    reply
}
