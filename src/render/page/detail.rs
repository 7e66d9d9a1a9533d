//! One decision as the page unfolds it: JSON, mostly with the log's own names. What the page's
//! columns have is not repeated. Pure.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::evidence::{Entered, FileState};
use crate::finding::{Advisory, Finding};
use crate::log::annotated::FindingNotes;
use crate::log::record::{FileRecord, GateRecord, PlanRecord, ReaderRecord, TranscriptRecord};
use crate::log::{Annotated, LabelNote, OutcomeNote, Record};
use crate::render::wording::{check_words, second_words};

#[derive(Serialize)]
struct Detail<'a> {
    time: &'a str,
    event: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    #[serde(rename = "detail", skip_serializing_if = "Option::is_none")]
    words: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a LabelNote>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    gates: &'a [GateRecord],
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<&'a PlanRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<FindingDetail<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    advisories: &'a [Advisory],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileDetail<'a>>,
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
    phases_ms: &'a BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_version: Option<&'a str>,
    version: &'a str,
}

#[derive(Serialize)]
struct FindingDetail<'a> {
    finding: &'a Finding,
    /// Its category in words.
    title: &'static str,
    /// What the checks said.
    checks: &'a str,
    /// What the second reader said.
    second: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'a OutcomeNote>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a LabelNote>,
}

impl<'a> FindingDetail<'a> {
    fn new(finding: &'a Finding, notes: &'a FindingNotes, second_reader: Option<&str>) -> Self {
        let opinion = finding.second.as_ref();
        Self {
            finding,
            title: finding.category.title(),
            checks: check_words(&finding.check, opinion),
            second: second_words(opinion, finding.status, &finding.check, second_reader),
            outcome: notes.outcome.as_ref(),
            label: notes.label.as_ref(),
        }
    }
}

#[derive(Serialize)]
struct FileDetail<'a> {
    path: &'a str,
    touched: &'a [String],
    /// In words, where it is not just a file.
    state: Option<String>,
    entered: String,
    bytes: usize,
    masked: usize,
}

impl<'a> FileDetail<'a> {
    fn new(file: &'a FileRecord) -> Self {
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

/// Returns the JSON of one decision.
pub(super) fn detail(annotated: &Annotated<Record>) -> String {
    let record = &annotated.decision;
    let second = record.second_reader.as_ref().map(|reader| reader.outcome.as_str());
    let findings = record.findings.iter().zip(&annotated.findings);
    let detail = Detail {
        time: &record.time,
        event: &record.event,
        agent: record.agent.as_deref(),
        words: record.detail.as_deref(),
        dry_run: record.dry_run,
        label: annotated.label.as_ref(),
        gates: &record.gates,
        plan: record.plan.as_ref(),
        findings: findings.map(|(finding, notes)| FindingDetail::new(finding, notes, second)).collect(),
        advisories: &record.advisories,
        files: record.files.iter().map(FileDetail::new).collect(),
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
    serde_json::to_string(&detail).unwrap_or_default()
}
