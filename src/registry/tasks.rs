//! What can be done with tasks, each in one transaction, so no task is claimed twice. Must not read
//! the clock.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::task::{COLUMNS, Event, NewTask, Status, Task, TaskFilter, TaskId};
use super::worker::{check_name, expire, find_worker, record_heartbeat};
use super::{Activity, Registry, RegistryError};

/// Which task a worker wants to claim.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClaimRequest<'a> {
    pub id: Option<TaskId>,
    /// The next one in this queue instead of the worker's own.
    pub queue: Option<&'a str>,
    /// The next one of this project or of every project; `None` is any.
    pub project: Option<&'a Path>,
}

impl Registry {
    pub fn add(&mut self, new: &NewTask, now_ms: i64) -> Result<Task, RegistryError> {
        let assignee = new.assignee.as_deref().map(check_name).transpose()?;
        let status = if assignee.is_some() { Status::Assigned } else { Status::Open };
        self.write(|db| {
            db.execute(
                "INSERT INTO tasks (title, body, queue, project, priority, status, assignee, created_ms, updated_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)",
                params![
                    new.title,
                    new.body,
                    new.queue,
                    path_text(new.project.as_deref()),
                    new.priority,
                    status,
                    assignee,
                    now_ms
                ],
            )?;
            let id = TaskId(db.last_insert_rowid());
            add_event(db, id, now_ms, None, "added", None)?;
            if assignee.is_some() {
                add_event(db, id, now_ms, assignee, "assigned", None)?;
            }
            find_task(db, id)
        })
    }

    pub fn task(&mut self, id: TaskId) -> Result<Task, RegistryError> {
        self.read(|db| find_task(db, id))
    }

    /// The tasks that a filter selects, oldest first.
    pub fn tasks(&mut self, wanted: &TaskFilter) -> Result<Vec<Task>, RegistryError> {
        let mut clauses = Vec::new();
        let mut values: Vec<String> = Vec::new();
        let mut bind = |clause: &str, value: &str| {
            values.push(value.to_owned());
            clauses.push(clause.replace('?', &format!("?{}", values.len())));
        };
        if let Some(queue) = &wanted.queue {
            bind("queue = ?", queue);
        }
        if let Some(project) = path_text(wanted.project.as_deref()) {
            bind("(project IS NULL OR project = ?)", &project);
        }
        if let Some(assignee) = &wanted.assignee {
            bind("assignee = ?", assignee);
        }
        if !wanted.statuses.is_empty() {
            let names: Vec<_> = wanted.statuses.iter().map(|status| format!("'{status}'")).collect();
            clauses.push(format!("status IN ({})", names.join(", ")));
        }
        let clauses = if clauses.is_empty() { "true".to_owned() } else { clauses.join(" AND ") };
        self.read(|db| {
            let mut rows = db.prepare(&format!("SELECT {COLUMNS} FROM tasks WHERE {clauses} ORDER BY id"))?;
            let tasks = rows.query_map(params_from_iter(&values), Task::from_row)?;
            Ok(tasks.collect::<Result<_, _>>()?)
        })
    }

    /// The history of a task, oldest first.
    pub fn history(&mut self, id: TaskId) -> Result<Vec<Event>, RegistryError> {
        self.read(|db| {
            let mut rows =
                db.prepare("SELECT at_ms, worker, what, note FROM events WHERE task = ?1 ORDER BY id")?;
            let events = rows.query_map([id.0], Event::from_row)?;
            Ok(events.collect::<Result<_, _>>()?)
        })
    }

