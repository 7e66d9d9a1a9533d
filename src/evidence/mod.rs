//! Plan, session and disk side by side, for one audit.
//!
//! `workspace` and `git` look at the disk, `memory` spares them a second look, `redact` and `masking` hide what is secret, `gather` puts the files
//! together within one `budget`, `shown` turns it all into the words that the auditor reads.

pub mod budget;
pub mod diff;
pub mod gather;
pub mod git;
pub mod masking;
pub mod memory;
pub mod redact;
pub mod renamed;
pub mod shown;
pub mod signs;
pub mod workspace;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub use gather::{gather, gather_unread};
pub use memory::Memory;
pub use signs::Signs;
pub use workspace::{FileState, Workspace};

use crate::claims::deeds::Deed;
use crate::plan::Plan;
use crate::session::{Outcome, Session};

/// How a file's content got to the auditor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entered {
    /// All of it.
    Whole,
    /// What the session changed in it, all of that.
    Diff,
    /// A part of it, or of what changed; so many bytes are missing.
    Cut(usize),
    /// Nothing of it, and why.
    LeftOut(LeftOut),
}

/// Why nothing of a file's content was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOut {
    /// The prompt had no room left.
    NoRoom,
    /// There is no such file.
    Missing,
    /// It is a folder.
    Folder,
    /// It is outside the workspace.
    Outside,
    /// It is a kind of file that holds secrets.
    Secret,
    /// It is not text.
    Binary,
    /// It could not be read.
    Unreadable,
}

impl LeftOut {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoRoom => "no room left in the prompt",
            Self::Missing => "there is no such file",
            Self::Folder => "it is a folder",
            Self::Outside => "it is outside the workspace",
            Self::Secret => "it may hold secrets",
            Self::Binary => "it is not text",
            Self::Unreadable => "it could not be read",
        }
    }
}

/// One way in which the session touched a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchNote {
    /// With which tool.
    pub tool: String,
    /// How it ended.
    pub outcome: Outcome,
    /// By which subagent.
    pub agent: Option<String>,
}

/// One file: what the session did to it and what the disk shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEvidence {
    /// Its path, relative to the workspace where it is inside.
    pub name: String,
    /// How the session touched it, in order.
    pub touches: Vec<TouchNote>,
    /// The numbers of the plan's steps that name it.
    pub steps: Vec<usize>,
    /// What stands there.
    pub state: FileState,
    /// How its content entered.
    pub entered: Entered,
    /// The content as shown.
    pub text: String,
    /// How many secrets were masked in it.
    pub masked: usize,
    /// A hash of what is on disk, for telling whether anything changed since.
    pub digest: String,
    /// What the whole of it shows, whatever entered.
    pub signs: Signs,
}

impl FileEvidence {
    /// Whether the session changed it.
    pub fn was_changed(&self) -> bool {
        self.touches.iter().any(|touch| touch.outcome == Outcome::Done)
    }
}

/// What git says of the workspace as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    /// When the newest commit of the session's time was made, in seconds since 1970; `None` if there is none.
    pub last_commit: Option<i64>,
    /// Files that differ from the newest commit, those that git does not track included.
    pub changed: Vec<String>,
    /// Files in the commits that were made during the session.
    pub committed: Vec<String>,
}

/// Everything that one audit knows. All text in it is masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// What was promised.
    pub plan: Option<Plan>,
    /// What happened.
    pub session: Session,
    /// What the final message says was done to files.
    pub deeds: Vec<Deed>,
    /// The files that each task of the session's list names, in the list's order.
    pub todo_paths: Vec<Vec<String>>,
    /// What the disk shows: what the plan names first, then what was touched, the newest first.
    pub files: Vec<FileEvidence>,
    /// What git says; `None` where there is no repository, or it did not answer.
    pub repository: Option<Repository>,
}

impl Evidence {
    /// Whether the session changed the file of that name.
    pub fn was_changed(&self, name: &str) -> bool {
        self.file(name).is_some_and(FileEvidence::was_changed)
    }

    /// The file of that name.
    pub fn file(&self, name: &str) -> Option<&FileEvidence> {
        self.files.iter().find(|file| file.name == name)
    }
}

impl Evidence {
    /// For each step's number the files that it names.
    pub fn files_of_steps(&self) -> HashMap<usize, Vec<&FileEvidence>> {
        files_of_steps(&self.files)
    }
}

fn files_of_steps(files: &[FileEvidence]) -> HashMap<usize, Vec<&FileEvidence>> {
    let mut named: HashMap<usize, Vec<&FileEvidence>> = HashMap::new();
    for file in files {
        file.steps.iter().for_each(|step| named.entry(*step).or_default().push(file));
    }
    named
}
