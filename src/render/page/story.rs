//! One decision's story, as the page unfolds it: takes the decision and what was said of it later, gives JSON,
//! mostly with the log's own names. Pure. What stands in the page's columns is not said again.

use serde::Serialize;

use crate::evidence::{Entered, FileState};
use crate::finding::{Advisory, Finding};
use crate::log::annotated::Fate;
use crate::log::record::{FileRecord, GateRecord, PlanRecord, ReaderRecord, TranscriptRecord};
use crate::log::{LabelNote, Told};
use crate::render::{check_words, second_words};

#[derive(Serialize)]
struct StopReport<'a> {
    time: &'a str,
    event: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<LabelTold<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    gates: &'a [GateRecord],
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<&'a PlanRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<FindingTold<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    advisories: &'a [Advisory],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileTold<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auditor: Option<&'a ReaderRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    second_reader: Option<&'a ReaderRecord>,
    masked: usize,
    prompt_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    transcript: Option<&'a TranscriptRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    config_error: Option<&'a str>,
    phases_ms: &'a std::collections::BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_version: Option<&'a str>,
    version: &'a str,
}

#[derive(Serialize)]
struct FindingTold<'a> {
    finding: &'a Finding,
    /// Its category in words.
    title: &'static str,
    /// What the checks said.
    checks: &'a str,
    /// What the second reader said.
    second: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<OutcomeTold<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<LabelTold<'a>>,
}

#[derive(Serialize)]
struct OutcomeTold<'a> {
    outcome: &'static str,
    time: &'a str,
    why: Option<&'a str>,
    sentence: Option<&'a str>,
    was_wrong: Option<bool>,
    told_by: Option<&'a str>,
}

#[derive(Serialize)]
struct LabelTold<'a> {
    label: &'static str,
    time: &'a str,
    note: Option<&'a str>,
}

impl<'a> LabelTold<'a> {
    fn of(note: &'a LabelNote) -> Self {
        Self { label: note.label.name(), time: &note.time, note: note.note.as_deref() }
    }
}

impl<'a> FindingTold<'a> {
    fn of(finding: &'a Finding, fate: &'a Fate, reader: Option<&str>) -> Self {
        let opinion = finding.second.as_ref();
        let outcome = fate.outcome.as_ref().map(|note| OutcomeTold {
            outcome: note.outcome.name(),
            time: &note.time,
            why: note.why.as_deref(),
            sentence: note.sentence.as_deref(),
            was_wrong: note.was_wrong,
            told_by: note.told_by.as_deref(),
        });
        Self {
            finding,
            title: finding.category.title(),
            checks: check_words(&finding.check, opinion),
            second: second_words(opinion, finding.status, &finding.check, reader),
            outcome,
            label: fate.label.as_ref().map(LabelTold::of),
        }
    }
}

#[derive(Serialize)]
struct FileTold<'a> {
    path: &'a str,
    touched: &'a [String],
    /// What stands there, in words; nothing where that is a file.
    state: Option<String>,
    /// How its content entered, in words.
    entered: String,
    bytes: usize,
    masked: usize,
}

impl<'a> FileTold<'a> {
    fn of(file: &'a FileRecord) -> Self {
        let state = match &file.state {
            FileState::File { .. } => None,
            FileState::Folder => Some("a folder".to_owned()),
            FileState::Missing { elsewhere: None } => Some("missing".to_owned()),
            FileState::Missing { elsewhere: Some(path) } => Some(format!("missing, but there is {path}")),
            FileState::Outside => Some("outside the workspace".to_owned()),
            FileState::Unreadable(why) => Some(format!("can't be read: {why}")),
        };
        let entered = match &file.entered {
            Entered::Whole => "shown whole".to_owned(),
            Entered::Diff => "shown as what changed".to_owned(),
            Entered::Cut(bytes) => format!("shown in part, {bytes} bytes are missing"),
            Entered::LeftOut(why) => format!("not shown: {}", why.words()),
        };
        let (bytes, masked) = (file.bytes, file.masked);
        Self { path: &file.path, touched: &file.touched, state, entered, bytes, masked }
    }
}

/// The story of one decision.
pub(super) fn story(told: &Told) -> String {
    let record = &told.record;
    let second = record.second_reader.as_ref().map(|reader| reader.outcome.as_str());
    let findings = record.findings.iter().zip(&told.fates);
    let story = StopReport {
        time: &record.time,
        event: &record.event,
        agent: record.agent.as_deref(),
        detail: record.detail.as_deref(),
        dry_run: record.dry_run,
        label: told.label.as_ref().map(LabelTold::of),
        gates: &record.gates,
        plan: record.plan.as_ref(),
        findings: findings.map(|(finding, fate)| FindingTold::of(finding, fate, second)).collect(),
        advisories: &record.advisories,
        files: record.files.iter().map(FileTold::of).collect(),
        auditor: record.auditor.as_ref(),
        second_reader: record.second_reader.as_ref(),
        masked: record.masked,
        prompt_bytes: record.prompt_bytes,
        transcript: record.transcript.as_ref(),
        config_error: record.config_error.as_deref(),
        phases_ms: &record.phases_ms,
        client_version: record.client_version.as_deref(),
        version: &record.version,
    };
    serde_json::to_string(&story).unwrap_or_default()
}
