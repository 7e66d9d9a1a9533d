//! The keep-alive gate: keeps a session that registered as a worker at its queue until it has been
//! idle for too long, counted from its last activity. It tells the agent which command to run,
//! which resets the client's count of consecutive blocks, and lets go if the agent does not run it.

use super::pending_tasks::{self, own_command};
use super::{CheckedGate, Gate, GateResult, StopContext};
use crate::decision::{Cause, Outcome, OutcomeKind};
use crate::gates::consecutive_blocks::may_block_again;
use crate::gates::context::WorkerAtStop;
use crate::ids::ContentId;
use crate::readers::Readers;
use crate::registry::{Task, Worker};
use crate::state::StateChange;
use crate::text::{first_part, harmless, time_span};

pub const NAME: &str = "keep-alive";

/// How long the agent is told to wait for a task: less than the two minutes after which the client
/// ends an agent's command.
const WAIT_SECONDS: i64 = 60;

/// The same in a fleet, where a wait costs the server next to nothing: less than the ten minutes
/// that the client lets a command run if its agent asks for them.
const FLEET_WAIT_SECONDS: i64 = 540;

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
        let WorkerAtStop { worker, in_hand, now_ms } = match stop.worker() {
            Ok(Some(found)) => found,
            Ok(None) => {
                return Outcome::pass(Cause::NoWorker, "this session is not a worker").into();
            }
            Err(fault) => {
                let message = format!("could not look up whether this session is a worker: {fault}");
                return Outcome::could_not_check(Cause::TasksUnknown, message).into();
            }
        };
        // The pending-tasks gate names the same tasks in the same reason.
        let is_told = earlier.iter().any(|gate| gate.gate == pending_tasks::NAME && gate.blocks());
        let in_hand = if is_told { &[][..] } else { in_hand };
        let at_queue = AtQueue {
            idle_ms: worker.idle_ms(*now_ms),
            most_ms: stop.config.worker.idle_ms(&worker.kind),
            may_hold: may_block_again(stop, NAME),
            in_fleet: stop.config.fleet.database.is_some(),
            worker,
            in_hand,
        };
        let outcome = decide(&at_queue, || own_command(stop.env));
        if outcome.kind != OutcomeKind::Advise {
            return outcome.into();
        }
        // The person is told once; the session may go on without being a worker.
        let name = ContentId::digest(format!("{NAME} {} {}", worker.name, worker.activity_ms));
        if stop.saved().shown_notices.contains(&name) {
            return Outcome::pass(outcome.cause, outcome.words).into();
        }
        let change = StateChange { shown_notices: [name].into(), ..StateChange::default() };
        GateResult { change, ..outcome.into() }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct AtQueue<'a> {
    pub idle_ms: i64,
    pub most_ms: i64,
    /// Whether it may be blocked again: it has used a tool since the last block, or was not blocked
    /// often.
    pub may_hold: bool,
    /// Whether the queue is a fleet's, which tells who waits of a task.
    pub in_fleet: bool,
    pub worker: &'a Worker,
    pub in_hand: &'a [Task],
}

/// Decides whether a worker stays. `program` returns the command that runs punchlist, and is called
/// only for a block.
pub fn decide(at_queue: &AtQueue<'_>, program: impl FnOnce() -> String) -> Outcome {
    let AtQueue { idle_ms, most_ms, may_hold, worker, in_hand, .. } = *at_queue;
    let (name, since) = (&worker.name, worker.activity.words());
    if idle_ms >= most_ms {
        let message = format!(
            "worker {name} may stop: {} since it {since}, and its limit is {}",
            time_span(idle_ms),
            time_span(most_ms)
        );
        return Outcome::advise(Cause::WorkerIdle, message);
    }
    if !may_hold {
        let message =
            format!("worker {name} may stop: it was told repeatedly to check its queue, and did not");
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
        format!(
            "Your tasks in hand, to be done first (`{program} tasks complete ID --worker {name}`):\n{hand}"
        )
    };
    let reason = format!(
        "You are worker {name}, and keep working: {} since you {since}, {} left.\n{hand}\
         Check your queue now, {}. If you get a task, do it, then report it: `{program} tasks complete ID --worker {name}`. \
         If not, stop again: you are told how much time is left, and may end the session when it is over.",
        time_span(idle_ms),
        left(most_ms - idle_ms),
        look(at_queue, &program)
    );
    Outcome::block(Cause::KeepAlive, reason)
}

