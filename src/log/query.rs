//! Queries of the log: which decisions match, with the notes on them, oldest first. Never writes,
//! and is not stopped by a line that can't be read or is being written at this moment. An older
//! line may lack fields, a line of a newer format is recognised, and one that is neither is torn.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;

use crate::files::end_of;
use crate::log::annotated::FindingNotes;
use crate::log::filter::Filter;
use crate::log::note::{self, Label, NoteLine};
use crate::log::{Annotated, DecisionLog, Record, record};
use crate::parallel;
use crate::private_file;

/// A line of the log.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// A decision, without its notes.
    Decision(Box<Annotated>),
    /// A note on an earlier decision.
    Note(Box<NoteLine>),
    /// Written by a newer version of punchlist.
    Newer,
    /// Not readable.
    Torn,
}

/// The fields that tell the kind of a line.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    schema: u32,
    kind: Option<String>,
    id: String,
    time: String,
    cause: String,
}

impl Line {
    /// Parses a line. `None` if it is empty: a crash may leave NULs there.
    pub fn parse(line: &str) -> Option<Self> {
        let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!line.is_empty()).then(|| Self::parse_json(line).unwrap_or(Self::Torn))
    }

    fn parse_json(line: &str) -> serde_json::Result<Self> {
        let head: Head = serde_json::from_str(line)?;
        let newest = if head.kind.is_some() { note::SCHEMA } else { record::SCHEMA };
        let is_known_kind = head.kind.as_ref().is_none_or(|kind| kind == "outcome" || kind == "label");
        if head.schema > newest || !is_known_kind {
            return Ok(Self::Newer);
        }
        if head.kind.is_some() {
            let note = NoteLine { note: serde_json::from_str(line)?, line: line.to_owned() };
            return Ok(Self::Note(Box::new(note)));
        }
        let Ok(at) = head.time.parse() else { return Ok(Self::Torn) };
        if head.id.is_empty() {
            return Ok(Self::Torn);
        }
        // An unknown name under the same format number comes from a newer version, and can't be
        // judged either.
        let Ok(decision) = serde_json::from_str::<Record>(line) else { return Ok(Self::Newer) };
        Ok(Self::Decision(Box::new(Annotated {
            findings: vec![FindingNotes::default(); decision.findings.len()],
            decision,
            at,
            cause: head.cause,
            line: line.to_owned(),
            notes: Vec::new(),
            label: None,
        })))
    }
}

/// The result of a query.
#[derive(Debug, Default)]
pub struct Found {
    /// The decisions that match, oldest first.
    pub decisions: Vec<Annotated>,
    /// How many lines could not be read.
    pub torn: usize,
    /// How many lines a newer version wrote.
    pub newer: usize,
    /// How many decisions were looked at, whether or not they match.
    pub scanned: usize,
}

impl DecisionLog {
    /// Returns the decisions that match; with `last`, only that many of the newest, reading no more
    /// files than needed.
    pub fn query(&self, filter: &Filter, last: Option<usize>) -> io::Result<Found> {
        let files = self.files();
        let skipped = filter.since.map_or(0, |since| files.partition_point(|path| is_before(path, since)));
        let mut found = Found::default();
        // The notes on decisions of older files. A note is written after its decision, so a file
        // and the newer ones have all notes on the decisions in it.
        let mut newer_notes = Notes::default();
        let mut by_file = Vec::new();
        let mut count = 0;
        for path in files[skipped..].iter().rev() {
            if last.is_some_and(|last| count >= last) {
                break;
            }
            // It was listed a moment ago, so it is being pruned.
            let Some(text) = private_file::read_up_to(path, u64::MAX)? else { continue };
            let mut matching = found.read_file(&String::from_utf8_lossy(&text), &mut newer_notes);
            matching.retain(|decision| filter.matches(decision));
            count += matching.len();
            by_file.push(matching);
        }
        found.decisions = by_file.into_iter().rev().flatten().collect();
        // Stops that end at the same time may be written in either order.
        found.decisions.sort_by_key(|annotated| annotated.at);
        if let Some(last) = last {
            found.decisions.drain(..found.decisions.len().saturating_sub(last));
        }
        Ok(found)
    }

    /// Returns the newest decisions of a session, oldest first, from the ends of the newest two
    /// files of the log: fast, but empty if the session's last one is further back.
    pub fn recent_of(&self, session: &str) -> Vec<Annotated> {
        /// A few hundred decisions.
        const END_BYTES: u64 = 2 << 20;
        let mut lines = String::new();
        for file in self.files().iter().rev().take(2).rev() {
            let end = end_of(file, END_BYTES).unwrap_or_default();
            let end = String::from_utf8_lossy(&end);
            lines.extend(end.split_inclusive('\n').filter(|line| line.contains(session)));
        }
        let mut found = parse(&lines);
        found.decisions.retain(|annotated| annotated.decision.session.as_deref() == Some(session));
        found.decisions
    }

    /// Calls `each` with every record, oldest first, and returns how many lines could not be read.
    pub fn read(&self, each: impl FnMut(Record)) -> io::Result<usize> {
        let found = self.query(&Filter::default(), None)?;
        found.decisions.into_iter().map(|annotated| annotated.decision).for_each(each);
        Ok(found.torn)
    }

    /// Returns whether the newest label on a finding of a decision (from 1) says that it was right.
    pub fn is_upheld(&self, decision: &str, finding: usize) -> bool {
        let found = self.query(&Filter::default(), None).unwrap_or_default();
        let findings = found.decisions.iter().filter(|annotated| annotated.decision.id == decision);
        let mut notes = findings.filter_map(|annotated| annotated.findings.get(finding.checked_sub(1)?));
        notes.any(|notes| notes.label() == Some(Label::Right))
    }
}

