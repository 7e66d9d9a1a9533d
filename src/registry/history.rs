//! What happened to a task, line by line: written with every change of it, never changed.

use rusqlite::{Connection, params};

use super::{Broken, Fault, Registry, TaskId};

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// By whom.
    pub worker: Option<String>,
    /// What: `added`, `assigned`, `claimed`, `started`, `completed`, `failed`, `released` or `returned`.
    pub what: String,
    /// In words.
    pub note: Option<String>,
}

/// Writes a line.
pub(super) fn tell(
    change: &Connection,
    task: TaskId,
    now_ms: i64,
    worker: Option<&str>,
    what: &str,
    note: Option<&str>,
) -> Result<(), Broken> {
    change.execute(
        "INSERT INTO events (task, at_ms, worker, what, note) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![task.0, now_ms, worker, what, note],
    )?;
    Ok(())
}

impl Registry {
    /// What happened to a task, oldest first.
    pub fn history(&mut self, task: TaskId) -> Result<Vec<Event>, Fault> {
        self.look(|look| {
            let mut rows =
                look.prepare("SELECT at_ms, worker, what, note FROM events WHERE task = ?1 ORDER BY id")?;
            let events = rows.query_map([task.0], |row| {
                Ok(Event { at_ms: row.get(0)?, worker: row.get(1)?, what: row.get(2)?, note: row.get(3)? })
            })?;
            Ok(events.collect::<Result<_, _>>()?)
        })
    }
}
