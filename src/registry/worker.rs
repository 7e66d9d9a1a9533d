//! Workers: a session that registered, or a person at a shell. A name belongs to one worker, and a
//! session is at most one worker. The tasks of workers that went silent return to their queues.
//! Must not read the clock.

use std::path::PathBuf;

use clap::ValueEnum;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::tasks::add_event;
use super::{DEFAULT_QUEUE, Registry, RegistryError, TaskId};
use crate::text::time_span;

/// What a worker did last. The keep-alive gate counts idle time from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Activity {
    Registered,
    /// It claimed a task.
    Claimed,
    Completed,
    /// It gave one up.
    Failed,
}

impl Activity {
    /// As it is written in the database and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Claimed => "claimed",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// For a sentence that ends in "since it …".
    pub fn words(self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Claimed => "took a task",
            Self::Completed => "completed a task",
            Self::Failed => "gave a task up",
        }
    }
}

impl ToSql for Activity {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.name().into())
    }
}

impl FromSql for Activity {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::from_str(value.as_str()?, false).map_err(|_| FromSqlError::InvalidType)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// Its unique name.
    pub name: String,
    /// Its kind, which `[worker]` settings refer to.
    pub kind: String,
    /// The queue it claims from.
    pub queue: String,
    /// The client's session that it is, if any.
    pub session: Option<String>,
    /// Where it registered.
    pub project: Option<PathBuf>,
    /// When, in milliseconds since 1970.
    pub registered_ms: i64,
    /// When it was last active in any way.
    pub heartbeat_ms: i64,
    /// When [`Self::activity`] happened.
    pub activity_ms: i64,
    /// Its last work.
    pub activity: Activity,
}

/// The columns of a worker, in the order in which [`Worker::from_row`] reads them.
const COLUMNS: &str =
    "name, kind, queue, session, project, registered_ms, heartbeat_ms, activity_ms, activity";

impl Worker {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            name: row.get(0)?,
            kind: row.get(1)?,
            queue: row.get(2)?,
            session: row.get(3)?,
            project: row.get::<_, Option<String>>(4)?.map(PathBuf::from),
            registered_ms: row.get(5)?,
            heartbeat_ms: row.get(6)?,
            activity_ms: row.get(7)?,
            activity: row.get(8)?,
        })
    }

    /// The time since the last heartbeat; a heartbeat in the future is now.
    pub fn silent_ms(&self, now_ms: i64) -> i64 {
        now_ms.saturating_sub(self.heartbeat_ms).max(0)
    }

    /// The time since its last work.
    pub fn idle_ms(&self, now_ms: i64) -> i64 {
        now_ms.saturating_sub(self.activity_ms).max(0)
    }

    /// Whether its last heartbeat is recent.
    pub fn is_alive(&self, now_ms: i64) -> bool {
        self.silent_ms(now_ms) < super::ALIVE_MS
    }
}

/// A worker to be registered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewWorker {
    /// Its name; `None` takes the next free one.
    pub name: Option<String>,
    /// Its kind; `None` keeps the one that it had.
    pub kind: Option<String>,
    /// The queue it claims from; `None` keeps the one that it had.
    pub queue: Option<String>,
    pub session: Option<String>,
    /// Where it registers.
    pub project: Option<PathBuf>,
    /// Takes the name even from a session that is alive.
    pub take_over: bool,
}

const DEFAULT_KIND: &str = "worker";

const MAX_NAME: usize = 64;

/// A stop does not write a heartbeat that is younger than this.
const FRESH_MS: i64 = 15_000;

