//! The built-in registry: tasks and the workers that do them. On one machine in one `SQLite` file
//! of the state folder, in a fleet in `PostgreSQL`; what can be done and what it means is written
//! once, over the trait [`store::Store`]. Every change is one transaction. Must not read the clock:
//! the time is the backend's.
//!
//! Tasks are ordered by id and never by time, and a time in the future counts as now. So a clock
//! that jumps takes no task away from anybody and keeps no worker alive for ever; see `lease`.

mod depth;
mod error;
pub mod json;
mod lease;
mod postgres;
pub mod project;
#[cfg_attr(not(feature = "registry"), path = "sqlite/absent.rs")]
mod sqlite;
pub mod store;
mod task;
mod tasks;
mod worker;
mod worker_marks;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use depth::Depth;
pub use error::RegistryError;
use postgres::PostgresStore;
pub use store::Awaited;
use store::{Access, NextClaim, NextOutcome, Store, Tx};
pub use task::{Event, NewTask, Status, Task, TaskFilter, TaskId};
pub use tasks::ClaimRequest;
pub use worker::{Activity, NewWorker, Worker};
use worker_marks::WorkerMarks;

/// The file's name in the state folder.
pub const FILE: &str = "registry.sqlite";

/// The queue of tasks and workers that name none.
pub const DEFAULT_QUEUE: &str = "default";

/// How long a worker without a heartbeat is shown as alive. It keeps its tasks for much longer.
pub const ALIVE_MS: i64 = 2 * 60 * 1000;

/// How often a transaction is run again that others were in the way of.
const CONFLICT_RETRIES: u32 = 5;

/// An open registry.
#[derive(Debug)]
pub struct Registry {
    store: Box<dyn Store>,
    /// The time of the last transaction.
    now_ms: i64,
    /// In place of the backend's clock.
    fixed_ms: Option<i64>,
    /// Which sessions of this machine are workers of the fleet; a file needs no such marks.
    marks: Option<WorkerMarks>,
}

/// How long to wait for a file that is locked or a server that does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// As a command, which a person or agent waits for.
    Command,
    /// As a stop, which must be quick.
    Stop,
}

impl Registry {
    /// The path of the file in a state folder.
    pub fn file(state: &Path) -> PathBuf {
        state.join(FILE)
    }

    fn of_file(store: Box<dyn Store>) -> Self {
        Self { store, now_ms: 0, fixed_ms: None, marks: None }
    }

    fn of_fleet(url: &str, state: &Path, patience: Patience) -> Result<Self, RegistryError> {
        let store = Box::new(PostgresStore::open(url, patience)?);
        Ok(Self { store, now_ms: 0, fixed_ms: None, marks: Some(WorkerMarks::in_folder(state)) })
    }

    /// Opens the fleet's, where one is set, else the file of this machine, which is created if it
    /// is missing.
    pub fn open(state: &Path, fleet: Option<&str>) -> Result<Self, RegistryError> {
        match fleet {
            Some(url) => Self::of_fleet(url, state, Patience::Command),
            None => Ok(Self::of_file(sqlite::create(Self::file(state))?)),
        }
    }

    /// The same, but a file that is missing is not created.
    pub fn open_if_there(state: &Path, fleet: Option<&str>) -> Result<Option<Self>, RegistryError> {
        match fleet {
            Some(_) => Self::open(state, fleet).map(Some),
            None => Ok(sqlite::open_if_there(Self::file(state), Patience::Command)?.map(Self::of_file)),
        }
    }

    /// Opens it for a stop of a session, where that session may be a worker. In a fleet the server
    /// is asked only for a session that registered on this machine, or that has a worker's name:
    /// others don't wait for it.
    pub fn open_for_stop(
        state: &Path,
        fleet: Option<&str>,
        session: Option<&str>,
        name: Option<&str>,
    ) -> Result<Option<Self>, RegistryError> {
        let Some(url) = fleet else {
            return Ok(sqlite::open_if_there(Self::file(state), Patience::Stop)?.map(Self::of_file));
        };
        let is_marked = session.is_some_and(|session| WorkerMarks::in_folder(state).contains(session));
        if !is_marked && name.is_none() {
            return Ok(None);
        }
        Self::of_fleet(url, state, Patience::Stop).map(Some)
    }

    /// The time of the last transaction by the backend's clock, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.now_ms
    }

    /// Puts a clock of the test's own in the place of the backend's.
    #[cfg(any(test, feature = "testing"))]
    pub fn set_clock(&mut self, now_ms: i64) {
        self.fixed_ms = Some(now_ms);
    }

    /// Begins to listen for tasks to be claimed: what came before is not told again.
    pub fn listen(&mut self) -> Result<(), RegistryError> {
        self.store.listen()
    }

    /// Waits until a task may be there to be claimed, at the latest for that time.
    pub fn wait(&mut self, awaited: Awaited<'_>, time: Duration) -> Result<(), RegistryError> {
        self.store.wait(awaited, time)
    }

    /// Runs a write transaction, again where others were in its way.
    fn write<T>(
        &mut self,
        run: impl FnMut(&mut Tx<'_>) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        self.transaction(Access::Write, run)
    }

    /// Runs a read transaction, which sees the data of one moment.
    fn read<T>(
        &mut self,
        run: impl FnMut(&mut Tx<'_>) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        self.transaction(Access::Read, run)
    }

    /// Claims the next task in one statement, again where others were in its way.
    fn claim_next(&mut self, claim: NextClaim<'_>) -> Result<NextOutcome, RegistryError> {
        self.retried(|registry| registry.store.claim_next(claim))
    }

    fn transaction<T>(
        &mut self,
        access: Access,
        mut run: impl FnMut(&mut Tx<'_>) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        self.retried(|registry| {
            let now_ms = registry.store.begin(access)?;
            registry.now_ms = registry.fixed_ms.unwrap_or(now_ms);
            match run(&mut Tx { store: &mut *registry.store, now_ms: registry.now_ms }) {
                Ok(done) => registry.store.commit().map(|()| done),
                Err(error) => {
                    registry.store.roll_back();
                    Err(error)
                }
            }
        })
    }

    /// Runs something again that others were in the way of.
    fn retried<T>(
        &mut self,
        mut run: impl FnMut(&mut Self) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        let mut left = CONFLICT_RETRIES;
        loop {
            match run(self) {
                Err(error) if error.is_conflict() && left > 0 => left -= 1,
                ended => return ended,
            }
        }
    }
}
