//! What can go wrong with the registry. Each message says what happened and what to do.

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
    #[error("this build of punchlist has no task list of its own: build it with the feature `registry`")]
    NotBuilt,
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl RegistryError {
    /// A row that is not as this program writes it.
    pub(super) fn strange(column: usize) -> Self {
        Self::Unreadable { file: "the registry".into(), why: format!("a row is strange in column {column}") }
    }

    /// Whether others were in the way, and the same may succeed when it is tried again.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self, Self::Database(DatabaseError::Conflict { .. }))
    }

    /// Whether the database refuses it to this role.
    pub(super) fn is_of_rights(&self) -> bool {
        matches!(self, Self::Database(DatabaseError::NoRights { .. }))
    }

    /// Whether a new connection may be all that is needed.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Database(error) if error.is_temporary())
    }
}
