//! The tables, and how an older file gets those of today. Must not touch a file that a newer punchlist wrote, nor one that is no
//! registry at all.

use super::{Fault, Registry};

/// Each brings a file from the version of its place to the next.
const STEPS: [&str; 1] = ["
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

/// What this program knows.
#[expect(clippy::cast_possible_wrap, reason = "there are a handful")]
pub(super) const VERSION: i64 = STEPS.len() as i64;

/// Says that a file is ours, wherever it is found: "plst".
const APPLICATION: i64 = 0x706c_7374;

/// Brings a file up to date; a new one gets its tables.
pub(super) fn bring_up(registry: &mut Registry) -> Result<(), Fault> {
    let path = registry.path.clone();
    let number = |registry: &Registry, name: &str| {
        let read = registry.db.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
        read.map_err(|error| Fault::of_file(&path, &error))
    };
    let found = number(registry, "user_version")?;
    if found == VERSION {
        return Ok(());
    }
    if found > VERSION {
        return Err(Fault::Newer { file: path.display().to_string(), found, known: VERSION });
    }
    // Both at one moment: another process may be making the tables just now.
    let is_others = registry.look(|look| {
        let found: i64 = look.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let tables: i64 = look.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        Ok(found == 0 && tables > 0)
    })?;
    if is_others {
        let why = "it has tables of somebody else".to_owned();
        return Err(Fault::Damaged { file: path.display().to_string(), why });
    }
    // Readers do not wait for whoever writes. It stays with the file, and can't be changed within a transaction; where the disk
    // can't do it the file works as well, and slower.
    let _ = registry.db.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()));
    registry.change(|change| {
        // Two that start at once: the second finds it done.
        let found: i64 = change.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        for step in STEPS.iter().skip(usize::try_from(found).unwrap_or_default()) {
            change.execute_batch(step)?;
        }
        change.pragma_update(None, "application_id", APPLICATION)?;
        change.pragma_update(None, "user_version", VERSION)?;
        Ok(())
    })
}
