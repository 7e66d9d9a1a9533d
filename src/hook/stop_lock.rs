//! Makes sure that one stop is decided by one process: the client runs a hook that is registered twice at the
//! same time, and one of the two must have nothing to do. Must not wait, but for a background audit that a newer
//! stop supersedes.

use jiff::Timestamp;

use crate::decision::{Cause, NEWER_STOP, Outcome};
use crate::gates::StopContext;
use crate::state::{Acquired, SessionState, StopLock};

/// Takes the lock on a stop, and reads the state of its session once more: another hook may have decided the stop
/// since it was read first. An error is the outcome where this process has nothing to decide.
pub fn take(stop: &StopContext<'_>) -> Result<(StopLock, SessionState), Outcome> {
    let pass = |cause, detail: &str| Err(Outcome::Pass { cause, detail: Some(detail.to_owned()) });
    let acquired = match stop.newest {
        Some(newest) => newest.acquire(),
        None => match stop.state.lock_stop(stop.session, stop.agent()) {
            Some(lock) => Acquired::Lock { lock, is_second: true },
            None => Acquired::InHand,
        },
    };
    let (lock, may_be_decided) = match acquired {
        Acquired::Lock { lock, is_second } => (lock, is_second),
        Acquired::InHand => return pass(Cause::Unchanged, "another hook has this stop in hand"),
        Acquired::Superseded => return pass(Cause::Superseded, NEWER_STOP),
    };
    let saved = stop.state.session(stop.session);
    let audited = saved.audits.get(stop.agent()).map(|last| last.decided_ms);
    let blocked = saved.blocked_ms.get(stop.agent()).copied();
    // A decision from the future is a clock that jumped back.
    let since_start = stop.started_ms + 1..=Timestamp::now().as_millisecond();
    if may_be_decided && audited.into_iter().chain(blocked).any(|decided| since_start.contains(&decided)) {
        return pass(Cause::Unchanged, "another hook has decided this stop");
    }
    Ok((lock, saved))
}