/// Returns the instruction to wait for a task. In a fleet the wait is as long as the client lets a
/// command run, or as the worker has left, since each wait is a turn of the model.
fn look(at_queue: &AtQueue<'_>, program: &str) -> String {
    let AtQueue { idle_ms, most_ms, in_fleet, worker, .. } = *at_queue;
    let name = &worker.name;
    if !in_fleet {
        return format!("with a tool call: `{program} tasks claim --worker {name} --wait {WAIT_SECONDS}s`");
    }
    let seconds = ((most_ms - idle_ms) / 1_000 + 1).clamp(1, FLEET_WAIT_SECONDS);
    format!(
        "with a tool call whose timeout you set to ten minutes (600000 ms; the default would end it): \
         `{program} worker wait {name} --timeout {seconds}s`"
    )
}

/// Returns the remaining time, in minutes, rounded up.
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
        let at_queue = AtQueue {
            idle_ms,
            most_ms: 10 * MINUTE,
            may_hold,
            in_fleet: false,
            worker: &worker(),
            in_hand: &[],
        };
        decide(&at_queue, || "punchlist".into())
    }

    #[test]
    fn a_worker_in_its_time_is_told_what_is_left_and_what_to_run() {
        let reason = "You are worker w1, and keep working: 3 min since you completed a task, 7 minutes are left.\n\
            Check your queue now, with a tool call: `punchlist tasks claim --worker w1 --wait 60s`. If you get a task, do it, then report it: \
            `punchlist tasks complete ID --worker w1`. If not, stop again: you are told how much time is left, and may end the \
            session when it is over.";
        assert_eq!(decided(3 * MINUTE + 1, true), Outcome::block(Cause::KeepAlive, reason));
        let held = decided(10 * MINUTE - 1, true);
        assert!(held.wants_block() && held.words.contains("less than a minute is left"), "{held:?}");
    }

    #[test]
    fn an_idle_worker_of_a_fleet_was_given_a_turn_a_minute() {
        let words = |idle_ms| {
            let (worker, most_ms) = (worker(), 30 * MINUTE);
            let at_queue =
                AtQueue { idle_ms, most_ms, may_hold: true, in_fleet: true, worker: &worker, in_hand: &[] };
            decide(&at_queue, || "punchlist".into()).words
        };
        let told = words(3 * MINUTE);
        let wait = "timeout you set to ten minutes (600000 ms; the default would end it): `punchlist worker wait w1 --timeout 540s`.";
        assert!(told.contains(wait), "{told}");
        assert!(words(28 * MINUTE).contains("--timeout 121s`"), "no longer than it has");
    }

    #[test]
    fn who_is_idle_for_too_long_or_does_not_look_is_let_go_with_the_reason() {
        let idle = "worker w1 may stop: 10 min since it completed a task, and its limit is 10 min";
        assert_eq!(decided(10 * MINUTE, true), Outcome::advise(Cause::WorkerIdle, idle));
        let blind = "worker w1 may stop: it was told repeatedly to check its queue, and did not";
        assert_eq!(decided(MINUTE, false), Outcome::advise(Cause::WorkerIdle, blind));
    }

    proptest! {
        /// It is blocked if and only if its time is not up and it may be blocked; the remaining
        /// time is never negative.
        #[test]
        fn it_is_held_only_within_its_time(idle in 0i64..30 * MINUTE, most in 1i64..30 * MINUTE, may_hold: bool) {
            let worker = worker();
            let at_queue =
                AtQueue { idle_ms: idle, most_ms: most, may_hold, in_fleet: false, worker: &worker, in_hand: &[] };
            let outcome = decide(&at_queue, || "punchlist".into());
            prop_assert_eq!(outcome.wants_block(), idle < most && may_hold);
            prop_assert!(!outcome.words.contains('-') || outcome.wants_block());
        }
    }
}
