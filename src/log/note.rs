//! Notes on earlier decisions: the outcome of a finding at the session's next stop, and a person's
//! label of a decision. Lines of the same log, with a `kind`, which decisions do not have. A disk
//! format, like [`super::record`].

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::Record;
use crate::finding::Category;
use crate::ids::new_id;
use crate::readers::Usage;

/// The format number of notes: a version that knows only decisions skips them.
pub const SCHEMA: u32 = 2;

/// The outcome of one finding after the block that named it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum FindingOutcome {
    /// Disk or plan settles it now, or a reader says that it is settled.
    Fixed,
    /// The agent's final message contradicts it.
    Disputed,
    /// Neither.
    Ignored,
}

impl FindingOutcome {
    /// Returns its name in the log.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A person's label of a decision or of one of its findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Label {
    /// It was right
    Right,
    /// It was wrong
    Wrong,
}

impl Label {
    /// Returns its name in the log.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The outcome of one finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeNote {
    pub schema: u32,
    pub id: String,
    pub time: String,
    pub session: Option<String>,
    pub project: Option<String>,
    /// The block's id.
    pub of: String,
    /// The number of the finding, from 1.
    pub finding: usize,
    /// The finding's category; missing in older notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    pub outcome: FindingOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The start of the agent's dispute, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// Whether a reader that was asked again says that the finding was never right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was_wrong: Option<bool>,
    /// The decision on the stop at which this was found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told_by: Option<String>,
    /// What the reader cost that was asked about all findings of the block, on the first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl OutcomeNote {
    /// Returns the outcome of finding `number` (from 1) of a block, without a reason.
    pub fn new(block: &Record, number: usize, outcome: FindingOutcome, time: Timestamp) -> Self {
        Self {
            schema: SCHEMA,
            id: new_id(),
            time: format!("{time:.3}"),
            session: block.session.clone(),
            project: block.project.clone(),
            of: block.id.clone(),
            finding: number,
            category: number.checked_sub(1).and_then(|at| block.findings.get(at)).map(|found| found.category),
            outcome,
            why: None,
            sentence: None,
            was_wrong: None,
            told_by: None,
            usage: None,
        }
    }
}

/// A person's label. The newest of several counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelNote {
    pub schema: u32,
    pub id: String,
    pub time: String,
    /// The decision's id.
    pub of: String,
    /// The number of the finding, from 1; without it, the decision as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<usize>,
    pub label: Label,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl LabelNote {
    /// Returns a person's label of a decision, or of its finding `finding` (from 1).
    pub fn new(of: &str, finding: Option<usize>, label: Label, time: Timestamp) -> Self {
        let (of, time) = (of.to_owned(), format!("{time:.3}"));
        Self { schema: SCHEMA, id: new_id(), time, of, finding, label, note: None }
    }
}

/// A note, as stored in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Note {
    Outcome(OutcomeNote),
    Label(LabelNote),
}

impl Note {
    /// Returns the id of the decision that it is about.
    pub fn decision(&self) -> &str {
        match self {
            Self::Outcome(note) => &note.of,
            Self::Label(note) => &note.of,
        }
    }

    pub fn time(&self) -> &str {
        match self {
            Self::Outcome(note) => &note.time,
            Self::Label(note) => &note.time,
        }
    }
}

/// A note and its line of the log, which may have fields that are unknown here.
#[derive(Debug, Clone, PartialEq)]
pub struct NoteLine {
    pub note: Note,
    pub line: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_its_kind_and_comes_back() {
        for line in [
            r#"{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","session":null,"project":null,"of":"b","finding":2,"outcome":"disputed","sentence":"It is in lib.rs."}"#,
            r#"{"kind":"label","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"b","label":"wrong"}"#,
        ] {
            let note: Note = serde_json::from_str(line).expect("a note");
            assert_eq!(serde_json::to_string(&note).expect("json"), line);
            assert_eq!((note.decision(), note.time()), ("b", "2026-10-01T00:00:00Z"));
        }
    }
}
