//! What time does to the registry: a task whose worker went silent is open again, with a note of it, and times that lie ahead are
//! set to now. Takes what time it is and for how long a worker may be silent.

use rusqlite::{Connection, params};

use crate::registry::history::tell;
use crate::registry::{Broken, Fault, Registry, TaskId};
use crate::text::time_span;

/// A time that lies further ahead than this was written under another clock: two processes that look at the same clock at the
/// same moment are never that far apart.
const AHEAD_MS: i64 = 60_000;

const AHEAD: &str = "heartbeat_ms > ?1 OR activity_ms > ?1";

/// A claimed task, and when its worker was heard of last.
const HEARD: &str = "FROM tasks LEFT JOIN workers ON workers.name = tasks.assignee
    WHERE tasks.status IN ('accepted', 'in_progress')
    AND coalesce(workers.heartbeat_ms, tasks.claimed_ms, tasks.updated_ms) <= ?1";

/// Whether there is anything to do.
fn is_due(look: &Connection, now_ms: i64, lease_ms: i64) -> Result<bool, Broken> {
    let ahead = format!("SELECT EXISTS (SELECT 1 FROM workers WHERE {AHEAD})");
    let silent = format!("SELECT EXISTS (SELECT 1 {HEARD})");
    let is_ahead: bool = look.query_row(&ahead, [now_ms.saturating_add(AHEAD_MS)], |row| row.get(0))?;
    Ok(is_ahead || look.query_row(&silent, [now_ms.saturating_sub(lease_ms)], |row| row.get(0))?)
}

/// Does it, within a change.
pub(super) fn sweep(change: &Connection, now_ms: i64, lease_ms: i64) -> Result<(), Broken> {
    if !is_due(change, now_ms, lease_ms)? {
        return Ok(());
    }
    // Their lease begins anew: nobody can say for how long they were silent, and a worker that is gone must not keep its tasks
    // until the clock has caught up.
    change.execute(
        &format!(
            "UPDATE workers SET heartbeat_ms = min(heartbeat_ms, ?2), activity_ms = min(activity_ms, ?2) WHERE {AHEAD}"
        ),
        params![now_ms.saturating_add(AHEAD_MS), now_ms],
    )?;
    let query = format!(
        "SELECT tasks.id, tasks.assignee, coalesce(workers.heartbeat_ms, tasks.claimed_ms, tasks.updated_ms) {HEARD}"
    );
    let mut rows = change.prepare(&query)?;
    let silent = rows.query_map([now_ms.saturating_sub(lease_ms)], |row| {
        Ok((TaskId(row.get(0)?), row.get::<_, String>(1)?, row.get::<_, i64>(2)?))
    })?;
    for (task, worker, heard_ms) in silent.collect::<Result<Vec<_>, _>>()? {
        let note = format!("{worker} was silent for {}", time_span(now_ms.saturating_sub(heard_ms)));
        change.execute(
            "UPDATE tasks SET status = 'open', assignee = NULL, updated_ms = ?2, note = ?3 WHERE id = ?1",
            params![task.0, now_ms, note],
        )?;
        tell(change, task, now_ms, Some(&worker), "returned", Some(&note))?;
    }
    Ok(())
}

impl Registry {
    /// Does it where it is due; nothing is written where it is not.
    pub fn sweep(&mut self, now_ms: i64, lease_ms: i64) -> Result<(), Fault> {
        if self.look(|look| is_due(look, now_ms, lease_ms))? {
            self.change(|change| sweep(change, now_ms, lease_ms))?;
        }
        Ok(())
    }
}
