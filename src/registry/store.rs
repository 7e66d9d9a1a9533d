//! Where the registry is kept: one trait, and the SQL that both backends understand. Must not know
//! what a task or a worker is.

use std::fmt::Debug;
use std::time::Duration;

use super::{RegistryError, Status};

pub use crate::database::{Row, Value};

impl From<Status> for Value {
    fn from(status: Status) -> Self {
        status.name().into()
    }
}

/// What a row of the registry must have, and what it may.
pub(super) trait RegistryRow {
    fn int(&self, at: usize) -> Result<i64, RegistryError>;
    fn text(&self, at: usize) -> Result<String, RegistryError>;
    fn optional_text(&self, at: usize) -> Option<String>;
}

impl RegistryRow for Row {
    fn int(&self, at: usize) -> Result<i64, RegistryError> {
        self.number(at).ok_or_else(|| RegistryError::strange(at))
    }

    fn text(&self, at: usize) -> Result<String, RegistryError> {
        self.optional_text(at).ok_or_else(|| RegistryError::strange(at))
    }

    fn optional_text(&self, at: usize) -> Option<String> {
        self.words(at).map(str::to_owned)
    }
}

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It sees the data of one moment.
    Read,
    Write,
}

/// A worker's wish for its next task, for a backend that does it in one statement.
#[derive(Debug, Clone, Copy)]
pub struct NextClaim<'a> {
    pub worker: &'a str,
    /// In place of the worker's own.
    pub queue: Option<&'a str>,
    pub project: Option<&'a str>,
    pub lease_ms: i64,
    /// In place of the backend's clock.
    pub now_ms: Option<i64>,
}

/// What a worker waits for: an open task of a queue, or one that is assigned to it.
#[derive(Debug, Clone, Copy)]
pub struct Awaited<'a> {
    pub worker: &'a str,
    pub queue: &'a str,
}

/// What came of a [`NextClaim`].
#[derive(Debug)]
pub enum NextOutcome {
    /// The row of the claimed task, or none; with the time by the backend's clock.
    Claimed(Option<Row>, i64),
    NoWorker,
    /// Leases have ended and have to be swept first.
    LeasesDue,
    /// The backend does not do it in one statement.
    Unsupported,
}

/// A backend: transactions of SQL with parameters `?1`, `?2` …, and a clock that all its users
/// share.
pub trait Store: Debug + Send {
    /// Begins a transaction, and returns the time by the backend's clock, in milliseconds since
    /// 1970.
    fn begin(&mut self, access: Access) -> Result<i64, RegistryError>;

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, RegistryError>;

    fn commit(&mut self) -> Result<(), RegistryError>;

    /// What fails here needs no words: the transaction is over in any case.
    fn roll_back(&mut self);

    /// What a SELECT ends in so that its rows stay as they are until the transaction's end: nothing
    /// where one writer at a time has all of them.
    fn row_lock(&self) -> &'static str {
        ""
    }

    /// The same, for one that passes over what others have locked.
    fn free_row_lock(&self) -> &'static str {
        ""
    }

    /// Lets one transaction at a time give out names.
    fn lock_names(&mut self) -> Result<(), RegistryError> {
        Ok(())
    }

    /// Tells those who wait that something may be there to be claimed, once the transaction is
    /// committed: the workers of its queue, or the one that it is assigned to.
    fn wake_waiters(&mut self, _queue: &str, _assignee: Option<&str>) -> Result<(), RegistryError> {
        Ok(())
    }

    /// Claims the next task.
    fn claim_next(&mut self, _: NextClaim<'_>) -> Result<NextOutcome, RegistryError> {
        Ok(NextOutcome::Unsupported)
    }

    /// From now on [`Self::wait`] returns as soon as [`Self::wake_waiters`] was called by anybody.
    fn listen(&mut self) -> Result<(), RegistryError> {
        Ok(())
    }

    /// Returns when something may be there that is awaited, and at the latest after that time.
    fn wait(&mut self, awaited: Awaited<'_>, time: Duration) -> Result<(), RegistryError>;
}

/// A transaction.
pub(super) struct Tx<'a> {
    pub(super) store: &'a mut dyn Store,
    /// The time of its beginning.
    pub(super) now_ms: i64,
}

impl Tx<'_> {
    pub(super) fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, RegistryError> {
        self.store.rows(sql, values)
    }

    pub(super) fn row(&mut self, sql: &str, values: &[Value]) -> Result<Option<Row>, RegistryError> {
        Ok(self.store.rows(sql, values)?.into_iter().next())
    }

    pub(super) fn run(&mut self, sql: &str, values: &[Value]) -> Result<(), RegistryError> {
        self.store.rows(sql, values).map(drop)
    }

    /// Whether a SELECT has a row.
    pub(super) fn exists(&mut self, sql: &str, values: &[Value]) -> Result<bool, RegistryError> {
        Ok(self.row(&format!("SELECT 1 {sql} LIMIT 1"), values)?.is_some())
    }
}

/// Values for a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => { &[$($crate::registry::store::Value::from($value)),*] };
}
pub(super) use values;
