//! The fleet's database: whether it can be reached and used from here, and what waits to be shipped. Changes
//! nothing there.

use super::Check;
use crate::config::FleetConfig;
use crate::database::{Database, DatabaseError, schema};
use crate::fleet::connect;
use crate::fleet::spool::Spool;
use crate::text::{counted, in_bytes, time_span};

/// The oldest server that understands what is asked of it.
const OLDEST_SERVER: i64 = 120_000;

/// Clocks that are further apart are worth knowing of: times of decisions are the machines' own.
const SKEW_MS: i64 = 5_000;

/// What a hook needs of each table.
const RIGHTS: [(&str, &str); 7] = [
    ("schema", "SELECT"),
    ("decisions", "INSERT"),
    ("notes", "INSERT"),
    ("tasks", "SELECT, INSERT, UPDATE"),
    ("prerequisites", "SELECT, INSERT"),
    ("events", "SELECT, INSERT"),
    ("workers", "SELECT, INSERT, UPDATE, DELETE"),
];

pub fn checks(config: &FleetConfig, spool: &Spool) -> Vec<Check> {
    let mut checks = match connect(config) {
        Ok(mut database) => database_checks(&mut database),
        Err(error) => vec![unreachable(&error)],
    };
    checks.push(spool_check(spool));
    checks
}

fn unreachable(error: &DatabaseError) -> Check {
    let next = match error {
        DatabaseError::BadUrl(_) => "set `[fleet] database` in your own config",
        DatabaseError::NotLetIn { .. } => "look at the name, the password and the server's pg_hba.conf",
        _ => "look whether the server runs, its port is open from here, and its certificate is trusted",
    };
    Check::fault("database", error.to_string().replace("; `punchlist fleet doctor` looks closer", ""), next)
}

fn database_checks(database: &mut Database) -> Vec<Check> {
    let asked = database.batch(
        "SELECT current_setting('server_version_num'), current_setting('server_version'),
         (extract(epoch FROM clock_timestamp()) * 1000)::bigint, current_user,
         coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)",
    );
    let asked = match asked {
        Ok(rows) => rows.into_iter().next().unwrap_or_default(),
        Err(error) => return vec![unreachable(&error)],
    };
    let cell = |at: usize| asked.get(at).cloned().flatten().unwrap_or_default();
    let number = |at: usize| cell(at).parse::<i64>().unwrap_or_default();
    let tls = if cell(4) == "t" { "encrypted" } else { "not encrypted" };
    let found = format!("{}, PostgreSQL {}, as {}, {tls}", database.server(), cell(1), cell(3));
    let server = if number(0) < OLDEST_SERVER {
        Check::fault("database", found, "update the server: PostgreSQL 12 or newer is needed")
    } else {
        Check::fine("database", found)
    };
    let clock = clock_check(crate::clock::now().as_millisecond().saturating_sub(number(2)));
    let schema = match schema::version(database).and_then(|found| schema::check(found, database.server())) {
        Ok(()) => Check::fine("tables", format!("version {}", schema::VERSION)),
        Err(error) => {
            return vec![server, Check::fault("tables", error.to_string(), "see docs/fleet.md"), clock];
        }
    };
    vec![server, schema, rights_check(database), clock]
}

fn clock_check(skew_ms: i64) -> Check {
    let apart = time_span(skew_ms.abs());
    match skew_ms {
        _ if skew_ms.abs() < SKEW_MS => Check::fine("clock", "as the server's"),
        _ if skew_ms > 0 => Check::note(
            "clock",
            format!("{apart} ahead of the server's"),
            "set it: decisions have this clock's time",
        ),
        _ => Check::note(
            "clock",
            format!("{apart} behind the server's"),
            "set it: decisions have this clock's time",
        ),
    }
}

fn rights_check(database: &mut Database) -> Check {
    let missing = RIGHTS.iter().flat_map(|(table, rights)| {
        rights.split(", ").map(move |right| {
            format!("('{right} on {table}', has_table_privilege('punchlist.{table}', '{right}'))")
        })
    });
    let rows: Vec<_> = missing.collect();
    let query = format!("SELECT what FROM (VALUES {}) AS rights (what, has) WHERE NOT has", rows.join(", "));
    match database.batch(&query) {
        Ok(missing) if missing.is_empty() => {
            Check::fine("rights", "a worker's: decisions, tasks and workers")
        }
        Ok(missing) => {
            let missing: Vec<_> = missing.into_iter().flatten().flatten().collect();
            Check::note(
                "rights",
                format!("this role lacks {}", missing.join(", ")),
                "docs/fleet.md has the rights of a worker and of a reviewer",
            )
        }
        Err(error) => {
            Check::fault("rights", error.to_string(), "docs/fleet.md has the rights that a role needs")
        }
    }
}

fn spool_check(spool: &Spool) -> Check {
    const PUSH: &str = "`punchlist fleet push` ships them now";
    match spool.lag() {
        Ok(lag) if lag.lines == 0 => Check::fine("spool", "all decisions of this machine are shipped"),
        Ok(lag) => {
            let why = lag.failed.map(|why| format!("; the last try failed: {why}")).unwrap_or_default();
            let waits = counted(lag.lines, "line waits", "lines wait");
            Check::note("spool", format!("{waits} to be shipped, {}{why}", in_bytes(lag.bytes)), PUSH)
        }
        Err(error) => {
            Check::fault("spool", format!("the log can't be read: {error}"), "make the state folder yours")
        }
    }
}
