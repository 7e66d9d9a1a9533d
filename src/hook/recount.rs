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
    let recounted =
        if is_changed { blocks_in_log(stop).and_then(|blocks| replace(stop, blocks)).ok() } else { None };
    let words = match recounted {
        Some(blocks) => changed(&error.to_string(), blocks),
        None => {
            format!("what is counted of this session can't be read ({error}), so this stop was not checked")
        }
    };
    Outcome::could_not_check(Cause::StateUnusable, words)
}

/// Returns the outcome of a stop whose session's state is gone, if the log says that blocks were counted in it.
pub fn outcome_if_counted(stop: &StopContext<'_>) -> Option<Outcome> {
    let blocks = blocks_in_log(stop).ok().filter(|blocks| *blocks > 0)?;
    replace(stop, blocks).ok()?;
    Some(Outcome::could_not_check(Cause::StateUnusable, changed("its file is gone", blocks)))
}

fn changed(why: &str, blocks: u32) -> String {
    let blocks = counted(blocks as usize, "block", "blocks");
    format!(
        "what is counted of this session was changed by something else than punchlist ({why}). This stop was not \
         checked; from now on it counts what the log says ({blocks})"
    )
}

fn blocks_in_log(stop: &StopContext<'_>) -> io::Result<u32> {
    let mut blocks = 0;
    DecisionLog::in_folder(stop.state.root())
        .read(|record| blocks += u32::from(is_counted(stop, &record)))?;
    Ok(blocks)
}

fn replace(stop: &StopContext<'_>, blocks: u32) -> io::Result<u32> {
    let state = SessionState { blocks, ..SessionState::default() };
    stop.state.replace_session(stop.session, &state).map(|()| blocks)
}

/// Whether a decision blocked this session, and not only to keep it at work.
fn is_counted(stop: &StopContext<'_>, record: &Record) -> bool {
    let keeps_working = matches!(record.cause, Cause::FeatureOpen | Cause::KeepAlive);
    record.decision == Action::Block && record.session == stop.input.session_id && !keeps_working
}
