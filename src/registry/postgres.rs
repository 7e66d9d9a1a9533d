//! The registry in the fleet's `PostgreSQL`: for workers on many machines. The time is the server's, so that
//! a machine with a wrong clock can neither steal nor starve.

use std::time::{Duration, Instant};

use tokio_postgres::Statement;
use tokio_postgres::types::{ToSql, Type};

use super::store::{Access, NextClaim, NextOutcome, Row, Store, Value};
use super::task::COLUMNS;
use super::{Patience, RegistryError};
use crate::database::{self, Database, DatabaseError, DatabaseUrl, schema};

/// How long one call of a command may take.
const COMMAND: Duration = Duration::from_secs(30);

/// How long the calls of one stop may take together.
const STOP: Duration = Duration::from_millis(1_500);

/// Where those who wait are told of tasks.
const CHANNEL: &str = "punchlist_tasks";

/// A waiting worker looks by itself so often: a notification may be lost with its connection, or kept back
/// by a pooler, and nobody is told when a lease ends.
const LOOK: Duration = Duration::from_secs(60);

/// The key of the lock under which names are given out: "plsn".
const NAMES: i64 = 0x706c_736e;

const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

#[derive(Debug)]
pub(super) struct PostgresStore {
    database: Database,
    /// The statement of [`Store::claim_next`], from its second use on.
    claim: Option<Statement>,
    claims: u32,
}

impl PostgresStore {
    pub(super) fn open(url: &str, patience: Patience) -> Result<Self, RegistryError> {
        let url: DatabaseUrl = url.parse()?;
        let patience = match patience {
            Patience::Command => database::Patience::Each(COMMAND),
            Patience::Stop => database::Patience::Until(Instant::now() + STOP),
        };
        Ok(Self { database: Database::connect(&url, patience)?, claim: None, claims: 0 })
    }
}

impl From<DatabaseError> for RegistryError {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

/// A cell, whatever number or text the server calls it.
fn cell(row: &tokio_postgres::Row, at: usize) -> Value {
    match *row.columns()[at].type_() {
        Type::INT8 => Value::Int(row.get(at)),
        Type::INT4 => Value::Int(row.get::<_, Option<i32>>(at).map(i64::from)),
        _ => Value::Text(row.try_get(at).unwrap_or_default()),
    }
}

fn row(row: &tokio_postgres::Row, columns: std::ops::Range<usize>) -> Row {
    Row(columns.map(|at| cell(row, at)).collect())
}

impl Store for PostgresStore {
    fn begin(&mut self, access: Access) -> Result<i64, RegistryError> {
        let mode = match access {
            Access::Read => "ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Access::Write => "ISOLATION LEVEL READ COMMITTED",
        };
        let begun = self.database.batch(&format!(
            "BEGIN {mode}; SET LOCAL search_path = punchlist; SELECT {NOW}, version FROM punchlist.schema"
        ));
        let begun = begun.inspect_err(|_| self.roll_back())?;
        let number =
            |at: usize| begun.first().and_then(|row| row.get(at)?.as_ref()?.parse().ok()).unwrap_or(0);
        let checked = schema::check(number(1), self.database.server());
        checked.inspect_err(|_| self.roll_back())?;
        Ok(number(0))
    }

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, RegistryError> {
        let parameters: Vec<database::Parameter<'_>> = values
            .iter()
            .map(|value| match value {
                Value::Int(number) => (number as &(dyn ToSql + Sync), Type::INT8),
                Value::Text(text) => (text as &(dyn ToSql + Sync), Type::TEXT),
            })
            .collect();
        let rows = self.database.rows(&sql.replace('?', "$"), &parameters)?;
        Ok(rows.iter().map(|found| row(found, 0..found.len())).collect())
    }

    fn commit(&mut self) -> Result<(), RegistryError> {
        Ok(self.database.batch("COMMIT").map(drop)?)
    }

