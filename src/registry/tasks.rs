//! What can be done with tasks, each in one transaction, so no task is claimed twice. Must not read
//! the clock.

use std::path::Path;
use std::time::Instant;

use super::lease::{add_event, end, expire, give_back};
use super::store::{NextClaim, NextOutcome, RegistryRow, Tx, Value, values};
use super::task::{COLUMNS, Event, NewTask, Status, Task, TaskFilter, TaskId};
use super::worker::{check_name, lock_worker, path_text, record_heartbeat};
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

/// The longest lease: ten years. A longer one could not be added to a time.
const LONGEST_LEASE_MS: i64 = 10 * 366 * 24 * 3600 * 1000;

/// How often leases are swept before a claim in one statement; then it is done in several.
const SWEEPS: u32 = 3;

impl Registry {
    pub fn add(&mut self, new: &NewTask) -> Result<Task, RegistryError> {
        let assignee = new.assignee.as_deref().map(check_name).transpose()?;
        let status = if assignee.is_some() { Status::Assigned } else { Status::Open };
        self.write(|tx| {
            let mut after = new.after.clone();
            after.sort_unstable();
            after.dedup();
            let mut waits = 0;
            for earlier in &after {
                waits += i64::from(lock_task(tx, *earlier)?.status != Status::Completed);
            }
            let row = tx.row(
                "INSERT INTO tasks (title, body, queue, project, priority, status, assignee, created_ms, updated_ms,
                 waits, retries) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?10) RETURNING id",
                values![
                    &new.title,
                    &new.body,
                    &new.queue,
                    path_text(new.project.as_deref()),
                    new.priority,
                    status,
                    assignee,
                    tx.now_ms,
                    waits,
                    new.retries
                ],
            )?;
            let id = TaskId(row.ok_or_else(|| RegistryError::strange(0))?.int(0)?);
            for earlier in &after {
                let insert = "INSERT INTO prerequisites (task, earlier) VALUES (?1, ?2)";
                tx.run(insert, values![id.0, earlier.0])?;
            }
            add_event(tx, id, None, "added", None)?;
            if assignee.is_some() {
                add_event(tx, id, assignee, "assigned", None)?;
            }
            tx.store.wake_waiters(&new.queue, assignee)?;
            find_task(tx, id)
        })
    }

    pub fn task(&mut self, id: TaskId) -> Result<Task, RegistryError> {
        self.read(|tx| find_task(tx, id))
    }

    /// The tasks that a task was added to come after.
    pub fn prerequisites(&mut self, id: TaskId) -> Result<Vec<TaskId>, RegistryError> {
        self.read(|tx| {
            let rows =
                tx.rows("SELECT earlier FROM prerequisites WHERE task = ?1 ORDER BY earlier", values![id.0])?;
            rows.iter().map(|row| row.int(0).map(TaskId)).collect()
        })
    }

    /// The tasks that a filter selects, oldest first.
    pub fn tasks(&mut self, wanted: &TaskFilter) -> Result<Vec<Task>, RegistryError> {
        let mut clauses = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        let mut bind = |clause: &str, value: &str| {
            values.push(value.into());
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
        self.read(|tx| {
            let rows =
                tx.rows(&format!("SELECT {COLUMNS} FROM tasks WHERE {clauses} ORDER BY id"), &values)?;
            rows.iter().map(Task::from_row).collect()
        })
    }

    /// The last task that a worker claimed since then, by the backend's clock, and has in hand.
    pub fn claimed_since(&mut self, worker: &str, then: Instant) -> Result<Option<Task>, RegistryError> {
        let statuses = vec![Status::Accepted];
        let mine = TaskFilter { statuses, assignee: Some(worker.to_owned()), ..TaskFilter::default() };
        let tasks = self.tasks(&mine)?;
        // Later than the time that was read, so that it is too early rather than too late.
        let ago = i64::try_from(then.elapsed().as_millis()).unwrap_or(i64::MAX);
        let since = self.now_ms.saturating_sub(ago);
        Ok(tasks.into_iter().rfind(|task| task.claimed_ms >= Some(since)))
    }

    /// The history of a task, oldest first.
    pub fn history(&mut self, id: TaskId) -> Result<Vec<Event>, RegistryError> {
        self.read(|tx| {
            let select = "SELECT at_ms, worker, what, note FROM events WHERE task = ?1 ORDER BY id";
            tx.rows(select, values![id.0])?.iter().map(Event::from_row).collect()
        })
    }

    /// The number of tasks per status, of one project or of all.
    pub fn counts(&mut self, project: Option<&Path>) -> Result<Vec<(Status, i64)>, RegistryError> {
        self.read(|tx| {
            let rows = tx.rows(
                "SELECT status, count(*) FROM tasks WHERE ?1 IS NULL OR project IS NULL OR project = ?1 GROUP BY status",
                values![path_text(project)],
            )?;
            let count = |row| Ok((Status::in_row(row, 0)?, row.int(1)?));
            let mut counts: Vec<_> = rows.iter().map(count).collect::<Result<_, RegistryError>>()?;
            counts.sort_unstable();
            Ok(counts)
        })
    }

    /// Claims a task for a worker: the one that it names, else the next that was assigned to it,
    /// else the next open one.
    pub fn claim(
        &mut self,
        worker: &str,
        choice: ClaimRequest<'_>,
        lease_ms: i64,
    ) -> Result<Option<Task>, RegistryError> {
        let lease_ms = lease_ms.clamp(1, LONGEST_LEASE_MS);
        let project = path_text(choice.project);
        let (queue, project) = (choice.queue, project.as_deref());
        let next = NextClaim { worker, queue, project, lease_ms, now_ms: self.fixed_ms };
        let mut sweeps = if choice.id.is_none() { SWEEPS } else { 0 };
        while sweeps > 0 {
            match self.claim_next(next)? {
                NextOutcome::Claimed(row, now_ms) => {
                    self.now_ms = now_ms;
                    return row.as_ref().map(Task::from_row).transpose();
                }
                NextOutcome::NoWorker => return Err(RegistryError::NoWorker(worker.to_owned())),
                NextOutcome::LeasesDue => {
                    // The worker's sign of life came first, so that it keeps the tasks that it has.
                    self.write(expire)?;
                    sweeps -= 1;
                }
                NextOutcome::Unsupported => sweeps = 0,
            }
        }
        self.write(|tx| {
            let me = lock_worker(tx, worker)?;
            // Before `expire`, so that the worker keeps the tasks that it has.
            record_heartbeat(tx, worker, None)?;
            expire(tx)?;
            let task = match choice.id {
                Some(id) => {
                    let task = lock_task(tx, id)?;
                    check_claimable(&task, worker)?;
                    Some(task)
                }
                None => find_next(tx, worker, queue.unwrap_or(&me.queue), project)?,
            };
            let Some(task) = task else { return Ok(None) };
            if task.status.is_in_hand() {
                return Ok(Some(task));
            }
            check_prerequisites(tx, &task)?;
            tx.run(
                "UPDATE tasks SET status = 'accepted', assignee = ?2, claimed_ms = ?3, updated_ms = ?3, note = NULL,
                 attempts = attempts + 1, lease_ms = ?4, lease_until_ms = ?3 + ?4 WHERE id = ?1",
                values![task.id.0, worker, tx.now_ms, lease_ms],
            )?;
            add_event(tx, task.id, Some(worker), "claimed", None)?;
            record_heartbeat(tx, worker, Some(Activity::Claimed))?;
            find_task(tx, task.id).map(Some)
        })
    }

    /// Assigns an open task to a worker, who need not be registered yet.
    pub fn assign(&mut self, id: TaskId, worker: &str) -> Result<Task, RegistryError> {
        let worker = check_name(worker)?;
        self.write(|tx| {
            let task = lock_task(tx, id)?;
            match (task.status, task.assignee) {
                (Status::Open | Status::Assigned, _) => {}
                (status, by) if status.is_over() => {
                    return Err(RegistryError::Finished { id, status, by: by.unwrap_or_default() });
                }
                (status, by) => {
                    let by = by.unwrap_or_default();
                    return Err(RegistryError::NotYours { id, by, status, me: worker.to_owned() });
                }
            }
            tx.run(
                "UPDATE tasks SET status = 'assigned', assignee = ?2, updated_ms = ?3 WHERE id = ?1",
                values![id.0, worker, tx.now_ms],
            )?;
            add_event(tx, id, Some(worker), "assigned", None)?;
            tx.store.wake_waiters(&task.queue, Some(worker))?;
            find_task(tx, id)
        })
    }

    /// Sets the status of a worker's task; `Status::Open` returns it to its queue. A task that
    /// failed is open again where it may be tried once more, and dead where it was tried often
    /// enough.
    pub fn set(
        &mut self,
        worker: &str,
        id: TaskId,
        status: Status,
        note: Option<&str>,
    ) -> Result<Task, RegistryError> {
        self.write(|tx| {
            lock_worker(tx, worker)?;
            let mut task = lock_task(tx, id)?;
            if status == Status::Completed && came_back_from(tx, &task, worker)? {
                task = take_back(tx, id, worker)?;
            }
            check_assigned(&task, worker)?;
            let (what, activity) = match status {
                Status::Completed => ("completed", Some(Activity::Completed)),
                Status::Failed | Status::Dead => ("failed", Some(Activity::Failed)),
                Status::InProgress => ("started", None),
                Status::Open | Status::Assigned | Status::Accepted => ("released", None),
            };
            add_event(tx, id, Some(worker), what, note)?;
            match status {
                Status::Completed => {
                    end(tx, id, status, note)?;
                    release_dependants(tx, id)?;
                }
                Status::Failed | Status::Dead if task.may_retry() => {
                    give_back(tx, &task, &format!("failed: {}", note.unwrap_or("no reason given")))?;
                    add_event(tx, id, None, "returned", Some(&tries(&task)))?;
                }
                Status::Failed | Status::Dead if task.retries.is_some() => {
                    end(tx, id, Status::Dead, note)?;
                    add_event(tx, id, None, "died", Some(&tries(&task)))?;
                }
                Status::Failed | Status::Dead => end(tx, id, Status::Failed, note)?,
                Status::InProgress => end(tx, id, status, note)?,
                Status::Open | Status::Assigned | Status::Accepted => {
                    give_back(tx, &task, note.unwrap_or_default())?;
                    if note.is_none() {
                        tx.run("UPDATE tasks SET note = NULL WHERE id = ?1", values![id.0])?;
                    }
                }
            }
            record_heartbeat(tx, worker, activity)?;
            find_task(tx, id)
        })
    }

    /// Opens a task again that is failed or dead, with all its tries.
    pub fn retry(&mut self, id: TaskId) -> Result<Task, RegistryError> {
        self.write(|tx| {
            let task = lock_task(tx, id)?;
            if !matches!(task.status, Status::Failed | Status::Dead) {
                return Err(RegistryError::NotOver { id, status: task.status });
            }
            give_back(tx, &task, "tried anew")?;
            tx.run("UPDATE tasks SET attempts = 0 WHERE id = ?1", values![id.0])?;
            add_event(tx, id, None, "retried", None)?;
            find_task(tx, id)
        })
    }
}

