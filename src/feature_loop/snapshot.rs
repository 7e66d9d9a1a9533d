//! A loop's folder at one moment: both files and the workspace, read once. The gate takes one at a
//! stop, `loop run` between two sessions. The decision itself is `state`'s.

use super::context::ContextFill;
use super::features::Feature;
use super::progress::{self, Progress, Status};
use super::prompts::PromptValues;
use super::state::{ListChanges, LoopState, Step, next_step};
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
        Ok(Self { progress: progress::parse(&notes), features, notes, fingerprint })
    }

    pub fn passing(&self) -> usize {
        self.features.iter().filter(|feature| feature.passes).count()
    }

    /// Records the last round in the state, and decides what comes next.
    pub fn next_step(&self, state: &mut LoopState, fill: Option<ContextFill>, config: &LoopConfig) -> Step {
        state.record_round(&self.features, self.fingerprint.as_deref(), now_ms());
        let note = progress::status_note(&self.notes);
        next_step(state, &self.features, &self.progress, note.as_deref(), fill, config)
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
        state.hand_out(self.fingerprint.clone());
        let (features, progress, notes) = (self.features.as_slice(), &self.progress, self.notes.as_str());
        PromptValues { state, features, at, changes, progress, notes }.fill(template, built_in)
    }

    pub fn write_progress(&self, state: &LoopState, status: Status) -> Result<(), String> {
        let updated = crate::clock::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let progress = state.to_progress(&self.features, status, updated);
        disk::write_progress(&state.folder, &state.progress, &progress)
    }
}

/// A rewritten list that asks for the same is no change, so its content counts and not its bytes.
fn with_features(workspace: &str, features: &[Feature]) -> String {
    let mut id = ContentId::default();
    id.add(workspace);
    for feature in features {
        id.add(&feature.key);
        id.add(feature.content_id());
    }
    id.finish()
}
