//! The built-in registry: tasks and the workers that do them, in one `SQLite` file of the state folder. Takes what a command or a
//! gate wants and what time it is, gives tasks and workers. Must not read a clock, and must not lose anything: every change is
//! one transaction, and a file that can't be used is left as it is.
//!
//! Ordering is by number and never by time, and a time that lies ahead of now (a clock that was set back) counts as now: so a
//! clock that jumps takes no task away from anybody and keeps nobody alive for ever. `sweep` has both, and what becomes of
//! the tasks of a worker that went silent.

mod error;
mod expiry;
mod history;
pub mod project;
mod schema;
mod task;
mod tasks;
#[cfg(test)]
mod tests;
pub mod wire;
mod worker;
mod workers;

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

pub use crate::registry::error::Fault;
pub use history::Event;
pub use task::{NewTask, Status, Task, TaskId, Wanted};
pub use tasks::Choice;
pub use worker::{Activity, NewWorker, Worker};

/// The file's name in the state folder.
pub const FILE: &str = "registry.sqlite";

/// The queue of whoever names none.
pub const DEFAULT_QUEUE: &str = "default";

/// How long a worker may say nothing before it counts as gone from the screen; its tasks stay its own for much longer.
pub const ALIVE_MS: i64 = 2 * 60 * 1000;

/// After how many pages of the log beside the file a stop takes them over.
const STOPS_CHECKPOINT: i64 = 250;

/// The registry, open.
#[derive(Debug)]
pub struct Registry {
    db: Connection,
    path: PathBuf,
}

/// For how long others who have the file in use are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// A person or an agent waits.
    Command,
    /// A stop waits.
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
    /// Where it is, in a state folder.
    pub fn file(state: &Path) -> PathBuf {
        state.join(FILE)
    }

    /// Opens it; makes it where there is none yet.
    pub fn open(state: &Path) -> Result<Self, Fault> {
        let path = Self::file(state);
        if !path.exists() {
            make_empty(&path).map_err(|error| Fault::unreadable(&path, &error))?;
        }
        Self::at(path, Patience::Command)
    }

    /// Opens it if there is one.
    pub fn open_if_there(state: &Path, patience: Patience) -> Result<Option<Self>, Fault> {
        let path = Self::file(state);
        if !path.exists() {
            return Ok(None);
        }
        Self::at(path, patience).map(Some)
    }

    fn at(path: PathBuf, patience: Patience) -> Result<Self, Fault> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(&path, flags).and_then(|db| {
            db.busy_timeout(patience.time())?;
            if patience == Patience::Stop {
                // Nothing that a stop writes (who was seen when) is worth a wait for the disk. So it is left in the log beside the
                // file, from where the next command takes it over, or a stop where that has grown.
                db.pragma_update(None, "synchronous", "NORMAL")?;
                db.pragma_update(None, "wal_autocheckpoint", STOPS_CHECKPOINT)?;
                db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            }
            Ok(db)
        });
        let db = opened.map_err(|error| Fault::of_file(&path, &error))?;
        let mut registry = Self { db, path };
        schema::bring_up(&mut registry)?;
        Ok(registry)
    }

    /// Runs a change: all of it, or nothing. Whoever else changes something waits for its end.
    fn change<T>(&mut self, run: impl FnOnce(&Transaction<'_>) -> Result<T, Broken>) -> Result<T, Fault> {
        let path = &self.path;
        let change = || {
            let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = run(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        change().map_err(|broken: Broken| broken.into_fault(path))
    }

    /// Reads, all of it at one moment.
    fn look<T>(&mut self, run: impl FnOnce(&Transaction<'_>) -> Result<T, Broken>) -> Result<T, Fault> {
        let path = &self.path;
        let look = || {
            let transaction = self.db.transaction_with_behavior(TransactionBehavior::Deferred)?;
            run(&transaction)
        };
        look().map_err(|broken: Broken| broken.into_fault(path))
    }
}

/// What ends a change before its end: the file, or what was wanted of it.
#[derive(Debug)]
enum Broken {
    File(rusqlite::Error),
    Refused(Fault),
}

impl From<rusqlite::Error> for Broken {
    fn from(error: rusqlite::Error) -> Self {
        Self::File(error)
    }
}

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Self {
        Self::Refused(fault)
    }
}

impl Broken {
    fn into_fault(self, path: &Path) -> Fault {
        match self {
            Self::File(error) => Fault::of_file(path, &error),
            Self::Refused(fault) => fault,
        }
    }
}

/// An empty file is a registry without a table. It is made by us so that only its owner can read it, and what `SQLite` puts
/// beside it has the same permissions.
fn make_empty(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let folder = path.parent().unwrap_or(Path::new("."));
    crate::files::in_private_folder(folder, || options.open(path)).map(drop)
}
