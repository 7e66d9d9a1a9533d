//! What the commands of the registry share: the file, who is asking, where, and what time it is.

use std::path::PathBuf;

use jiff::Timestamp;

use crate::client::env_vars;
use crate::env::{self, Env};
use crate::registry::project::project_of;
use crate::registry::{Fault, Registry};
use crate::state::StateFolder;

/// The registry of this state folder.
pub(super) fn open(env: &Env) -> Result<Registry, Fault> {
    Registry::open(StateFolder::find(env).root())
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// The session that runs this, where one does.
pub(super) fn session(env: &Env) -> Option<String> {
    env.text(env_vars::SESSION_ID)
}

/// The project here: all worktrees of a repository are one.
pub(super) fn project(env: &Env) -> PathBuf {
    let started_in = env.path(env_vars::PROJECT_DIR).filter(|folder| folder.is_dir());
    let here = started_in.or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    project_of(&here)
}

/// Who is asking: whom it names, else whom the environment names, else the worker that the session is.
pub(super) fn who(named: Option<&str>, env: &Env, registry: &mut Registry) -> Result<String, Fault> {
    if let Some(name) = named.map(str::to_owned).or_else(|| env.text(env::WORKER)) {
        return Ok(name);
    }
    let session = session(env).ok_or(Fault::Nobody)?;
    registry.worker_of(&session)?.map(|worker| worker.name).ok_or(Fault::Nobody)
}
