//! Looks up the pending tasks of a session: in the registry, a JSON file, a command's output or an
//! HTTP endpoint. Must not decide what that means for a stop, or ask a source on behalf of a
//! session that is not a worker.

mod command;
mod file;
#[cfg_attr(not(feature = "http"), path = "http_absent.rs")]
mod http;
mod json;

#[cfg(feature = "http")]
pub use http::is_private;

use std::path::Path;
use std::time::{Duration, Instant};

use crate::config::{TaskSource, TasksConfig};
use crate::env::{self, Env};
use crate::registry::{Registry, RegistryError, Status, Task, TaskFilter, Worker};

/// A task that is assigned and not over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingTask {
    pub id: String,
    pub title: String,
    /// One of [`PENDING`].
    pub status: Status,
}

/// Whose tasks to look up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskQuery {
    /// The worker's name, if the session has one.
    pub agent: Option<String>,
    pub session: Option<String>,
}

/// Reserved for the hook to finish after the lookup.
const RESERVED: Duration = Duration::from_secs(2);

/// The statuses of tasks that are assigned and not over.
pub const PENDING: [Status; 3] = [Status::Assigned, Status::Accepted, Status::InProgress];

/// The result of a lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookupOutcome {
    /// The pending tasks; may be none.
    Found(Vec<PendingTask>),
    /// The session is not a worker.
    NoWorker,
    NoFile,
    /// The source could not be read, for this reason.
    Failed(String),
}

#[derive(Debug, Clone, Copy)]
pub struct Lookup<'a> {
    pub config: &'a TasksConfig,
    /// Holds the token for HTTP.
    pub env: &'a Env,
    pub project: &'a Path,
    pub query: &'a TaskQuery,
    /// When the stop must be over, whatever `timeout` says.
    pub deadline: Instant,
}

impl Lookup<'_> {
    fn time(&self) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.config.timeout.min(left.saturating_sub(RESERVED))
    }

    /// Returns whether a path or URL names the worker, in which case tasks without an assignee are
    /// the worker's, too.
    fn names_query(text: &str) -> bool {
        text.contains(AGENT) || text.contains(SESSION)
    }

    /// Fills the placeholders of a path or URL; `None` if the name for one is missing.
    fn fill(&self, text: &str, quote: impl Fn(&str) -> String) -> Option<String> {
        let mut filled = text.to_owned();
        for (mark, name) in [(AGENT, &self.query.agent), (SESSION, &self.query.session)] {
            if filled.contains(mark) {
                filled = filled.replace(mark, &quote(name.as_deref()?));
            }
        }
        Some(filled)
    }
}

const AGENT: &str = "{agent}";
const SESSION: &str = "{session}";

/// A query with the data it was resolved from.
#[derive(Debug, Default)]
pub struct ResolvedQuery {
    pub query: TaskQuery,
    pub worker: Option<Worker>,
    pub registry: Option<Registry>,
}

/// Returns the query for a session: its registered worker, or the one named by the config or the
/// environment.
pub fn resolve_query(
    config: &TasksConfig,
    env: &Env,
    state: &Path,
    fleet: Option<&str>,
    session: Option<&str>,
) -> Result<ResolvedQuery, RegistryError> {
    let named = env.text(env::WORKER);
    let mut registry = Registry::open_for_stop(state, fleet, session, named.as_deref())?;
    let worker = match (session, &mut registry) {
        (Some(session), Some(registry)) => registry.record_stop(session, named.as_deref())?,
        _ => None,
    };
    Ok(ResolvedQuery { query: query_of(config, env, session, worker.as_ref()), worker, registry })
}

/// Returns the query for a session that is this worker, or none.
pub fn query_of(
    config: &TasksConfig,
    env: &Env,
    session: Option<&str>,
    worker: Option<&Worker>,
) -> TaskQuery {
    let registered = worker.map(|worker| worker.name.clone());
    let agent = match config.source {
        // In the registry a name alone does not count: it may be another session's.
        TaskSource::Registry => registered,
        _ => (!config.agent.is_empty())
            .then(|| config.agent.clone())
            .or_else(|| env.text(env::WORKER))
            .or(registered),
    };
    TaskQuery { agent, session: session.map(str::to_owned) }
}

/// Selects a worker's tasks that are not over.
pub fn in_hand_of(worker: &str) -> TaskFilter {
    TaskFilter { statuses: PENDING.to_vec(), assignee: Some(worker.to_owned()), ..TaskFilter::default() }
}

/// Looks up the pending tasks in the configured source.
pub fn find_pending(lookup: &Lookup<'_>, registry: Option<&mut Registry>) -> LookupOutcome {
    match lookup.config.source {
        TaskSource::Off => LookupOutcome::NoWorker,
        TaskSource::Registry => find_in_registry(lookup, registry)
            .unwrap_or_else(|fault| LookupOutcome::Failed(fault.to_string())),
        TaskSource::File => file::find_pending(lookup),
        TaskSource::Command => command::find_pending(lookup),
        TaskSource::Http => http::find_pending(lookup),
    }
}

fn find_in_registry(
    lookup: &Lookup<'_>,
    registry: Option<&mut Registry>,
) -> Result<LookupOutcome, RegistryError> {
    let Some(agent) = &lookup.query.agent else { return Ok(LookupOutcome::NoWorker) };
    let Some(registry) = registry else { return Ok(LookupOutcome::NoWorker) };
    Ok(LookupOutcome::of(&registry.tasks(&in_hand_of(agent))?))
}

impl LookupOutcome {
    /// The outcome for a worker's tasks in the registry that are not over.
    pub fn of(tasks: &[Task]) -> Self {
        let pending = |task: &Task| PendingTask {
            id: task.id.to_string(),
            title: task.title.clone(),
            status: task.status,
        };
        Self::Found(tasks.iter().map(pending).collect())
    }
}

/// Returns the pending tasks in a source's JSON.
fn find_in_json(lookup: &Lookup<'_>, bytes: &[u8], is_for_asker: bool) -> Result<LookupOutcome, String> {
    json::parse_pending(bytes, lookup.query, is_for_asker).map(LookupOutcome::Found)
}

#[cfg(test)]
impl LookupOutcome {
    /// Looks up the tasks of an agent in the session `s1`.
    fn for_agent(config: &TasksConfig, project: &Path, agent: Option<&str>) -> Self {
        let query = TaskQuery { agent: agent.map(Into::into), session: Some("s1".into()) };
        let deadline = Instant::now() + Duration::from_secs(20);
        find_pending(&Lookup { config, env: &Env::default(), project, query: &query, deadline }, None)
    }

    #[track_caller]
    fn found(self) -> Vec<PendingTask> {
        match self {
            Self::Found(tasks) => tasks,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn error(self) -> String {
        match self {
            Self::Failed(why) => why,
            other => panic!("{other:?}"),
        }
    }
}
