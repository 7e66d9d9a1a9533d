//! The built-in registry: tasks and the workers that do them, in one `SQLite` file of the state
//! folder. Every change is one transaction, and a file that can't be used, that a newer punchlist
//! wrote or that is no registry is left alone. Must not read the clock: callers pass the time.
//!
//! Tasks are ordered by id and never by time, and a time in the future counts as now. So a clock
//! that jumps takes no task away from anybody and keeps no worker alive for ever; see `worker`.

mod error;
pub mod json;
pub mod project;
mod task;
mod tasks;
mod worker;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::private_file::{self, Access};

pub use error::RegistryError;
pub use task::{Event, NewTask, Status, Task, TaskFilter, TaskId};
pub use tasks::ClaimRequest;
pub use worker::{Activity, NewWorker, Worker};

/// The file's name in the state folder.
pub const FILE: &str = "registry.sqlite";

/// The queue of tasks and workers that name none.
pub const DEFAULT_QUEUE: &str = "default";

/// How long a worker without a heartbeat is shown as alive. It keeps its tasks for much longer.
pub const ALIVE_MS: i64 = 2 * 60 * 1000;

/// After how many pages of the write-ahead log a stop checkpoints.
const STOP_CHECKPOINT_PAGES: i64 = 250;

/// An open registry.
#[derive(Debug)]
pub struct Registry {
    db: Connection,
    path: PathBuf,
}

/// How long to wait for a locked file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// As a command, which a person or agent waits for.
    Command,
    /// As a stop, which must be quick.
    Stop,
}

impl Patience {
    fn time(self) -> Duration {
        match self {
            Self::Command => Duration::from_secs(10),
            Self::Stop => Duration::from_millis(1_500),
        }
    }
}

impl Registry {
    /// Its path in a state folder.
    pub fn file(state: &Path) -> PathBuf {
        state.join(FILE)
    }

    /// Opens it, and creates it if it is missing.
    pub fn open(state: &Path) -> Result<Self, RegistryError> {
        let path = Self::file(state);
        // `SQLite` gives the permissions of this file to those that it puts beside it.
        private_file::open(&path, Access::Append)
            .map_err(|error| RegistryError::unreadable(&path, &error))?;
        Self::open_at(path, Patience::Command)
    }

    /// Opens it if it exists.
    pub fn open_if_there(state: &Path, patience: Patience) -> Result<Option<Self>, RegistryError> {
        let path = Self::file(state);
        match private_file::open(&path, Access::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(RegistryError::unreadable(&path, &error)),
            Ok(_) => Self::open_at(path, patience).map(Some),
        }
    }

