//! A loop's folder at one moment: both files and the workspace, read once. The gate takes one at a
//! stop, `loop run` between two sessions. The decision itself is `state`'s.

use std::collections::BTreeSet;

use super::context::ContextFill;
use super::features::Feature;
use super::progress::{self, Progress, Status};
use super::prompts::PromptValues;
use super::state::{ListChanges, LoopState, Shown, Step, next_step};
use super::verify::TakenBack;
use super::{change_probe, disk};
use crate::config::LoopConfig;
use crate::ids::ContentId;

/// What a loop's folder holds.
#[derive(Debug)]
pub struct LoopSnapshot {
    pub features: Vec<Feature>,
    /// The progress file's text.
    pub notes: String,
    pub progress: Progress,
    /// Changes with the workspace's files and commits, and with what the list asks for.
    pub fingerprint: Option<String>,
    /// Marks that did not hold, and were taken back.
    pub taken_back: Vec<TakenBack>,
    /// Keys of the features whose command could not be run.
    pub unverified: BTreeSet<String>,
    /// What the commands showed where all features are set to pass.
    pub shown: Shown,
}

/// The current time in milliseconds since 1970.
pub fn now_ms() -> i64 {
    crate::clock::now().as_millisecond()
}

impl LoopSnapshot {
    pub fn read(state: &LoopState) -> Result<Self, String> {
        let features = disk::read_features(&state.folder, &state.features)?;
        let notes = disk::read_progress(&state.folder, &state.progress)?;
        let workspace = change_probe::fingerprint(&state.folder, &[&state.progress, &state.features]);
        let fingerprint = workspace.map(|workspace| with_features(&workspace, &features));
        let progress = progress::parse(&notes);
        let (taken_back, unverified, shown) = (Vec::new(), state.unverified.clone(), Shown::default());
        Ok(Self { features, notes, progress, fingerprint, taken_back, unverified, shown })
    }

    pub fn passing(&self) -> usize {
        self.features.iter().filter(|feature| feature.passes).count()
    }

    /// Records the last round in the state, and decides what comes next.
    pub fn next_step(&self, state: &mut LoopState, fill: Option<ContextFill>, config: &LoopConfig) -> Step {
        state.record_round(&self.features, self.fingerprint.as_deref(), now_ms());
        state.unverified.clone_from(&self.unverified);
        let note = progress::status_note(&self.notes);
        next_step(state, &self.features, &self.shown, &self.progress, note.as_deref(), fill, config)
    }

    /// Hands a feature out, and returns the prompt for it.
    pub fn hand_out(
        &self,
        state: &mut LoopState,
        at: Option<usize>,
        changes: &ListChanges,
        template: &str,
        built_in: &str,
    ) -> String {
        state.hand_out(self.fingerprint.clone(), now_ms());
        let (features, progress, notes) = (self.features.as_slice(), &self.progress, self.notes.as_str());
        let (taken_back, shown) = (&self.taken_back, &self.shown);
        PromptValues { state, features, at, changes, progress, notes, taken_back, shown }
            .fill(template, built_in)
    }

    pub fn write_progress(&self, state: &LoopState, status: Status) -> Result<(), String> {
        let updated = crate::clock::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let progress = state.to_progress(&self.features, status, updated);
        disk::write_progress(&state.folder, &state.progress, &progress)
    }
}

/// A rewritten list that asks for the same is no change, so its content counts and not its bytes.
/// It stands apart from the workspace: to change the list is no work on a feature.
fn with_features(workspace: &str, features: &[Feature]) -> String {
    let mut id = ContentId::default();
    for feature in features {
        id.add(&feature.key);
        id.add(feature.content_id());
    }
    format!("{workspace}:{}", id.finish())
}
