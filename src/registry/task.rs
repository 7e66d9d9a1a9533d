//! A task and its history as plain data, and how their rows are read.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Result, Row};

use super::RegistryError;

/// A task's name, short enough to type: `t7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub i64);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("t{}", self.0))
    }
}

impl FromStr for TaskId {
    type Err = RegistryError;

    fn from_str(text: &str) -> std::result::Result<Self, RegistryError> {
        let digits = text.strip_prefix(['t', 'T']).unwrap_or(text);
        let number = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
        number.map(Self).ok_or_else(|| RegistryError::NotAnId(text.to_owned()))
    }
}

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Status {
    /// Assigned to nobody.
    Open,
    /// Given to a worker who has not claimed it.
    Assigned,
    /// Claimed by a worker.
    Accepted,
    /// A worker has started on it.
    InProgress,
    /// Done.
    Completed,
    /// Given up.
    Failed,
}

impl Status {
    /// All of them, in the order of a task's life.
    pub const ALL: [Self; 6] =
        [Self::Open, Self::Assigned, Self::Accepted, Self::InProgress, Self::Completed, Self::Failed];

    /// As it is written in the database and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Assigned => "assigned",
            Self::Accepted => "accepted",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// Whether it is completed or failed.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl ToSql for Status {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.name().into())
    }
}

impl FromSql for Status {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        ValueEnum::from_str(value.as_str()?, false).map_err(|_| FromSqlError::InvalidType)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub id: TaskId,
    pub title: String,
    /// The full text; may be empty.
    pub body: String,
    /// The queue from which workers claim it.
    pub queue: String,
    /// `None` belongs to every project.
    pub project: Option<PathBuf>,
    /// Higher comes first.
    pub priority: i64,
    pub status: Status,
    /// The worker that it belongs to.
    pub assignee: Option<String>,
    /// When it was added. All times are milliseconds since 1970.
    pub created_ms: i64,
    /// When it was last claimed.
    pub claimed_ms: Option<i64>,
    /// When it last changed.
    pub updated_ms: i64,
    /// The result, or why it failed or was released.
    pub note: Option<String>,
    /// How often it was claimed.
    pub attempts: i64,
}

/// The columns of a task, in the order in which [`Task::from_row`] reads them.
pub(super) const COLUMNS: &str = "id, title, body, queue, project, priority, status, assignee, created_ms, \
                                  claimed_ms, updated_ms, note, attempts";

impl Task {
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: TaskId(row.get(0)?),
            title: row.get(1)?,
            body: row.get(2)?,
            queue: row.get(3)?,
            project: row.get::<_, Option<String>>(4)?.map(PathBuf::from),
            priority: row.get(5)?,
            status: row.get(6)?,
            assignee: row.get(7)?,
            created_ms: row.get(8)?,
            claimed_ms: row.get(9)?,
            updated_ms: row.get(10)?,
            note: row.get(11)?,
            attempts: row.get(12)?,
        })
    }
}

/// A task to be added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTask {
    pub title: String,
    pub body: String,
    /// The queue from which workers claim it.
    pub queue: String,
    /// `None` belongs to every project.
    pub project: Option<PathBuf>,
    /// Higher comes first.
    pub priority: i64,
    /// The worker that it is given to at once.
    pub assignee: Option<String>,
}

/// Selects tasks. An empty or `None` field excludes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// Any of these.
    pub statuses: Vec<Status>,
    pub queue: Option<String>,
    pub project: Option<PathBuf>,
    pub assignee: Option<String>,
}

/// One line of a task's history. Written with every change of the task, and never changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    pub worker: Option<String>,
    /// `added`, `assigned`, `claimed`, `started`, `completed`, `failed`, `released` or `returned`.
    pub what: String,
    pub note: Option<String>,
}

impl Event {
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self { at_ms: row.get(0)?, worker: row.get(1)?, what: row.get(2)?, note: row.get(3)? })
    }
}