/// How many of its tries a task has used.
fn tries(task: &Task) -> String {
    format!("try {} of {}", task.attempts, task.retries.unwrap_or_default() + 1)
}

/// Finds the next task that a worker may claim, locked.
fn find_next(
    tx: &mut Tx<'_>,
    worker: &str,
    queue: &str,
    project: Option<&str>,
) -> Result<Option<Task>, RegistryError> {
    let order = format!("ORDER BY priority DESC, id LIMIT 1{}", tx.store.free_row_lock());
    let assigned = format!(
        "SELECT {COLUMNS} FROM tasks WHERE status = 'assigned' AND assignee = ?1 AND waits = 0 {order}"
    );
    let open = format!(
        "SELECT {COLUMNS} FROM tasks WHERE status = 'open' AND waits = 0 AND queue = ?1
         AND (?2 IS NULL OR project IS NULL OR project = ?2) {order}"
    );
    let row = match tx.row(&assigned, values![worker])? {
        Some(row) => Some(row),
        None => tx.row(&open, values![queue, project])?,
    };
    row.as_ref().map(Task::from_row).transpose()
}

/// Lets the tasks go on that waited for one that is completed now.
fn release_dependants(tx: &mut Tx<'_>, id: TaskId) -> Result<(), RegistryError> {
    let rows = tx.rows(
        "UPDATE tasks SET waits = waits - 1 WHERE id IN (SELECT task FROM prerequisites WHERE earlier = ?1)
         RETURNING waits, queue, assignee",
        values![id.0],
    )?;
    for row in rows {
        if row.int(0)? == 0 {
            tx.store.wake_waiters(&row.text(1)?, row.optional_text(2).as_deref())?;
        }
    }
    Ok(())
}

