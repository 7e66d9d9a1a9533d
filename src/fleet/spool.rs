//! The spool: ships what the local log has and the fleet's database has not. The log itself is the spool, and
//! a cursor beside it says how far it was shipped; what is shipped twice is stored once. A stop tries for a
//! moment and leaves the rest to the next one. Must not lose a line, and must not keep a stop waiting.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_postgres::types::Type;

use super::copy::Copier;
use super::machine_name;
use crate::config::FleetConfig;
use crate::database::{Database, DatabaseError, Patience, schema};
use crate::files::read_at;
use crate::ids::ContentId;
use crate::log::DecisionLog;
use crate::log::query::Line;
use crate::private_file::{self, Access, Durability};
use crate::registry::project::{project_of, shared_name};

/// How long a stop may take for it.
const STOP: Duration = Duration::from_millis(150);

/// After a failure, stops leave it for so long.
const RETRY_AFTER_MS: i64 = 30_000;

/// The most that is shipped at once.
const BATCH_BYTES: u64 = 1 << 20;
const BATCH_LINES: usize = 500;

/// How far the log was shipped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Cursor {
    /// The name of the file of the log.
    file: String,
    /// How many bytes of it are shipped.
    offset: u64,
    /// Where the last shipped line begins, and its id: a file that was cut meanwhile is known by it.
    last_start: u64,
    last_line: String,
    /// When the last try failed, in milliseconds since 1970, and why.
    failed_ms: i64,
    failed: Option<String>,
}

impl Cursor {
    /// Whether the last shipped line stands in a file where it stood.
    fn is_in(&self, file: &File) -> bool {
        let line = read_at(file, self.last_start, self.offset.saturating_sub(self.last_start));
        line.is_ok_and(|line| ContentId::of(line) == self.last_line)
    }
}

/// What was shipped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shipped {
    /// Lines that are in the database now, whoever brought them.
    pub lines: usize,
    /// Lines that the database refuses for what is in them.
    pub refused: usize,
}

/// What waits to be shipped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lag {
    pub lines: usize,
    pub bytes: u64,
    /// Why the last try failed.
    pub failed: Option<String>,
}

/// A line of the log with where it ends.
struct Pending {
    file: String,
    start: u64,
    end: u64,
    line: String,
}

/// The spool of a state folder.
#[derive(Debug)]
pub struct Spool {
    log: DecisionLog,
    cursor: PathBuf,
    lock: PathBuf,
}

impl Spool {
    pub fn in_folder(state: &Path) -> Self {
        Self {
            log: DecisionLog::in_folder(state),
            cursor: state.join("fleet-cursor.json"),
            lock: state.join("fleet-cursor.lock"),
        }
    }

    fn read_cursor(&self) -> Cursor {
        let text = private_file::read(&self.cursor).unwrap_or_default().unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn write_cursor(&self, cursor: &Cursor) -> io::Result<()> {
        let bytes = serde_json::to_vec(cursor).map_err(io::Error::other)?;
        private_file::write(&self.cursor, &bytes, Durability::Lazy)
    }

    fn lock_file(&self) -> io::Result<File> {
        private_file::open(&self.lock, Access::Append)
    }

    /// Returns lines that are not shipped, oldest first, up to the size of a batch.
    fn pending(&self, cursor: &Cursor, most_bytes: u64, most_lines: usize) -> io::Result<Vec<Pending>> {
        let (mut pending, mut is_full) = (Vec::new(), false);
        for path in self.log.files() {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if name < cursor.file || pending.len() >= most_lines {
                continue;
            }
            let Ok(file) = private_file::open(&path, Access::Read) else { continue };
            let from = if name == cursor.file && cursor.is_in(&file) { cursor.offset } else { 0 };
            let length = file.metadata()?.len().saturating_sub(from);
            let bytes = read_at(&file, from, length.min(most_bytes))?;
            is_full |= length > most_bytes;
            let mut start = from;
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                // A line without its end is being written, or longer than a batch.
                if !line.ends_with(b"\n") || pending.len() >= most_lines {
                    break;
                }
                let end = start + line.len() as u64;
                let line = String::from_utf8_lossy(line).into_owned();
                pending.push(Pending { file: name.clone(), start, end, line });
                start = end;
            }
            if is_full {
                break;
            }
        }
        if pending.is_empty() && is_full {
            return self.pending(cursor, most_bytes.saturating_mul(4), most_lines);
        }
        Ok(pending)
    }

    /// What waits.
    pub fn lag(&self) -> io::Result<Lag> {
        let cursor = self.read_cursor();
        let pending = self.pending(&cursor, u64::MAX >> 1, usize::MAX)?;
        let bytes = pending.iter().map(|one| one.end - one.start).sum();
        Ok(Lag { lines: pending.len(), bytes, failed: cursor.failed })
    }

    /// Ships from a stop: tries for a moment, not again soon after a failure, and not while another process does.
    pub fn ship_at_stop(&self, config: &FleetConfig) {
        let end = Instant::now() + STOP;
        let Ok(lock) = self.lock_file() else { return };
        if lock.try_lock().is_err() {
            return;
        }
        let (cursor, now_ms) = (self.read_cursor(), crate::clock::now().as_millisecond());
        // A time ahead was written by another clock.
        if (0..RETRY_AFTER_MS).contains(&now_ms.saturating_sub(cursor.failed_ms)) && cursor.failed.is_some() {
            return;
        }
        if let Err(error) = self.ship_locked(config, Patience::Until(end)) {
            tracing::debug!(%error, "decisions wait for the next stop");
        }
    }

