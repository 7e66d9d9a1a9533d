//! Plan, session and disk side by side, for one audit.
//!
//! `masking` hides secrets, `gather` collects the files within the room that they have, `timeline` and
//! `sections` write the text of the prompt, and `line` each value in it. Must not judge anything.

pub mod budget;
pub mod gather;
pub mod line;
pub mod masking;
pub mod sections;
pub mod timeline;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use crate::workspace::file_cache::FileCache;
pub use crate::workspace::git::Repository;
pub use crate::workspace::{FileState, Workspace};
pub use gather::gather;
pub use sections::Sections;

use crate::plan::Plan;
use crate::session::{Outcome, Session};

/// How a file's content got to the readers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entered {
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
    Folder,
    /// It is outside the workspace.
    Outside,
    /// It is a kind of file that holds secrets.
    Secret,
    /// It is not text.
    Binary,
    /// It could not be read.
    Unreadable,
    /// It is a lock file, generated or vendored.
    Generated,
    /// The session did not change it, and it is long.
    Unchanged,
    /// It was judged at an earlier stop, and has not changed since.
    JudgedBefore,
}

impl LeftOut {
    pub fn words(self) -> &'static str {
        match self {
            Self::NoRoom => "no room left in the prompt",
            Self::Missing => "there is no such file",
            Self::Folder => "it is a folder",
            Self::Outside => "it is outside the workspace",
            Self::Secret => "it may hold secrets",
            Self::Binary => "it is not text",
            Self::Unreadable => "it could not be read",
            Self::Generated => "it is a lock file, generated or vendored",
            Self::Unchanged => "it was not changed in this session",
            Self::JudgedBefore => "it was shown at an earlier stop and has not changed since",
        }
    }
}

/// One way in which the session touched a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TouchNote {
    pub tool: String,
    /// How it ended.
    pub outcome: Outcome,
    /// By which subagent.
    pub agent: Option<String>,
    /// How often in a row.
    pub times: usize,
}

/// Who names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NamedIn {
    /// A step of the plan, by its number.
    Step(usize),
    /// The final message.
    Message,
    /// A task of the session's list.
    Task,
    /// An ask of the person.
    Ask,
}

/// What happened to a file in the session, by whatever means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileChange {
    Created,
    /// It has another content.
    Modified,
    /// It is gone.
    Deleted,
    Unchanged,
    /// That can't be told.
    Unknown,
}

/// One file: what the session did to it and what the disk shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileEvidence {
    /// Its path, relative to the workspace where it is inside.
    pub name: String,
    /// How edit tools touched it, in order.
    pub touches: Vec<TouchNote>,
    /// Who names it.
    pub named_in: Vec<NamedIn>,
    /// What happened to it in the session.
    pub change: FileChange,
    /// What is at its path.
    pub state: FileState,
    /// How its content entered.
    pub entered: Entered,
    /// The content as shown.
    pub text: String,
    /// How many secrets were masked in it.
    pub masked: usize,
    /// A hash of what is on disk, for telling whether anything changed since.
    pub digest: String,
}

impl FileEvidence {
    /// Whether an edit tool changed it.
    pub fn was_edited(&self) -> bool {
        self.touches.iter().any(|touch| touch.outcome == Outcome::Done)
    }

    /// Whether the session changed it, by whatever means.
    pub fn was_changed(&self) -> bool {
        matches!(self.change, FileChange::Created | FileChange::Modified | FileChange::Deleted)
    }

    /// The numbers of the plan's steps that name it.
    pub fn steps(&self) -> impl Iterator<Item = usize> {
        self.named_in.iter().filter_map(|named| match named {
            NamedIn::Step(number) => Some(*number),
            NamedIn::Message | NamedIn::Task | NamedIn::Ask => None,
        })
    }
}

/// A bound that was hit. What lies beyond it proves nothing, and the person is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Plan, message, tasks and asks name so many more paths than are looked at.
    Names(usize),
    /// Git lists so many more changed files than are looked at.
    Changes(usize),
    /// The workspace has more files than are searched for those that are not where they are said to be, or for those that
    /// changed.
    Search,
}

impl Limit {
    pub fn words(self) -> String {
        match self {
            Self::Names(more) => format!("{more} more paths are named than are looked at"),
            Self::Changes(more) => format!("{more} more files changed than are looked at"),
            Self::Search => "the workspace has more files than are searched".to_owned(),
        }
    }
}

/// Up to where a session was judged before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedUntil {
    /// Where in the session: what has a higher number is new.
    pub at: usize,
    /// The files that the session had changed by then, each with the hash of what it held.
    pub files: BTreeMap<String, String>,
}

/// For how many changed files the hash is stored that they had when they were judged.
const MAX_HASHES: usize = 300;

/// Everything that one audit knows. All text in it is masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// What was promised.
    pub plan: Option<Plan>,
    /// What happened.
    pub session: Session,
    /// What the disk shows, what is claimed first.
    pub files: Vec<FileEvidence>,
    /// How many more files changed that nobody names and no edit tool touched.
    pub unlisted: usize,
    /// What was not looked at, since there is too much of it.
    pub limits: Vec<Limit>,
    /// What git says; `None` where there is no repository, or it did not answer.
    pub repository: Option<Repository>,
    /// Up to where all of it was judged before, at a stop that was found clean.
    pub judged: Option<JudgedUntil>,
}

impl Evidence {
    /// The files that the session has changed, each with the hash of what it holds.
    pub fn changed_files(&self) -> BTreeMap<String, String> {
        let changed = self.files.iter().filter(|file| file.was_changed());
        changed.map(|file| (file.name.clone(), file.digest.clone())).take(MAX_HASHES).collect()
    }

    pub fn file(&self, name: &str) -> Option<&FileEvidence> {
        self.files.iter().find(|file| file.name == name)
    }
}