/// Returns an error that names the tasks that a task waits for, if there are any.
fn check_prerequisites(tx: &mut Tx<'_>, task: &Task) -> Result<(), RegistryError> {
    if task.waits == 0 {
        return Ok(());
    }
    let rows = tx.rows(
        "SELECT id FROM tasks WHERE status <> 'completed'
         AND id IN (SELECT earlier FROM prerequisites WHERE task = ?1) ORDER BY id",
        values![task.id.0],
    )?;
    let after: Vec<_> =
        rows.iter().filter_map(|row| row.number(0)).map(|id| TaskId(id).to_string()).collect();
    Err(RegistryError::Waits { id: task.id, after: after.join(", ") })
}

fn find_task(tx: &mut Tx<'_>, id: TaskId) -> Result<Task, RegistryError> {
    let row = tx.row(&format!("SELECT {COLUMNS} FROM tasks WHERE id = ?1"), values![id.0])?;
    Task::from_row(&row.ok_or(RegistryError::NoTask(id))?)
}

/// Finds a task that nobody else changes until the end of the transaction.
fn lock_task(tx: &mut Tx<'_>, id: TaskId) -> Result<Task, RegistryError> {
    let select = format!("SELECT {COLUMNS} FROM tasks WHERE id = ?1{}", tx.store.row_lock());
    let row = tx.row(&select, values![id.0])?;
    Task::from_row(&row.ok_or(RegistryError::NoTask(id))?)
}

