//! What is counted of a session can't be read, or is not as punchlist wrote it: nothing is blocked,
//! and the person is told. A counter that was changed by hand is set to what the log says, or the
//! transcript where the log is gone, too. Must not touch one that the system keeps from us.

use std::io::{self, ErrorKind};

use crate::decision::{Action, Cause, Outcome};
use crate::followup::handed_over::blocks_in_transcript;
use crate::gates::StopContext;
use crate::log::{DecisionLog, Record};
use crate::state::SessionState;
use crate::text::counted;

/// Returns the outcome of a stop whose session's state could not be read.
pub fn outcome(stop: &StopContext<'_>, error: &io::Error) -> Outcome {
    let is_changed = matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput);
    let recounted =
        if is_changed { blocks_in_log(stop).and_then(|blocks| replace(stop, blocks)).ok() } else { None };
    let words = match recounted {
        Some(blocks) => changed(&error.to_string(), "the log says", blocks),
        None => {
            format!("this session's counters can't be read ({error}), so this stop was not checked")
        }
    };
    Outcome::could_not_check(Cause::StateUnusable, words)
}

/// Returns the outcome of a stop whose session has no state, if the log or the transcript says that
/// it was blocked. The log is read where the session stopped before, or the transcript has a block
/// of ours.
pub fn outcome_if_counted(stop: &StopContext<'_>, stopped_before: bool) -> Option<Outcome> {
    let transcript = stop.input.transcript_path.as_deref();
    let in_transcript = transcript.and_then(|path| blocks_in_transcript(path, None).ok()).unwrap_or_default();
    let is_read = stopped_before || in_transcript > 0;
    let in_log = if is_read { blocks_in_log(stop).unwrap_or_default() } else { 0 };
    let (why, source, blocks) = match (in_log, in_transcript) {
        (0, 0) => return None,
        (0, blocks) => ("its file is gone, and so is the log of it", "the transcript says", blocks),
        (blocks, _) => ("its file is gone", "the log says", blocks),
    };
    replace(stop, blocks).ok()?;
    Some(Outcome::could_not_check(Cause::StateUnusable, changed(why, source, blocks)))
}

fn changed(why: &str, source: &str, blocks: u32) -> String {
    let blocks = counted(blocks as usize, "block", "blocks");
    format!(
        "this session's counters were changed by something other than punchlist ({why}). This stop was not \
         checked; they are reset to what {source} ({blocks})"
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

/// Returns whether a decision blocked this session, and not only to keep it working.
fn is_counted(stop: &StopContext<'_>, record: &Record) -> bool {
    let keeps_working = matches!(record.cause, Cause::FeatureOpen | Cause::KeepAlive);
    record.decision == Action::Block && record.session == stop.input.session_id && !keeps_working
}
