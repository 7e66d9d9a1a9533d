//! Queries of the log: which decisions match, with the notes on them, oldest first. Never writes,
//! and is not stopped by a line that can't be read or that is being written at this moment.

use std::collections::HashMap;
use std::path::Path;
use std::{fs, io};

use jiff::Timestamp;

use crate::log::filter::Filter;
use crate::log::note::NoteLine;
use crate::log::summary::{Line, Summary};
use crate::log::{Annotated, DecisionLog, Record};

/// What a query found.
#[derive(Debug, Default)]
pub struct Found {
    /// The decisions that match, oldest first.
    pub decisions: Vec<Annotated<Summary>>,
    /// How many lines could not be read.
    pub torn: usize,
    /// How many lines a newer punchlist wrote.
    pub newer: usize,
    /// How many decisions were looked at, whether or not they match.
    pub scanned: usize,
}

impl DecisionLog {
    /// Returns the decisions that match; with `last`, so many of the newest, reading no more files
    /// than they need.
    pub fn query(&self, filter: &Filter, last: Option<usize>) -> io::Result<Found> {
        let files = self.files();
        let skipped = filter.since.map_or(0, |since| files.partition_point(|path| is_before(path, since)));
        let mut found = Found::default();
        // The notes on decisions of older files. A note is written after its decision, so that a
        // file and the newer ones have all notes on the decisions in it.
        let mut newer_notes = Notes::default();
        let mut by_file = Vec::new();
        let mut count = 0;
        for path in files[skipped..].iter().rev() {
            if last.is_some_and(|last| count >= last) {
                break;
            }
            let text = match fs::read(path) {
                // It was there a moment ago: it is being pruned.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                text => text?,
            };
            let mut matching = found.read_file(&String::from_utf8_lossy(&text), &mut newer_notes);
            matching.retain(|decision| filter.matches(decision));
            count += matching.len();
            by_file.push(matching);
        }
        found.decisions = by_file.into_iter().rev().flatten().collect();
        // Stops that end at the same time may be written in either order.
        found.decisions.sort_by_key(|annotated| annotated.decision.at);
        if let Some(last) = last {
            found.decisions.drain(..found.decisions.len().saturating_sub(last));
        }
        Ok(found)
    }

    /// Calls `each` with every record, oldest first, and returns how many lines could not be read.
    pub fn read(&self, mut each: impl FnMut(Record)) -> io::Result<usize> {
        let mut found = self.query(&Filter::default(), None)?;
        for annotated in found.decisions {
            match annotated.into_record() {
                Ok(record) => each(record.decision),
                Err(_) => found.torn += 1,
            }
        }
        Ok(found.torn)
    }
}

/// Notes by the decision that they are about, newest first.
type Notes = HashMap<String, Vec<NoteLine>>;

impl Found {
    /// Takes the lines of one file; notes on older files' decisions stay in `notes`.
    fn read_file(&mut self, text: &str, notes: &mut Notes) -> Vec<Annotated<Summary>> {
        let (mut decisions, mut own_notes) = (Vec::new(), Vec::new());
        for line in text.split_inclusive('\n') {
            match Line::parse(line) {
                Some(Line::Decision(summary)) => decisions.push(*summary),
                Some(Line::Note(note)) => own_notes.push(*note),
                Some(Line::Newer) => self.newer += 1,
                // A line without its end is being written at this moment.
                Some(Line::Torn) => self.torn += usize::from(line.ends_with('\n')),
                None => {}
            }
        }
        self.scanned += decisions.len();
        for note in own_notes.into_iter().rev() {
            notes.entry(note.note.of().to_owned()).or_default().push(note);
        }
        let annotate = |summary: Summary| {
            let mut notes = notes.remove(&summary.id).unwrap_or_default();
            notes.reverse();
            Annotated::new(summary, notes)
        };
        decisions.into_iter().map(annotate).collect()
    }
}

/// Parses the lines of a log that is one text.
pub fn parse(text: &str) -> Found {
    let mut found = Found::default();
    found.decisions = found.read_file(text, &mut Notes::default());
    found
}

