//! The registry in the fleet's `PostgreSQL`: for workers on many machines. The time is the
//! server's, so that a machine with a wrong clock can neither steal nor starve.

use std::time::{Duration, Instant};

use super::store::{Access, Awaited, NextClaim, NextOutcome, RegistryRow, Row, Store, Value, values};
use super::{Patience, RegistryError};
use crate::database::{self, Database, DatabaseError, Notice, schema};

/// How long one call of a command may take.
const COMMAND: Duration = Duration::from_secs(30);

/// How long the calls of one stop may take together.
const STOP: Duration = Duration::from_millis(1_500);

/// Where those who wait are told of open tasks, by their queue.
const QUEUES: &str = "punchlist_tasks";

/// Where a worker who waits is told of tasks that are its own, by its name.
const WORKERS: &str = "punchlist_workers";

/// A waiting worker looks by itself so often: a notification may be lost with its connection, or
/// kept back by a pooler, and nobody is told when a lease ends.
const LOOK: Duration = Duration::from_secs(60);

/// The key of the lock under which names are given out: "plsn".
const NAMES: i64 = 0x706c_736e;

/// In floating point, which is quicker than the exact numbers of `extract`.
const NOW: &str = "(date_part('epoch', clock_timestamp()) * 1000)::bigint";

/// A claim in one call of the server's function. The task's columns, which come last, are in the
/// order of `task::COLUMNS`.
const CLAIM: &str = "SELECT tables, now_ms, are_due, (taken).* FROM punchlist.claim($1, $2, $3, $4, $5, $6)";

/// Where the task's columns begin.
const TASK: usize = 3;

#[derive(Debug)]
pub(super) struct PostgresStore(Database);

impl PostgresStore {
    pub(super) fn open(url: &str, patience: Patience) -> Result<Self, RegistryError> {
        let patience = match patience {
            Patience::Command => database::Patience::Each(COMMAND),
            Patience::Stop => database::Patience::Until(Instant::now() + STOP),
        };
        Ok(Self(Database::connect(url, patience)?))
    }
}

impl Store for PostgresStore {
    fn begin(&mut self, access: Access) -> Result<i64, RegistryError> {
        let mode = match access {
            Access::Read => "ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Access::Write => "ISOLATION LEVEL READ COMMITTED",
        };
        let begun = self.0.batch(&format!(
            "BEGIN {mode}; SET LOCAL search_path = punchlist; SELECT {NOW}, version FROM punchlist.schema"
        ));
        let begun = begun.inspect_err(|_| self.roll_back())?;
        let number =
            |at: usize| begun.first().and_then(|row| row.get(at)?.as_ref()?.parse().ok()).unwrap_or(0);
        let checked = schema::check(number(1), self.0.server());
        checked.inspect_err(|_| self.roll_back())?;
        Ok(number(0))
    }

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, RegistryError> {
        Ok(self.0.rows(&sql.replace('?', "$"), values)?)
    }

    fn commit(&mut self) -> Result<(), RegistryError> {
        Ok(self.0.batch("COMMIT").map(drop)?)
    }

    fn roll_back(&mut self) {
        let _ = self.0.batch("ROLLBACK");
    }

    fn row_lock(&self) -> &'static str {
        " FOR UPDATE"
    }

    fn free_row_lock(&self) -> &'static str {
        " FOR UPDATE SKIP LOCKED"
    }

    fn lock_names(&mut self) -> Result<(), RegistryError> {
        self.rows("SELECT pg_advisory_xact_lock(?1)::text", &[NAMES.into()]).map(drop)
    }

    fn wake_waiters(&mut self, queue: &str, assignee: Option<&str>) -> Result<(), RegistryError> {
        let (channel, name) = assignee.map_or((QUEUES, queue), |assignee| (WORKERS, assignee));
        self.rows("SELECT pg_notify(?1, ?2)::text", &[channel.into(), name.into()]).map(drop)
    }

    fn claim_next(&mut self, claim: NextClaim<'_>) -> Result<NextOutcome, RegistryError> {
        let NextClaim { worker, queue, project, lease_ms, now_ms } = claim;
        let values = values![worker, queue, project, lease_ms, now_ms, schema::VERSION];
        let mut rows = match self.0.repeated_rows(CLAIM, values) {
            // Tables of another version may have no such function.
            Err(error @ (DatabaseError::Failed { .. } | DatabaseError::NoSchema { .. })) => {
                schema::check_version(&mut self.0)?;
                return Err(error.into());
            }
            rows => rows?,
        };
        let Row(mut head) = rows.pop().unwrap_or_else(|| Row(Vec::new()));
        let task = Row(head.split_off(head.len().min(TASK)));
        let head = Row(head);
        // Nothing was changed where it does not fit.
        schema::check(head.number(0).unwrap_or(0), self.0.server())?;
        Ok(match head.number(2) {
            None => NextOutcome::NoWorker,
            Some(1) => NextOutcome::LeasesDue,
            Some(_) => NextOutcome::Claimed(task.number(0).map(|_| task), head.int(1)?),
        })
    }

    fn listen(&mut self) -> Result<(), RegistryError> {
        Ok(self.0.batch(&format!("LISTEN {QUEUES}; LISTEN {WORKERS}")).map(drop)?)
    }

    fn wait(&mut self, awaited: Awaited<'_>, time: Duration) -> Result<(), RegistryError> {
        let is_wanted = |notice: &Notice| match notice.channel.as_str() {
            QUEUES => notice.payload == awaited.queue,
            _ => notice.payload == awaited.worker,
        };
        Ok(self.0.wait_for_notice(time.min(LOOK), is_wanted).map(drop)?)
    }
}
