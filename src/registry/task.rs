//! A task and its history as plain data, and how their rows are read.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;
use strum::IntoStaticStr;

use super::RegistryError;
use super::store::{RegistryRow, Row};

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

    fn from_str(text: &str) -> Result<Self, RegistryError> {
        let digits = text.strip_prefix(['t', 'T']).unwrap_or(text);
        let number = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
        number.map(Self).ok_or_else(|| RegistryError::NotAnId(text.to_owned()))
    }
}

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum, IntoStaticStr)]
#[value(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
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
    /// Tried as often as it may be, and given up each time, or its workers went silent.
    Dead,
}

impl Status {
    /// All of them, in the order of a task's life.
    pub const ALL: [Self; 7] = [
        Self::Open,
        Self::Assigned,
        Self::Accepted,
        Self::InProgress,
        Self::Completed,
        Self::Failed,
        Self::Dead,
    ];

    /// As it is written in the database and in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether nobody works on it any more.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Dead)
    }

    /// Whether a worker has it in hand.
    pub fn is_in_hand(self) -> bool {
        matches!(self, Self::Accepted | Self::InProgress)
    }

    /// The status in a column of a row.
    pub(super) fn in_row(row: &Row, at: usize) -> Result<Self, RegistryError> {
        <Self as ValueEnum>::from_str(&row.text(at)?, false).map_err(|_| RegistryError::strange(at))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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
    /// How often it was claimed, since it was added or tried anew.
    pub attempts: i64,
    /// How long the worker who has it in hand may be silent.
    pub lease_ms: Option<i64>,
    /// When its lease ends, or ended.
    pub lease_until_ms: Option<i64>,
    /// For how many tasks it waits.
    pub waits: i64,
    /// How often it is tried again; `None` is not at all when it fails, and for ever when workers
    /// go silent.
    pub retries: Option<i64>,
}

/// The columns of a task, in the order in which [`Task::from_row`] reads them.
pub(super) const COLUMNS: &str = "id, title, body, queue, project, priority, status, assignee, created_ms, \
                                  claimed_ms, updated_ms, note, attempts, lease_ms, lease_until_ms, waits, retries";

impl Task {
    pub(super) fn from_row(row: &Row) -> Result<Self, RegistryError> {
        Ok(Self {
            id: TaskId(row.int(0)?),
            title: row.text(1)?,
            body: row.text(2)?,
            queue: row.text(3)?,
            project: row.optional_text(4).map(PathBuf::from),
            priority: row.int(5)?,
            status: Status::in_row(row, 6)?,
            assignee: row.optional_text(7),
            created_ms: row.int(8)?,
            claimed_ms: row.number(9),
            updated_ms: row.int(10)?,
            note: row.optional_text(11),
            attempts: row.int(12)?,
            lease_ms: row.number(13),
            lease_until_ms: row.number(14),
            waits: row.int(15)?,
            retries: row.number(16),
        })
    }

    /// How long after the end of its lease it was finished, where that is so.
    pub fn late_ms(&self) -> Option<i64> {
        let late = self.updated_ms.saturating_sub(self.lease_until_ms?);
        (self.status.is_over() && late > 0).then_some(late)
    }

    /// Whether it may be tried once more.
    pub(super) fn may_retry(&self) -> bool {
        self.retries.is_some_and(|retries| self.attempts <= retries)
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
    /// The tasks that have to be completed before it can be claimed.
    pub after: Vec<TaskId>,
    /// How often it is tried again when it fails or its worker goes silent.
    pub retries: Option<i64>,
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
    /// `added`, `assigned`, `claimed`, `started`, `completed`, `failed`, `released`, `returned`,
    /// `died` or `retried`.
    pub what: String,
    pub note: Option<String>,
}

impl Event {
    pub(super) fn from_row(row: &Row) -> Result<Self, RegistryError> {
        Ok(Self {
            at_ms: row.int(0)?,
            worker: row.optional_text(1),
            what: row.text(2)?,
            note: row.optional_text(3),
        })
    }
}