/// Whether a file of the log has nothing from `since` on: a line is written when it is decided or
/// later, so that no file has what is newer than its month.
fn is_before(path: &Path, since: Timestamp) -> bool {
    let name = path.file_stem().map(|name| name.to_string_lossy()).unwrap_or_default();
    *name < *since.strftime("%Y-%m").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::filter::{DecisionKind, OutcomeFilter};
    use crate::log::note::FindingOutcome;

    fn write(folder: &Path, month: &str, lines: &str) {
        let folder = folder.join("decisions");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(format!("{month}.jsonl")), lines).expect("written");
    }

    fn decision(id: &str, time: &str) -> String {
        format!(
            r#"{{"schema":1,"id":"{id}","time":"{time}","decision":"block","cause":"findings","findings":[{{}}]}}"#
        ) + "\n"
    }

    fn disputed(of: &str) -> String {
        format!(
            r#"{{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"{of}","finding":1,"outcome":"disputed"}}"#
        ) + "\n"
    }

    fn ids(folder: &Path, filter: &Filter, last: Option<usize>) -> (String, usize, usize) {
        let found = DecisionLog::in_folder(folder).query(filter, last).expect("readable");
        let ids: Vec<_> = found.decisions.iter().map(|annotated| annotated.decision.id.as_str()).collect();
        (ids.join(" "), found.torn, found.newer)
    }

    fn three_months() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let august = decision("a", "2026-08-01T00:00:00Z") + &decision("b", "2026-08-31T00:00:00Z");
        write(folder.path(), "2026-08", &august);
        // Decided in one month, written in the next.
        let late = decision("c", "2026-08-31T23:59:59Z") + &decision("d", "2026-09-01T00:00:00Z");
        write(folder.path(), "2026-09", &(late + &disputed("b")));
        write(folder.path(), "2026-10", &(decision("e", "2026-10-01T00:00:00Z") + &disputed("a")));
        folder
    }

    #[test]
    fn decisions_come_oldest_first_and_the_last_ones_are_enough() {
        let folder = three_months();
        let every = Filter::default();
        for (last, expected) in [
            (None, "a b c d e"),
            (Some(1), "e"),
            (Some(3), "c d e"),
            (Some(5), "a b c d e"),
            (Some(9), "a b c d e"),
            (Some(0), ""),
        ] {
            assert_eq!(ids(folder.path(), &every, last), (expected.into(), 0, 0), "{last:?}");
        }
        let outcomes = vec![OutcomeFilter::Outcome(FindingOutcome::Disputed)];
        let disputed = Filter { outcomes, ..Filter::default() };
        assert_eq!(ids(folder.path(), &disputed, None).0, "a b");
        assert_eq!(ids(folder.path(), &disputed, Some(1)).0, "b", "its note is in another month");
        let none = Filter { decisions: vec![DecisionKind::Allow], ..Filter::default() };
        assert_eq!(ids(folder.path(), &none, Some(1)).0, "");
    }

    #[test]
    fn months_before_the_wanted_time_are_not_read_and_nothing_is_lost_by_it() {
        let folder = three_months();
        let since = |time: &str| Filter { since: time.parse().ok(), ..Filter::default() };
        assert_eq!(ids(folder.path(), &since("2026-08-31T12:00:00Z"), None).0, "c d e");
        write(folder.path(), "2026-08", "torn\n");
        assert_eq!(ids(folder.path(), &since("2026-09-01T00:00:00Z"), None), ("d e".into(), 0, 0));
        assert_eq!(ids(folder.path(), &Filter::default(), None), ("c d e".into(), 1, 0));
    }

    #[test]
    fn stops_that_are_written_the_other_way_round_are_listed_by_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let lines = decision("b", "2026-10-01T00:00:02Z") + &decision("a", "2026-10-01T00:00:01Z");
        write(folder.path(), "2026-10", &lines);
        assert_eq!(ids(folder.path(), &Filter::default(), None).0, "a b");
    }

    #[test]
    fn noise_is_counted_and_a_line_that_is_being_written_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let newer = r#"{"schema":9,"id":"z","time":"2026-10-01T00:00:00Z"}"#;
        let text = format!(
            "{}\0\0\0\n{{\"sch\n{newer}\n\n{}{{\"schema\":1,\"id\":\"to",
            decision("a", "2026-10-01T00:00:01Z"),
            decision("b", "2026-10-01T00:00:02Z")
        );
        write(folder.path(), "2026-10", &text);
        assert_eq!(ids(folder.path(), &Filter::default(), None), ("a b".into(), 1, 1));
        let whole = decision("c", "2026-10-01T00:00:03Z");
        write(folder.path(), "2026-11", whole.trim_end());
        assert_eq!(ids(folder.path(), &Filter::default(), None).0, "a b c", "a whole line may lack its end");
    }
}
