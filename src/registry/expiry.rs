//! Expired leases: returns the tasks of workers that went silent to their queues, and corrects
//! times that are in the future. Must not read the clock.

use rusqlite::{Connection, params};

use super::error::TransactionError;
use super::tasks::add_event;
use super::{Registry, RegistryError, TaskId};
use crate::text::time_span;

/// Times further in the future were written before the clock was set back: two processes that read
/// the clock at the same moment are never that far apart.
const FUTURE_MS: i64 = 60_000;

const IN_FUTURE: &str = "heartbeat_ms > ?1 OR activity_ms > ?1";

/// Claimed tasks whose worker's last sign of life is older than `?1`.
const SILENT: &str = "FROM tasks LEFT JOIN workers ON workers.name = tasks.assignee
    WHERE tasks.status IN ('accepted', 'in_progress')
    AND coalesce(workers.heartbeat_ms, tasks.claimed_ms, tasks.updated_ms) <= ?1";

fn is_due(db: &Connection, now_ms: i64, lease_ms: i64) -> Result<bool, TransactionError> {
    let future = format!("SELECT EXISTS (SELECT 1 FROM workers WHERE {IN_FUTURE})");
    let silent = format!("SELECT EXISTS (SELECT 1 {SILENT})");
    let has_future: bool = db.query_row(&future, [now_ms.saturating_add(FUTURE_MS)], |row| row.get(0))?;
    Ok(has_future || db.query_row(&silent, [now_ms.saturating_sub(lease_ms)], |row| row.get(0))?)
}

/// Expires leases within a transaction.
pub(super) fn expire(db: &Connection, now_ms: i64, lease_ms: i64) -> Result<(), TransactionError> {
    if !is_due(db, now_ms, lease_ms)? {
        return Ok(());
    }
    // Their leases start now: how long they were silent is unknown, and a worker that is gone must not
    // keep its tasks until the clock has caught up.
    db.execute(
        &format!(
            "UPDATE workers SET heartbeat_ms = min(heartbeat_ms, ?2), activity_ms = min(activity_ms, ?2) WHERE {IN_FUTURE}"
        ),
        params![now_ms.saturating_add(FUTURE_MS), now_ms],
    )?;
    let query = format!(
        "SELECT tasks.id, tasks.assignee, coalesce(workers.heartbeat_ms, tasks.claimed_ms, tasks.updated_ms) {SILENT}"
    );
    let mut rows = db.prepare(&query)?;
    let silent = rows.query_map([now_ms.saturating_sub(lease_ms)], |row| {
        Ok((TaskId(row.get(0)?), row.get::<_, String>(1)?, row.get::<_, i64>(2)?))
    })?;
    for (task, worker, heard_ms) in silent.collect::<Result<Vec<_>, _>>()? {
        let note = format!("{worker} was silent for {}", time_span(now_ms.saturating_sub(heard_ms)));
        db.execute(
            "UPDATE tasks SET status = 'open', assignee = NULL, updated_ms = ?2, note = ?3 WHERE id = ?1",
            params![task.0, now_ms, note],
        )?;
        add_event(db, task, now_ms, Some(&worker), "returned", Some(&note))?;
    }
    Ok(())
}

impl Registry {
    /// Expires leases; writes nothing where none is due.
    pub fn expire(&mut self, now_ms: i64, lease_ms: i64) -> Result<(), RegistryError> {
        if self.read(|db| is_due(db, now_ms, lease_ms))? {
            self.write(|db| expire(db, now_ms, lease_ms))?;
        }
        Ok(())
    }
}