    fn open_at(path: PathBuf, patience: Patience) -> Result<Self, RegistryError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(&path, flags).and_then(|db| {
            db.busy_timeout(patience.time())?;
            if patience == Patience::Stop {
                // A stop writes only heartbeats, which are not worth waiting for the disk. They stay in the
                // write-ahead log until the next command, or until the log has grown.
                db.pragma_update(None, "synchronous", "NORMAL")?;
                db.pragma_update(None, "wal_autocheckpoint", STOP_CHECKPOINT_PAGES)?;
                db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            }
            Ok(db)
        });
        let db = opened.map_err(|error| RegistryError::from(error).at(&path))?;
        let mut registry = Self { db, path };
        migrate(&mut registry)?;
        Ok(registry)
    }

    /// Runs a write transaction; other writers wait for its end.
    fn write<T>(
        &mut self,
        run: impl FnOnce(&Transaction<'_>) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        let path = &self.path;
        let write = || {
            let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = run(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        write().map_err(|error: RegistryError| error.at(path))
    }

    /// Runs a read transaction, which sees the data of one moment.
    fn read<T>(
        &mut self,
        run: impl FnOnce(&Transaction<'_>) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        let path = &self.path;
        let read = || {
            let transaction = self.db.transaction_with_behavior(TransactionBehavior::Deferred)?;
            run(&transaction)
        };
        read().map_err(|error: RegistryError| error.at(path))
    }
}

/// Each migrates a file from the version of its index to the next.
const MIGRATIONS: [&str; 1] = ["
    CREATE TABLE tasks (
        id          INTEGER PRIMARY KEY AUTOINCREMENT,
        title       TEXT    NOT NULL,
        body        TEXT    NOT NULL DEFAULT '',
        queue       TEXT    NOT NULL,
        project     TEXT,
        priority    INTEGER NOT NULL DEFAULT 0,
        status      TEXT    NOT NULL CHECK (status IN
                    ('open', 'assigned', 'accepted', 'in_progress', 'completed', 'failed')),
        assignee    TEXT    CHECK ((status = 'open') = (assignee IS NULL)),
        created_ms  INTEGER NOT NULL,
        claimed_ms  INTEGER,
        updated_ms  INTEGER NOT NULL,
        note        TEXT,
        attempts    INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX tasks_by_queue ON tasks (status, queue, priority DESC, id);
    CREATE INDEX tasks_by_assignee ON tasks (assignee, status);

    CREATE TABLE workers (
        name          TEXT    PRIMARY KEY,
        kind          TEXT    NOT NULL,
        queue         TEXT    NOT NULL,
        session       TEXT    UNIQUE,
        project       TEXT,
        registered_ms INTEGER NOT NULL,
        heartbeat_ms  INTEGER NOT NULL,
        activity_ms   INTEGER NOT NULL,
        activity      TEXT    NOT NULL CHECK (activity IN ('registered', 'claimed', 'completed', 'failed'))
    ) STRICT;

    CREATE TABLE events (
        id     INTEGER PRIMARY KEY AUTOINCREMENT,
        task   INTEGER NOT NULL REFERENCES tasks (id),
        at_ms  INTEGER NOT NULL,
        worker TEXT,
        what   TEXT    NOT NULL,
        note   TEXT
    ) STRICT;
    CREATE INDEX events_by_task ON events (task);
"];

/// The newest version that this program knows.
#[expect(clippy::cast_possible_wrap, reason = "there are a handful")]
const VERSION: i64 = MIGRATIONS.len() as i64;

/// Marks the file as ours: "plst".
const APPLICATION: i64 = 0x706c_7374;

/// Migrates a file; a new one gets its tables.
fn migrate(registry: &mut Registry) -> Result<(), RegistryError> {
    let path = registry.path.clone();
    let number = |registry: &Registry, name: &str| {
        let read = registry.db.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
        read.map_err(|error| RegistryError::from(error).at(&path))
    };
    let found = number(registry, "user_version")?;
    if found == VERSION {
        return Ok(());
    }
    if found > VERSION {
        return Err(RegistryError::Newer { file: path.display().to_string(), found, known: VERSION });
    }
    // In one transaction: another process may be creating the tables right now.
    let is_foreign = registry.read(|db| {
        let found: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        Ok(found == 0 && tables > 0)
    })?;
    if is_foreign {
        let why = "it has tables of somebody else".to_owned();
        return Err(RegistryError::Damaged { file: path.display().to_string(), why });
    }
    // With a write-ahead log readers don't wait for writers. It can't be set within a transaction, and
    // where the file system doesn't support it the file still works.
    let _ = registry.db.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()));
    registry.write(|db| {
        // Of two processes that start at once, the second finds it done.
        let found: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        for step in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default()) {
            db.execute_batch(step)?;
        }
        db.pragma_update(None, "application_id", APPLICATION)?;
        db.pragma_update(None, "user_version", VERSION)?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_file_that_somebody_has_locked_is_waited_for_and_then_told_of() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut registry = Registry::open(folder.path()).expect("a registry");
        let other = Registry::open(folder.path()).expect("a second one");
        other.db.execute_batch("BEGIN IMMEDIATE").expect("locked");
        registry.db.busy_timeout(Duration::from_millis(20)).expect("set");
        let new = NewTask { title: "x".into(), ..NewTask::default() };
        let fault = registry.add(&new, 0).expect_err("a fault").to_string();
        assert!(
            fault.ends_with("is in use by another process, and was not free for a while: try again"),
            "{fault}"
        );
        assert!(registry.tasks(&TaskFilter::default()).expect("reading waits for nobody").is_empty());
        other.db.execute_batch("COMMIT").expect("free");
        registry.add(&new, 0).expect("added");
    }
}