/// Notes by the decision that they are about, newest first.
type Notes = HashMap<String, Vec<NoteLine>>;

impl Found {
    /// Reads the lines of one file; notes on older files' decisions stay in `notes`.
    fn read_file(&mut self, text: &str, notes: &mut Notes) -> Vec<Annotated> {
        let (mut decisions, mut own_notes) = (Vec::new(), Vec::new());
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let parsed = parallel::all(&lines, |line| Line::parse(line));
        for (line, parsed) in lines.into_iter().zip(parsed) {
            match parsed {
                Some(Line::Decision(decision)) => decisions.push(*decision),
                Some(Line::Note(note)) => own_notes.push(*note),
                Some(Line::Newer) => self.newer += 1,
                // A line without its end is being written at this moment.
                Some(Line::Torn) => self.torn += usize::from(line.ends_with('\n')),
                None => {}
            }
        }
        self.scanned += decisions.len();
        for note in own_notes.into_iter().rev() {
            notes.entry(note.note.decision().to_owned()).or_default().push(note);
        }
        let annotate = |annotated: Annotated| {
            let mut notes = notes.remove(&annotated.decision.id).unwrap_or_default();
            notes.reverse();
            annotated.with_notes(notes)
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

/// Returns whether a file of the log has nothing from `since` on: a line is written when it is
/// decided or later, so no file has anything newer than its month.
fn is_before(path: &Path, since: Timestamp) -> bool {
    let name = path.file_stem().map(|name| name.to_string_lossy()).unwrap_or_default();
    *name < *since.strftime("%Y-%m").to_string()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::finding::{Category, Kind, Source};
    use crate::log::filter::{DecisionKind, OutcomeFilter};
    use crate::log::{LabelNote, Note};
    use crate::testing::{finding, record};

    fn write(folder: &Path, month: &str, lines: &str) {
        let folder = folder.join("decisions");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(format!("{month}.jsonl")), lines).expect("written");
    }

    fn decision(id: &str, time: &str) -> String {
        format!(
            r#"{{"schema":1,"id":"{id}","time":"{time}","decision":"block","cause":"findings","findings":[{{"category":"A"}}]}}"#
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
    fn the_newest_word_of_a_person_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = DecisionLog::in_folder(folder.path());
        assert!(!log.is_upheld("b", 1));
        let now = crate::clock::now();
        let found = finding(Category::A, Kind::Missing, "a", None);
        log.append(&Record { findings: vec![found.clone(), found], ..record("b") }, now).expect("written");
        let label = |finding, label| {
            let note = Note::Label(LabelNote::new("b", finding, label, now));
            log.append_notes(&[note], now).expect("written");
        };
        label(Some(1), Label::Right);
        assert!(log.is_upheld("b", 1) && !log.is_upheld("b", 2) && !log.is_upheld("c", 1));
        label(None, Label::Wrong);
        assert!(!log.is_upheld("b", 1));
        label(None, Label::Right);
        assert!(log.is_upheld("b", 1) && log.is_upheld("b", 2));
    }

    #[test]
    fn an_older_line_lacks_fields_and_a_newer_one_is_told_apart() {
        let old = decided(r#"{"schema":0,"id":"a","time":"2026-10-01T00:00:00Z","decision":"block"}"#);
        assert_eq!((old.kind(), old.cause.as_str(), old.findings.len()), (DecisionKind::Block, "", 0));
        let old = r#"{"id":"a","time":"2026-10-01T00:00:00Z","findings":[{"source":"auditor","problem":"missing-file","category":"A"}]}"#;
        let finding = &decided(old).decision.findings[0];
        assert_eq!((finding.source, finding.kind, &finding.second), (Source::Reader, Kind::Missing, &None));
        let unknown = old.replace(r#""category":"A""#, r#""category":"Z""#);
        for newer in [
            unknown.as_str(),
            r#"{"schema":2,"id":"a","time":"2026-10-01T00:00:00Z"}"#,
            r#"{"kind":"outcome","schema":3,"id":"a"}"#,
            r#"{"kind":"mood","schema":2,"id":"a"}"#,
        ] {
            assert_eq!(Line::parse(newer), Some(Line::Newer), "{newer}");
        }
    }

    fn decided(line: &str) -> Annotated {
        match Line::parse(line) {
            Some(Line::Decision(decision)) => *decision,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_no_line_is_torn_and_an_empty_one_is_none() {
        for torn in [
            "{\"schema\":1,\"id\":\"to",
            "\u{fffd}",
            "7",
            "{}",
            r#"{"id":"a"}"#,
            r#"{"id":"a","time":"soon"}"#,
            r#"{"time":"2026-10-01T00:00:00Z"}"#,
            r#"{"id":"a","time":"2026-10-01T00:00:00Z"}{"id":"b"}"#,
            r#"{"kind":"label","schema":2}"#,
        ] {
            assert_eq!(Line::parse(torn), Some(Line::Torn), "{torn}");
        }
        assert_eq!(Line::parse(" \0\0\n"), None);
        let padded = decided("\0\0{\"id\":\"a\",\"time\":\"2026-10-01T00:00:00Z\"}\0\n");
        assert!(padded.line.starts_with('{') && padded.line.ends_with('}'));
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
        let outcomes = vec![OutcomeFilter::Disputed];
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
