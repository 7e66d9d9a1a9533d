//! What a gate learned on the way, for the log: plan, files, findings, the auditor's part, and our own time
//! by phase. Decides nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use crate::audit::AuditInput;
use crate::checks::Passed;
use crate::evidence::FileEvidence;
use crate::finding::{Advisory, Finding};
use crate::followup::PendingBlock;
use crate::gates::Known;
use crate::gates::checklist::OpenClaims;
use crate::gates::feature_loop::FeatureLoopGate;
use crate::log::Snapshot;
use crate::log::record::{FileRecord, GateRecord, PlanRecord, ReaderRecord, TranscriptRecord};
use crate::plan::{Mark, Plan};
use crate::readers::ReaderRun;
use crate::session::load::Loaded;
use crate::state::{Chores, LastAudit, SessionState, StopLock};
use crate::timing;
use crate::timing::{Phases, millis};

/// What there is to tell.
#[derive(Debug, Default)]
pub struct StopReport {
    /// The client's version, as the transcript has it.
    pub client_version: Option<String>,
    /// The transcript.
    pub transcript: Option<TranscriptRecord>,
    /// The plan in play.
    pub plan: Option<PlanRecord>,
    /// Every file, and how it entered.
    pub files: Vec<FileRecord>,
    /// How many secrets were masked.
    pub masked: usize,
    /// Every finding, those that were refuted too.
    pub findings: Vec<Finding>,
    /// What the person should know.
    pub advisories: Vec<Advisory>,
    /// The first reader.
    pub auditor: Option<ReaderRecord>,
    /// The second reader, where it was asked.
    pub second_reader: Option<ReaderRecord>,
    /// How long what was sent is; it is kept already.
    pub prompt_bytes: usize,
    /// What came back.
    pub reply: Option<String>,
    /// What the second reader was asked, after the same evidence.
    pub second_prompt: Option<String>,
    /// What it answered.
    pub second_reply: Option<String>,
    /// What was looked at, where nobody was asked.
    pub scene: Option<Snapshot>,
    /// What is to be remembered if this stop is held.
    pub pending: Option<PendingBlock>,
    /// Faults in what the person configured that came up on the way.
    pub config_faults: Vec<String>,
    /// Faults in how the hook is registered.
    pub registration_faults: Vec<String>,
    /// The place at which this stop is audited: held until what was decided is remembered.
    pub lock: Option<StopLock>,
    /// Names of the advisories that the person is told of with this decision.
    pub told: Vec<String>,
    /// What is to be remembered of this audit.
    pub audited: Option<LastAudit>,
    /// What is to be written before the stop is over.
    pub chores: Chores,
    /// The gate of the loop that the session is bound to, until it is lined up with the others.
    pub feature_loop: Option<FeatureLoopGate>,
    /// Our own time by phase.
    pub phases: Phases,
    /// What is known of the session, once somebody has asked.
    pub known: Option<Known>,
    /// What is remembered of it, as it stood when this stop was taken in hand.
    pub remembered: SessionState,
    /// What is open although it is claimed as done.
    pub unsettled: Option<OpenClaims>,
    /// Names of the gates that hold the stop.
    pub held_by: Vec<&'static str>,
    /// The checks that passed now.
    pub checks_passed: BTreeMap<String, Passed>,
    /// What each gate made of the stop.
    pub gates: Vec<GateRecord>,
}

impl StopReport {
    /// Runs a phase and keeps its time.
    pub fn phase<T>(&mut self, name: &'static str, run: impl FnOnce(&mut Self) -> T) -> T {
        let started = Instant::now();
        let result = run(self);
        self.phases.add(name, started.elapsed());
        result
    }

    /// Notes the transcript.
    pub fn tell_transcript(&mut self, path: Option<&Path>, loaded: &Loaded) {
        self.phases.add(timing::WAIT, loaded.waited);
        self.client_version.clone_from(&loaded.session.version);
        self.transcript = Some(TranscriptRecord {
            path: path.map(|path| path.display().to_string()),
            bytes: loaded.bytes,
            rows: loaded.session.rows,
            subagents: loaded.subagents,
            skipped: loaded.session.skipped,
            problem: loaded.problem.clone(),
        });
    }

    /// Notes the plan.
    pub fn tell_plan(&mut self, plan: &Plan) {
        self.plan = Some(PlanRecord {
            source: plan.source,
            path: plan.path.clone(),
            steps: plan.steps.len(),
            ticked: plan.steps.iter().filter(|step| step.mark == Mark::Ticked).count(),
            dropped: plan.removed_steps().len(),
        });
    }

    /// Notes the evidence.
    pub fn tell_evidence(&mut self, brief: &AuditInput) {
        self.masked = brief.masked;
        self.phases.add(timing::FACTS, brief.facts_took);
        self.files = brief.evidence.files.iter().map(file_record).collect();
    }

    /// Notes the first reader's part.
    pub fn tell_reader(&mut self, run: &ReaderRun, backend: &str, model: &str) {
        self.phases.add(timing::AUDITOR, run.duration);
        self.auditor = Some(reader_record(run, backend, model));
    }

    /// Notes the second reader's part.
    pub fn tell_second_reader(&mut self, run: &ReaderRun, backend: &str, model: &str) {
        self.phases.add(timing::SECOND_READER, run.duration);
        self.second_reader = Some(reader_record(run, backend, model));
    }
}

fn reader_record(run: &ReaderRun, backend: &str, model: &str) -> ReaderRecord {
    ReaderRecord {
        backend: backend.to_owned(),
        client: run.client.as_ref().map(|client| client.display().to_string()),
        model: model.to_owned(),
        outcome: run.outcome.name().to_owned(),
        detail: run.outcome.detail(),
        duration_ms: millis(run.duration),
        usage: run.usage,
        flags: run.flags.clone(),
    }
}

fn file_record(file: &FileEvidence) -> FileRecord {
    let mut touched: Vec<String> = file.touches.iter().map(|touch| touch.tool.clone()).collect();
    touched.dedup();
    FileRecord {
        path: file.name.clone(),
        touched,
        state: file.state.clone(),
        entered: file.entered.clone(),
        bytes: file.text.len(),
        masked: file.masked,
    }
}
