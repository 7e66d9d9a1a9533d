//! Where an agent's tasks are looked up: the registry, a JSON file, a command that prints JSON, an HTTP endpoint. Takes the
//! settings and who is asking, gives the tasks that are that one's and not over, or why they can't be told. Must not decide what
//! that means for a stop, and must not ask anybody on behalf of a session that is no worker.

mod command;
mod file;
mod http;
pub mod json;

use std::path::Path;
use std::time::{Duration, Instant};

use crate::config::{TaskSource, TasksConfig};
use crate::env::{self, Env};
use crate::registry::{Fault, Patience, Registry, Status, Wanted, Worker};

/// A task that is somebody's and not over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Its name.
    pub id: String,
    /// In a line.
    pub title: String,
    /// How it stands: `assigned`, `accepted` or `in_progress`.
    pub status: Status,
}

/// Who is asking.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskQuery {
    /// The name under which tasks are this one's, where there is one.
    pub agent: Option<String>,
    /// The client's session.
    pub session: Option<String>,
}

/// What is left of a hook's time to finish in.
const ROOM_TO_ANSWER: Duration = Duration::from_secs(2);

/// The statuses of tasks that are somebody's and not over.
pub const PENDING: [Status; 3] = [Status::Assigned, Status::Accepted, Status::InProgress];

/// What came of looking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Looked {
    /// These are left to do; maybe none.
    Found(Vec<Pending>),
    /// The session is nobody whom tasks are given to.
    NoWorker,
    /// There is no file with tasks.
    NoFile,
    /// It can't be told.
    Failed(String),
}

/// All that looking needs.
#[derive(Debug, Clone, Copy)]
pub struct Lookup<'a> {
    /// The settings.
    pub config: &'a TasksConfig,
    /// The environment: the token is in it.
    pub env: &'a Env,
    /// The project's folder.
    pub project: &'a Path,
    /// Who is asking.
    pub asker: &'a TaskQuery,
    /// By when it has to be over, whatever the settings say.
    pub deadline: Instant,
}

impl Lookup<'_> {
    /// How long this may take.
    fn time(&self) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.config.timeout.min(left.saturating_sub(ROOM_TO_ANSWER))
    }

    /// Whether a text names who is asking: what is found by it is that one's, even where no assignee stands on it.
    fn names_asker(text: &str) -> bool {
        text.contains(AGENT) || text.contains(SESSION)
    }

    /// A text with the names of who is asking filled in by `quote`; `None` where it needs a name that there is not.
    fn filled(&self, text: &str, quote: impl Fn(&str) -> String) -> Option<String> {
        let mut filled = text.to_owned();
        for (mark, name) in [(AGENT, &self.asker.agent), (SESSION, &self.asker.session)] {
            if filled.contains(mark) {
                filled = filled.replace(mark, &quote(name.as_deref()?));
            }
        }
        Some(filled)
    }
}

const AGENT: &str = "{agent}";
const SESSION: &str = "{session}";

/// Who is asking, with what was found out on the way.
#[derive(Debug, Default)]
pub struct Asked {
    /// Who.
    pub asker: TaskQuery,
    /// The worker that the session is.
    pub worker: Option<Worker>,
    /// The registry, where there is one.
    pub registry: Option<Registry>,
}

/// Who a session is: the worker that it registered, or whom the settings or its environment name.
pub fn asker(
    config: &TasksConfig,
    env: &Env,
    state: &Path,
    session: Option<&str>,
    now_ms: i64,
) -> Result<Asked, Fault> {
    let named = env.text(env::WORKER);
    let mut registry = Registry::open_if_there(state, Patience::Stop)?;
    let worker = match (session, &mut registry) {
        (Some(session), Some(registry)) => registry.seen(session, named.as_deref(), now_ms)?,
        _ => None,
    };
    let agent = match (&worker, config.source) {
        (Some(worker), TaskSource::Registry) => Some(worker.name.clone()),
        // In the registry nobody is a worker by a name alone: another session may have it.
        (None, TaskSource::Registry) => None,
        (worker, _) => (!config.agent.is_empty())
            .then(|| config.agent.clone())
            .or(named)
            .or_else(|| worker.as_ref().map(|worker| worker.name.clone())),
    };
    Ok(Asked { asker: TaskQuery { agent, session: session.map(str::to_owned) }, worker, registry })
}

/// Looks the tasks up.
pub fn look(lookup: &Lookup<'_>, registry: Option<&mut Registry>) -> Looked {
    match lookup.config.source {
        TaskSource::Off => Looked::NoWorker,
        TaskSource::Registry => {
            in_registry(lookup, registry).unwrap_or_else(|fault| Looked::Failed(fault.to_string()))
        }
        TaskSource::File => file::look(lookup),
        TaskSource::Command => command::look(lookup),
        TaskSource::Http => http::look(lookup),
    }
}

fn in_registry(lookup: &Lookup<'_>, registry: Option<&mut Registry>) -> Result<Looked, Fault> {
    let Some(agent) = &lookup.asker.agent else { return Ok(Looked::NoWorker) };
    let Some(registry) = registry else { return Ok(Looked::NoWorker) };
    let wanted = Wanted { statuses: PENDING.to_vec(), assignee: Some(agent.clone()), ..Wanted::default() };
    let tasks = registry.tasks(&wanted)?.into_iter();
    Ok(Looked::Found(
        tasks
            .map(|task| Pending { id: task.id.to_string(), title: task.title, status: task.status })
            .collect(),
    ))
}

/// Those of a JSON text that are the asker's.
fn found(lookup: &Lookup<'_>, bytes: &[u8], is_askers: bool) -> Result<Looked, String> {
    let tasks = json::tasks_in(bytes)?;
    Ok(Looked::Found(json::pending_of(&tasks, lookup.asker, is_askers)))
}
