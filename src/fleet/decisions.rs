//! The fleet's database as a destination of the spool: copies of decisions and notes, each stored
//! once by its id.

use std::path::Path;

use serde_json::Value;

use super::copy::Copier;
use super::machine_name;
use super::spool::{Copied, Destination, ShipError};
use crate::config::FleetConfig;
use crate::database::{Database, DatabaseError, Patience, schema};
use crate::log::query::Line;
use crate::registry::project::{project_of, shared_name};

/// The tables of decisions and notes.
#[derive(Debug)]
pub struct SharedDecisions<'a> {
    config: &'a FleetConfig,
    machine: String,
    database: Option<Database>,
}

impl<'a> SharedDecisions<'a> {
    pub fn new(config: &'a FleetConfig) -> Self {
        Self { config, machine: machine_name(config), database: None }
    }
}

impl Destination for SharedDecisions<'_> {
    type Copy = Value;

    fn name(&self) -> &'static str {
        "fleet"
    }

    fn copy(&mut self, line: &str) -> Copied<Value> {
        let copier = Copier { machine: &self.machine, with_evidence: self.config.ship_evidence };
        match Line::parse(line) {
            Some(Line::Decision(annotated)) => {
                let project = annotated.decision.project.as_deref();
                let name = project.map(|folder| shared_name(&project_of(Path::new(folder))));
                Copied::Copy(copier.decision(&annotated.decision, name.as_deref()))
            }
            Some(Line::Note(note)) => Copied::Copy(copier.note(&note.note)),
            Some(Line::Newer | Line::Torn) => Copied::Unreadable,
            None => Copied::Empty,
        }
    }

    fn store(&mut self, copies: &[Value], patience: Patience) -> Result<usize, ShipError> {
        let database = match &mut self.database {
            Some(database) => {
                database.set_patience(patience);
                database
            }
            none => {
                let url = self.config.database.as_deref().ok_or(DatabaseError::NotSet)?;
                none.insert(Database::connect(url, patience)?)
            }
        };
        Ok(insert_all(database, copies)?)
    }
}

/// Stores copies; what is there already stays. Returns how many the database refuses for what is in
/// them: one line that can never be stored must not keep back all that come after it. Whatever else
/// is wrong keeps the lines.
fn insert_all(database: &mut Database, copies: &[Value]) -> Result<usize, DatabaseError> {
    match insert(database, &serde_json::to_string(copies).unwrap_or_default()) {
        Ok(()) => Ok(0),
        Err(DatabaseError::BadData { .. }) if copies.len() > 1 => {
            let (one, other) = copies.split_at(copies.len() / 2);
            Ok(insert_all(database, one)? + insert_all(database, other)?)
        }
        Err(DatabaseError::BadData { why, .. }) => {
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
    let found = database.rows(INSERT, &[rows.into(), schema::VERSION.into()])?;
    schema::check(found.first().and_then(|row| row.number(0)).unwrap_or(0), database.server())
}

/// Stores one note that a person made of a decision of the fleet.
pub fn store_note(database: &mut Database, note: &Value) -> Result<(), DatabaseError> {
    // By itself: whoever reviews may write notes, and no decisions.
    const INSERT: &str = "
        WITH one AS (SELECT $1::jsonb AS r)
        INSERT INTO punchlist.notes (id, of, at, note)
        SELECT r->>'id', r->>'of', (r->>'time')::timestamptz, r FROM one ON CONFLICT DO NOTHING";
    schema::check_version(database)?;
    database.rows(INSERT, &[note.to_string().into()]).map(drop)
}
