//! A session starts, goes on or was compacted: takes what the client says of it and what the config names, gives what the agent
//! is told. Here the world is touched in order: what is remembered, the files, what is remembered again. Must not read a
//! transcript, hold anybody or keep a session from starting: what can't be read is left out.
//!
//! What is counted of a session begins anew where it starts or is taken up again: a person, or a program for one, is there again.
//! A compaction is in the midst of a turn that may be held, and happens by itself: were its counts to begin anew, a session could
//! be held without end. What was told, disputed and audited stays known in each case.

mod files;
mod given;
pub mod task;
mod text;

use std::path::Path;
use std::time::Instant;

use crate::client::env_vars;
use crate::config::Config;
use crate::env::{self, Env};
use crate::hook::{HookInput, Reply};
use crate::state::{Given, SessionState, StateFolder};

/// The client's word for a session whose context was compacted.
const COMPACT: &str = "compact";

/// A session that starts.
#[derive(Debug)]
pub struct Start<'a> {
    /// What the client says of it.
    pub input: &'a HookInput,
    /// The environment.
    pub env: &'a Env,
    /// The settings in force.
    pub config: &'a Config,
    /// What is remembered.
    pub state: &'a StateFolder,
    /// Under which name the session is remembered.
    pub session: &'a str,
    /// The project's folder.
    pub project: &'a Path,
    /// When this process started, in milliseconds since 1970.
    pub started_ms: i64,
    /// By when everything has to be over.
    pub deadline: Instant,
}

/// What the agent is told; and begins the session's counts anew. `task` gives what it is at, where somebody knows. A fault in
/// remembering is told to `complain`.
pub fn begin(
    start: &Start<'_>,
    task: impl FnOnce() -> Option<String>,
    complain: impl FnOnce(String),
) -> Reply {
    let Start { input, env, config, state, session, project, started_ms, .. } = *start;
    if env.get(env::INSIDE_AUDITOR).is_some() {
        return Reply::Silent;
    }
    let is_on = config.gates.enabled && state.switched_off(project, session).is_none();
    let parts = if is_on { files::parts(start, task) } else { None };
    let text = parts.and_then(|parts| text::text(&parts, &config.memory));
    let source = input.source.as_deref().unwrap_or_default();
    let begins_anew = source != COMPACT && state.session(session).has_counts();
    if text.is_none() && !begins_anew {
        return Reply::Silent;
    }
    let now = Given {
        source: source.to_owned(),
        client: env.text(env_vars::PID).unwrap_or_default(),
        at_ms: started_ms,
    };
    let mut is_given = false;
    let written = state.update_session(session, |remembered: &mut SessionState| {
        if begins_anew {
            remembered.count_anew();
        }
        if text.is_some() {
            is_given = remembered.given.as_ref().is_some_and(|last| given::is_same_start(last, &now));
            remembered.given = Some(now);
        }
    });
    if let Err(error) = written {
        complain(format!(
            "what is counted of this session can't be written: {}: {error}",
            state.root().display()
        ));
    }
    text.filter(|_| !is_given).map_or(Reply::Silent, Reply::Context)
}
