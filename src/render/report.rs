//! What an audit of a past session came to: [`Report`], which as it stands is also the JSON. Pure.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::config::AuditConfig;
use crate::decision::{Action, Cause};
use crate::evidence::{Entered, FileState};
use crate::finding::{Advisory, Category, ClaimedIn, Finding, Kind, SecondOpinion, Source, Status};
use crate::log::record::ReaderRecord;
use crate::past_sessions::audit::Audited;
use crate::plan::{Mark, Plan, PlanSource};
use crate::readers::Usage;
use crate::text::normalise::normalised;

/// The number of this format. Fields may be added under it; none is renamed or given another
/// meaning.
pub const SCHEMA: u32 = 1;

/// What an audit came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    pub schema: u32,
    pub session: SessionReport,
    pub plan: Option<PlanReport>,
    pub steps: Vec<StepReport>,
    pub findings: Vec<FindingReport>,
    pub advisories: Vec<Advisory>,
    pub files: Vec<FileReport>,
    pub auditor: ReaderReport,
    pub second_reader: Option<ReaderReport>,
    pub decision: Action,
    pub cause: Cause,
    pub cautions: Vec<String>,
    /// For locations; no part of the format.
    #[serde(skip)]
    pub workspace: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionReport {
    pub id: String,
    pub transcript: String,
    pub cwd: String,
    pub client_version: Option<String>,
    pub started: Option<String>,
    pub ended: Option<String>,
}