impl Registry {
    /// Registers a worker, or updates it.
    pub fn register(&mut self, new: &NewWorker, now_ms: i64) -> Result<Worker, RegistryError> {
        let wanted = new.name.as_deref().map(check_name).transpose()?;
        self.write(|db| {
            let mine = new.session.as_deref().map(|session| worker_by(db, "session", session)).transpose()?;
            let mine = mine.flatten();
            let known = match (&mine, wanted) {
                (Some(mine), Some(wanted)) if mine.name != wanted => {
                    return Err(RegistryError::SessionHasOne { name: mine.name.clone() });
                }
                (Some(_), _) | (None, None) => mine,
                (None, Some(wanted)) => worker_by(db, "name", wanted)?,
            };
            if let Some(known) = &known {
                let is_others = known.session.is_some()
                    && new.session.is_some()
                    && known.session != new.session
                    && known.is_alive(now_ms);
                if is_others && !new.take_over {
                    let ago = time_span(known.silent_ms(now_ms));
                    return Err(RegistryError::NameTaken { name: known.name.clone(), ago });
                }
            }
            let name = match (&known, wanted) {
                (Some(known), _) => known.name.clone(),
                (None, Some(wanted)) => wanted.to_owned(),
                (None, None) => next_name(db)?,
            };
            let known = known.as_ref();
            let kind = new.kind.as_deref().or(known.map(|known| known.kind.as_str())).unwrap_or(DEFAULT_KIND);
            let queue =
                new.queue.as_deref().or(known.map(|known| known.queue.as_str())).unwrap_or(DEFAULT_QUEUE);
            // Registering again from a shell keeps the session.
            let session = new.session.as_deref().or(known.and_then(|known| known.session.as_deref()));
            db.execute(
                "INSERT INTO workers (name, kind, queue, session, project, registered_ms, heartbeat_ms, activity_ms, activity)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?6, ?7)
                 ON CONFLICT (name) DO UPDATE SET kind = ?2, queue = ?3, session = ?4, project = ?5, registered_ms = ?6,
                 heartbeat_ms = ?6, activity_ms = ?6, activity = ?7",
                params![
                    name,
                    kind,
                    queue,
                    session,
                    new.project.as_ref().map(|project| project.to_string_lossy()),
                    now_ms,
                    Activity::Registered
                ],
            )?;
            find_worker(db, &name)
        })
    }

    /// Records a heartbeat.
    pub fn heartbeat(&mut self, name: &str, now_ms: i64) -> Result<Worker, RegistryError> {
        self.write(|db| {
            find_worker(db, name)?;
            record_heartbeat(db, name, now_ms, None)?;
            find_worker(db, name)
        })
    }

    /// All workers, in the order of registration.
    pub fn workers(&mut self) -> Result<Vec<Worker>, RegistryError> {
        self.read(|db| {
            let mut rows = db.prepare(&format!("SELECT {COLUMNS} FROM workers ORDER BY rowid"))?;
            let workers = rows.query_map([], Worker::from_row)?;
            Ok(workers.collect::<Result<_, _>>()?)
        })
    }

    pub fn worker(&mut self, name: &str) -> Result<Worker, RegistryError> {
        self.read(|db| find_worker(db, name))
    }

    pub fn worker_of_session(&mut self, session: &str) -> Result<Option<Worker>, RegistryError> {
        self.read(|db| worker_by(db, "session", session))
    }

    /// Records a heartbeat of a session's worker, and returns it: the one registered in the session, else
    /// the one that its environment names, if no other session has it. (Clients before 2.1.136 don't
    /// pass the session to commands; there a worker is bound at the session's first stop.)
    pub fn record_stop(
        &mut self,
        session: &str,
        name: Option<&str>,
        now_ms: i64,
    ) -> Result<Option<Worker>, RegistryError> {
        let found = self.read(|db| match worker_by(db, "session", session)? {
            Some(worker) => Ok(Some(worker)),
            None => name.map(|name| worker_by(db, "name", name)).transpose().map(Option::flatten),
        })?;
        let Some(worker) = found.filter(|worker| worker.session.as_deref().is_none_or(|own| own == session))
        else {
            return Ok(None);
        };
        let is_bound = worker.session.is_some();
        let is_fresh = (0..FRESH_MS).contains(&now_ms.saturating_sub(worker.heartbeat_ms));
        if is_bound && is_fresh && worker.activity_ms <= now_ms {
            return Ok(Some(worker));
        }
        let updated = self.write(|db| {
            db.execute(
                "UPDATE workers SET heartbeat_ms = ?2, activity_ms = min(activity_ms, ?2), session = coalesce(session, ?3)
                 WHERE name = ?1",
                params![worker.name, now_ms, session],
            )?;
            find_worker(db, &worker.name)
        });
        // A registry that can't be written can still be read.
        Ok(Some(updated.unwrap_or(worker)))
    }

