//! What can go wrong with the registry. Each message says what happened and what to do.

use std::fmt::Display;
use std::path::Path;

use rusqlite::ErrorCode;

use crate::database::DatabaseError;
use crate::registry::{Status, TaskId};

/// Why the registry refused or failed. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    #[error("no task {0}; `punchlist tasks list --all` shows them")]
    NoTask(TaskId),
    #[error("\"{0}\" names no task; they are named like t7, and `punchlist tasks list` shows them")]
    NotAnId(String),
    #[error(
        "no worker {0}; `punchlist worker list` shows them, `punchlist worker register {0}` makes it one"
    )]
    NoWorker(String),
    #[error(
        "whose task? Name the worker with --worker NAME or PUNCHLIST_WORKER, or run `punchlist worker register` in \
         the session first"
    )]
    Nobody,
    #[error("{id} is {by}'s ({status}), not {me}'s; `punchlist tasks claim` takes another one")]
    NotYours { id: TaskId, by: String, status: Status, me: String },
    #[error("{id} is open, and nobody's; take it first: `punchlist tasks claim {id}`{why}")]
    NotClaimed { id: TaskId, why: String },
    #[error("{id} is {status} already, by {by}; `punchlist tasks show {id}` has its story")]
    Finished { id: TaskId, status: Status, by: String },
    #[error(
        "{name} is another session's, heard of {ago} ago; choose another name, or take it over with --take-over \
         once that session is gone"
    )]
    NameTaken { name: String, ago: String },
    #[error(
        "this session is worker {name} already; `punchlist worker leave` ends that, and `punchlist worker register` \
         without a name keeps it"
    )]
    SessionHasOne { name: String },
    #[error(
        "\"{0}\" is no name for a worker: letters, digits, dots, dashes and underscores, at most 64 of them, please"
    )]
    BadName(String),
    #[error(
        "{file} is damaged, or no registry ({why}). It is left as it is: move it aside, and a new one is begun with the \
         next task"
    )]
    Damaged { file: String, why: String },
    #[error(
        "{file} was written by a newer punchlist (format {found}, this one knows {known}): update punchlist"
    )]
    Newer { file: String, found: i64, known: i64 },
    #[error("{file} is in use by another process, and was not free for a while: try again")]
    Locked { file: String },
    #[error("{file} can't be written ({why}): give it, and the folder that it is in, back to yourself")]
    ReadOnly { file: String, why: String },
    #[error("{file}: {why}")]
    Unreadable { file: String, why: String },
    #[error("{id} waits for {after}; `punchlist tasks claim` takes another one")]
    Waits { id: TaskId, after: String },
    #[error("{id} is {status}: only what is failed or dead can be tried again")]
    NotOver { id: TaskId, status: Status },
    #[error(transparent)]
    Database(DatabaseError),
}

impl RegistryError {
    pub(super) fn unreadable(path: &Path, why: &impl Display) -> Self {
        let (file, why) = (path.display().to_string(), why.to_string());
        // Some errors name the file themselves.
        let why = why.strip_prefix(&format!("{file}: ")).map(str::to_owned).unwrap_or(why);
        Self::Unreadable { file, why }
    }

    /// Names the file in an error of `SQLite`.
    pub(super) fn at(self, path: &Path) -> Self {
        let file = path.display().to_string();
        match self {
            Self::Damaged { why, .. } => Self::Damaged { file, why },
            Self::Locked { .. } => Self::Locked { file },
            Self::ReadOnly { why, .. } => Self::ReadOnly { file, why },
            Self::Unreadable { why, .. } => Self::Unreadable { file, why },
            refused => refused,
        }
    }

    /// A row that is not as this program writes it.
    pub(super) fn strange(column: usize) -> Self {
        Self::Unreadable { file: "the registry".into(), why: format!("a row is strange in column {column}") }
    }

    /// Whether others were in the way, and the same may succeed when it is tried again.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self, Self::Database(DatabaseError::Conflict { .. }))
    }

    /// Whether the file or the database can't be used, as opposed to a refused request.
    pub fn is_file_error(&self) -> bool {
        matches!(
            self,
            Self::Damaged { .. }
                | Self::Newer { .. }
                | Self::Locked { .. }
                | Self::ReadOnly { .. }
                | Self::Unreadable { .. }
                | Self::Database(_)
        )
    }
}

/// `SQLite` does not say which file; [`RegistryError::at`] does.
impl From<rusqlite::Error> for RegistryError {
    fn from(error: rusqlite::Error) -> Self {
        let (file, why) = (String::new(), error.to_string());
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Self::Damaged { file, why },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { file },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly { file, why },
            _ => Self::Unreadable { file, why },
        }
    }
}
