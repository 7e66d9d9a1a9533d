//! What is said of a decision later: what became of its findings at the session's next stop, and what a person says of
//! it. Lines of the same log as the decisions, told apart by their `kind`; a decision has none. A disk format, as
//! [`super::record`].

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Record;
use crate::ids::new_id;

/// The number of the format of notes: a punchlist that knows only decisions passes them over.
pub const SCHEMA: u32 = 2;

/// What became of one finding after the block that named it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingOutcome {
    /// Disk or plan settles it now, or a reader says that it is settled.
    Fixed,
    /// The agent's final message speaks against it.
    Disputed,
    /// Neither.
    Ignored,
}

impl FindingOutcome {
    /// All of them, in order.
    pub const ALL: [Self; 3] = [Self::Fixed, Self::Disputed, Self::Ignored];

    /// As the log writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Disputed => "disputed",
            Self::Ignored => "ignored",
        }
    }
}

/// What a person says of a decision or of one of its findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// It was right.
    Right,
    /// It was not.
    Wrong,
}

impl Judgement {
    /// As the log writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
        }
    }
}

/// What became of one finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeNote {
    /// [`SCHEMA`]
    pub schema: u32,
    /// Its own short name.
    pub id: String,
    /// When, in UTC.
    pub time: String,
    /// The session.
    #[serde(default)]
    pub session: Option<String>,
    /// The project's folder.
    #[serde(default)]
    pub project: Option<String>,
    /// The block's id.
    pub of: String,
    /// Which of its findings, counted from 1.
    pub finding: usize,
    /// What became of it.
    pub outcome: FindingOutcome,
    /// How that is known, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The start of what the agent said, where it disputes; masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// Whether a reader that was asked once more says that the finding was never right; nothing where none was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was_wrong: Option<bool>,
    /// The decision on the stop that told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_by: Option<String>,
}

impl OutcomeNote {
    /// What became of finding `number` (from 1) of a block, with nothing said of why.
    pub fn new(block: &Record, number: usize, outcome: FindingOutcome, time: Timestamp) -> Self {
        Self {
            schema: SCHEMA,
            id: new_id(),
            time: format!("{time:.3}"),
            session: block.session.clone(),
            project: block.project.clone(),
            of: block.id.clone(),
            finding: number,
            outcome,
            why: None,
            sentence: None,
            was_wrong: None,
            told_by: None,
        }
    }
}

/// What a person says. The newest of several counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelNote {
    /// [`SCHEMA`]
    pub schema: u32,
    /// Its own short name.
    pub id: String,
    /// When, in UTC.
    pub time: String,
    /// The decision's id.
    pub of: String,
    /// Which of its findings, counted from 1; all of it where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<usize>,
    /// Right or wrong.
    pub label: Judgement,
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A note, as it stands in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Note {
    /// What became of a finding.
    Outcome(OutcomeNote),
    /// What a person says.
    Label(LabelNote),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_its_kind_and_comes_back() {
        let line = r#"{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","session":null,"project":null,"of":"b","finding":2,"outcome":"disputed","sentence":"It is in lib.rs."}"#;
        let note: Note = serde_json::from_str(line).expect("a note");
        assert_eq!(serde_json::to_string(&note).expect("json"), line);
        let Note::Outcome(outcome) = note else { panic!("no outcome") };
        assert_eq!((outcome.outcome, outcome.told_by), (FindingOutcome::Disputed, None));
        let line =
            r#"{"kind":"label","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"b","label":"wrong"}"#;
        let note: Note = serde_json::from_str(line).expect("a note");
        assert_eq!(serde_json::to_string(&note).expect("json"), line);
    }

    #[test]
    fn a_decision_is_no_note() {
        let record = super::super::record::tests::record("x");
        assert!(serde_json::from_str::<Note>(&serde_json::to_string(&record).expect("json")).is_err());
    }
}
