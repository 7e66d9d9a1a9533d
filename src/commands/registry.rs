//! What the commands of the registry share: the file, the worker, the project and the time.

use std::path::PathBuf;

use jiff::Timestamp;

use crate::client::env_vars;
use crate::env::{self, Env};
use crate::registry::project::project_of;
use crate::registry::{Registry, RegistryError};
use crate::state::StateFolder;

/// The registry of this state folder.
pub(super) fn open(env: &Env) -> Result<Registry, RegistryError> {
    Registry::open(StateFolder::find(env).root())
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// The session that runs this command, if any.
pub(super) fn session(env: &Env) -> Option<String> {
    env.text(env_vars::SESSION_ID)
}

/// The current project; all worktrees of a repository are one.
pub(super) fn project(env: &Env) -> PathBuf {
    let started_in = env.path(env_vars::PROJECT_DIR).filter(|folder| folder.is_dir());
    let here = started_in.or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    project_of(&here)
}

/// The worker's name: as given, else from the environment, else the session's worker.
pub(super) fn worker_name(
    named: Option<&str>,
    env: &Env,
    registry: &mut Registry,
) -> Result<String, RegistryError> {
    if let Some(name) = named.map(str::to_owned).or_else(|| env.text(env::WORKER)) {
        return Ok(name);
    }
    let session = session(env).ok_or(RegistryError::Nobody)?;
    registry.worker_of_session(&session)?.map(|worker| worker.name).ok_or(RegistryError::Nobody)
}
