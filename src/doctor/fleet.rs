//! The fleet's database and the collector: whether they can be reached and used from here, and what
//! is waiting to be shipped. Changes nothing there.

use std::path::Path;
use std::time::Duration;

use super::{Check, Mark};
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

/// The rights on tables that the hook's role of docs/fleet.md has.
const HOOK: [(&str, &str); 7] = [
    ("schema", "SELECT"),
    ("decisions", "INSERT"),
    ("notes", "INSERT"),
    ("tasks", "SELECT, INSERT, UPDATE"),
    ("prerequisites", "SELECT, INSERT"),
    ("events", "SELECT, INSERT"),
    ("workers", "SELECT, INSERT, UPDATE, DELETE"),
];

/// Those that the reviewer's has.
const REVIEWER: [(&str, &str); 7] = [
    ("schema", "SELECT"),
    ("decisions", "SELECT"),
    ("notes", "SELECT, INSERT"),
    ("tasks", "SELECT"),
    ("prerequisites", "SELECT"),
    ("events", "SELECT"),
    ("workers", "SELECT"),
];

/// The function that a hook's role has to be allowed, as the server knows it.
const CLAIM: &str = "punchlist.claim(text,text,text,bigint,bigint,bigint)";

/// What to do with lines that wait.
const PUSH: &str = "`punchlist fleet push` ships them now";
const PUSH_AS_HOOK: &str = "this role can't ship them: with the hook's role, `punchlist fleet push` does";

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
        let next = if may_ship(&checks) { PUSH } else { PUSH_AS_HOOK };
        checks.push(spool_check("spool", &Spool::new(state, SharedDecisions::new(&config.fleet)), next));
    }
    if let Some(spool) = telemetry {
        checks.push(collector_check(spool.destination()));
        checks.push(spool_check("otlp", &spool, PUSH));
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

/// Which of the two roles of docs/fleet.md this one fits; the owner fits the hook's.
fn rights_check(database: &mut Database) -> Check {
    const PASTE: &str = "paste the rights of docs/fleet.md as the owner, or name the role that has them";
    let (hook, reviewer) = match (lacks_as_hook(database), lacks(database, &REVIEWER)) {
        (Ok(hook), Ok(reviewer)) => (hook, reviewer),
        (Err(error), _) | (_, Err(error)) => return Check::fault("rights", error.to_string(), PASTE),
    };
    if hook.is_empty() {
        return Check::fine("rights", "a worker's: decisions, tasks and workers");
    }
    if reviewer.is_empty() {
        return Check::note(
            "rights",
            "a reviewer's: it reads everything and labels; no decision is shipped, and no task claimed",
            "for stops and workers, name the hook's role in `[fleet] database`",
        );
    }
    // Only a reviewer reads decisions.
    let is_reviewers = !reviewer.iter().any(|right| right == "SELECT on decisions");
    let (whose, missing) = if is_reviewers { ("a reviewer's", reviewer) } else { ("a worker's", hook) };
    Check::fault("rights", format!("not {whose}: this role lacks {}", missing.join(", ")), PASTE)
}

fn lacks_as_hook(database: &mut Database) -> Result<Vec<String>, DatabaseError> {
    let mut missing = lacks(database, &HOOK)?;
    let may_claim = database.batch(&format!("SELECT has_function_privilege('{CLAIM}', 'EXECUTE')::int"))?;
    if may_claim.first().and_then(|row| row.first()?.as_deref()) != Some("1") {
        missing.push("EXECUTE on punchlist.claim".to_owned());
    }
    Ok(missing)
}

/// The rights on tables that this role has not.
fn lacks(database: &mut Database, wanted: &[(&str, &str)]) -> Result<Vec<String>, DatabaseError> {
    let rows = wanted.iter().flat_map(|(table, rights)| {
        rights.split(", ").map(move |right| {
            format!("('{right} on {table}', has_table_privilege('punchlist.{table}', '{right}'))")
        })
    });
    let rows: Vec<_> = rows.collect();
    let query = format!("SELECT what FROM (VALUES {}) AS rights (what, has) WHERE NOT has", rows.join(", "));
    Ok(database.batch(&query)?.into_iter().flatten().flatten().collect())
}

/// Whether no role was found that can't store decisions.
fn may_ship(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.name != "rights" || check.mark == Mark::Fine)
}

fn spool_check<D: Destination>(name: &'static str, spool: &Spool<D>, next: &str) -> Check {
    match spool.lag() {
        Ok(lag) if lag.lines == 0 => Check::fine(name, "all decisions of this machine are shipped"),
        Ok(lag) => {
            let waits = counted(lag.lines, "line waits", "lines wait");
            let found = format!("{waits} to be shipped, {}", in_bytes(lag.bytes));
            let why = lag.failed.as_deref().map(|why| format!("; the last try failed: {}", seen_here(why)));
            let found = format!("{found}{}", why.unwrap_or_default());
            // Once is nothing: the next stop goes on.
            if lag.failed.is_some() && lag.failing_ms > LASTING_MS {
                Check::fault(name, found, next)
            } else {
                Check::note(name, found, next)
            }
        }
        Err(error) => {
            Check::fault(name, format!("the log can't be read: {error}"), "make the state folder yours")
        }
    }
}
