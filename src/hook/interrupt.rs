//! A stop whose hook is told to end by a signal: it goes through, whatever was found by then, and the log
//! says so. Must not hold anybody: the client throws the answer away, and the block would only be counted.

use std::sync::Mutex;

use jiff::Timestamp;

use crate::child;
use crate::decision::{Cause, Outcome};
use crate::hook::record;
use crate::hook::stop::Checked;
use crate::log::{DecisionLog, Record};
use crate::state::{StateChange, StateFolder};

/// Whether the decision of this process is being written down.
static IS_DECIDED: Mutex<bool> = Mutex::new(false);

/// Sweeps up after hooks that were killed, and has this one supervised: its children end with it, and it
/// ends soon after a signal, whatever it is at.
pub fn supervise(state: &StateFolder, started: Timestamp) {
    let notes = state.root().join("running");
    child::sweep(&notes);
    child::supervise(notes);
    let log = DecisionLog::in_folder(state.root());
    child::when_overdue(move |signal| {
        // Held to the end of the process, so that no decision is made any more.
        let Ok(decided) = IS_DECIDED.try_lock() else { return };
        if !*decided {
            let detail = Some(words(signal));
            record::write_log(&log, &Record { detail, ..Record::new(Cause::Error, started) });
            // What is still there is the supervisor's, as after a kill.
            std::process::exit(crate::exit::OK.into());
        }
    });
}

/// Goes on to the decision, unless a signal has come by now: then there is nothing to hold anybody for, and
/// nothing to remember of what was found.
pub fn commit(checked: &mut Checked) {
    if let Ok(mut decided) = IS_DECIDED.lock() {
        *decided = true;
    }
    let Some(signal) = child::interrupted() else { return };
    checked.merged.outcome = Outcome::could_not_check(Cause::Error, words(signal));
    for gate in &mut checked.gates {
        gate.result.change = StateChange::default();
    }
}

fn words(signal: &str) -> String {
    format!("this stop was not audited: ended by {signal}")
}
