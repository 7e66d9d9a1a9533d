//! The state folder and the log in it: whether they can be written, and what failed in the last
//! days. Pure.

use super::{Check, Mark};
use crate::decision::{Action, Cause};
use crate::log::Record;
use crate::text::{counted, first_part, in_bytes};

/// How many days of the log are looked at.
pub const DAYS: i64 = 7;

/// Checks the folder: its path, its size, and why it can't be written if so.
pub fn folder_check(path: &str, bytes: u64, unwritable: Option<&str>) -> Check {
    match unwritable {
        None => Check::fine("state", format!("{path}, {}", in_bytes(bytes))),
        Some(why) => Check::fault(
            "state",
            format!("{path} can't be written: {why}"),
            "make it yours: a gate that can't count its blocks does not block (PUNCHLIST_HOME names another)",
        ),
    }
}

/// Returns what to do about a cause that is a failure; `None` for the others.
fn next_step(cause: Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::AuditorTimeout => {
            "raise `[auditor] timeout`, or audit in the background; `punchlist log --cause auditor-timeout` lists them"
        }
        Cause::AuditorUnavailable => {
            "`punchlist doctor --audit` tries the client; `punchlist log --cause auditor-unavailable` lists them"
        }
        Cause::AuditorUnreadable => {
            "`punchlist log show last --reply` shows what came back; another model may answer better"
        }
        Cause::ChecklistUnreadable => {
            "let the file be read, or take it out of `[checklist] files`; `punchlist log --cause checklist-unreadable` lists them"
        }
        Cause::BadInput => {
            "something else than the client runs `punchlist hook`, or the client is newer than this punchlist"
        }
        Cause::Error => {
            "`punchlist log --cause error` lists them; that is a fault of punchlist: please report it"
        }
        _ => return None,
    })
}

/// Whether a cause says that auditing works, or that it does not.
fn is_conclusive(cause: Cause) -> bool {
    next_step(cause).is_some() || matches!(cause, Cause::Findings | Cause::Clean | Cause::OnlyUnverified)
}

/// Checks the records of the last days, oldest first; `has_older` if there are any before them.
pub fn log_check(records: &[Record], has_older: bool) -> Check {
    const NAME: &str = "log";
    let days = format!("in {DAYS} days");
    if records.is_empty() {
        let found = if has_older { format!("no stop {days}") } else { "no stop yet".into() };
        let next = "end a turn of a session that did something, then look at `punchlist log`".to_owned();
        return Check::note(NAME, found, Some(next));
    }
    let blocks = records.iter().filter(|record| record.decision == Action::Block).count();
    let stops = format!("{} {days}, {blocks} held", counted(records.len(), "stop", "stops"));
    let failed: Vec<_> = records.iter().filter(|record| next_step(record.cause).is_some()).collect();
    let Some(last) = failed.last() else { return Check::fine(NAME, format!("{stops}, no failure")) };
    let mut causes: Vec<(&str, usize)> = Vec::new();
    for record in &failed {
        match causes.iter_mut().find(|(name, _)| *name == record.cause.name()) {
            Some((_, count)) => *count += 1,
            None => causes.push((record.cause.name(), 1)),
        }
    }
    let causes: Vec<_> = causes.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let why = last.detail.as_deref().map(|why| format!(" ({})", first_part(why, 160))).unwrap_or_default();
    let newest = records.iter().rev().find(|record| is_conclusive(record.cause));
    let is_over = newest.is_some_and(|newest| next_step(newest.cause).is_none());
    let found = format!(
        "{stops}; {}, the last at {}{why}",
        causes.join(", "),
        last.time.get(..16).unwrap_or(&last.time).replace('T', " ")
    );
    let next = next_step(last.cause).map(str::to_owned);
    if is_over {
        Check::note(NAME, format!("{found}; the audits since then went well"), None)
    } else {
        Check { name: NAME, mark: Mark::Fault, found, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(cause: Cause, detail: Option<&str>) -> Record {
        let time = "2026-11-01T09:30:00Z".parse().expect("a time");
        let decision = if cause == Cause::Findings { Action::Block } else { Action::Allow };
        Record { decision, detail: detail.map(Into::into), ..Record::new(cause, time) }
    }

    #[test]
    fn a_log_without_stops_is_a_note() {
        assert_eq!(log_check(&[], false).found, "no stop yet");
        assert_eq!(log_check(&[], true).found, "no stop in 7 days");
    }

    #[test]
    fn a_failure_is_a_fault_until_an_audit_works_again() {
        let fine = [record(Cause::Clean, None), record(Cause::Findings, None), record(Cause::Off, None)];
        assert_eq!(log_check(&fine, true), Check::fine("log", "3 stops in 7 days, 1 held, no failure"));
        let late = record(Cause::AuditorTimeout, Some("the first reader gave no answer in 45 s"));
        let failing = [record(Cause::Clean, None), late.clone(), late.clone(), record(Cause::Off, None)];
        let fault = log_check(&failing, true);
        assert_eq!(fault.mark, Mark::Fault);
        assert_eq!(
            fault.found,
            "4 stops in 7 days, 0 held; 2 auditor-timeout, the last at 2026-11-01 09:30 (the first reader gave no answer in 45 s)"
        );
        assert!(fault.next.is_some_and(|next| next.starts_with("raise `[auditor] timeout`")));
        let over = log_check(&[late, record(Cause::Clean, None)], true);
        assert_eq!(over.mark, Mark::Note);
        assert!(over.found.ends_with("; the audits since then went well"), "{}", over.found);
    }

    #[test]
    fn a_folder_that_can_not_be_written_is_a_fault() {
        assert_eq!(folder_check("/s", 1_500_000, None), Check::fine("state", "/s, 1.5 MB"));
        let fault = folder_check("/s", 0, Some("Read-only file system"));
        let found = "/s can't be written: Read-only file system";
        assert_eq!((fault.mark, fault.found.as_str()), (Mark::Fault, found));
    }
}
