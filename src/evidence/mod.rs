//! Plan, session and disk side by side, for one audit.
//!
//! `masking` hides secrets, `gather` collects the files within the room that they have, `timeline`
//! and `sections` write the text of the prompt, and `line` each value in it. Must not judge
//! anything.

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

/// How a file's content is presented to the readers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entered {
    Whole,
    /// A complete diff of what the session changed in it.
    Diff,
    /// A part of it, or of its diff; this many bytes are missing.
    Cut(usize),
    /// Nothing of it, for this reason.
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
    pub fn reason(self) -> &'static str {
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
    /// It was deleted.
    Deleted,
    Unchanged,
    /// Not known.
    Unknown,
}

/// One file: what the session did to it, and what the disk shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileEvidence {
    /// Its path, relative to the workspace if it is inside.
    pub name: String,
    /// How edit tools touched it, in order.
    pub touches: Vec<TouchNote>,
    /// Where it is named.
    pub named_in: Vec<NamedIn>,
    /// What happened to it in the session.
    pub change: FileChange,
    /// What is at its path.
    pub state: FileState,
    /// How its content is presented.
    pub entered: Entered,
    /// The content as shown.
    pub text: String,
    /// How many secrets were masked in it.
    pub masked: usize,
    /// A hash of its content on disk, to detect later changes.
    pub digest: String,
}

impl FileEvidence {
    /// Returns whether an edit tool changed it.
    pub fn was_edited(&self) -> bool {
        self.touches.iter().any(|touch| touch.outcome == Outcome::Done)
    }

    /// Returns whether the session changed it, by whatever means.
    pub fn was_changed(&self) -> bool {
        matches!(self.change, FileChange::Created | FileChange::Modified | FileChange::Deleted)
    }

    /// Returns the numbers of the plan's steps that name it.
    pub fn steps(&self) -> impl Iterator<Item = usize> {
        self.named_in.iter().filter_map(|named| match named {
            NamedIn::Step(number) => Some(*number),
            NamedIn::Message | NamedIn::Task | NamedIn::Ask => None,
        })
    }
}

/// A limit that was reached. What lies beyond it proves nothing, and the person is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Plan, message, tasks and asks name this many more paths than are looked at.
    Names(usize),
    /// Git lists this many more changed files than are looked at.
    Changes(usize),
    /// The workspace has too many files to search all of them for missing or changed ones.
    Search,
}

impl Limit {
    pub fn describe(self) -> String {
        match self {
            Self::Names(more) => format!("{more} more paths are named than are looked at"),
            Self::Changes(more) => format!("{more} more files changed than are looked at"),
            Self::Search => "the workspace has more files than are searched".to_owned(),
        }
    }
}

/// How much of a session was judged before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedUntil {
    /// The position in the session: anything with a higher number is new.
    pub at: usize,
    /// The files that the session had changed by then, each with the hash of its content.
    pub files: BTreeMap<String, String>,
}

/// For how many changed files the hash at the time of judging is stored.
const MAX_HASHES: usize = 300;

/// Everything that one audit knows. All text in it is masked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// What was promised.
    pub plan: Option<Plan>,
    /// What happened.
    pub session: Session,
    /// What the disk shows, with claimed files first.
    pub files: Vec<FileEvidence>,
    /// How many more files changed that nobody names and no edit tool touched.
    pub unlisted: usize,
    /// What was skipped because there is too much of it.
    pub limits: Vec<Limit>,
    /// What git reports; `None` if there is no repository, or it did not answer.
    pub repository: Option<Repository>,
    /// How much of it was judged at an earlier stop that was found clean.
    pub judged: Option<JudgedUntil>,
}

impl Evidence {
    /// Returns the files that the session has changed, each with the hash of its content.
    pub fn changed_files(&self) -> BTreeMap<String, String> {
        let changed = self.files.iter().filter(|file| file.was_changed());
        changed.map(|file| (file.name.clone(), file.digest.clone())).take(MAX_HASHES).collect()
    }

    pub fn file(&self, name: &str) -> Option<&FileEvidence> {
        self.files.iter().find(|file| file.name == name)
    }
}
