//! The tables, and the migration of older files. Must not touch a file that a newer punchlist
//! wrote, nor one that is no registry.

use super::{Registry, RegistryError};

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
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Marks the file as ours: "plst".
const APPLICATION: i64 = 0x706c_7374;

/// Migrates a file; a new one gets its tables.
pub(super) fn migrate(registry: &mut Registry) -> Result<(), RegistryError> {
    let path = registry.path.clone();
    let number = |registry: &Registry, name: &str| {
        let read = registry.db.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
        read.map_err(|error| RegistryError::from_sqlite(&path, &error))
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
