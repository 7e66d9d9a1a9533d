//! The registry in one `SQLite` file of the state folder: for one machine, with no server. A file
//! that can't be used, that a newer punchlist wrote or that is no registry is left alone.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, params_from_iter};

use super::store::{Access, Awaited, Row, Store, Value};
use super::{Patience, RegistryError};
use crate::private_file;

/// After how many pages of the write-ahead log a stop checkpoints.
const STOP_CHECKPOINT_PAGES: i64 = 250;

/// How often a waiting worker looks.
const POLL: Duration = Duration::from_millis(500);

#[derive(Debug)]
struct SqliteStore {
    db: Connection,
    path: PathBuf,
}

/// Opens a file, and creates it if it is missing.
pub(super) fn create(path: PathBuf) -> Result<Box<dyn Store>, RegistryError> {
    // `SQLite` gives the permissions of this file to those that it puts beside it.
    private_file::open(&path, private_file::Access::Append)
        .map_err(|error| RegistryError::unreadable(&path, &error))?;
    Ok(Box::new(SqliteStore::open(path, Patience::Command)?))
}

/// Opens a file if it exists.
pub(super) fn open_if_there(
    path: PathBuf,
    patience: Patience,
) -> Result<Option<Box<dyn Store>>, RegistryError> {
    match private_file::open(&path, private_file::Access::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(RegistryError::unreadable(&path, &error)),
        Ok(_) => Ok(Some(Box::new(SqliteStore::open(path, patience)?))),
    }
}

impl SqliteStore {
    fn open(path: PathBuf, patience: Patience) -> Result<Self, RegistryError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(&path, flags).and_then(|db| {
            db.busy_timeout(patience.time())?;
            if patience == Patience::Stop {
                // A stop writes only heartbeats, which are not worth waiting for the disk. They
                // stay in the write-ahead log until the next command, or until the log has grown.
                db.pragma_update(None, "synchronous", "NORMAL")?;
                db.pragma_update(None, "wal_autocheckpoint", STOP_CHECKPOINT_PAGES)?;
                db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            }
            Ok(db)
        });
        let db = opened.map_err(|error| RegistryError::from(error).at(&path))?;
        let mut store = Self { db, path };
        store.migrate()?;
        Ok(store)
    }

    fn batch(&self, sql: &str) -> Result<(), RegistryError> {
        self.db.execute_batch(sql).map_err(|error| RegistryError::from(error).at(&self.path))
    }

    fn pragma(&self, name: &str) -> Result<i64, RegistryError> {
        let read = self.db.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
        read.map_err(|error| RegistryError::from(error).at(&self.path))
    }

    /// Migrates a file; a new one gets its tables.
    fn migrate(&mut self) -> Result<(), RegistryError> {
        let found = self.pragma("user_version")?;
        if found == VERSION {
            return Ok(());
        }
        let file = self.path.display().to_string();
        if found > VERSION {
            return Err(RegistryError::Newer { file, found, known: VERSION });
        }
        // In one transaction: another process may be creating the tables right now.
        self.batch("BEGIN DEFERRED")?;
        let is_foreign = self.pragma("user_version").and_then(|found| {
            let tables =
                self.db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
            let tables = tables.map_err(|error| RegistryError::from(error).at(&self.path))?;
            Ok(found == 0 && tables > 0)
        });
        self.roll_back();
        if is_foreign? {
            return Err(RegistryError::Damaged { file, why: "it has tables of somebody else".to_owned() });
        }
        // With a write-ahead log readers don't wait for writers. Neither can be set within a
        // transaction, and where the file system doesn't support the log the file still works. A
        // table that is made anew is dropped first, which must not touch what refers to it.
        let _ = self.db.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()));
        self.batch("PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE")?;
        let migrated = self.migrate_locked();
        if migrated.is_err() {
            self.roll_back();
        }
        self.batch("PRAGMA foreign_keys = ON")?;
        migrated
    }

    fn migrate_locked(&self) -> Result<(), RegistryError> {
        // Of two processes that start at once, the second finds it done.
        let found = self.pragma("user_version")?;
        for step in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default()) {
            self.batch(step)?;
        }
        self.batch(&format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT"))
    }
}

