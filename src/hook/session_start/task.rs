//! The task that a session is at: takes who it is, gives what the tasks' source says in lines, where `[tasks]` or `[worker]` is set.
//! What can't be told is nothing: a session's start must not wait for it, or fail with it.

use crate::config::{TaskSource, TasksConfig};
use crate::hook::session_start::Start;
use crate::tasks::{Lookup, LookupOutcome, ResolvedQuery, find_pending, resolve_query};

/// The tasks in hand, one a line; `None` where there is none, or nobody knows.
pub fn current(start: &Start<'_>) -> Option<String> {
    let mut config: TasksConfig = start.config.tasks.clone();
    if config.source == TaskSource::Off {
        if !start.config.worker.keep_alive {
            return None;
        }
        config.source = TaskSource::Registry;
    }
    let session = start.input.session_id.as_deref();
    let ResolvedQuery { query, mut registry, .. } =
        resolve_query(&config, start.env, start.state.root(), session, start.started_ms).ok()?;
    let lookup = Lookup {
        config: &config,
        env: start.env,
        project: start.project,
        query: &query,
        deadline: start.deadline,
    };
    let LookupOutcome::Found(tasks) = find_pending(&lookup, registry.as_mut()) else { return None };
    let lines = tasks.iter().map(|task| format!("{} ({}): {}\n", task.id, task.status.name(), task.title));
    Some(lines.collect::<String>()).filter(|text| !text.is_empty())
}
