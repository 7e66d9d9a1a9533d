//! The keep-alive gate: keeps a session that registered as a worker at its queue until it was idle for too long,
//! counted from its last activity. It tells the agent which command to run, so that the client's count of blocks in
//! a row begins anew, and lets go if the agent does not run it.

use super::pending_tasks::{self, own_command};
use super::{CheckedGate, Gate, GateResult, StopContext};
use crate::decision::{Cause, Outcome, OutcomeKind};
use crate::gates::consecutive_blocks::may_block_again;
use crate::ids::ContentId;
use crate::readers::Readers;
use crate::registry::{Registry, RegistryError, Task, TaskFilter, Worker};
use crate::state::StateChange;
use crate::tasks::PENDING;
use crate::text::{first_part, harmless, time_span};

pub const NAME: &str = "keep-alive";

/// How long the agent is told to wait for a task: less than the two minutes after which the client ends a command of its agent.
const WAIT_SECONDS: i64 = 60;

#[derive(Debug, Clone, Copy)]
pub struct KeepAlive;

impl Gate for KeepAlive {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keeps_working(&self) -> bool {
        true
    }

    fn check(&self, stop: &StopContext<'_>, earlier: &[CheckedGate], _: &mut Readers<'_>) -> GateResult {
        let (worker, in_hand, now_ms) = match worker_of(stop) {
            Ok(Some(found)) => found,
            Ok(None) => {
                return Outcome::pass(Cause::NoWorker, "this session is no worker").into();
            }
            Err(fault) => {
                let message = format!("whether this session is a worker could not be looked up: {fault}");
                return Outcome::could_not_check(Cause::TasksUnknown, message).into();
            }
        };
        // The pending-tasks gate names the same tasks in the same reason.
        let is_told = earlier.iter().any(|gate| gate.gate == pending_tasks::NAME && gate.blocks());
        let in_hand = if is_told { Vec::new() } else { in_hand };
        let at_queue = AtQueue {
            idle_ms: worker.idle_ms(now_ms),
            most_ms: stop.config.worker.idle_ms(&worker.kind),
            may_hold: may_block_again(stop, NAME),
            worker: &worker,
            in_hand: &in_hand,
        };
        let outcome = decide(&at_queue, || own_command(stop.env));
        if outcome.kind != OutcomeKind::Advise {
            return outcome.into();
        }
        // The person is told once; the session may go on without being a worker.
        let name = ContentId::of(format!("{NAME} {} {}", worker.name, worker.activity_ms));
        if stop.saved().told.contains(&name) {
            return Outcome::pass(outcome.cause, outcome.words).into();
        }
        let change = StateChange { told: [name].into(), ..StateChange::default() };
        GateResult { change, ..outcome.into() }
    }
}

/// The session's worker, what it has in hand, and what time it is by the registry's clock.
fn worker_of(stop: &StopContext<'_>) -> Result<Option<(Worker, Vec<Task>, i64)>, RegistryError> {
    let Some(session) = stop.input.session_id.as_deref() else { return Ok(None) };
    let (named, fleet) = (stop.env.text(crate::env::WORKER), stop.config.fleet.database.as_deref());
    let opened = Registry::open_for_stop(stop.state.root(), fleet, Some(session), named.as_deref())?;
    let Some(mut registry) = opened else {
        return Ok(None);
    };
    let Some(worker) = registry.record_stop(session, named.as_deref())? else {
        return Ok(None);
    };
    let wanted = TaskFilter {
        statuses: PENDING.to_vec(),
        assignee: Some(worker.name.clone()),
        ..TaskFilter::default()
    };
    let in_hand = registry.tasks(&wanted)?;
    Ok(Some((worker, in_hand, registry.now_ms())))
}

#[derive(Debug, Clone, Copy)]
pub struct AtQueue<'a> {
    pub idle_ms: i64,
    pub most_ms: i64,
    /// Whether it may be blocked once more: it has used a tool since the last block, or was not blocked often.
    pub may_hold: bool,
    pub worker: &'a Worker,
    pub in_hand: &'a [Task],
}

