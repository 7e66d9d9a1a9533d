//! Workers: a session that registered, or a person at a shell. A name belongs to one worker, and a
//! session is at most one worker. Must not read the clock.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use strum::IntoStaticStr;

use super::lease::{add_event, give_back};
use super::store::{RegistryRow, Row, Tx, values};
use super::task::{COLUMNS as TASK_COLUMNS, Task};
use super::{DEFAULT_QUEUE, Registry, RegistryError, TaskId};
use crate::text::time_span;

/// What a worker did last. The keep-alive gate counts idle time from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
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
        self.into()
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
    /// On which machine of the fleet.
    pub machine: Option<String>,
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
    "name, kind, queue, session, project, machine, registered_ms, heartbeat_ms, activity_ms, activity";

impl Worker {
    fn from_row(row: &Row) -> Result<Self, RegistryError> {
        let activity = row.text(9)?;
        Ok(Self {
            name: row.text(0)?,
            kind: row.text(1)?,
            queue: row.text(2)?,
            session: row.optional_text(3),
            project: row.optional_text(4).map(PathBuf::from),
            machine: row.optional_text(5),
            registered_ms: row.int(6)?,
            heartbeat_ms: row.int(7)?,
            activity_ms: row.int(8)?,
            activity: ValueEnum::from_str(&activity, false).map_err(|_| RegistryError::strange(9))?,
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
    /// On which machine of the fleet.
    pub machine: Option<String>,
    /// Takes the name even from a session that is alive.
    pub take_over: bool,
}

const DEFAULT_KIND: &str = "worker";

const MAX_NAME: usize = 64;

/// A stop does not write a heartbeat that is younger than this.
const FRESH_MS: i64 = 15_000;

impl Registry {
    /// Registers a worker, or updates it.
    pub fn register(&mut self, new: &NewWorker) -> Result<Worker, RegistryError> {
        let wanted = new.name.as_deref().map(check_name).transpose()?;
        let worker = self.write(|tx| register(tx, new, wanted))?;
        if let (Some(marks), Some(session)) = (&self.marks, &worker.session) {
            marks.add(session);
        }
        Ok(worker)
    }

    /// Records a heartbeat.
    pub fn heartbeat(&mut self, name: &str) -> Result<Worker, RegistryError> {
        self.write(|tx| {
            lock_worker(tx, name)?;
            record_heartbeat(tx, name, None)?;
            find_worker(tx, name)
        })
    }

    /// All workers, in the order of registration.
    pub fn workers(&mut self) -> Result<Vec<Worker>, RegistryError> {
        self.read(|tx| {
            let rows =
                tx.rows(&format!("SELECT {COLUMNS} FROM workers ORDER BY registered_ms, name"), &[])?;
            rows.iter().map(Worker::from_row).collect()
        })
    }

    pub fn worker(&mut self, name: &str) -> Result<Worker, RegistryError> {
        self.read(|tx| find_worker(tx, name))
    }

    pub fn worker_of_session(&mut self, session: &str) -> Result<Option<Worker>, RegistryError> {
        self.read(|tx| worker_by(tx, "session", session, ""))
    }

    /// Records a heartbeat of a session's worker, and returns it: the one registered in the
    /// session, else the one that its environment names, if no other session has it. (Clients
    /// before 2.1.136 don't pass the session to commands; there a worker is bound at the session's
    /// first stop.)
    pub fn record_stop(
        &mut self,
        session: &str,
        name: Option<&str>,
    ) -> Result<Option<Worker>, RegistryError> {
        let found = self.read(|tx| match worker_by(tx, "session", session, "")? {
            Some(worker) => Ok(Some(worker)),
            None => name.map(|name| worker_by(tx, "name", name, "")).transpose().map(Option::flatten),
        })?;
        let Some(worker) = found.filter(|worker| worker.session.as_deref().is_none_or(|own| own == session))
        else {
            if let Some(marks) = &self.marks {
                marks.remove(session);
            }
            return Ok(None);
        };
        let is_bound = worker.session.is_some();
        let is_fresh = (0..FRESH_MS).contains(&self.now_ms.saturating_sub(worker.heartbeat_ms));
        if is_bound && is_fresh && worker.activity_ms <= self.now_ms {
            return Ok(Some(worker));
        }
        let updated = self.write(|tx| {
            lock_worker(tx, &worker.name)?;
            record_heartbeat(tx, &worker.name, None)?;
            tx.run(
                "UPDATE workers SET session = coalesce(session, ?2) WHERE name = ?1",
                values![&worker.name, session],
            )?;
            find_worker(tx, &worker.name)
        });
        // A registry that can't be written can still be read.
        Ok(Some(updated.unwrap_or(worker)))
    }

    /// Removes a worker, and returns its claimed tasks to their queues.
    pub fn leave(&mut self, name: &str) -> Result<Vec<TaskId>, RegistryError> {
        let (worker, returned) = self.write(|tx| {
            let worker = lock_worker(tx, name)?;
            let rows = tx.rows(
                &format!(
                    "SELECT {TASK_COLUMNS} FROM tasks WHERE assignee = ?1 AND status IN ('accepted', 'in_progress')
                     ORDER BY id{}",
                    tx.store.row_lock()
                ),
                values![name],
            )?;
            let mut returned = Vec::new();
            for row in &rows {
                let task = Task::from_row(row)?;
                give_back(tx, &task, &format!("{name} left"))?;
                add_event(tx, task.id, Some(name), "returned", Some(&format!("{name} left")))?;
                returned.push(task.id);
            }
            tx.run("DELETE FROM workers WHERE name = ?1", values![name])?;
            Ok((worker, returned))
        })?;
        if let (Some(marks), Some(session)) = (&self.marks, &worker.session) {
            marks.remove(session);
        }
        Ok(returned)
    }
}

fn register(tx: &mut Tx<'_>, new: &NewWorker, wanted: Option<&str>) -> Result<Worker, RegistryError> {
    let now_ms = tx.now_ms;
    tx.store.lock_names()?;
    let mine = new.session.as_deref().map(|session| worker_by(tx, "session", session, "")).transpose()?;
    let mine = mine.flatten();
    let known = match (&mine, wanted) {
        (Some(mine), Some(wanted)) if mine.name != wanted => {
            return Err(RegistryError::SessionHasOne { name: mine.name.clone() });
        }
        (Some(_), _) | (None, None) => mine,
        (None, Some(wanted)) => worker_by(tx, "name", wanted, "")?,
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
        (None, None) => next_name(tx)?,
    };
    let known = known.as_ref();
    let kind = new.kind.as_deref().or(known.map(|known| known.kind.as_str())).unwrap_or(DEFAULT_KIND);
    let queue = new.queue.as_deref().or(known.map(|known| known.queue.as_str())).unwrap_or(DEFAULT_QUEUE);
    // Registering again from a shell keeps the session.
    let session = new.session.as_deref().or(known.and_then(|known| known.session.as_deref()));
    tx.run(
        "INSERT INTO workers (name, kind, queue, session, project, machine, registered_ms, heartbeat_ms, activity_ms,
         activity) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?7, ?8)
         ON CONFLICT (name) DO UPDATE SET kind = ?2, queue = ?3, session = ?4, project = ?5, machine = ?6,
         registered_ms = ?7, heartbeat_ms = ?7, activity_ms = ?7, activity = ?8",
        values![
            &name,
            kind,
            queue,
            session,
            path_text(new.project.as_deref()),
            new.machine.as_deref(),
            now_ms,
            Activity::Registered.name()
        ],
    )?;
    record_heartbeat(tx, &name, None)?;
    find_worker(tx, &name)
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

pub(super) fn path_text(path: Option<&Path>) -> Option<String> {
    path.map(|path| path.to_string_lossy().into_owned())
}

fn find_worker(tx: &mut Tx<'_>, name: &str) -> Result<Worker, RegistryError> {
    worker_by(tx, "name", name, "")?.ok_or_else(|| RegistryError::NoWorker(name.to_owned()))
}

/// Finds a worker that nobody else changes until the end of the transaction. Whoever locks a worker
/// and tasks locks the worker first, so that no two wait for each other.
pub(super) fn lock_worker(tx: &mut Tx<'_>, name: &str) -> Result<Worker, RegistryError> {
    let lock = tx.store.row_lock();
    worker_by(tx, "name", name, lock)?.ok_or_else(|| RegistryError::NoWorker(name.to_owned()))
}

fn worker_by(
    tx: &mut Tx<'_>,
    column: &'static str,
    value: &str,
    lock: &'static str,
) -> Result<Option<Worker>, RegistryError> {
    let row = tx.row(&format!("SELECT {COLUMNS} FROM workers WHERE {column} = ?1{lock}"), values![value])?;
    row.as_ref().map(Worker::from_row).transpose()
}

/// Records a heartbeat, and the worker's activity if it did any work. What it has in hand stays its
/// own for another lease.
pub(super) fn record_heartbeat(
    tx: &mut Tx<'_>,
    name: &str,
    activity: Option<Activity>,
) -> Result<(), RegistryError> {
    let activity = activity.map(Activity::name);
    tx.run(
        "UPDATE workers SET heartbeat_ms = ?2,
         activity_ms = CASE WHEN ?3 IS NULL AND activity_ms < ?2 THEN activity_ms ELSE ?2 END,
         activity = coalesce(?3, activity) WHERE name = ?1",
        values![name, tx.now_ms, activity],
    )?;
    tx.run(
        "UPDATE tasks SET lease_until_ms = ?2 + lease_ms WHERE assignee = ?1 AND status IN ('accepted', 'in_progress')",
        values![name, tx.now_ms],
    )
}

/// The first of `w1`, `w2` … that neither a worker nor an unfinished task has.
fn next_name(tx: &mut Tx<'_>) -> Result<String, RegistryError> {
    let mut number = 1_u64;
    loop {
        let name = format!("w{number}");
        let is_taken = tx.exists("FROM workers WHERE name = ?1", values![&name])?
            || tx.exists(
                "FROM tasks WHERE assignee = ?1 AND status IN ('assigned', 'accepted', 'in_progress')",
                values![&name],
            )?;
        if !is_taken {
            return Ok(name);
        }
        number += 1;
    }
}
