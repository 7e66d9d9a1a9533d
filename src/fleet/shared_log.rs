//! The decisions of all machines, read from the fleet's database as if they were one log. Only
//! reads.

use jiff::Timestamp;

use crate::database::{Database, DatabaseError, Row, schema};
use crate::log::filter::Filter;
use crate::log::query::{Found, parse};

/// How many decisions are read at once.
const PAGE: i64 = 2_000;

/// Returns the decisions that match, oldest first; with `last`, so many of the newest, reading no
/// more than they need.
pub fn query(database: &mut Database, filter: &Filter, last: Option<usize>) -> Result<Found, DatabaseError> {
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
             ORDER BY at DESC, id DESC LIMIT $6",
            &[
                since.into(),
                before.into(),
                before_id.into(),
                session.as_deref().into(),
                causes.clone().into(),
                PAGE.into(),
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
