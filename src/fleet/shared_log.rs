//! The decisions of all machines, read from the fleet's database as if they were one log. Only
//! reads.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::database::{Database, DatabaseError, Row, schema};
use crate::log::filter::Filter;
use crate::log::query::{Found, parse};

/// How many decisions are read at once.
const PAGE: i64 = 2_000;

/// A session of any machine, by the newest decisions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedSession {
    pub machine: String,
    pub id: String,
    /// When it stopped last, in milliseconds since 1970.
    pub at_ms: i64,
    /// How often it was blocked.
    pub blocks: u32,
    /// How often by each gate.
    pub held_by: BTreeMap<String, u32>,
}

/// Returns the sessions that stopped last, newest first, from the newest decisions since then: so
/// many as are read at once, which is quick however many there are.
pub fn recent_sessions(
    database: &mut Database,
    since_ms: i64,
    most: usize,
) -> Result<Vec<SharedSession>, DatabaseError> {
    const NEWEST: &str = "
        SELECT machine, session, (extract(epoch FROM at) * 1000)::bigint, decision = 'block',
               (SELECT string_agg(gate->>'gate', ',') FROM jsonb_array_elements(
                    CASE jsonb_typeof(record->'gates') WHEN 'array' THEN record->'gates' ELSE '[]' END) AS gate
                WHERE gate->>'outcome' = 'hold')
        FROM punchlist.decisions WHERE at >= to_timestamp($1 / 1000.0) AND session IS NOT NULL
        ORDER BY at DESC, id DESC LIMIT $2";
    let rows = database.rows(NEWEST, &[since_ms.into(), PAGE.into()]);
    let mut sessions: Vec<SharedSession> = Vec::new();
    for row in rows.map_err(DatabaseError::for_reviewers)? {
        let (machine, id) = (row.words(0).unwrap_or_default(), row.words(1).unwrap_or_default());
        let known = sessions.iter().position(|session| session.id == id && session.machine == machine);
        let at = known.unwrap_or(sessions.len());
        if known.is_none() {
            sessions.push(SharedSession {
                machine: machine.to_owned(),
                id: id.to_owned(),
                at_ms: row.number(2).unwrap_or_default(),
                blocks: 0,
                held_by: BTreeMap::new(),
            });
        }
        if row.number(3) == Some(1) {
            sessions[at].blocks += 1;
            for gate in row.words(4).into_iter().flat_map(|gates| gates.split(',')) {
                *sessions[at].held_by.entry(gate.to_owned()).or_default() += 1;
            }
        }
    }
    sessions.truncate(most);
    Ok(sessions)
}

/// Returns the decisions that match, oldest first; with `last`, so many of the newest, reading no
/// more than they need.
pub fn query(database: &mut Database, filter: &Filter, last: Option<usize>) -> Result<Found, DatabaseError> {
    pages(database, filter, last).map_err(DatabaseError::for_reviewers)
}

fn pages(database: &mut Database, filter: &Filter, last: Option<usize>) -> Result<Found, DatabaseError> {
    schema::check_version(database)?;
    let ms = |time: Option<Timestamp>| time.map(Timestamp::as_millisecond);
    let (since, session) = (ms(filter.since), filter.session.clone());
    let causes: Vec<String> = filter.causes.iter().map(|cause| cause.name().to_owned()).collect();
    // Pages go back in time from here; ids tell decisions of the same moment apart.
    let (mut before, mut before_id) = (ms(filter.until), String::new());
    let mut all = Found::default();
    loop {
        let rows = database.rows(
            "SELECT id, (extract(epoch FROM at) * 1000)::bigint, record::text FROM punchlist.decisions
             WHERE ($1::bigint IS NULL OR at >= to_timestamp($1 / 1000.0))
             AND ($2::bigint IS NULL OR (at, id) < (to_timestamp($2 / 1000.0), $3))
             AND ($4::text IS NULL OR starts_with(session, $4))
             AND (cardinality($5::text[]) = 0 OR cause = ANY($5))
             AND ($7::text IS NULL OR machine = $7)
             ORDER BY at DESC, id DESC LIMIT $6",
            &[
                since.into(),
                before.into(),
                before_id.into(),
                session.as_deref().into(),
                causes.clone().into(),
                PAGE.into(),
                filter.machine.as_deref().into(),
            ],
        )?;
        let Some(oldest) = rows.last() else { break };
        let text = |row: &Row, at: usize| row.words(at).unwrap_or_default().to_owned();
        (before, before_id) = (oldest.number(1), text(oldest, 0));
        let ids: Vec<String> = rows.iter().map(|row| text(row, 0)).collect();
        let notes = database.rows(
            // As the server got them: the times are those of machines whose clocks may be wrong.
            "SELECT note::text FROM punchlist.notes WHERE of = ANY($1) ORDER BY stored, at, id",
            &[ids.into()],
        )?;
        let lines = rows.iter().rev().map(|row| text(row, 2));
        let lines = lines.chain(notes.iter().map(|row| text(row, 0)));
        let text: String = lines.map(|line| line + "\n").collect();
        let mut page = parse(&text);
        page.decisions.retain(|decision| filter.matches(decision));
        all.torn += page.torn;
        all.newer += page.newer;
        all.scanned += page.scanned;
        page.decisions.append(&mut all.decisions);
        all.decisions = page.decisions;
        let is_enough = last.is_some_and(|last| all.decisions.len() >= last);
        if is_enough || rows.len() < usize::try_from(PAGE).unwrap_or(usize::MAX) {
            break;
        }
    }
    all.decisions.sort_by_key(|annotated| annotated.at);
    if let Some(last) = last {
        all.decisions.drain(..all.decisions.len().saturating_sub(last));
    }
    Ok(all)
}
