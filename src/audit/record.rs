//! The log's record of an audit: plan, files, transcript and readers, and a snapshot of the
//! evidence for people. Pure. The evidence is masked already; a snapshot is no longer than a
//! megabyte.

use std::path::Path;

use crate::evidence::{Evidence, FileEvidence};
use crate::log::Snapshot;
use crate::log::artifacts::{FileSnapshot, StepSnapshot};
use crate::log::record::{FileRecord, PlanRecord, ReaderRecord, TranscriptRecord};
use crate::plan::{Mark, Plan, Step};
use crate::readers::ReaderRun;
use crate::session::load::Loaded;
use crate::text::first_part;
use crate::timing::millis;

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

pub fn plan_record(plan: &Plan) -> PlanRecord {
    PlanRecord {
        source: plan.source,
        path: plan.path.clone(),
        steps: plan.steps.len(),
        ticked: plan.steps.iter().filter(|step| step.mark == Mark::Ticked).count(),
        dropped: plan.removed.len(),
    }
}

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

/// How much is kept of an ask, a step, and the final message.
const ASK_CAP: usize = 8 << 10;
const STEP_CAP: usize = 1 << 10;
const MESSAGE_CAP: usize = 64 << 10;
/// How many asks (the newest) and steps (the first) are kept.
const MOST_ASKS: usize = 100;
const MOST_STEPS: usize = 400;
/// How much is kept of all files together, and what is tried if that does not fit: white space and
/// control characters grow when they are encoded.
const FILES: [usize; 4] = [500 << 10, 200 << 10, 50 << 10, 0];
/// The most that an encoded snapshot may take.
const MOST_BYTES: usize = 1 << 20;

pub fn snapshot_of(evidence: &Evidence) -> Snapshot {
    let mut scene = without_files(evidence);
    for room in FILES {
        scene.files = files(evidence, room);
        if serde_json::to_vec(&scene).is_ok_and(|bytes| bytes.len() <= MOST_BYTES) {
            return scene;
        }
    }
    Snapshot::default()
}

fn without_files(evidence: &Evidence) -> Snapshot {
    let asks = &evidence.session.asks;
    let newest = &asks[asks.len().saturating_sub(MOST_ASKS)..];
    let plan = evidence.plan.iter();
    let steps = plan.flat_map(|plan| {
        let written = plan.steps.iter().map(|step| step_snapshot(step, None));
        written.chain(plan.removed.iter().map(|step| step_snapshot(step, Some("dropped"))))
    });
    Snapshot {
        asks: newest.iter().map(|ask| first_part(&ask.text, ASK_CAP)).collect(),
        steps: steps.take(MOST_STEPS).collect(),
        final_message: evidence.session.final_message.as_deref().map(|text| first_part(text, MESSAGE_CAP)),
        files: Vec::new(),
    }
}

fn step_snapshot(step: &Step, state: Option<&str>) -> StepSnapshot {
    let by_mark = match step.mark {
        Mark::Ticked => "ticked",
        Mark::Abandoned => "dropped",
        Mark::None | Mark::Open => "open",
    };
    StepSnapshot {
        number: step.number,
        text: first_part(&step.text, STEP_CAP),
        state: state.unwrap_or(by_mark).to_owned(),
    }
}

fn files(evidence: &Evidence, room: usize) -> Vec<FileSnapshot> {
    let mut left = room;
    let shown = evidence.files.iter().filter(|file| !file.text.is_empty());
    shown
        .map_while(|file| {
            let text = first_part(&file.text, left);
            left = left.saturating_sub(file.text.len());
            (!text.is_empty() && room > 0).then(|| FileSnapshot { path: file.name.clone(), text })
        })
        .take_while(|_| room > 0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, ask, plan_from, said, shown};

    fn evidence(files: &[(&str, String)]) -> Evidence {
        let now = "- [x] Create `a.rs`\n- [ ] Create `b.rs`\n- [ ] ~~Create `c.rs`~~\n";
        let mut session = said("Done.");
        session.asks.push(ask("Follow the plan.", 1));
        Evidence {
            plan: Some(plan_from(&format!("{now}- [ ] Create `d.rs`\n"), now)),
            files: files.iter().map(|(name, text)| shown(name, text)).collect(),
            ..testing::evidence(session)
        }
    }

    #[test]
    fn asks_steps_words_and_files_are_kept() {
        let scene = snapshot_of(&evidence(&[("a.rs", "fn a() {}\n".into()), ("b.rs", String::new())]));
        assert_eq!(
            (scene.asks, scene.final_message),
            (vec!["Follow the plan.".into()], Some("Done.".into()))
        );
        let states: Vec<_> = scene.steps.iter().map(|step| (step.number, step.state.as_str())).collect();
        assert_eq!(states, [(1, "ticked"), (2, "open"), (3, "dropped"), (4, "dropped")]);
        assert_eq!(scene.files, [FileSnapshot { path: "a.rs".into(), text: "fn a() {}\n".into() }]);
    }

    #[test]
    fn however_much_there_is_it_stays_below_a_megabyte() {
        for text in ["x".repeat(3 << 20), "\u{1}".repeat(3 << 20)] {
            let files = [("a.rs", text.clone()), ("b.rs", text)];
            let scene = snapshot_of(&evidence(&files));
            let bytes = serde_json::to_vec(&scene).expect("json").len();
            assert!((1_000..=MOST_BYTES).contains(&bytes), "{bytes}");
            assert!(scene.files[0].text.ends_with(" bytes cut …]"));
            assert_eq!(scene.steps.len(), 4);
        }
    }
}
