//! What can be done with tasks, each in one transaction: a claim is one whoever else claims at the same moment.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::history::tell;
use super::task::{COLUMNS, NewTask, Status, Task, TaskId, Wanted};
use super::workers::{checked_name, named, touch};
use super::{Activity, Broken, Fault, Registry};
use crate::registry::expiry::sweep;

/// Which task a worker wants to take.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choice<'a> {
    /// This one.
    pub id: Option<TaskId>,
    /// The next one of a queue, in place of the worker's own.
    pub queue: Option<&'a str>,
    /// The next one of a project, or of none; of any where nobody says.
    pub project: Option<&'a Path>,
}

impl Registry {
    /// Adds a task.
    pub fn add(&mut self, new: &NewTask, now_ms: i64) -> Result<Task, Fault> {
        let assignee = new.assignee.as_deref().map(checked_name).transpose()?;
        let status = if assignee.is_some() { Status::Assigned } else { Status::Open };
        self.change(|change| {
            change.execute(
                "INSERT INTO tasks (title, body, queue, project, priority, status, assignee, created_ms, updated_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)",
                params![
                    new.title,
                    new.body,
                    new.queue,
                    text(new.project.as_deref()),
                    new.priority,
                    status,
                    assignee,
                    now_ms
                ],
            )?;
            let id = TaskId(change.last_insert_rowid());
            tell(change, id, now_ms, None, "added", None)?;
            if assignee.is_some() {
                tell(change, id, now_ms, assignee, "assigned", None)?;
            }
            of(change, id)
        })
    }

    /// One task.
    pub fn task(&mut self, id: TaskId) -> Result<Task, Fault> {
        self.look(|look| of(look, id))
    }

