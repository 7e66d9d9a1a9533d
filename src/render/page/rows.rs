//! The decisions as columns of small values, by which the page filters, sorts, counts and draws.
//! Pure.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::finding::{Category, Source, Status};
use crate::log::Annotated;
use crate::log::filter::DecisionKind;
use crate::log::note::{FindingOutcome, Label};

/// Texts of many rows, each stored once.
#[derive(Default, Serialize)]
#[serde(transparent)]
struct Texts<'a> {
    texts: Vec<&'a str>,
    #[serde(skip)]
    indexes: HashMap<&'a str, usize>,
}

impl<'a> Texts<'a> {
    fn index(&mut self, text: &'a str) -> usize {
        *self.indexes.entry(text).or_insert_with(|| {
            self.texts.push(text);
            self.texts.len() - 1
        })
    }
}

/// Each column has one entry per decision; those named `gate_`, one per gate that checked it, and
/// those named `finding_`, one per finding.
#[derive(Default, Serialize)]
pub(super) struct Rows<'a> {
    projects: Texts<'a>,
    sessions: Texts<'a>,
    causes: Texts<'a>,
    models: Texts<'a>,
    gates: Texts<'a>,
    advisory_kinds: Texts<'a>,
    reader_outcomes: Texts<'a>,

    id: Vec<&'a str>,
    /// Local time, in milliseconds, as if it were UTC.
    at: Vec<i64>,
    kind: Vec<u8>,
    cause: Vec<usize>,
    project: Vec<Option<usize>>,
    session: Vec<Option<usize>>,
    /// Whether one of its subagents stopped.
    subagent: Vec<bool>,
    /// Whether plan, session and disk were looked at.
    audited: Vec<bool>,
    /// The kinds of its advisories.
    advisories: Vec<Vec<usize>>,
    /// The first reader's model.
    model: Vec<Option<usize>>,
    first_outcome: Vec<Option<usize>>,
    second_outcome: Vec<Option<usize>>,
    /// Our own time, without the readers'.
    ours_ms: Vec<Option<f64>>,
    /// Both readers' time together; tokens and money likewise.
    readers_ms: Vec<Option<f64>>,
    tokens_in: Vec<u64>,
    tokens_out: Vec<u64>,
    cost_usd: Vec<Option<f64>>,
    /// A person's label of the decision as a whole.
    label: Vec<Option<&'static str>>,

    gate_row: Vec<usize>,
    gate_name: Vec<usize>,
    gate_held: Vec<bool>,

    finding_row: Vec<usize>,
    finding_category: Vec<&'static str>,
    finding_status: Vec<Status>,
    finding_source: Vec<Source>,
    /// Whether the second reader upheld it.
    finding_upheld: Vec<Option<bool>>,
    finding_outcome: Vec<Option<FindingOutcome>>,
    /// A person's label of it.
    finding_label: Vec<Option<&'static str>>,
    /// Whether it was right, as far as is known.
    finding_right: Vec<Option<bool>>,
}

impl<'a> Rows<'a> {
    /// Returns the columns of these decisions, in order.
    pub(super) fn new(decisions: &'a [Annotated], zone: &TimeZone) -> Self {
        let mut rows = Self::default();
        for (row, annotated) in decisions.iter().enumerate() {
            rows.add(annotated, zone);
            for (name, is_held, _) in annotated.gates() {
                rows.gate_row.push(row);
                rows.gate_name.push(rows.gates.index(name));
                rows.gate_held.push(is_held);
            }
            for (finding, notes) in annotated.with_findings() {
                rows.finding_row.push(row);
                rows.finding_category.push(Category::name(finding.category));
                rows.finding_status.push(finding.status);
                rows.finding_source.push(finding.source);
                rows.finding_upheld.push(finding.second.as_ref().map(|second| second.upheld));
                rows.finding_outcome.push(notes.outcome());
                rows.finding_label.push(notes.label().map(Label::name));
                rows.finding_right.push(notes.was_right());
            }
        }
        rows
    }

    fn add(&mut self, annotated: &'a Annotated, zone: &TimeZone) {
        let record = &annotated.decision;
        self.id.push(&record.id);
        self.at.push(local_ms(&record.time, zone));
        self.kind.push(kind(annotated));
        self.cause.push(self.causes.index(record.cause.name()));
        self.project.push(record.project.as_deref().map(|project| self.projects.index(project)));
        self.session.push(record.session.as_deref().map(|session| self.sessions.index(session)));
        self.subagent.push(record.agent.is_some());
        self.audited.push(annotated.was_audited());
        let kinds = record.advisories.iter().map(|one| self.advisory_kinds.index(one.kind.name()));
        self.advisories.push(kinds.collect());
        self.label.push(annotated.label.as_ref().map(|note| note.label.name()));
        let (first, second) = (record.auditor.as_ref(), record.second_reader.as_ref());
        self.model.push(first.map(|first| self.models.index(&first.model)));
        self.first_outcome.push(first.map(|first| self.reader_outcomes.index(&first.outcome)));
        self.second_outcome.push(second.map(|second| self.reader_outcomes.index(&second.outcome)));
        self.ours_ms.push(annotated.own_ms().map(rounded));
        let asked = annotated.readers().filter(|reader| reader.was_asked());
        self.readers_ms.push(first.map(|_| rounded(asked.map(|reader| reader.duration_ms).sum())));
        let (tokens_in, tokens_out) = annotated.tokens();
        self.tokens_in.push(tokens_in);
        self.tokens_out.push(tokens_out);
        self.cost_usd.push(annotated.cost_usd());
    }
}

/// Returns what was decided, as an index into the script's `KINDS`.
fn kind(annotated: &Annotated) -> u8 {
    match annotated.kind() {
        DecisionKind::Block => 0,
        DecisionKind::WouldBlock => 1,
        DecisionKind::Allow if annotated.is_unchecked() => 2,
        DecisionKind::Allow => 3,
    }
}

/// The page shows hundredths of a millisecond at most.
fn rounded(ms: f64) -> f64 {
    (ms * 100.0).round() / 100.0
}

/// Returns local time as if it were UTC; 0 if it is not a time.
fn local_ms(time: &str, zone: &TimeZone) -> i64 {
    let Ok(time) = time.parse::<Timestamp>() else { return 0 };
    time.as_millisecond() + i64::from(zone.to_offset(time).seconds()) * 1000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::annotated;

    #[test]
    fn a_stop_that_could_not_be_checked_is_a_kind_of_its_own() {
        let kind = |decision: &str, cause: &str| {
            let line = r#"{"id":"x","time":"2026-10-01T00:00:00Z","cause":"CAUSE",DECISION}"#;
            kind(&annotated(&line.replace("CAUSE", cause).replace("DECISION", decision))[0])
        };
        assert_eq!(kind(r#""decision":"block""#, "findings"), 0);
        assert_eq!(kind(r#""decision":"allow","would_block":true"#, "error"), 1);
        assert_eq!(kind(r#""decision":"allow""#, "error"), 2);
        assert_eq!(kind(r#""decision":"allow""#, "auditor-timeout"), 2);
        assert_eq!(kind(r#""decision":"allow""#, "clean"), 3);
    }

    #[test]
    fn times_are_local() {
        let zone = TimeZone::fixed(jiff::tz::offset(-5));
        assert_eq!(local_ms("2026-01-01T03:00:00.250Z", &zone), 1_767_218_400_250);
        assert_eq!(local_ms("soon", &zone), 0);
    }
}
