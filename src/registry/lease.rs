//! Leases: a task stays with the worker who claimed it for so long after the worker's last sign of
//! life. Then it returns to its queue, or is dead where it was tried often enough. Must not read
//! the clock.

use super::store::{Tx, values};
use super::task::{COLUMNS, Status, Task, TaskId};
use super::{Registry, RegistryError};
use crate::text::time_span;

/// Times further in the future were written before the clock was set back: two processes that read
/// the clock at the same moment are never that far apart.
const FUTURE_MS: i64 = 60_000;

const FUTURE_WORKERS: &str = "heartbeat_ms > ?1 OR activity_ms > ?1";
const FUTURE_LEASES: &str = "status IN ('accepted', 'in_progress') AND lease_until_ms - lease_ms > ?1";
const ENDED: &str = "status IN ('accepted', 'in_progress') AND lease_until_ms <= ?1";

fn is_due(tx: &mut Tx<'_>) -> Result<bool, RegistryError> {
    let future = tx.now_ms.saturating_add(FUTURE_MS);
    Ok(tx.exists(&format!("FROM tasks WHERE {ENDED}"), values![tx.now_ms])?
        || tx.exists(&format!("FROM workers WHERE {FUTURE_WORKERS}"), values![future])?
        || tx.exists(&format!("FROM tasks WHERE {FUTURE_LEASES}"), values![future])?)
}

/// Expires leases within a transaction.
pub(super) fn expire(tx: &mut Tx<'_>) -> Result<(), RegistryError> {
    if !is_due(tx)? {
        return Ok(());
    }
    let (now_ms, future) = (tx.now_ms, tx.now_ms.saturating_add(FUTURE_MS));
    // Their leases start now: how long they were silent is unknown, and a worker that is gone must
    // not keep its tasks until the clock has caught up.
    let earlier = |column: &str| format!("{column} = CASE WHEN {column} > ?2 THEN ?2 ELSE {column} END");
    let update = format!(
        "UPDATE workers SET {}, {} WHERE {FUTURE_WORKERS}",
        earlier("heartbeat_ms"),
        earlier("activity_ms")
    );
    tx.run(&update, values![future, now_ms])?;
    let update = format!("UPDATE tasks SET lease_until_ms = ?2 + lease_ms WHERE {FUTURE_LEASES}");
    tx.run(&update, values![future, now_ms])?;
    let ended = format!("SELECT {COLUMNS} FROM tasks WHERE {ENDED} ORDER BY id{}", tx.store.free_row_lock());
    for row in tx.rows(&ended, values![now_ms])? {
        let task = Task::from_row(&row)?;
        let worker = task.assignee.as_deref().unwrap_or_default();
        let heard_ms =
            task.lease_until_ms.unwrap_or_default().saturating_sub(task.lease_ms.unwrap_or_default());
        let note = format!("{worker} was silent for {}", time_span(now_ms.saturating_sub(heard_ms)));
        let what = if task.retries.is_some() && !task.may_retry() {
            end(tx, task.id, Status::Dead, Some(&note))?;
            "died"
        } else {
            give_back(tx, &task, &note)?;
            "returned"
        };
        add_event(tx, task.id, Some(worker), what, Some(&note))?;
    }
    Ok(())
}

/// Returns a task to its queue.
pub(super) fn give_back(tx: &mut Tx<'_>, task: &Task, note: &str) -> Result<(), RegistryError> {
    tx.run(
        "UPDATE tasks SET status = 'open', assignee = NULL, updated_ms = ?2, note = ?3 WHERE id = ?1",
        values![task.id.0, tx.now_ms, note],
    )?;
    tx.store.wake_waiters(&task.queue, None)
}

/// Ends a task that stays with its worker.
pub(super) fn end(
    tx: &mut Tx<'_>,
    id: TaskId,
    status: Status,
    note: Option<&str>,
) -> Result<(), RegistryError> {
    tx.run(
        "UPDATE tasks SET status = ?2, updated_ms = ?3, note = ?4 WHERE id = ?1",
        values![id.0, status, tx.now_ms, note],
    )
}

/// Adds a line to a task's history.
pub(super) fn add_event(
    tx: &mut Tx<'_>,
    task: TaskId,
    worker: Option<&str>,
    what: &str,
    note: Option<&str>,
) -> Result<(), RegistryError> {
    tx.run(
        "INSERT INTO events (task, at_ms, worker, what, note) VALUES (?1, ?2, ?3, ?4, ?5)",
        values![task.0, tx.now_ms, worker, what, note],
    )
}

impl Registry {
    /// Expires leases before something is read; writes nothing where none is due. Who may only read
    /// sees a lease that is due as it stands: the next worker ends it.
    pub fn expire(&mut self) -> Result<(), RegistryError> {
        if !self.read(is_due)? {
            return Ok(());
        }
        match self.write(expire) {
            Err(error) if error.is_of_rights() => Ok(()),
            expired => expired,
        }
    }
}
