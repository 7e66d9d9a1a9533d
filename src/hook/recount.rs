//! What is counted of a session can't be read, or is not as punchlist wrote it: nothing is blocked, and the person is
//! told. A counter that was changed by hand is set to what the log says. Must not touch one that the system keeps from
//! us.

use std::io::{self, ErrorKind};

use crate::decision::{Action, Cause, Outcome};
use crate::gates::StopContext;
use crate::log::{DecisionLog, Record};
use crate::state::SessionState;
use crate::text::counted;

/// Returns the outcome of a stop whose session's state could not be read, for this reason.
pub fn outcome(stop: &StopContext<'_>, error: &io::Error) -> Outcome {
    let is_changed = matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput);
    let recounted = if is_changed { recount(stop).ok() } else { None };
    let words = match recounted {
        Some(blocks) => format!(
            "what is counted of this session was changed by something else than punchlist ({error}). This stop was \
             not checked; from now on it counts what the log says ({})",
            counted(blocks as usize, "block", "blocks")
        ),
        None => format!("what is counted of this session can't be read ({error}), so this stop was not checked"),
    };
    Outcome::could_not_check(Cause::StateUnusable, words)
}

/// Counts the blocks of the session in the log, and writes that down.
fn recount(stop: &StopContext<'_>) -> io::Result<u32> {
    let mut blocks = 0;
    DecisionLog::in_folder(stop.state.root()).read(|record| blocks += u32::from(is_counted(stop, &record)))?;
    let state = SessionState { blocks, ..SessionState::default() };
    stop.state.replace_session(stop.session, &state)?;
    Ok(blocks)
}

/// Whether a decision blocked this session, and not only to keep it at work.
fn is_counted(stop: &StopContext<'_>, record: &Record) -> bool {
    let keeps_working = matches!(record.cause, Cause::FeatureOpen | Cause::KeepAlive);
    record.decision == Action::Block && record.session == stop.input.session_id && !keeps_working
}