    /// The number of tasks per status, of one project or of all.
    pub fn counts(&mut self, project: Option<&Path>) -> Result<Vec<(Status, i64)>, RegistryError> {
        self.read(|db| {
            let mut rows = db.prepare(
                "SELECT status, count(*) FROM tasks WHERE ?1 IS NULL OR project IS NULL OR project = ?1 GROUP BY status",
            )?;
            let counts = rows.query_map([path_text(project)], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let mut counts: Vec<(Status, i64)> = counts.collect::<Result<_, _>>()?;
            counts.sort_unstable();
            Ok(counts)
        })
    }

    /// Claims a task for a worker: the one that it names, else the next that was assigned to it, else
    /// the next open one.
    pub fn claim(
        &mut self,
        worker: &str,
        choice: ClaimRequest<'_>,
        now_ms: i64,
        lease_ms: i64,
    ) -> Result<Option<Task>, RegistryError> {
        self.write(|db| {
            let me = find_worker(db, worker)?;
            // Before `expire`, so that the worker keeps the tasks that it has.
            record_heartbeat(db, worker, now_ms, None)?;
            expire(db, now_ms, lease_ms)?;
            let id = match choice.id {
                Some(id) => Some(check_claimable(&find_task(db, id)?, worker)?),
                None => db
                    .query_row(
                        "SELECT id FROM tasks
                         WHERE (status = 'assigned' AND assignee = ?1)
                         OR (status = 'open' AND queue = ?2 AND (?3 IS NULL OR project IS NULL OR project = ?3))
                         ORDER BY status = 'assigned' DESC, priority DESC, id LIMIT 1",
                        params![worker, choice.queue.unwrap_or(&me.queue), path_text(choice.project)],
                        |row| row.get(0).map(TaskId),
                    )
                    .optional()?,
            };
            let Some(id) = id else { return Ok(None) };
            let task = find_task(db, id)?;
            if matches!(task.status, Status::Accepted | Status::InProgress) {
                return Ok(Some(task));
            }
            db.execute(
                "UPDATE tasks SET status = 'accepted', assignee = ?2, claimed_ms = ?3, updated_ms = ?3, note = NULL,
                 attempts = attempts + 1 WHERE id = ?1",
                params![id.0, worker, now_ms],
            )?;
            add_event(db, id, now_ms, Some(worker), "claimed", None)?;
            record_heartbeat(db, worker, now_ms, Some(Activity::Claimed))?;
            find_task(db, id).map(Some)
        })
    }

    /// Assigns an open task to a worker, who need not be registered yet.
    pub fn assign(&mut self, id: TaskId, worker: &str, now_ms: i64) -> Result<Task, RegistryError> {
        let worker = check_name(worker)?;
        self.write(|db| {
            let task = find_task(db, id)?;
            match (task.status, task.assignee) {
                (Status::Open | Status::Assigned, _) => {}
                (status @ (Status::Completed | Status::Failed), by) => {
                    return Err(RegistryError::Finished { id, status, by: by.unwrap_or_default() });
                }
                (status, by) => {
                    let by = by.unwrap_or_default();
                    return Err(RegistryError::NotYours { id, by, status, me: worker.to_owned() });
                }
            }
            db.execute(
                "UPDATE tasks SET status = 'assigned', assignee = ?2, updated_ms = ?3 WHERE id = ?1",
                params![id.0, worker, now_ms],
            )?;
            add_event(db, id, now_ms, Some(worker), "assigned", None)?;
            find_task(db, id)
        })
    }

    /// Sets the status of a worker's task; `Status::Open` returns it to its queue.
    pub fn set(
        &mut self,
        worker: &str,
        id: TaskId,
        status: Status,
        note: Option<&str>,
        now_ms: i64,
    ) -> Result<Task, RegistryError> {
        self.write(|db| {
            find_worker(db, worker)?;
            check_assigned(&find_task(db, id)?, worker)?;
            let (what, activity) = match status {
                Status::Completed => ("completed", Some(Activity::Completed)),
                Status::Failed => ("failed", Some(Activity::Failed)),
                Status::InProgress => ("started", None),
                Status::Open | Status::Assigned | Status::Accepted => ("released", None),
            };
            db.execute(
                "UPDATE tasks SET status = ?2, assignee = ?3, note = ?4, updated_ms = ?5 WHERE id = ?1",
                params![id.0, status, (status != Status::Open).then_some(worker), note, now_ms],
            )?;
            add_event(db, id, now_ms, Some(worker), what, note)?;
            record_heartbeat(db, worker, now_ms, activity)?;
            find_task(db, id)
        })
    }
}

pub(super) fn find_task(db: &Connection, id: TaskId) -> Result<Task, RegistryError> {
    let query = format!("SELECT {COLUMNS} FROM tasks WHERE id = ?1");
    db.query_row(&query, [id.0], Task::from_row).optional()?.ok_or(RegistryError::NoTask(id))
}

/// Returns the id of a task that is open or the worker's own.
fn check_claimable(task: &Task, worker: &str) -> Result<TaskId, RegistryError> {
    let id = task.id;
    match (task.status, task.assignee.as_deref().unwrap_or_default()) {
        (Status::Open, _) => Ok(id),
        (status, by) if status.is_over() => Err(RegistryError::Finished { id, status, by: by.to_owned() }),
        (_, by) if by == worker => Ok(id),
        (status, by) => Err(RegistryError::NotYours { id, by: by.to_owned(), status, me: worker.to_owned() }),
    }
}

/// Checks that a task is the worker's.
fn check_assigned(task: &Task, worker: &str) -> Result<(), RegistryError> {
    if task.status == Status::Open {
        let why = task.note.as_deref().map(|note| format!(" (it came back: {note})")).unwrap_or_default();
        return Err(RegistryError::NotClaimed { id: task.id, why });
    }
    check_claimable(task, worker).map(drop)
}

fn path_text(path: Option<&Path>) -> Option<String> {
    path.map(|path| path.to_string_lossy().into_owned())
}

/// Adds a line to a task's history.
pub(super) fn add_event(
    db: &Connection,
    task: TaskId,
    now_ms: i64,
    worker: Option<&str>,
    what: &str,
    note: Option<&str>,
) -> Result<(), RegistryError> {
    db.execute(
        "INSERT INTO events (task, at_ms, worker, what, note) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![task.0, now_ms, worker, what, note],
    )?;
    Ok(())
}
