//! Whether there is anything to audit at a stop. Pure, and reads no language.

use crate::decision::Cause;
use crate::plan::Plan;
use crate::session::Session;

/// How much a session has done that can be judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Files changed and commands that may have had effects.
    pub done: usize,
    /// Tasks that are finished.
    pub finished: usize,
}

impl Work {
    /// What a session has done so far.
    pub fn in_session(session: &Session) -> Self {
        let finished = session.todos.iter().filter(|todo| todo.status == "completed").count();
        Self { done: session.work_done(), finished }
    }
}

/// Returns why there is nothing to audit: nothing was done since the last audit, and no task was finished.
pub fn nothing_to_audit(
    session: &Session,
    plan: Option<&Plan>,
    last: Option<Work>,
) -> Option<(Cause, &'static str)> {
    let work = Work::in_session(session);
    let is_comparable = plan.is_some()
        || work.finished > 0
        || !session.asks.is_empty()
        || session.final_message.as_deref().is_some_and(|message| !message.trim().is_empty());
    match last {
        Some(last) if work == last => Some((Cause::Unchanged, "nothing was done since the last audit")),
        None if work == Work::default() => Some((Cause::NothingToAudit, "nothing was done yet")),
        _ if !is_comparable => Some((Cause::NothingToAudit, "nothing was asked, planned or said")),
        _ => None,
    }
}
