//! One line of the decision log. A disk format: fields may be added, never renamed or given another meaning
//! without a new schema number; whatever reads it fills in what is missing.

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`]
    #[serde(default)]
    pub schema: u32,
    /// Its short name.
    pub id: String,
    /// When, in UTC.
    pub time: String,
    /// The session.
    pub session: Option<String>,
    /// The subagent, at a `SubagentStop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The project's folder.
    pub project: Option<String>,
    /// Which event.
    #[serde(default)]
    pub event: String,
    /// Blocked or let go.
    #[serde(default)]
    pub decision: Action,
    /// Why.
    #[serde(default)]
    pub cause: Cause,
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// It was a dry run.
    #[serde(default)]
    pub dry_run: bool,
    /// It would have been held, but for the dry run or a block that could not be counted.
    #[serde(default)]
    pub would_block: bool,
    /// What each gate made of it, where more than the audit looked at it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateRecord>,
    /// The plan in play.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanRecord>,
    /// Every finding, those that were refuted too.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// What the person should know; never a reason to hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// Every file, and how it entered.
    #[serde(default)]
    pub files: Vec<FileRecord>,
    /// The first reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auditor: Option<ReaderRecord>,
    /// The second reader, where it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_reader: Option<ReaderRecord>,
    /// How many secrets were masked.
    #[serde(default)]
    pub masked: usize,
    /// How long the prompt was.
    #[serde(default)]
    pub prompt_bytes: usize,
    /// The transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<TranscriptRecord>,
    /// What was wrong with the config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_error: Option<String>,
    /// Our own time, in milliseconds by phase, as [`crate::timing`] names them; `wait` is a part of `read`, `facts`
    /// of `evidence`, `auditor` and `second-reader` are the two readers' time, `total` is all of it up to the writing of this line.
    /// `start` is there only where `PUNCHLIST_TRACE` asked for it.
    #[serde(default)]
    pub phases_ms: BTreeMap<String, f64>,
    /// The client's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
    /// Ours.
    #[serde(default)]
    pub version: String,
}

impl Record {
    /// A record with nothing but its cause: the stop went through.
    pub fn new(cause: Cause, time: Timestamp) -> Self {
        Self::named(&new_id(), cause, time)
    }

    /// The same under a name that is known already.
    pub fn named(id: &str, cause: Cause, time: Timestamp) -> Self {
        Self {
            schema: SCHEMA,
            id: id.to_owned(),
            time: format!("{time:.3}"),
            session: None,
            agent: None,
            project: None,
            event: "Stop".into(),
            decision: Action::Allow,
            cause,
            detail: None,
            dry_run: false,
            would_block: false,
            gates: Vec::new(),
            plan: None,
            findings: Vec::new(),
            advisories: Vec::new(),
            files: Vec::new(),
            auditor: None,
            second_reader: None,
            masked: 0,
            prompt_bytes: 0,
            transcript: None,
            config_error: None,
            phases_ms: BTreeMap::new(),
            client_version: None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// What one gate made of a stop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GateRecord {
    /// Its name.
    pub gate: String,
    /// `pass`, `hold`, `advise` or `could-not-check`.
    pub outcome: String,
    /// Why.
    pub cause: Cause,
    /// In words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How long it took, in milliseconds.
    pub took_ms: f64,
}

/// The plan in play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// How it came to be in play.
    pub source: PlanSource,
    /// Its file.
    pub path: Option<String>,
    /// How many steps it has.
    pub steps: usize,
    /// How many are ticked.
    pub ticked: usize,
    /// How many were approved and are gone from the file.
    #[serde(default)]
    pub dropped: usize,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its path.
    pub path: String,
    /// With which tools it was touched.
    pub touched: Vec<String>,
    /// What stands there.
    pub state: FileState,
    /// How its content entered.
    pub entered: Entered,
    /// How many bytes of it were shown.
    pub bytes: usize,
    /// How many secrets were masked in it.
    #[serde(default)]
    pub masked: usize,
}

/// A reader.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReaderRecord {
    /// How it was asked.
    pub backend: String,
    /// Which program.
    pub client: Option<String>,
    /// Which model.
    pub model: String,
    /// `answered`, `not-asked`, `timed-out`, `unavailable`, `unreadable`, `superseded`, `interrupted`.
    pub outcome: String,
    /// In words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How long it took.
    pub duration_ms: f64,
    /// What it cost.
    pub usage: Usage,
    /// With which flags it was sealed.
    pub flags: Vec<String>,
}

/// The transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptRecord {
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How much of it was read, in bytes.
    #[serde(default)]
    pub bytes: u64,
    /// How many rows were used.
    pub rows: usize,
    /// How many subagents' transcripts were folded in.
    #[serde(default)]
    pub subagents: usize,
    /// What could not be used.
    pub skipped: Skipped,
    /// Why it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::finding::Status;

    /// The least that a record can be.
    pub(crate) fn record(id: &str) -> Record {
        let least = r#"{"schema":1,"id":"ID","time":"2026-10-01T00:00:00Z","session":null,"project":null,
            "event":"Stop","decision":"allow","cause":"clean"}"#;
        serde_json::from_str(&least.replace("ID", id)).expect("a record")
    }

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
