//! Tasks and workers as JSON, for agents and scripts. `docs/registry.md` documents each field, and
//! a test compares the two.

use serde_json::{Value, json};

use super::{Event, Task, Worker};
use jiff::Timestamp;

/// The version of the format.
pub const SCHEMA: u32 = 1;

pub fn task(task: &Task) -> Value {
    json!({
        "id": task.id.to_string(),
        "title": task.title,
        "body": task.body,
        "queue": task.queue,
        "project": task.project,
        "priority": task.priority,
        "status": task.status.name(),
        "assignee": task.assignee,
        "created": time(task.created_ms),
        "claimed": task.claimed_ms.map(time),
        "updated": time(task.updated_ms),
        "note": task.note,
        "attempts": task.attempts,
        "retries": task.retries,
        "waits": task.waits,
        "lease_until": task.lease_until_ms.filter(|_| task.status.is_in_hand()).map(time),
    })
}

/// A line of a task's history.
pub fn event(event: &Event) -> Value {
    json!({ "time": time(event.at_ms), "what": event.what, "worker": event.worker, "note": event.note })
}

pub fn worker(worker: &Worker, now_ms: i64) -> Value {
    json!({
        "name": worker.name,
        "kind": worker.kind,
        "queue": worker.queue,
        "session": worker.session,
        "project": worker.project,
        "machine": worker.machine,
        "registered": time(worker.registered_ms),
        "heartbeat": time(worker.heartbeat_ms),
        "is_alive": worker.is_alive(now_ms),
        "activity": worker.activity.name(),
        "active": time(worker.activity_ms),
        "idle_seconds": worker.idle_ms(now_ms) / 1000,
    })
}

/// A time, as the log writes it.
pub fn time(ms: i64) -> String {
    Timestamp::from_millisecond(ms).unwrap_or_default().to_string()
}