/// Checks that a task is open or the worker's own.
fn check_claimable(task: &Task, worker: &str) -> Result<(), RegistryError> {
    let id = task.id;
    match (task.status, task.assignee.as_deref().unwrap_or_default()) {
        (Status::Open, _) => Ok(()),
        (status, by) if status.is_over() => Err(RegistryError::Finished { id, status, by: by.to_owned() }),
        (_, by) if by == worker => Ok(()),
        (status, by) => Err(RegistryError::NotYours { id, by: by.to_owned(), status, me: worker.to_owned() }),
    }
}

/// Whether a task is open because this worker was silent for too long, and nobody has taken it since.
fn came_back_from(tx: &mut Tx<'_>, task: &Task, worker: &str) -> Result<bool, RegistryError> {
    if task.status != Status::Open {
        return Ok(false);
    }
    let select = "SELECT what, worker, at_ms FROM events WHERE task = ?1 ORDER BY id DESC LIMIT 1";
    let Some(last) = tx.row(select, values![task.id.0])? else { return Ok(false) };
    // Whoever leaves gives its tasks back before their leases end.
    let has_ended = task.lease_until_ms.is_some_and(|end| last.number(2) >= Some(end));
    Ok(has_ended && last.text(0)? == "returned" && last.optional_text(1).as_deref() == Some(worker))
}

/// Makes a task the worker's again, whose lease ended; it is the same try.
fn take_back(tx: &mut Tx<'_>, id: TaskId, worker: &str) -> Result<Task, RegistryError> {
    tx.run("UPDATE tasks SET status = 'in_progress', assignee = ?2 WHERE id = ?1", values![id.0, worker])?;
    find_task(tx, id)
}

/// Checks that a task is the worker's.
fn check_assigned(task: &Task, worker: &str) -> Result<(), RegistryError> {
    if task.status == Status::Open {
        let why = task.note.as_deref().map(|note| format!(" (it came back: {note})")).unwrap_or_default();
        return Err(RegistryError::NotClaimed { id: task.id, why });
    }
    check_claimable(task, worker)
}
