//! One look at a loop: takes what is remembered, reads both files and the workspace, and gives the next step; hands the
//! next feature out, or writes down how the loop ended. The gate does that at a stop, `loop run` between two sessions.

use jiff::Timestamp;

use super::context::Fill;
use super::disk;
use super::features::Feature;
use super::progress::{self, Progress, Status};
use super::step::{Limits, Look, Step, next};
use crate::feature_loop::change_probe;
use crate::feature_loop::prompts::Told;
use crate::feature_loop::state::{Changes, Loop};
use crate::ids::ContentId;

/// What is seen of a loop's folder.
#[derive(Debug)]
pub struct Seen {
    /// The list.
    pub features: Vec<Feature>,
    /// The progress file's text.
    pub notes: String,
    /// What it says.
    pub progress: Progress,
    /// How the workspace looks.
    pub trace: Option<String>,
}

/// A moment, in milliseconds since 1970.
pub fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Looks at the folder of a loop.
pub fn see(memory: &Loop) -> Result<Seen, String> {
    let features = disk::features(&memory.folder, &memory.features)?;
    let notes = disk::progress(&memory.folder, &memory.progress)?;
    let trace = change_probe::trace(&memory.folder, &[&memory.progress, &memory.features]);
    let trace = trace.map(|trace| with_list(&trace, &features));
    Ok(Seen { progress: progress::read(&notes), features, notes, trace })
}

/// What the list asks for moves a loop, too; that it was written again does not.
fn with_list(trace: &str, features: &[Feature]) -> String {
    let mut name = ContentId::default();
    name.add(trace);
    for feature in features {
        name.add(&feature.key);
        name.add(feature.content());
    }
    name.finish()
}

impl Seen {
    /// What comes next.
    pub fn next(&self, memory: &mut Loop, fill: Option<Fill>, limits: Limits) -> Step {
        memory.look(&self.features, self.trace.as_deref(), now_ms());
        let note = progress::note_on_status(&self.notes);
        let (features, progress) = (self.features.as_slice(), &self.progress);
        next(&Look { memory, features, progress, note: note.as_deref(), fill }, limits)
    }

    /// Hands the work out once more; gives what is said then.
    pub fn hand_out(
        &self,
        memory: &mut Loop,
        at: Option<usize>,
        changes: &Changes,
        template: &str,
        built_in: &str,
    ) -> String {
        memory.hand_out(self.trace.clone());
        let (features, progress, notes) = (self.features.as_slice(), &self.progress, self.notes.as_str());
        Told { memory, features, at, changes, progress, notes }.fill(template, built_in)
    }

    /// Says in the progress file how the loop stands.
    pub fn write(&self, memory: &Loop, status: Status) -> Result<(), String> {
        let updated = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let standing = memory.standing(&self.features, status, updated);
        disk::write_progress(&memory.folder, &memory.progress, &standing)
    }
}
