//! What was promised: the plan in play, split into steps.

pub mod find;
pub mod mentions;
mod orders;
pub mod steps;

use serde::{Deserialize, Serialize};

pub use find::{PlanPlaces, Read, find, given, note_names};
pub use steps::{Mark, Step, StepKind};

/// How the plan came to be in play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanSource {
    /// Approved in the session; its text is the transcript's.
    Approved,
    /// Approved in the session; its text is its file's, which was kept up.
    ApprovedFile,
    /// A plan file that the session changed.
    TouchedFile,
    /// A plan file that the person named or that the session read for them.
    NamedFile,
    /// A file that was put up for this audit, whatever the session did with it.
    GivenFile,
}

/// The plan in play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// How it came to be in play.
    pub source: PlanSource,
    /// Its file, where it has one on disk.
    pub path: Option<String>,
    /// Its text.
    pub text: String,
    /// Its steps.
    pub steps: Vec<Step>,
    /// Steps that were approved and are gone from the file: still promised, whatever the file says now. Their
    /// numbers follow those of `steps`.
    pub dropped: Vec<Step>,
    /// Numbers of steps that were ticked before the session began: not this session's claim.
    pub ticked_before: Vec<usize>,
}

impl Plan {
    /// Every step that was promised, those gone from the file included.
    pub fn promised(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().chain(&self.dropped)
    }

    /// Whether this session ticked the step.
    pub fn ticked_now(&self, step: &Step) -> bool {
        step.mark == Mark::Ticked && !self.ticked_before.contains(&step.number)
    }
}