    fn roll_back(&mut self) {
        let _ = self.database.batch("ROLLBACK");
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

    fn wake_waiters(&mut self, queue: &str) -> Result<(), RegistryError> {
        self.rows("SELECT pg_notify(?1, ?2)::text", &[CHANNEL.into(), queue.into()]).map(drop)
    }

    fn claim_next(&mut self, claim: NextClaim<'_>) -> Result<NextOutcome, RegistryError> {
        const TYPES: [Type; 5] = [Type::TEXT, Type::TEXT, Type::TEXT, Type::INT8, Type::INT8];
        let NextClaim { worker, queue, project, lease_ms, now_ms } = claim;
        let values: [&(dyn ToSql + Sync); 5] = [&worker, &queue, &project, &lease_ms, &now_ms];
        // A command claims once and is over; whoever claims again on the same connection is worth preparing for.
        self.claims += 1;
        if self.claims == 2 {
            self.claim = Some(self.database.prepare(&claim_statement(), &TYPES)?);
        }
        let rows = if let Some(statement) = &self.claim {
            self.database.prepared_rows(statement, &values)?
        } else {
            let parameters: Vec<_> = values.into_iter().zip(TYPES).collect();
            self.database.rows(&claim_statement(), &parameters)?
        };
        let Some(found) = rows.first() else { return Ok(NextOutcome::NoWorker) };
        schema::check(found.get(0), self.database.server())?;
        if found.get(2) {
            return Ok(NextOutcome::LeasesDue);
        }
        let is_claimed = found.get::<_, Option<i64>>(3).is_some();
        Ok(NextOutcome::Claimed(is_claimed.then(|| row(found, 3..found.len())), found.get(1)))
    }

    fn listen(&mut self) -> Result<(), RegistryError> {
        Ok(self.database.batch(&format!("LISTEN {CHANNEL}")).map(drop)?)
    }

    fn wait(&mut self, time: Duration) -> Result<(), RegistryError> {
        Ok(self.database.wait_for_notice(time.min(LOOK)).map(drop)?)
    }
}

/// A claim in one statement: what was assigned to the worker comes first, then the open task with the
/// highest priority, then the oldest; what others have locked at this moment is passed over. The worker's
/// sign of life, its leases and the line of the task's history go with it. Nothing is claimed while the
/// leases of others have to be swept.
fn claim_statement() -> String {
    let columns: Vec<_> = COLUMNS.split(", ").map(|column| format!("tasks.{column}")).collect();
    format!(
        "WITH clock AS MATERIALIZED (SELECT coalesce($5, {NOW}) AS ms),
         me AS MATERIALIZED (SELECT name, queue FROM punchlist.workers WHERE name = $1),
         leases AS MATERIALIZED (SELECT EXISTS (
             SELECT 1 FROM punchlist.tasks WHERE status IN ('accepted', 'in_progress')
             AND lease_until_ms <= (SELECT ms FROM clock) AND assignee <> $1) AS are_due),
         mine AS MATERIALIZED (
             SELECT id FROM punchlist.tasks
             WHERE status = 'assigned' AND assignee = $1 AND waits = 0 AND NOT (SELECT are_due FROM leases)
             AND EXISTS (SELECT 1 FROM me) ORDER BY priority DESC, id LIMIT 1 FOR UPDATE SKIP LOCKED),
         next AS MATERIALIZED (
             SELECT id FROM punchlist.tasks
             WHERE status = 'open' AND waits = 0 AND queue = coalesce($2, (SELECT queue FROM me))
             AND ($3 IS NULL OR project IS NULL OR project = $3)
             AND NOT (SELECT are_due FROM leases) AND EXISTS (SELECT 1 FROM me) AND NOT EXISTS (SELECT 1 FROM mine)
             ORDER BY priority DESC, id LIMIT 1 FOR UPDATE SKIP LOCKED),
         taken AS (
             UPDATE punchlist.tasks SET status = 'accepted', assignee = $1, claimed_ms = ms, updated_ms = ms,
             note = NULL, attempts = attempts + 1, lease_ms = $4, lease_until_ms = ms + $4 FROM clock
             WHERE id = coalesce((SELECT id FROM mine), (SELECT id FROM next)) RETURNING {columns}),
         history AS (
             INSERT INTO punchlist.events (task, at_ms, worker, what) SELECT id, ms, $1, 'claimed' FROM taken, clock),
         in_hand AS (
             UPDATE punchlist.tasks SET lease_until_ms = ms + lease_ms FROM clock
             WHERE assignee = $1 AND status IN ('accepted', 'in_progress')),
         alive AS (
             UPDATE punchlist.workers SET heartbeat_ms = ms,
             activity_ms = CASE WHEN EXISTS (SELECT 1 FROM taken) THEN ms ELSE least(activity_ms, ms) END,
             activity = CASE WHEN EXISTS (SELECT 1 FROM taken) THEN 'claimed' ELSE activity END
             FROM clock WHERE name = $1)
         SELECT schema.version, clock.ms, leases.are_due, {columns}
         FROM me CROSS JOIN punchlist.schema CROSS JOIN clock CROSS JOIN leases LEFT JOIN taken AS tasks ON true",
        columns = columns.join(", ")
    )
}