    /// Ships all that waits.
    pub fn ship(&self, config: &FleetConfig) -> Result<Shipped, ShipError> {
        let lock = self.lock_file()?;
        lock.lock()?;
        self.ship_locked(config, Patience::Each(super::COMMAND))
    }

    fn ship_locked(&self, config: &FleetConfig, patience: Patience) -> Result<Shipped, ShipError> {
        let mut cursor = self.read_cursor();
        let shipped = self.ship_after(&mut cursor, config, patience);
        if let Err(error) = &shipped {
            cursor.failed_ms = crate::clock::now().as_millisecond();
            cursor.failed = Some(error.to_string());
            self.write_cursor(&cursor)?;
        }
        shipped
    }

    fn ship_after(
        &self,
        cursor: &mut Cursor,
        config: &FleetConfig,
        patience: Patience,
    ) -> Result<Shipped, ShipError> {
        let mut shipped = Shipped::default();
        let mut database = None;
        loop {
            let pending = self.pending(cursor, BATCH_BYTES, BATCH_LINES)?;
            let Some(last) = pending.last() else { return Ok(shipped) };
            let database = match &mut database {
                Some(database) => database,
                none => {
                    let url = config.database.as_deref().unwrap_or_default();
                    none.insert(Database::connect(&url.parse()?, patience)?)
                }
            };
            let machine = machine_name(config);
            let copier = Copier { machine: &machine, with_evidence: config.ship_evidence };
            let rows: Vec<Value> = pending.iter().filter_map(|one| copied(&copier, &one.line)).collect();
            shipped.refused += store(database, &rows)?;
            shipped.lines += rows.len();
            *cursor = Cursor {
                file: last.file.clone(),
                offset: last.end,
                last_start: last.start,
                last_line: ContentId::of(&last.line),
                ..Cursor::default()
            };
            self.write_cursor(cursor)?;
        }
    }
}

/// The copy of a line; `None` of one that nobody can read.
fn copied(copier: &Copier<'_>, line: &str) -> Option<Value> {
    match Line::parse(line)? {
        Line::Decision(annotated) => {
            let project = annotated.decision.project.as_deref();
            let name = project.map(|folder| shared_name(&project_of(Path::new(folder))));
            Some(copier.decision(&annotated.decision, name.as_deref()))
        }
        Line::Note(note) => Some(copier.note(&note.note)),
        Line::Newer | Line::Torn => None,
    }
}

/// Stores copies; what is there already stays. Returns how many the database refuses for what is in them.
fn store(database: &mut Database, copies: &[Value]) -> Result<usize, DatabaseError> {
    if copies.is_empty() {
        return Ok(0);
    }
    match insert(database, &serde_json::to_string(copies).unwrap_or_default()) {
        Ok(()) => Ok(0),
        // One line that can't be stored must not keep back all that come after it.
        Err(DatabaseError::Failed { .. }) if copies.len() > 1 => {
            copies.iter().map(|copy| store(database, std::slice::from_ref(copy))).sum()
        }
        Err(DatabaseError::Failed { why, .. }) => {
            tracing::debug!(why, "a line was refused");
            Ok(1)
        }
        Err(error) => Err(error),
    }
}

fn insert(database: &mut Database, rows: &str) -> Result<(), DatabaseError> {
    const INSERT: &str = "
        WITH rows AS (SELECT jsonb_array_elements($1::jsonb) AS r),
        ours AS (SELECT version FROM punchlist.schema),
        decisions AS (
            INSERT INTO punchlist.decisions (id, at, machine, project, session, decision, cause, record)
            SELECT r->>'id', (r->>'time')::timestamptz, r->>'machine', r->>'project', r->>'session', r->>'decision',
                   r->>'cause', r
            FROM rows, ours WHERE r->>'kind' IS NULL AND version = $2 ON CONFLICT DO NOTHING),
        notes AS (
            INSERT INTO punchlist.notes (id, of, at, note)
            SELECT r->>'id', r->>'of', (r->>'time')::timestamptz, r
            FROM rows, ours WHERE r->>'kind' IS NOT NULL AND version = $2 ON CONFLICT DO NOTHING)
        SELECT version FROM ours";
    let found = database.rows(INSERT, &[(&rows, Type::TEXT), (&schema::VERSION, Type::INT8)])?;
    schema::check(found.first().map_or(0, |row| row.get(0)), database.server())
}

/// Stores one note that a person made of a decision of the fleet.
pub fn store_note(database: &mut Database, note: &Value) -> Result<(), DatabaseError> {
    // By itself: whoever reviews may write notes, and no decisions.
    const INSERT: &str = "
        WITH one AS (SELECT $1::jsonb AS r)
        INSERT INTO punchlist.notes (id, of, at, note)
        SELECT r->>'id', r->>'of', (r->>'time')::timestamptz, r FROM one ON CONFLICT DO NOTHING";
    let found = schema::version(database)?;
    schema::check(found, database.server())?;
    database.rows(INSERT, &[(&note.to_string(), Type::TEXT)]).map(drop)
}

/// Why not all was shipped.
#[derive(Debug, thiserror::Error)]
pub enum ShipError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error("the log or its cursor: {0}")]
    File(#[from] io::Error),
}
