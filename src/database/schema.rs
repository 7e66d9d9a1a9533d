//! The tables of the fleet's database and their versions. Only `punchlist fleet migrate` changes
//! them; everybody else compares versions, and says what to do where they differ.

use super::{Database, DatabaseError};

/// Each migrates the tables from the version of its index to the next.
const MIGRATIONS: [&str; 5] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
];

/// The version that this program needs.
#[expect(clippy::cast_possible_wrap, reason = "there are a handful")]
pub const VERSION: i64 = MIGRATIONS.len() as i64;

/// The key of the lock that lets one migration run at a time: "plst".
const LOCK: i64 = 0x706c_7374;

/// What a migration did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// The version before; 0 where there were no tables.
    pub from: i64,
    pub to: i64,
}

/// Returns an error that says what to do, unless the tables have this program's version.
pub fn check(found: i64, server: &str) -> Result<(), DatabaseError> {
    let (server, known) = (server.to_owned(), VERSION);
    match found {
        _ if found > known => Err(DatabaseError::NewerSchema { server, found, known }),
        _ if found < known => Err(DatabaseError::OlderSchema { server, found, known }),
        _ => Ok(()),
    }
}

/// Returns an error unless the tables have this program's version.
pub fn check_version(database: &mut Database) -> Result<(), DatabaseError> {
    let found = version(database)?;
    check(found, database.server())
}

/// Returns the version of the tables.
pub fn version(database: &mut Database) -> Result<i64, DatabaseError> {
    Ok(number(&database.batch("SELECT version FROM punchlist.schema")?))
}

/// Creates the tables, or brings them up to this program's version; all of it or nothing. A version
/// in between can be asked for, for tests of migrations.
pub fn migrate(database: &mut Database, to: Option<i64>) -> Result<Migrated, DatabaseError> {
    migrate_as_owner(database, to.unwrap_or(VERSION)).map_err(DatabaseError::for_owners)
}

fn migrate_as_owner(database: &mut Database, to: i64) -> Result<Migrated, DatabaseError> {
    database.batch(&format!(
        "BEGIN; SET LOCAL client_min_messages = warning; SELECT pg_advisory_xact_lock({LOCK})"
    ))?;
    let migrated = migrate_locked(database, to);
    let end = if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = database.batch(end);
    let migrated = migrated?;
    ended?;
    Ok(migrated)
}

fn migrate_locked(database: &mut Database, to: i64) -> Result<Migrated, DatabaseError> {
    let exists = database.batch("SELECT (to_regclass('punchlist.schema') IS NOT NULL)::int")?;
    let from = if number(&exists) == 1 { version(database)? } else { 0 };
    if from > VERSION {
        check(from, database.server())?;
    }
    if from == 0 {
        require_utf8(database)?;
        database.batch(
            "CREATE SCHEMA IF NOT EXISTS punchlist;
             CREATE TABLE punchlist.schema (version bigint NOT NULL);
             INSERT INTO punchlist.schema VALUES (0)",
        )?;
    }
    let steps = usize::try_from(from).unwrap_or_default()..usize::try_from(to).unwrap_or_default();
    for step in MIGRATIONS.get(steps).unwrap_or_default() {
        database.batch(step)?;
    }
    if to > from {
        database.batch(&format!("UPDATE punchlist.schema SET version = {to}"))?;
    }
    Ok(Migrated { from, to: to.max(from) })
}

/// Returns an error unless every text can be stored: a line that can't would be given up for what
/// is in it.
fn require_utf8(database: &mut Database) -> Result<(), DatabaseError> {
    let found = database.batch("SHOW server_encoding")?;
    match found.into_iter().flatten().flatten().next() {
        Some(encoding) if encoding != "UTF8" => {
            Err(DatabaseError::Encoding { server: database.server().to_owned(), encoding })
        }
        _ => Ok(()),
    }
}

/// The number in the first row that has one.
fn number(rows: &[Vec<Option<String>>]) -> i64 {
    let mut cells = rows.iter().flatten().flatten();
    cells.find_map(|cell| cell.parse().ok()).unwrap_or_default()
}
