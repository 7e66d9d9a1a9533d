//! What one audit looked at, stored beside the log under the decision's id, so that a person can go
//! from a finding to the very words. Plain data, masked and bounded before it comes here. A disk
//! format: fields may be added.

use serde::{Deserialize, Serialize};

/// What an audit looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// What the person asked for, oldest first.
    pub asks: Vec<String>,
    /// The plan's steps, in its order.
    pub steps: Vec<StepSnapshot>,
    /// The agent's final message.
    pub final_message: Option<String>,
    /// The files whose content was shown.
    pub files: Vec<FileSnapshot>,
}

/// One step of the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepSnapshot {
    /// Its number, as findings name it.
    pub number: usize,
    /// Its words.
    pub text: String,
    /// `open`, `ticked` or `dropped`.
    pub state: String,
}

/// One file, as it was shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileSnapshot {
    /// Its path, as the decision's list of files has it.
    pub path: String,
    /// What was shown of it: a diff, or the text.
    pub text: String,
}
