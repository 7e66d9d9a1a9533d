//! A session starts, goes on or was compacted: takes what the client says of it and what the config names, gives what the agent
//! is told. Here the world is touched in order: what is remembered, the files, what is remembered again. Must not read a
//! transcript, hold anybody or keep a session from starting: what can't be read is left out.
//!
//! What is counted of a session begins anew where it starts or is taken up again: a person, or a program for one, is there again.
//! A compaction is in the midst of a turn that may be held, and happens by itself: were its counts to begin anew, a session could
//! be held without end. What was told, disputed and audited stays known in each case.

mod files;
mod text;

use std::path::Path;
use std::time::Instant;

use crate::client::env_vars;
use crate::client::hook_input::HookInput;
use crate::client::hook_reply::Reply;
use crate::config::Config;
use crate::env::{self, Env};
use crate::exit::complain;
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

/// Returns what the agent is told, and begins the session's counts anew.
pub fn begin(start: &Start<'_>) -> Reply {
    let Start { input, env, config, state, session, project, started_ms, .. } = *start;
    if env.get(env::INSIDE_AUDITOR).is_some() {
        return Reply::Silent;
    }
    let is_on = config.gates.enabled && state.switched_off(project, session).is_none();
    let parts = if is_on { files::parts(start) } else { None };
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
            is_given = remembered.given.as_ref().is_some_and(|last| is_same_start(last, &now));
            remembered.given = Some(now);
        }
    });
    if let Err(error) = written {
        let root = state.root().display();
        complain(&format!("what is counted of this session can't be written: {root}: {error}"));
    }
    text.filter(|_| !is_given).map_or(Reply::Silent, Reply::Context)
}

/// Two hooks of one start begin within so many milliseconds of each other, even on a busy machine.
const TOGETHER_MS: u64 = 1_000;

/// Whether two hooks were run for the same start: the client runs a hook that is registered twice at the same time,
/// and once is enough for the agent. A note from the future is a clock that jumped back.
fn is_same_start(last: &Given, now: &Given) -> bool {
    let apart = now.at_ms.abs_diff(last.at_ms);
    last.source == now.source && last.client == now.client && apart < TOGETHER_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_start_has_one_client_one_source_and_one_moment() {
        let at =
            |source: &str, client: &str, at_ms| Given { source: source.into(), client: client.into(), at_ms };
        let first = at("startup", "7", 10_000);
        for (other, is_same) in [
            (at("startup", "7", 10_000), true),
            (at("startup", "7", 10_400), true),
            (at("startup", "7", 9_800), true),
            (at("startup", "7", 11_000), false),
            (at("startup", "7", 5_000), false),
            (at("resume", "7", 10_000), false),
            (at("startup", "8", 10_000), false),
        ] {
            assert_eq!(is_same_start(&first, &other), is_same, "{other:?}");
        }
    }
}
