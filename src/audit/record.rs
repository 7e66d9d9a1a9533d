//! What the log has of an audit: plan, files, transcript and readers as records. Pure.

use std::path::Path;

use crate::evidence::FileEvidence;
use crate::log::record::{FileRecord, PlanRecord, ReaderRecord, TranscriptRecord};
use crate::plan::{Mark, Plan};
use crate::readers::ReaderRun;
use crate::session::load::Loaded;
use crate::timing::millis;

/// The record of a transcript that was read.
pub fn transcript_record(path: Option<&Path>, loaded: &Loaded) -> TranscriptRecord {
    TranscriptRecord {
        path: path.map(|path| path.display().to_string()),
        bytes: loaded.bytes,
        rows: loaded.session.rows,
        subagents: loaded.subagents,
        skipped: loaded.session.skipped,
        problem: loaded.problem.clone(),
    }
}

/// The record of a plan.
pub fn plan_record(plan: &Plan) -> PlanRecord {
    PlanRecord {
        source: plan.source,
        path: plan.path.clone(),
        steps: plan.steps.len(),
        ticked: plan.steps.iter().filter(|step| step.mark == Mark::Ticked).count(),
        dropped: plan.removed_steps().len(),
    }
}

/// The record of a reader that was asked.
pub fn reader_record(run: &ReaderRun, backend: &str, model: &str) -> ReaderRecord {
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

/// The record of a file.
pub fn file_record(file: &FileEvidence) -> FileRecord {
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
