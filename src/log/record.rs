//! One decision, as a line of the log. A disk format: fields may be added, but not renamed or given
//! another meaning without a new schema number; readers fill in what is missing.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::decision::{Action, Cause};
use crate::evidence::{Entered, FileState};
use crate::finding::{Advisory, Finding};
use crate::ids::new_id;
use crate::plan::PlanSource;
use crate::readers::Usage;
use crate::session::Skipped;

/// The number of this format.
pub const SCHEMA: u32 = 1;

/// One decision.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    pub schema: u32,
    pub id: String,
    pub time: String,
    /// The machine of the fleet that it comes from. Only set in copies in the fleet's database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    pub session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    pub project: Option<String>,
    pub event: String,
    pub decision: Action,
    pub cause: Cause,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub dry_run: bool,
    /// It would have been blocked without the dry run, or if the block could have been counted.
    pub would_block: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanRecord>,
    pub findings: Vec<Finding>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    pub files: Vec<FileRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auditor: Option<ReaderRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_reader: Option<ReaderRecord>,
    pub masked: usize,
    pub prompt_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<TranscriptRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_error: Option<String>,
    /// Milliseconds by the names of [`crate::timing`]. `wait` is a part of `read`, `facts` of
    /// `evidence`; `total` ends before this line is written.
    pub phases_ms: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
    pub version: String,
}

impl Record {
    /// A decision that let the stop through.
    pub fn new(cause: Cause, time: Timestamp) -> Self {
        Self::named(&new_id(), cause, time)
    }

    /// Returns the same with a given id.
    pub fn named(id: &str, cause: Cause, time: Timestamp) -> Self {
        Self {
            schema: SCHEMA,
            id: id.to_owned(),
            time: format!("{time:.3}"),
            event: "Stop".into(),
            cause,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Self::default()
        }
    }
}

impl Record {
    /// Returns whether it may contain text written by others, which can have a secret in it. A stop
    /// that was skipped, or at which nothing was new, has only our own text and the names of the
    /// stop before it. Those stops are the most frequent, and preparing the search for secrets
    /// takes longer than all the rest of them.
    pub fn has_words_of_others(&self) -> bool {
        let is_ours = |gate: &GateRecord| {
            gate.detail.is_none() || matches!(gate.cause, Cause::Unchanged | Cause::NothingToAudit)
        };
        let is_quiet = self.gates.iter().all(is_ours)
            && self.findings.is_empty()
            && self.advisories.is_empty()
            && self.files.is_empty()
            && self.auditor.is_none()
            && self.config_error.is_none();
        !is_quiet || matches!(self.cause, Cause::BadInput | Cause::Error)
    }
}

/// The result of one gate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GateRecord {
    pub gate: String,
    /// `pass`, `hold`, `advise` or `could-not-check`.
    pub outcome: String,
    pub cause: Cause,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The result of each check, for the gate of the checks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckRecord>,
    /// What a reader cost that it asked. The audit's readers have records of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    pub took_ms: f64,
}

/// The result of one check at a stop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckRecord {
    pub name: String,
    /// `passed`, `fixed`, `failed`, `still-failing`, `not-made` or `not-due`.
    pub outcome: String,
}

/// The plan in play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    pub source: PlanSource,
    pub path: Option<String>,
    pub steps: usize,
    pub ticked: usize,
    #[serde(default)]
    pub dropped: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    pub path: String,
    pub touched: Vec<String>,
    pub state: FileState,
    pub entered: Entered,
    pub bytes: usize,
    #[serde(default)]
    pub masked: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReaderRecord {
    pub backend: String,
    pub client: Option<String>,
    pub model: String,
    /// `answered`, `not-asked`, `timed-out`, `unavailable`, `unreadable`, `superseded`,
    /// `interrupted`.
    pub outcome: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub duration_ms: f64,
    pub usage: Usage,
    pub flags: Vec<String>,
}

impl ReaderRecord {
    pub fn was_asked(&self) -> bool {
        self.outcome != "not-asked"
    }
}

/// Returns what calls cost together, in dollars, as far as the client reports it.
pub fn total_cost<'a>(calls: impl Iterator<Item = &'a Usage>) -> Option<f64> {
    // No provider bills in smaller units, and a sum must not show floating-point noise.
    Usage::sum(calls).cost_usd.map(|cost| (cost * 1e9).round() / 1e9)
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default)]
    pub bytes: u64,
    pub rows: usize,
    #[serde(default)]
    pub subagents: usize,
    pub skipped: Skipped,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Status;
    use crate::testing::record;

    #[test]
    fn an_older_record_with_fewer_fields_is_read() {
        let old = record("x");
        assert_eq!((old.cause, old.findings.len(), old.version.as_str()), (Cause::Clean, 0, ""));
        let again: Record =
            serde_json::from_str(&serde_json::to_string(&old).expect("json")).expect("a record");
        assert_eq!(again, old);
    }

    #[test]
    fn what_a_list_shows_of_an_older_record_can_be_shown_whole() {
        let old = r#"{"schema":0,"id":"older","time":"2026-09-30T20:00:00Z","decision":"block",
            "findings":[{"category":"A"}],"auditor":{"model":"haiku","usage":{"cost_usd":0.5}}}"#;
        let old: Record = serde_json::from_str(old).expect("a record");
        assert_eq!((old.decision, old.cause), (Action::Block, Cause::Unknown));
        assert_eq!(old.findings[0].status, Status::CannotVerify, "nothing says that it was confirmed");
        assert_eq!(old.auditor.map(|auditor| auditor.usage.cost_usd), Some(Some(0.5)));
        let newer = r#"{"id":"a","time":"2026-09-30T20:00:00Z","decision":"allow","cause":"rained-off"}"#;
        assert_eq!(serde_json::from_str::<Record>(newer).expect("a record").cause, Cause::Unknown);
    }
}
