//! What can be done with workers: they come, are heard of, and leave. A name is one worker's, and a session is one worker at the
//! most.

use rusqlite::{Connection, OptionalExtension, params};

use super::history::tell;
use super::worker::{Activity, COLUMNS, NewWorker, Worker};
use super::{Broken, DEFAULT_QUEUE, Fault, Registry, TaskId};
use crate::text::time_span;

/// The kind of whoever names none.
const KIND: &str = "worker";

/// The longest name.
const LONGEST: usize = 64;

/// A heartbeat that is younger than this is not written again by a stop.
const FRESH_MS: i64 = 15_000;

impl Registry {
    /// Registers a worker, or the same one again.
    pub fn register(&mut self, new: &NewWorker, now_ms: i64) -> Result<Worker, Fault> {
        let wanted = new.name.as_deref().map(checked_name).transpose()?;
        self.change(|change| {
            let mine = new.session.as_deref().map(|session| by(change, "session", session)).transpose()?;
            let mine = mine.flatten();
            let known = match (&mine, wanted) {
                (Some(mine), Some(wanted)) if mine.name != wanted => {
                    return Err(Fault::SessionHasOne { name: mine.name.clone() }.into());
                }
                (Some(_), _) | (None, None) => mine,
                (None, Some(wanted)) => by(change, "name", wanted)?,
            };
            if let Some(known) = &known {
                let is_others = known.session.is_some()
                    && new.session.is_some()
                    && known.session != new.session
                    && known.is_alive(now_ms);
                if is_others && !new.take_over {
                    let ago = time_span(known.silent_ms(now_ms));
                    return Err(Fault::NameTaken { name: known.name.clone(), ago }.into());
                }
            }
            let name = match (&known, wanted) {
                (Some(known), _) => known.name.clone(),
                (None, Some(wanted)) => wanted.to_owned(),
                (None, None) => next_name(change)?,
            };
            let known = known.as_ref();
            let kind = new.kind.as_deref().or(known.map(|known| known.kind.as_str())).unwrap_or(KIND);
            let queue =
                new.queue.as_deref().or(known.map(|known| known.queue.as_str())).unwrap_or(DEFAULT_QUEUE);
            // Without a session of its own it is the one that it was.
            let session = new.session.as_deref().or(known.and_then(|known| known.session.as_deref()));
            change.execute(
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
            named(change, &name)
        })
    }

    /// Hears of a worker.
    pub fn heartbeat(&mut self, name: &str, now_ms: i64) -> Result<Worker, Fault> {
        self.change(|change| {
            named(change, name)?;
            touch(change, name, now_ms, None)?;
            named(change, name)
        })
    }

    /// All workers, in the order in which they came.
    pub fn workers(&mut self) -> Result<Vec<Worker>, Fault> {
        self.look(|look| {
            let mut rows = look.prepare(&format!("SELECT {COLUMNS} FROM workers ORDER BY rowid"))?;
            let workers = rows.query_map([], Worker::of)?;
            Ok(workers.collect::<Result<_, _>>()?)
        })
    }

    /// One worker.
    pub fn worker(&mut self, name: &str) -> Result<Worker, Fault> {
        self.look(|look| named(look, name))
    }

    /// The worker that a session is.
    pub fn worker_of(&mut self, session: &str) -> Result<Option<Worker>, Fault> {
        self.look(|look| by(look, "session", session))
    }

    /// The worker that a session is, of which we have now heard: the one that registered in it, else the one that its
    /// environment names, if that one is nobody else's. (A client before 2.1.136 does not tell what it runs which session it
    /// is; there a worker becomes its session's at the session's first stop.)
    pub fn seen(&mut self, session: &str, name: Option<&str>, now_ms: i64) -> Result<Option<Worker>, Fault> {
        let found = self.look(|look| match by(look, "session", session)? {
            Some(worker) => Ok(Some(worker)),
            None => name.map(|name| by(look, "name", name)).transpose().map(Option::flatten),
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
        let noted = self.change(|change| {
            change.execute(
                "UPDATE workers SET heartbeat_ms = ?2, activity_ms = min(activity_ms, ?2), session = coalesce(session, ?3)
                 WHERE name = ?1",
                params![worker.name, now_ms, session],
            )?;
            named(change, &worker.name)
        });
        // What can't be written can still be read.
        Ok(Some(noted.unwrap_or(worker)))
    }

    /// A worker leaves: what it has in hand is open again.
    pub fn leave(&mut self, name: &str, now_ms: i64) -> Result<Vec<TaskId>, Fault> {
        self.change(|change| {
            named(change, name)?;
            let note = format!("{name} left");
            let mut rows = change.prepare(
                "UPDATE tasks SET status = 'open', assignee = NULL, updated_ms = ?2, note = ?3
                 WHERE assignee = ?1 AND status IN ('accepted', 'in_progress') RETURNING id",
            )?;
            let returned = rows.query_map(params![name, now_ms, note], |row| row.get(0).map(TaskId))?;
            let mut returned: Vec<TaskId> = returned.collect::<Result<_, _>>()?;
            returned.sort_unstable();
            for task in &returned {
                tell(change, *task, now_ms, Some(name), "returned", Some(&note))?;
            }
            change.execute("DELETE FROM workers WHERE name = ?1", [name])?;
            Ok(returned)
        })
    }
}

/// A name that can be typed, and that says nothing else to a shell or a terminal.
pub(super) fn checked_name(name: &str) -> Result<&str, Fault> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    let is_good = !name.is_empty()
        && name.chars().count() <= LONGEST
        && name.chars().all(is_plain)
        && !name.starts_with('-');
    if is_good { Ok(name) } else { Err(Fault::BadName(crate::text::first_part(name, LONGEST))) }
}

/// A worker by its name, within a look or a change.
pub(super) fn named(look: &Connection, name: &str) -> Result<Worker, Broken> {
    by(look, "name", name)?.ok_or_else(|| Fault::NoWorker(name.to_owned()).into())
}

fn by(look: &Connection, column: &'static str, value: &str) -> Result<Option<Worker>, Broken> {
    let query = format!("SELECT {COLUMNS} FROM workers WHERE {column} = ?1");
    Ok(look.query_row(&query, [value], Worker::of).optional()?)
}

/// Notes that a worker was heard of, and what it did if that counts.
pub(super) fn touch(
    change: &Connection,
    name: &str,
    now_ms: i64,
    activity: Option<Activity>,
) -> Result<(), Broken> {
    change.execute(
        "UPDATE workers SET heartbeat_ms = ?2, activity_ms = CASE WHEN ?3 IS NULL THEN min(activity_ms, ?2) ELSE ?2 END,
         activity = coalesce(?3, activity) WHERE name = ?1",
        params![name, now_ms, activity],
    )?;
    Ok(())
}

/// The first of w1, w2 … that nobody has, nor has had with a task that is not over.
fn next_name(change: &Connection) -> Result<String, Broken> {
    let mut rows = change.prepare(
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
