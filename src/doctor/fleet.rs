//! The fleet's database and the collector: whether they can be reached and used from here, and what
//! is waiting to be shipped. Changes nothing there.

use std::path::Path;
use std::time::Duration;

use super::Check;
use crate::config::Config;
use crate::database::{Database, DatabaseError, Patience, schema};
use crate::fleet::decisions::SharedDecisions;
use crate::fleet::spool::{Destination, Spool};
use crate::fleet::telemetry::{Telemetry, TelemetryError};
use crate::fleet::{connect, telemetry_spool};
use crate::text::{counted, in_bytes, time_span};

/// The oldest server that understands our statements.
const OLDEST_SERVER: i64 = 120_000;

/// Clocks that are further apart are worth reporting: decisions carry the times of their machines.
const SKEW_MS: i64 = 5_000;

/// When nothing could be shipped for so long, something is wrong.
const LASTING_MS: i64 = 10 * 60 * 1000;

/// The rights that a hook needs on each table.
const RIGHTS: [(&str, &str); 7] = [
    ("schema", "SELECT"),
    ("decisions", "INSERT"),
    ("notes", "INSERT"),
    ("tasks", "SELECT, INSERT, UPDATE"),
    ("prerequisites", "SELECT, INSERT"),
    ("events", "SELECT, INSERT"),
    ("workers", "SELECT, INSERT, UPDATE, DELETE"),
];

/// How long the collector may take to answer.
const COLLECTOR: Duration = Duration::from_secs(5);

pub fn checks(state: &Path, config: &Config) -> Vec<Check> {
    let mut checks = Vec::new();
    let telemetry = telemetry_spool(state, config);
    // Without any destination, the database's check says what to set.
    if config.fleet.database.is_some() || telemetry.is_none() {
        checks = match connect(&config.fleet) {
            Ok(mut database) => database_checks(&mut database),
            Err(error) => vec![unreachable(&error)],
        };
        checks.push(spool_check("spool", &Spool::new(state, SharedDecisions::new(&config.fleet))));
    }
    if let Some(spool) = telemetry {
        checks.push(collector_check(spool.destination()));
        checks.push(spool_check("otlp", &spool));
    }
    checks
}

fn collector_check(telemetry: &Telemetry<'_>) -> Check {
    match telemetry.reach(Patience::Each(COLLECTOR)) {
        Ok(server) => Check::fine("otlp", format!("{server} takes what it is sent")),
        Err(error) => {
            let next = match &error {
                TelemetryError::NotBuilt => "build it with the feature `fleet`: `cargo install punchlist`",
                TelemetryError::BadUrl(_) => "set `[telemetry] otlp` in your own config",
                TelemetryError::Refused { .. } | TelemetryError::Unfit { .. } => {
                    "check whether it is the collector's port for OTLP over HTTP (4318), and whom it lets in"
                }
                _ => "check whether the collector runs, and its port is open from here",
            };
            Check::fault("otlp", error.to_string(), next)
        }
    }
}

fn unreachable(error: &DatabaseError) -> Check {
    let next = match error {
        DatabaseError::NotBuilt => "build it with the feature `fleet`: `cargo install punchlist`",
        DatabaseError::BadUrl(_) | DatabaseError::NotSet => "set `[fleet] database` in your own config",
        DatabaseError::NoDatabase { .. } => "create it, or set another in `[fleet] database`",
        DatabaseError::NotLetIn { .. } => "look at the name, the password and the server's pg_hba.conf",
        DatabaseError::Untrusted { .. } => {
            "name the file with the certificate of who signed the server's, with `sslrootcert` in the URL"
        }
        _ => "check whether the server runs, and its port is open from here",
    };
    Check::fault("database", seen_here(&error.to_string()), next)
}

/// An error as it is told where one looks closer already.
fn seen_here(error: &str) -> String {
    error.replace("; `punchlist fleet doctor` looks closer", "")
}

fn database_checks(database: &mut Database) -> Vec<Check> {
    let asked = database.batch(
        "SELECT current_setting('server_version_num'), current_setting('server_version'),
         (extract(epoch FROM clock_timestamp()) * 1000)::bigint, current_user,
         coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false), current_setting('server_encoding'),
         current_setting('transaction_read_only')",
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
    } else if cell(5) != "UTF8" {
        let found = format!("{found}, which keeps texts as {}", cell(5));
        Check::fault("database", found, "create the database anew, with ENCODING 'UTF8'")
    } else if cell(6) == "on" {
        let error = DatabaseError::ReadOnly { server: database.server().to_owned() };
        Check::fault("database", found, error.to_string())
    } else {
        Check::fine("database", found)
    };
    let clock = clock_check(crate::clock::now().as_millisecond().saturating_sub(number(2)));
    let schema = match schema::check_version(database) {
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

fn spool_check<D: Destination>(name: &'static str, spool: &Spool<D>) -> Check {
    const PUSH: &str = "`punchlist fleet push` ships them now";
    match spool.lag() {
        Ok(lag) if lag.lines == 0 => Check::fine(name, "all decisions of this machine are shipped"),
        Ok(lag) => {
            let waits = counted(lag.lines, "line waits", "lines wait");
            let found = format!("{waits} to be shipped, {}", in_bytes(lag.bytes));
            let why = lag.failed.as_deref().map(|why| format!("; the last try failed: {}", seen_here(why)));
            let found = format!("{found}{}", why.unwrap_or_default());
            // Once is nothing: the next stop goes on.
            if lag.failed.is_some() && lag.failing_ms > LASTING_MS {
                Check::fault(name, found, PUSH)
            } else {
                Check::note(name, found, PUSH)
            }
        }
        Err(error) => {
            Check::fault(name, format!("the log can't be read: {error}"), "make the state folder yours")
        }
    }
}
