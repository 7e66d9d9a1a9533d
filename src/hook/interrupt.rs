//! A stop whose hook is ended by a signal: it goes through, whatever was found by then, and the log
//! says so. Must not block: the client discards the answer, and the block would be counted for
//! nothing.

use std::sync::Mutex;

use jiff::Timestamp;

use crate::child;
use crate::decision::{Cause, Outcome};
use crate::hook::record;
use crate::hook::stop::Checked;
use crate::log::{DecisionLog, Record};
use crate::state::{StateChange, StateFolder};

/// Whether the decision of this process is being recorded.
static IS_DECIDED: Mutex<bool> = Mutex::new(false);

/// Cleans up after hooks that were killed, and has this one supervised: its children end with it,
/// and it ends soon after a signal, whatever it is doing.
pub fn supervise(state: &StateFolder, started: Timestamp) {
    let notes = state.root().join("running");
    child::sweep(&notes);
    child::supervise(notes);
    let log = DecisionLog::in_folder(state.root());
    child::when_overdue(move |signal| {
        // Never released, so that no decision is made any more.
        let Ok(decided) = IS_DECIDED.try_lock() else { return };
        if !*decided {
            let detail = Some(message(signal));
            record::write_log(&log, &Record { detail, ..Record::new(Cause::Error, started) });
            // The supervisor ends what is still running, as after a kill.
            std::process::exit(crate::exit::OK.into());
        }
    });
}

/// Goes on to the decision, unless a signal has come by now: then nobody is blocked, and nothing of
/// what was found is saved.
pub fn commit(checked: &mut Checked) {
    if let Ok(mut decided) = IS_DECIDED.lock() {
        *decided = true;
    }
    let Some(signal) = child::interrupted() else { return };
    checked.merged.outcome = Outcome::could_not_check(Cause::Error, message(signal));
    for gate in &mut checked.gates {
        gate.result.change = StateChange::default();
    }
}

fn message(signal: &str) -> String {
    format!("this stop was not audited: ended by {signal}")
}