    /// Removes a worker, and returns its claimed tasks to their queues.
    pub fn leave(&mut self, name: &str, now_ms: i64) -> Result<Vec<TaskId>, RegistryError> {
        self.write(|db| {
            find_worker(db, name)?;
            let note = format!("{name} left");
            let mut rows = db.prepare(
                "UPDATE tasks SET status = 'open', assignee = NULL, updated_ms = ?2, note = ?3
                 WHERE assignee = ?1 AND status IN ('accepted', 'in_progress') RETURNING id",
            )?;
            let returned = rows.query_map(params![name, now_ms, note], |row| row.get(0).map(TaskId))?;
            let mut returned: Vec<TaskId> = returned.collect::<Result<_, _>>()?;
            returned.sort_unstable();
            for task in &returned {
                add_event(db, *task, now_ms, Some(name), "returned", Some(&note))?;
            }
            db.execute("DELETE FROM workers WHERE name = ?1", [name])?;
            Ok(returned)
        })
    }
}

/// Checks that a name can be typed and means nothing to a shell or terminal.
pub(super) fn check_name(name: &str) -> Result<&str, RegistryError> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let is_good = !name.is_empty()
        && name.chars().count() <= MAX_NAME
        && name.chars().all(is_plain)
        && !name.starts_with('-');
    if is_good { Ok(name) } else { Err(RegistryError::BadName(crate::text::first_part(name, MAX_NAME))) }
}

pub(super) fn find_worker(db: &Connection, name: &str) -> Result<Worker, RegistryError> {
    worker_by(db, "name", name)?.ok_or_else(|| RegistryError::NoWorker(name.to_owned()))
}

fn worker_by(db: &Connection, column: &'static str, value: &str) -> Result<Option<Worker>, RegistryError> {
    let query = format!("SELECT {COLUMNS} FROM workers WHERE {column} = ?1");
    Ok(db.query_row(&query, [value], Worker::from_row).optional()?)
}

/// Records a heartbeat, and the worker's activity if it did any work.
pub(super) fn record_heartbeat(
    db: &Connection,
    name: &str,
    now_ms: i64,
    activity: Option<Activity>,
) -> Result<(), RegistryError> {
    db.execute(
        "UPDATE workers SET heartbeat_ms = ?2, activity_ms = CASE WHEN ?3 IS NULL THEN min(activity_ms, ?2) ELSE ?2 END,
         activity = coalesce(?3, activity) WHERE name = ?1",
        params![name, now_ms, activity],
    )?;
    Ok(())
}

/// The first of `w1`, `w2` … that neither a worker nor an unfinished task has.
fn next_name(db: &Connection) -> Result<String, RegistryError> {
    let mut rows = db.prepare(
        "SELECT EXISTS (SELECT 1 FROM workers WHERE name = ?1)
         OR EXISTS (SELECT 1 FROM tasks WHERE assignee = ?1 AND status IN ('assigned', 'accepted', 'in_progress'))",
    )?;
    let mut number = 1_u64;
    loop {
        let name = format!("w{number}");
        if !rows.query_row([&name], |row| row.get::<_, bool>(0))? {
            return Ok(name);
        }
        number += 1;
    }
}

/// Times further in the future were written before the clock was set back: two processes that read
/// the clock at the same moment are never that far apart.
const FUTURE_MS: i64 = 60_000;

const IN_FUTURE: &str = "heartbeat_ms > ?1 OR activity_ms > ?1";

/// Claimed tasks whose worker's last sign of life is older than `?1`.
const SILENT: &str = "FROM tasks LEFT JOIN workers ON workers.name = tasks.assignee
    WHERE tasks.status IN ('accepted', 'in_progress')
    AND coalesce(workers.heartbeat_ms, tasks.claimed_ms, tasks.updated_ms) <= ?1";

fn is_due(db: &Connection, now_ms: i64, lease_ms: i64) -> Result<bool, RegistryError> {
    let future = format!("SELECT EXISTS (SELECT 1 FROM workers WHERE {IN_FUTURE})");
    let silent = format!("SELECT EXISTS (SELECT 1 {SILENT})");
    let has_future: bool = db.query_row(&future, [now_ms.saturating_add(FUTURE_MS)], |row| row.get(0))?;
    Ok(has_future || db.query_row(&silent, [now_ms.saturating_sub(lease_ms)], |row| row.get(0))?)
}

/// Expires leases within a transaction.
pub(super) fn expire(db: &Connection, now_ms: i64, lease_ms: i64) -> Result<(), RegistryError> {
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
