//! The state folder and the log in it: whether they can be written, and what failed in the last few
//! days.

use jiff::{Timestamp, ToSpan};

use super::{Check, Mark};
use crate::decision::{Action, Cause};
use crate::files::{in_private_folder, size_of};
use crate::log::{DecisionLog, Record};
use crate::state::StateFolder;
use crate::text::{counted, first_part, in_bytes};

const DAYS: i64 = 7;

/// Checks the state folder by writing a file and removing it: permissions alone don't tell whether
/// that works.
pub fn folder_check(state: &StateFolder) -> Check {
    let root = state.root();
    let written = in_private_folder(root, || tempfile::NamedTempFile::new_in(root));
    let error = written.err().map(|error| error.to_string());
    judge_folder(&root.display().to_string(), size_of(root), error.as_deref())
}

fn judge_folder(path: &str, bytes: u64, unwritable: Option<&str>) -> Check {
    match unwritable {
        None => Check::fine("state", format!("{path}, {}", in_bytes(bytes))),
        Some(why) => unusable(&format!("{path} can't be written: {why}")),
    }
}

/// Returns the check of a state folder that can't be used at all.
pub fn unusable(why: &str) -> Check {
    let next =
        "make it yours: a gate that can't count its blocks does not block (PUNCHLIST_HOME names another)";
    Check::fault("state", why.to_owned(), next)
}

/// Returns what to do about a cause that is a failure; `None` for other causes.
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
        Cause::StateUnusable => {
            "make the state folder and its files yours; `punchlist log --cause state-unusable` lists them"
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

/// Returns whether a cause shows that auditing works, or that it does not.
fn is_conclusive(cause: Cause) -> bool {
    let is_verdict =
        matches!(cause, Cause::Findings | Cause::Clean | Cause::OnlyUnverified | Cause::OnlyIgnored);
    is_verdict || next_step(cause).is_some()
}

pub fn log_check(state: &StateFolder) -> Check {
    let since = crate::clock::now().checked_sub((DAYS * 24).hours()).unwrap_or(Timestamp::UNIX_EPOCH);
    let (mut records, mut has_any) = (Vec::new(), false);
    let _ = DecisionLog::in_folder(state.root()).read(|record| {
        has_any = true;
        if record.time.parse::<Timestamp>().is_ok_and(|time| time >= since) {
            records.push(record);
        }
    });
    judge_records(&records, has_any)
}

/// `records` are in order, oldest first; `has_older` tells whether there are any before them.
fn judge_records(records: &[Record], has_older: bool) -> Check {
    const NAME: &str = "log";
    let days = format!("in {DAYS} days");
    if records.is_empty() {
        let found = if has_older { format!("no stop {days}") } else { "no stop yet".into() };
        let next = "end a turn of a session that did something, then look at `punchlist log`";
        return Check::note(NAME, found, next);
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
    if is_over {
        let found = format!("{found}; the audits since then went well");
        return Check { name: NAME, mark: Mark::Note, found, next: None };
    }
    Check { name: NAME, mark: Mark::Fault, found, next: next_step(last.cause).map(str::to_owned) }
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
        assert_eq!(judge_records(&[], false).found, "no stop yet");
        assert_eq!(judge_records(&[], true).found, "no stop in 7 days");
    }

    #[test]
    fn a_failure_is_a_fault_until_an_audit_works_again() {
        let fine = [record(Cause::Clean, None), record(Cause::Findings, None), record(Cause::Off, None)];
        assert_eq!(judge_records(&fine, true), Check::fine("log", "3 stops in 7 days, 1 held, no failure"));
        let late = record(Cause::AuditorTimeout, Some("the first reader gave no answer in 45 s"));
        let failing = [record(Cause::Clean, None), late.clone(), late.clone(), record(Cause::Off, None)];
        let fault = judge_records(&failing, true);
        assert_eq!(fault.mark, Mark::Fault);
        assert_eq!(
            fault.found,
            "4 stops in 7 days, 0 held; 2 auditor-timeout, the last at 2026-11-01 09:30 (the first reader gave no answer in 45 s)"
        );
        assert!(fault.next.is_some_and(|next| next.starts_with("raise `[auditor] timeout`")));
        let over = judge_records(&[late, record(Cause::Clean, None)], true);
        assert_eq!(over.mark, Mark::Note);
        assert!(over.found.ends_with("; the audits since then went well"), "{}", over.found);
    }

    #[test]
    fn a_folder_that_can_not_be_written_is_a_fault() {
        assert_eq!(judge_folder("/s", 1_500_000, None), Check::fine("state", "/s, 1.5 MB"));
        let fault = judge_folder("/s", 0, Some("Read-only file system"));
        let found = "/s can't be written: Read-only file system";
        assert_eq!((fault.mark, fault.found.as_str()), (Mark::Fault, found));
    }

    #[test]
    fn checking_the_state_folder_leaves_it_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a"), "12345").expect("written");
        let check = folder_check(&StateFolder::at(folder.path()));
        assert_eq!((check.mark, check.found.ends_with(", 5 B")), (Mark::Fine, true), "{}", check.found);
        assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 1);
        std::fs::write(folder.path().join("file"), "").expect("written");
        assert_eq!(folder_check(&StateFolder::at(folder.path().join("file/state"))).mark, Mark::Fault);
    }
}