impl Patience {
    fn time(self) -> Duration {
        match self {
            Self::Command => Duration::from_secs(10),
            Self::Stop => Duration::from_millis(1_500),
        }
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Int(Some(number)) => ToSqlOutput::from(*number),
            Self::Text(Some(text)) => ToSqlOutput::from(text.as_str()),
            Self::Int(None) | Self::Text(None) | Self::Texts(_) => ToSqlOutput::from(rusqlite::types::Null),
        })
    }
}

impl Store for SqliteStore {
    fn begin(&mut self, access: Access) -> Result<i64, RegistryError> {
        self.batch(match access {
            Access::Read => "BEGIN DEFERRED",
            // Other writers wait for its end.
            Access::Write => "BEGIN IMMEDIATE",
        })?;
        Ok(crate::clock::now().as_millisecond())
    }

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, RegistryError> {
        let read = || {
            let mut statement = self.db.prepare(sql)?;
            let columns = statement.column_count();
            let rows = statement.query_map(params_from_iter(values), |row| {
                let cell = |at| {
                    Ok(match row.get_ref(at)? {
                        ValueRef::Integer(number) => Value::Int(Some(number)),
                        ValueRef::Text(_) => Value::Text(row.get(at)?),
                        _ => Value::Text(None),
                    })
                };
                (0..columns).map(cell).collect::<rusqlite::Result<_>>().map(Row)
            })?;
            rows.collect::<rusqlite::Result<_>>()
        };
        read().map_err(|error| RegistryError::from(error).at(&self.path))
    }

    fn commit(&mut self) -> Result<(), RegistryError> {
        self.batch("COMMIT")
    }

    fn roll_back(&mut self) {
        let _ = self.batch("ROLLBACK");
    }

    /// A file tells nobody: it is looked at now and then.
    fn wait(&mut self, _: Awaited<'_>, time: Duration) -> Result<(), RegistryError> {
        std::thread::sleep(POLL.min(time));
        Ok(())
    }
}

impl RegistryError {
    fn unreadable(path: &Path, why: &impl Display) -> Self {
        let (file, why) = (path.display().to_string(), why.to_string());
        // Some errors name the file themselves.
        let why = why.strip_prefix(&format!("{file}: ")).map(str::to_owned).unwrap_or(why);
        Self::Unreadable { file, why }
    }

    /// Names the file in an error of `SQLite`.
    fn at(self, path: &Path) -> Self {
        let file = path.display().to_string();
        match self {
            Self::Damaged { why, .. } => Self::Damaged { file, why },
            Self::Locked { .. } => Self::Locked { file },
            Self::ReadOnly { why, .. } => Self::ReadOnly { file, why },
            Self::Unreadable { why, .. } => Self::Unreadable { file, why },
            refused => refused,
        }
    }
}

/// `SQLite` does not say which file; `RegistryError::at` does.
impl From<rusqlite::Error> for RegistryError {
    fn from(error: rusqlite::Error) -> Self {
        let (file, why) = (String::new(), error.to_string());
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Self::Damaged { file, why },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { file },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly { file, why },
            _ => Self::Unreadable { file, why },
        }
    }
}

/// Each migrates a file from the version of its index to the next.
const MIGRATIONS: [&str; 2] = [include_str!("sqlite/1.sql"), include_str!("sqlite/2.sql")];

/// The newest version that this program knows.
#[expect(clippy::cast_possible_wrap, reason = "there are a handful")]
const VERSION: i64 = MIGRATIONS.len() as i64;

/// Marks the file as ours: "plst".
const APPLICATION: i64 = 0x706c_7374;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_somebody_has_locked_is_waited_for_and_then_told_of() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("registry.sqlite");
        let mut other = create(path.clone()).expect("a registry");
        let mut store = SqliteStore::open(path, Patience::Stop).expect("the same one");
        other.begin(Access::Write).expect("locked");
        store.db.busy_timeout(Duration::from_millis(20)).expect("set");
        let fault = store.begin(Access::Write).expect_err("a fault").to_string();
        assert!(
            fault.ends_with("is in use by another process, and was not free for a while: try again"),
            "{fault}"
        );
        store.begin(Access::Read).expect("reading waits for nobody");
        assert!(store.rows("SELECT id FROM tasks", &[]).expect("rows").is_empty());
        store.roll_back();
        other.commit().expect("free");
        store.begin(Access::Write).expect("free");
    }
}
