//! Where the registry is kept: one trait, and the SQL that both backends understand. Must not know what a
//! task or a worker is.

use std::fmt::Debug;
use std::time::Duration;

use super::{RegistryError, Status};

/// A parameter of a statement, or a cell of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Int(Option<i64>),
    Text(Option<String>),
}

macro_rules! value_from {
    ($($from:ty => |$value:ident| $into:expr),+ $(,)?) => {
        $(impl From<$from> for Value {
            fn from($value: $from) -> Self {
                $into
            }
        })+
    };
}

value_from! {
    i64 => |value| Self::Int(Some(value)),
    Option<i64> => |value| Self::Int(value),
    &str => |value| Self::Text(Some(value.to_owned())),
    &String => |value| Self::Text(Some(value.clone())),
    String => |value| Self::Text(Some(value)),
    Option<&str> => |value| Self::Text(value.map(str::to_owned)),
    Option<String> => |value| Self::Text(value),
    Status => |value| Self::Text(Some(value.name().to_owned())),
}

/// A row of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row(pub Vec<Value>);

impl Row {
    pub(super) fn int(&self, at: usize) -> Result<i64, RegistryError> {
        self.optional_int(at).ok_or_else(|| RegistryError::strange(at))
    }

    pub(super) fn optional_int(&self, at: usize) -> Option<i64> {
        if let Some(Value::Int(found)) = self.0.get(at) { *found } else { None }
    }

    pub(super) fn text(&self, at: usize) -> Result<String, RegistryError> {
        self.optional_text(at).ok_or_else(|| RegistryError::strange(at))
    }

    pub(super) fn optional_text(&self, at: usize) -> Option<String> {
        if let Some(Value::Text(found)) = self.0.get(at) { found.clone() } else { None }
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

/// A backend: transactions of SQL with parameters `?1`, `?2` …, and a clock that all its users share.
pub trait Store: Debug {
    /// Begins a transaction, and returns the time by the backend's clock, in milliseconds since 1970.
    fn begin(&mut self, access: Access) -> Result<i64, RegistryError>;

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, RegistryError>;

    fn commit(&mut self) -> Result<(), RegistryError>;

    /// What fails here needs no words: the transaction is over in any case.
    fn roll_back(&mut self);

    /// What a SELECT ends in so that its rows stay as they are until the transaction's end.
    fn row_lock(&self) -> &'static str;

    /// The same, for one that passes over what others have locked.
    fn free_row_lock(&self) -> &'static str;

    /// Lets one transaction at a time give out names.
    fn lock_names(&mut self) -> Result<(), RegistryError>;

    /// Tells those who wait that something may be there to be claimed, once the transaction is committed.
    fn wake_waiters(&mut self, queue: &str) -> Result<(), RegistryError>;

    /// Claims the next task.
    fn claim_next(&mut self, _: NextClaim<'_>) -> Result<NextOutcome, RegistryError> {
        Ok(NextOutcome::Unsupported)
    }

    /// From now on [`Self::wait`] returns as soon as [`Self::wake_waiters`] was called by anybody.
    fn listen(&mut self) -> Result<(), RegistryError>;

    /// Returns when something may be there to be claimed, and at the latest after that time.
    fn wait(&mut self, time: Duration) -> Result<(), RegistryError>;
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
