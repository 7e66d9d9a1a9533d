//! What a background audit rests on, as it stands: takes a stop and its workspace, gives stamps of the files and what
//! the session has done since. Touches the disk; must not judge, which is `moved`.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;

use jiff::Timestamp;

use super::StopContext;
use crate::client::folders::open_session;
use crate::client::row;
use crate::evidence::{Evidence, Workspace};
use crate::files::open_regular;
use crate::finding::Finding;
use crate::gates::staleness::{Move, Stamp, Stamps};
use crate::hook::Event;
use crate::session::builder::{Role, SessionBuilder};

/// How much of what was added to a transcript is looked at: a prompt or a call stands near its start.
const ADDED_CAP: u64 = 8 << 20;

/// A transcript, and how long it was.
#[derive(Debug)]
pub struct SoFar {
    path: PathBuf,
    bytes: u64,
}

impl SoFar {
    /// The transcript of whoever stopped, as long as it is now.
    pub fn now(stop: &StopContext<'_>) -> Option<Self> {
        let path = stop.input.own_transcript()?.to_path_buf();
        let bytes = fs::metadata(&path).map_or(0, |meta| meta.len());
        Some(Self { path, bytes })
    }
}

/// The files that findings may speak of, and the plan.
pub fn stamps(workspace: &Workspace, evidence: &Evidence, findings: &[Finding]) -> Stamps {
    let plan = evidence.plan.as_ref().and_then(|plan| plan.path.as_ref());
    let files = evidence.files.iter().map(|file| &file.name);
    let names = files.chain(findings.iter().filter_map(|finding| finding.path.as_ref())).chain(plan);
    names.map(|name| (name.clone(), stamp(workspace, name))).collect()
}

/// The same files, once more.
pub fn again(workspace: &Workspace, then: &Stamps) -> Stamps {
    then.keys().map(|name| (name.clone(), stamp(workspace, name))).collect()
}

fn stamp(workspace: &Workspace, name: &str) -> Stamp {
    let meta = fs::metadata(workspace.locate(name)?.path).ok()?;
    Some((meta.len(), meta.modified().ok()))
}

/// What the session has done since its stop, of which the transcript was `so_far` long then.
pub fn moves_since(stop: &StopContext<'_>, so_far: Option<&SoFar>) -> Vec<Move> {
    let mut moves = so_far.and_then(|so_far| in_transcript(stop, so_far).ok()).unwrap_or_default();
    // Under `-p` the client waits for us, and calls itself busy.
    if let Some(open) = open_session(stop.env).filter(|open| open.is_interactive) {
        let left = stop.input.session_id.as_ref().is_some_and(|own| *own != open.session);
        moves.extend(left.then_some(Move::Left));
        let is_at_work = open.busy_since_ms.is_some_and(|busy| busy > stop.started_ms);
        moves.extend(is_at_work.then_some(Move::AtWork));
    }
    moves
}

/// What was added to the transcript. Rows of the turn that was audited come late, its prompt may even stand behind
/// rows that were made after the stop (seen in 2.1.221): each row's own time tells.
fn in_transcript(stop: &StopContext<'_>, so_far: &SoFar) -> io::Result<Vec<Move>> {
    let role = if stop.input.event == Event::SubagentStop { Role::Subagent } else { Role::Main };
    let mut builder = SessionBuilder::new(role);
    let mut file = open_regular(&so_far.path)?;
    let start = line_start(&mut file, so_far.bytes)?;
    file.seek(SeekFrom::Start(start))?;
    for line in BufReader::new(file.take(ADDED_CAP)).split(b'\n') {
        row::rows_of(String::from_utf8_lossy(&line?).as_bytes(), |row| {
            let made: Option<Timestamp> = row.timestamp.text().and_then(|time| time.parse().ok());
            if made.is_some_and(|made| made.as_millisecond() > stop.started_ms) {
                builder.fold(row, None);
            }
        });
    }
    let added = builder.session();
    let asked = (!added.asks.is_empty()).then_some(Move::Asked);
    let worked = (added.last_call > 0 || !added.todos.is_empty()).then_some(Move::Worked);
    Ok(asked.into_iter().chain(worked).collect())
}

/// Where the line begins that byte `at` stands in: the file may have been read while a line was being written.
fn line_start(file: &mut File, at: u64) -> io::Result<u64> {
    const CHUNK: u64 = 64 << 10;
    let mut end = at.min(file.metadata()?.len());
    let mut chunk = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(CHUNK);
        chunk.clear();
        file.seek(SeekFrom::Start(start))?;
        file.by_ref().take(end - start).read_to_end(&mut chunk)?;
        if let Some(newline) = chunk.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + newline as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_half_written_is_read_from_its_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.jsonl");
        let long = "x".repeat(200 << 10);
        fs::write(&path, format!("one\n{long}\nlast")).expect("written");
        let mut file = File::open(&path).expect("open");
        for (at, start) in
            [(0, 0), (2, 0), (4, 4), (150 << 10, 4), (4 + (200 << 10), 4), (1 << 30, 5 + (200 << 10))]
        {
            assert_eq!(line_start(&mut file, at).expect("read"), start, "{at}");
        }
    }
}