/// The plan in play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanReport {
    pub source: PlanSource,
    pub path: Option<String>,
    pub steps: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepReport {
    pub number: usize,
    pub line: usize,
    pub text: String,
    pub mark: Mark,
    pub paths: Vec<String>,
    pub ticked_now: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingReport {
    pub category: Category,
    pub status: Status,
    pub source: Source,
    pub step: Option<usize>,
    pub claim: String,
    pub claimed_in: ClaimedIn,
    pub proof: String,
    pub path: Option<String>,
    pub kind: Kind,
    pub detail: String,
    pub settle: String,
    pub note: String,
    pub second: Option<SecondOpinion>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileReport {
    pub path: String,
    pub touched: Vec<String>,
    pub state: &'static str,
    pub entered: &'static str,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ReaderReport {
    pub backend: String,
    pub model: String,
    pub outcome: String,
    pub detail: Option<String>,
    pub duration_ms: f64,
    pub usage: Usage,
}

impl From<&ReaderRecord> for ReaderReport {
    fn from(record: &ReaderRecord) -> Self {
        Self {
            backend: record.backend.clone(),
            model: record.model.clone(),
            outcome: record.outcome.clone(),
            detail: record.detail.clone(),
            duration_ms: record.duration_ms,
            usage: record.usage,
        }
    }
}

impl Report {
    /// Puts a report together. `id` and `transcript` are those by which the session was found.
    pub fn new(id: &str, transcript: &Path, workspace: &Path, audited: &Audited) -> Self {
        let evidence = &audited.brief.evidence;
        let (session, plan) = (&evidence.session, evidence.plan.as_ref());
        Self {
            schema: SCHEMA,
            session: SessionReport {
                id: session.id.clone().unwrap_or_else(|| id.to_owned()),
                transcript: transcript.display().to_string(),
                cwd: workspace.display().to_string(),
                client_version: session.version.clone(),
                started: session.started.clone(),
                ended: session.ended.clone(),
            },
            plan: plan.map(|plan| PlanReport {
                source: plan.source,
                path: plan.path.as_deref().map(|path| relative(path, workspace)),
                steps: plan.promised().len(),
            }),
            steps: plan.map(steps_of).unwrap_or_default(),
            findings: audited.findings.iter().map(|finding| finding_of(finding, plan)).collect(),
            advisories: audited.advisories.clone(),
            files: audited
                .files()
                .iter()
                .map(|file| FileReport {
                    path: file.path.clone(),
                    touched: file.touched.clone(),
                    state: state_name(&file.state),
                    entered: entered_name(&file.entered),
                })
                .collect(),
            auditor: ReaderReport::from(&audited.first),
            second_reader: audited.second.as_ref().map(ReaderReport::from),
            decision: audited.decision,
            cause: audited.cause,
            cautions: Vec::new(),
            workspace: workspace.to_path_buf(),
        }
    }

    pub fn with(&self, status: Status) -> impl Iterator<Item = &FindingReport> {
        self.findings.iter().filter(move |finding| finding.status == status)
    }

    /// How many findings have a status.
    pub fn count(&self, status: Status) -> usize {
        self.with(status).count()
    }

    /// Whether the first reader was asked and gave no answer.
    pub fn reader_failed(&self) -> bool {
        !["answered", "not-asked"].contains(&self.auditor.outcome.as_str())
    }

    /// Takes back what rests on a disk that has moved on since: it may have been so then, and can't
    /// be told now.
    pub fn doubt_the_disk(&mut self, why: &str, config: &AuditConfig) {
        let rests_on_disk = |finding: &FindingReport| match finding.kind {
            Kind::Missing | Kind::WrongContent => true,
            Kind::Other | Kind::LeftOut => finding.path.is_some(),
            Kind::Failed | Kind::NotRun | Kind::NotInPlan => false,
        };
        let doubtful =
            |finding: &&mut FindingReport| finding.status == Status::Confirmed && rests_on_disk(finding);
        for finding in self.findings.iter_mut().filter(doubtful) {
            finding.status = Status::CannotVerify;
            finding.note = format!("the disk has moved on since this session ended ({why})");
        }
        self.cautions.push(format!("the disk has moved on since this session ended ({why})"));
        let holds = self.with(Status::Confirmed).any(|finding| config.block_on.contains(&finding.category));
        if self.decision == Action::Block && !holds {
            self.decision = Action::Allow;
            self.cause = Cause::OnlyUnverified;
        }
    }
}

fn steps_of(plan: &Plan) -> Vec<StepReport> {
    let steps = plan.promised().into_iter().map(|step| StepReport {
        number: step.number,
        line: step.line,
        text: step.text.clone(),
        mark: step.mark,
        paths: step.paths.clone(),
        ticked_now: plan.ticked_now(&step),
    });
    steps.collect()
}

fn finding_of(finding: &Finding, plan: Option<&Plan>) -> FindingReport {
    // A finding that quotes a step whole is about that step.
    let quoted = || {
        let words = normalised(&finding.claim);
        let step =
            plan?.promised().into_iter().find(|step| !words.is_empty() && normalised(&step.text) == words)?;
        Some(step.number)
    };
    FindingReport {
        category: finding.category,
        status: finding.status,
        source: finding.source,
        step: finding.step.or_else(quoted),
        claim: finding.claim.clone(),
        path: finding.path.clone(),
        kind: finding.kind,
        detail: finding.why.clone(),
        claimed_in: finding.claimed_in,
        proof: finding.proof.clone(),
        second: finding.second.clone(),
        settle: finding.settle.clone(),
        note: finding.check.clone(),
    }
}

/// A path as the workspace has it; one that is outside stays as it is.
fn relative(path: &str, workspace: &Path) -> String {
    let real = std::fs::canonicalize(workspace).unwrap_or_else(|_| workspace.to_path_buf());
    let path = Path::new(path);
    let below = path.strip_prefix(workspace).or_else(|_| path.strip_prefix(&real));
    below.unwrap_or(path).to_string_lossy().into_owned()
}

fn state_name(state: &FileState) -> &'static str {
    match state {
        FileState::File { .. } => "file",
        FileState::Folder => "folder",
        FileState::Missing { elsewhere: None } => "missing",
        FileState::Missing { elsewhere: Some(_) } => "elsewhere",
        FileState::Outside => "outside",
        FileState::Unreadable(_) => "unreadable",
    }
}

fn entered_name(entered: &Entered) -> &'static str {
    match entered {
        Entered::Whole => "whole",
        Entered::Diff => "diff",
        Entered::Cut(_) => "cut",
        Entered::LeftOut(_) => "left-out",
    }
}

#[cfg(test)]
mod tests;
