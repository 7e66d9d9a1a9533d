//! Workers: a session that registered, or a person at a shell. A name belongs to one worker, and a
//! session is at most one worker.

use std::path::PathBuf;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::error::TransactionError;
use super::tasks::add_event;
use super::{DEFAULT_QUEUE, Registry, RegistryError, TaskId};
use crate::text::time_span;

/// What a worker did last. The keep-alive gate counts idle time from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// It registered.
    Registered,
    /// It claimed a task.
    Claimed,
    /// It completed one.
    Completed,
    /// It gave one up.
    Failed,
}

impl Activity {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Registered, Self::Claimed, Self::Completed, Self::Failed];

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
        let name = value.as_str()?;
        Self::ALL.into_iter().find(|activity| activity.name() == name).ok_or(FromSqlError::InvalidType)
    }
}

/// A worker.
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
    /// The session that it is, if any.
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
                    return Err(RegistryError::SessionHasOne { name: mine.name.clone() }.into());
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
                    return Err(RegistryError::NameTaken { name: known.name.clone(), ago }.into());
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

    /// One worker.
    pub fn worker(&mut self, name: &str) -> Result<Worker, RegistryError> {
        self.read(|db| find_worker(db, name))
    }

    /// The worker that a session is.
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

pub(super) fn find_worker(db: &Connection, name: &str) -> Result<Worker, TransactionError> {
    worker_by(db, "name", name)?.ok_or_else(|| RegistryError::NoWorker(name.to_owned()).into())
}

fn worker_by(db: &Connection, column: &'static str, value: &str) -> Result<Option<Worker>, TransactionError> {
    let query = format!("SELECT {COLUMNS} FROM workers WHERE {column} = ?1");
    Ok(db.query_row(&query, [value], Worker::from_row).optional()?)
}

/// Records a heartbeat, and the worker's activity if it did any work.
pub(super) fn record_heartbeat(
    db: &Connection,
    name: &str,
    now_ms: i64,
    activity: Option<Activity>,
) -> Result<(), TransactionError> {
    db.execute(
        "UPDATE workers SET heartbeat_ms = ?2, activity_ms = CASE WHEN ?3 IS NULL THEN min(activity_ms, ?2) ELSE ?2 END,
         activity = coalesce(?3, activity) WHERE name = ?1",
        params![name, now_ms, activity],
    )?;
    Ok(())
}

/// The first of `w1`, `w2` … that neither a worker nor an unfinished task has.
fn next_name(db: &Connection) -> Result<String, TransactionError> {
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
