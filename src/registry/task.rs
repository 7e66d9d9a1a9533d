//! A task as the registry keeps it: plain data, and how a row is read.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Result, Row};

use super::Fault;

/// A task's name, short enough to type: `t7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub i64);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whole, so that a width is kept to.
        f.pad(&format!("t{}", self.0))
    }
}

impl FromStr for TaskId {
    type Err = Fault;

    fn from_str(text: &str) -> std::result::Result<Self, Fault> {
        let digits = text.strip_prefix(['t', 'T']).unwrap_or(text);
        let number = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
        number.map(Self).ok_or_else(|| Fault::NotAnId(text.to_owned()))
    }
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Status {
    /// Nobody's yet.
    Open,
    /// Given to a worker, who has not said anything to it.
    Assigned,
    /// A worker took it.
    Accepted,
    /// A worker is at it.
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

    /// As it is written everywhere.
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

    /// Whether nobody has to do anything for it any more.
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
        let name = value.as_str()?;
        Self::ALL.into_iter().find(|status| status.name() == name).ok_or(FromSqlError::InvalidType)
    }
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its name.
    pub id: TaskId,
    /// In a line.
    pub title: String,
    /// All there is to say of it; may be empty.
    pub body: String,
    /// Where workers look for it.
    pub queue: String,
    /// The project that it belongs to; `None` is for those of all.
    pub project: Option<PathBuf>,
    /// Higher comes first.
    pub priority: i64,
    /// Where it stands.
    pub status: Status,
    /// Whose it is.
    pub assignee: Option<String>,
    /// When it was added, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it was taken last.
    pub claimed_ms: Option<i64>,
    /// When anything was changed last.
    pub updated_ms: i64,
    /// What came of it, or why it was given up or came back.
    pub note: Option<String>,
    /// How often it was taken.
    pub attempts: i64,
}

/// The columns of a task, in the order in which [`Task::of`] reads them.
pub(super) const COLUMNS: &str = "id, title, body, queue, project, priority, status, assignee, created_ms, \
                                  claimed_ms, updated_ms, note, attempts";

impl Task {
    pub(super) fn of(row: &Row<'_>) -> Result<Self> {
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
    /// In a line.
    pub title: String,
    /// All there is to say of it.
    pub body: String,
    /// Where workers look for it.
    pub queue: String,
    /// The project that it belongs to; `None` is for those of all.
    pub project: Option<PathBuf>,
    /// Higher comes first.
    pub priority: i64,
    /// Whose it is from the start.
    pub assignee: Option<String>,
}

/// Which tasks are wanted. What is empty or `None` leaves nothing out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Those that stand so.
    pub statuses: Vec<Status>,
    /// Those of a queue.
    pub queue: Option<String>,
    /// Those of a project, and those that belong to none.
    pub project: Option<PathBuf>,
    /// Those of a worker.
    pub assignee: Option<String>,
}
