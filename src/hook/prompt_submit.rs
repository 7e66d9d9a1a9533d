//! A prompt was sent: shows what stops left to be told that the client did not wait for. Must not
//! read a transcript or a config, keep anybody waiting, or say anything where nothing waits.

use crate::client::env_vars;
use crate::client::hook_reply::Reply;
use crate::env::{self, Env};
use crate::hook::config_faults;
use crate::hook::notices;
use crate::state::{Line, StateFolder};

/// Returns what waits in a session as a message to the person, and counts it as shown.
pub fn answer(state: &StateFolder, session: &str, env: &Env) -> Reply {
    let is_ours = env.get(env::INSIDE_AUDITOR).is_some() || env.switch(env::OFF);
    let is_any = || state.session(session).is_ok_and(|session| !session.pending_notices.is_empty());
    if is_ours || env_vars::is_unwatched(env) || !is_any() {
        return Reply::Silent;
    }
    let mut lines: Vec<Line> = Vec::new();
    if let Err(error) = state.update_session(session, |session| lines = session.take_pending()) {
        tracing::debug!(%error, "what was told will be told again");
    }
    lines.retain(|line| config_faults::is_to_be_shown(state, line));
    if lines.is_empty() { Reply::Silent } else { Reply::Tell(notices::shown(&lines)) }
}