    /// Those that are wanted, in the order in which they were added.
    pub fn tasks(&mut self, wanted: &Wanted) -> Result<Vec<Task>, Fault> {
        let mut clauses = Vec::new();
        let mut values: Vec<String> = Vec::new();
        let mut bind = |clause: &str, value: &str| {
            values.push(value.to_owned());
            clauses.push(clause.replace('?', &format!("?{}", values.len())));
        };
        if let Some(queue) = &wanted.queue {
            bind("queue = ?", queue);
        }
        if let Some(project) = text(wanted.project.as_deref()) {
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
        self.look(|look| {
            let mut rows =
                look.prepare(&format!("SELECT {COLUMNS} FROM tasks WHERE {clauses} ORDER BY id"))?;
            let tasks = rows.query_map(params_from_iter(&values), Task::of)?;
            Ok(tasks.collect::<Result<_, _>>()?)
        })
    }

    /// How many tasks of a project, or of all, stand where.
    pub fn counts(&mut self, project: Option<&Path>) -> Result<Vec<(Status, i64)>, Fault> {
        self.look(|look| {
            let mut rows = look.prepare(
                "SELECT status, count(*) FROM tasks WHERE ?1 IS NULL OR project IS NULL OR project = ?1 GROUP BY status",
            )?;
            let counts = rows.query_map([text(project)], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let mut counts: Vec<(Status, i64)> = counts.collect::<Result<_, _>>()?;
            counts.sort_unstable();
            Ok(counts)
        })
    }

    /// Takes a task for a worker: the one that it names, else the next that was given to it, else the next open one. `None`
    /// when there is none.
    pub fn claim(
        &mut self,
        worker: &str,
        choice: Choice<'_>,
        now_ms: i64,
        lease_ms: i64,
    ) -> Result<Option<Task>, Fault> {
        self.change(|change| {
            let me = named(change, worker)?;
            // First of all we have heard of this one: what it has in hand stays there.
            touch(change, worker, now_ms, None)?;
            sweep(change, now_ms, lease_ms)?;
            let id = match choice.id {
                Some(id) => Some(free_for(&of(change, id)?, worker)?),
                None => change
                    .query_row(
                        "SELECT id FROM tasks
                         WHERE (status = 'assigned' AND assignee = ?1)
                         OR (status = 'open' AND queue = ?2 AND (?3 IS NULL OR project IS NULL OR project = ?3))
                         ORDER BY status = 'assigned' DESC, priority DESC, id LIMIT 1",
                        params![worker, choice.queue.unwrap_or(&me.queue), text(choice.project)],
                        |row| row.get(0).map(TaskId),
                    )
                    .optional()?,
            };
            let Some(id) = id else { return Ok(None) };
            let task = of(change, id)?;
            if matches!(task.status, Status::Accepted | Status::InProgress) {
                // It is this worker's already.
                return Ok(Some(task));
            }
            change.execute(
                "UPDATE tasks SET status = 'accepted', assignee = ?2, claimed_ms = ?3, updated_ms = ?3, note = NULL,
                 attempts = attempts + 1 WHERE id = ?1",
                params![id.0, worker, now_ms],
            )?;
            tell(change, id, now_ms, Some(worker), "claimed", None)?;
            touch(change, worker, now_ms, Some(Activity::Claimed))?;
            of(change, id).map(Some)
        })
    }
}

impl Registry {
    /// Says that a worker is at its task.
    pub fn start(&mut self, worker: &str, id: TaskId, now_ms: i64) -> Result<Task, Fault> {
        self.set(worker, id, Status::InProgress, None, now_ms)
    }

    /// Finishes a task.
    pub fn complete(
        &mut self,
        worker: &str,
        id: TaskId,
        note: Option<&str>,
        now_ms: i64,
    ) -> Result<Task, Fault> {
        self.set(worker, id, Status::Completed, note, now_ms)
    }

    /// Gives a task up.
    pub fn fail(&mut self, worker: &str, id: TaskId, note: &str, now_ms: i64) -> Result<Task, Fault> {
        self.set(worker, id, Status::Failed, Some(note), now_ms)
    }

    /// Gives a task back: it is open again.
    pub fn release(
        &mut self,
        worker: &str,
        id: TaskId,
        note: Option<&str>,
        now_ms: i64,
    ) -> Result<Task, Fault> {
        self.set(worker, id, Status::Open, note, now_ms)
    }

    /// Gives an open task to a worker, who need not be there yet.
    pub fn assign(&mut self, id: TaskId, worker: &str, now_ms: i64) -> Result<Task, Fault> {
        let worker = checked_name(worker)?;
        self.change(|change| {
            let task = of(change, id)?;
            match (task.status, task.assignee) {
                (Status::Open | Status::Assigned, _) => {}
                (status @ (Status::Completed | Status::Failed), by) => {
                    return Err(Fault::Finished { id, status, by: by.unwrap_or_default() }.into());
                }
                (status, by) => {
                    let by = by.unwrap_or_default();
                    return Err(Fault::NotYours { id, by, status, me: worker.to_owned() }.into());
                }
            }
            change.execute(
                "UPDATE tasks SET status = 'assigned', assignee = ?2, updated_ms = ?3 WHERE id = ?1",
                params![id.0, worker, now_ms],
            )?;
            tell(change, id, now_ms, Some(worker), "assigned", None)?;
            of(change, id)
        })
    }

    fn set(
        &mut self,
        worker: &str,
        id: TaskId,
        status: Status,
        note: Option<&str>,
        now_ms: i64,
    ) -> Result<Task, Fault> {
        self.change(|change| {
            named(change, worker)?;
            in_hand(&of(change, id)?, worker)?;
            let (what, activity) = match status {
                Status::Completed => ("completed", Some(Activity::Completed)),
                Status::Failed => ("failed", Some(Activity::Failed)),
                Status::InProgress => ("started", None),
                Status::Open | Status::Assigned | Status::Accepted => ("released", None),
            };
            change.execute(
                "UPDATE tasks SET status = ?2, assignee = ?3, note = ?4, updated_ms = ?5 WHERE id = ?1",
                params![id.0, status, (status != Status::Open).then_some(worker), note, now_ms],
            )?;
            tell(change, id, now_ms, Some(worker), what, note)?;
            touch(change, worker, now_ms, activity)?;
            of(change, id)
        })
    }
}

/// A task, within a look or a change.
pub(super) fn of(look: &Connection, id: TaskId) -> Result<Task, Broken> {
    let query = format!("SELECT {COLUMNS} FROM tasks WHERE id = ?1");
    look.query_row(&query, [id.0], Task::of).optional()?.ok_or_else(|| Fault::NoTask(id).into())
}

/// A task that a worker may take: an open one, or one of its own.
fn free_for(task: &Task, worker: &str) -> Result<TaskId, Fault> {
    let id = task.id;
    match (task.status, task.assignee.as_deref().unwrap_or_default()) {
        (Status::Open, _) => Ok(id),
        (status, by) if status.is_over() => Err(Fault::Finished { id, status, by: by.to_owned() }),
        (_, by) if by == worker => Ok(id),
        (status, by) => Err(Fault::NotYours { id, by: by.to_owned(), status, me: worker.to_owned() }),
    }
}

/// Whether a task is in a worker's hand.
fn in_hand(task: &Task, worker: &str) -> Result<(), Fault> {
    if task.status == Status::Open {
        let why = task.note.as_deref().map(|note| format!(" (it came back: {note})")).unwrap_or_default();
        return Err(Fault::NotClaimed { id: task.id, why });
    }
    free_for(task, worker).map(drop)
}

fn text(path: Option<&Path>) -> Option<String> {
    path.map(|path| path.to_string_lossy().into_owned())
}
