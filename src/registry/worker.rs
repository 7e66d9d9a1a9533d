//! A worker as the registry keeps it: plain data, and how a row is read. A worker is a session that registered, or somebody at a
//! shell.

use std::path::PathBuf;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Result, Row};

/// What a worker did last that counts as work: the clock of the keep-alive gate starts anew with each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// It came.
    Registered,
    /// It took a task.
    Claimed,
    /// It finished one.
    Completed,
    /// It gave one up.
    Failed,
}

impl Activity {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Registered, Self::Claimed, Self::Completed, Self::Failed];

    /// As it is written everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Claimed => "claimed",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// The same in words, behind "since it".
    pub fn words(self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Claimed => "took a task",
            Self::Completed => "completed a task",
            Self::Failed => "gave a task up",
        }
    }
}

impl ToSql for Activity {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.name().into())
    }
}

impl FromSql for Activity {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = value.as_str()?;
        Self::ALL.into_iter().find(|activity| activity.name() == name).ok_or(FromSqlError::InvalidType)
    }
}

/// A worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// Its name, which no other has.
    pub name: String,
    /// What sort it is; settings go by it.
    pub kind: String,
    /// Where it looks for tasks.
    pub queue: String,
    /// The client's session that it is, where it is one.
    pub session: Option<String>,
    /// Where it registered.
    pub project: Option<PathBuf>,
    /// When, in milliseconds since 1970.
    pub registered_ms: i64,
    /// When it was heard of last.
    pub heartbeat_ms: i64,
    /// When it did something last that counts.
    pub activity_ms: i64,
    /// And what that was.
    pub activity: Activity,
}

/// The columns of a worker, in the order in which [`Worker::of`] reads them.
pub(super) const COLUMNS: &str =
    "name, kind, queue, session, project, registered_ms, heartbeat_ms, activity_ms, activity";

impl Worker {
    pub(super) fn of(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            name: row.get(0)?,
            kind: row.get(1)?,
            queue: row.get(2)?,
            session: row.get(3)?,
            project: row.get::<_, Option<String>>(4)?.map(PathBuf::from),
            registered_ms: row.get(5)?,
            heartbeat_ms: row.get(6)?,
            activity_ms: row.get(7)?,
            activity: row.get(8)?,
        })
    }

    /// For how long nothing was heard of it. A time that lies ahead is no silence.
    pub fn silent_ms(&self, now_ms: i64) -> i64 {
        now_ms.saturating_sub(self.heartbeat_ms).max(0)
    }

    /// For how long it did nothing that counts.
    pub fn idle_ms(&self, now_ms: i64) -> i64 {
        now_ms.saturating_sub(self.activity_ms).max(0)
    }

    /// Whether it was heard of a moment ago.
    pub fn is_alive(&self, now_ms: i64) -> bool {
        self.silent_ms(now_ms) < super::ALIVE_MS
    }
}

/// A worker to be registered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewWorker {
    /// Its name; the next free one where nobody chooses.
    pub name: Option<String>,
    /// What sort it is; as it was, where it is known already.
    pub kind: Option<String>,
    /// Where it looks for tasks.
    pub queue: Option<String>,
    /// The session that it is.
    pub session: Option<String>,
    /// Where it registers.
    pub project: Option<PathBuf>,
    /// Takes the name even from a session that was heard of a moment ago.
    pub take_over: bool,
}