/// Decides whether a worker stays. `program` says how punchlist is run, and is called only for a block.
pub fn decide(at_queue: &AtQueue<'_>, program: impl FnOnce() -> String) -> Outcome {
    let AtQueue { idle_ms, most_ms, may_hold, worker, in_hand } = *at_queue;
    let (name, since) = (&worker.name, worker.activity.words());
    if idle_ms >= most_ms {
        let message = format!(
            "worker {name} is let go: {} since it {since}, and {} is its time",
            time_span(idle_ms),
            time_span(most_ms)
        );
        return Outcome::advise(Cause::WorkerIdle, message);
    }
    if !may_hold {
        let message =
            format!("worker {name} is let go: it was told to look at its queue again and again, and did not");
        return Outcome::advise(Cause::WorkerIdle, message);
    }
    let program = program();
    let hand: String = in_hand
        .iter()
        .map(|task| format!("- {} ({}): {}\n", task.id, task.status, harmless(&first_part(&task.title, 200))))
        .collect();
    let hand = if hand.is_empty() {
        String::new()
    } else {
        format!("In your hand, to be done first (`{program} tasks complete ID --worker {name}`):\n{hand}")
    };
    let reason = format!(
        "You are worker {name}, and stay at work: {} since you {since}, {} left.\n{hand}\
         Look at your queue now, with a tool call: `{program} tasks claim --worker {name} --wait {WAIT_SECONDS}s`. \
         With a task, do it, and say so: `{program} tasks complete ID --worker {name}`. Without one, stop again: you are told \
         how much time is left, and let go when it is over.",
        time_span(idle_ms),
        left(most_ms - idle_ms)
    );
    Outcome::block(Cause::KeepAlive, reason)
}

/// The time that is left, in minutes, rounded up.
fn left(ms: i64) -> String {
    match (ms.max(0) + 59_999) / 60_000 {
        0 | 1 => "less than a minute is".to_owned(),
        minutes => format!("{minutes} minutes are"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::registry::Activity;

    const MINUTE: i64 = 60_000;

    fn worker() -> Worker {
        Worker {
            name: "w1".into(),
            kind: "worker".into(),
            queue: "default".into(),
            session: Some("s".into()),
            project: None,
            machine: None,
            registered_ms: 0,
            heartbeat_ms: 0,
            activity_ms: 0,
            activity: Activity::Completed,
        }
    }

    fn decided(idle_ms: i64, may_hold: bool) -> Outcome {
        let at_queue = AtQueue { idle_ms, most_ms: 10 * MINUTE, may_hold, worker: &worker(), in_hand: &[] };
        decide(&at_queue, || "punchlist".into())
    }

    #[test]
    fn a_worker_in_its_time_is_told_what_is_left_and_what_to_run() {
        let reason = "You are worker w1, and stay at work: 3 min since you completed a task, 7 minutes are left.\n\
            Look at your queue now, with a tool call: `punchlist tasks claim --worker w1 --wait 60s`. With a task, do it, and say so: \
            `punchlist tasks complete ID --worker w1`. Without one, stop again: you are told how much time is left, and let go when it \
            is over.";
        assert_eq!(decided(3 * MINUTE + 1, true), Outcome::block(Cause::KeepAlive, reason));
        let held = decided(10 * MINUTE - 1, true);
        assert!(held.wants_block() && held.words.contains("less than a minute is left"), "{held:?}");
    }

    #[test]
    fn who_is_idle_for_too_long_or_does_not_look_is_let_go_with_the_reason() {
        let idle = "worker w1 is let go: 10 min since it completed a task, and 10 min is its time";
        assert_eq!(decided(10 * MINUTE, true), Outcome::advise(Cause::WorkerIdle, idle));
        let blind = "worker w1 is let go: it was told to look at its queue again and again, and did not";
        assert_eq!(decided(MINUTE, false), Outcome::advise(Cause::WorkerIdle, blind));
    }

    proptest! {
        /// It is held if and only if its time is not up and it may be held; what is left is never less than nothing.
        #[test]
        fn it_is_held_only_within_its_time(idle in 0i64..30 * MINUTE, most in 1i64..30 * MINUTE, may_hold: bool) {
            let worker = worker();
            let at_queue = AtQueue { idle_ms: idle, most_ms: most, may_hold, worker: &worker, in_hand: &[] };
            let outcome = decide(&at_queue, || "punchlist".into());
            prop_assert_eq!(outcome.wants_block(), idle < most && may_hold);
            prop_assert!(!outcome.words.contains('-') || outcome.wants_block());
        }
    }
}
