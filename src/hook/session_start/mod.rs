//! A session starts, goes on or was compacted: takes what the client says of it and what the config names, gives what the agent
//! is told. Here the world is touched in order: what is remembered, the files, what is remembered again. Must not read a
//! transcript, hold anybody or keep a session from starting: what can't be read is left out.
//!
//! What is counted of a session begins anew where it starts or is taken up again: a person, or a program for one, is there again.
//! A compaction is in the midst of a turn that may be held, and happens by itself: were its counts to begin anew, a session could
//! be held without end. What was told, disputed and audited stays known in each case.

mod text;

use std::io;

use jiff::Timestamp;

use crate::client::env_vars;
use crate::client::hook_reply::Reply;
use crate::config::{MemoryConfig, TaskSource, TasksConfig};
use crate::env;
use crate::exit::complain;
use crate::gates::StopContext;
use crate::hook::surroundings::Surroundings;
use crate::redact::mask;
use crate::state::{Given, SessionState};
use crate::tasks::{Lookup, LookupOutcome, ResolvedQuery, find_pending, resolve_query};
use crate::workspace::glob_files::{Globbed, globbed};
use text::{Left, Note, Parts, cut};

/// The client's word for a session whose context was compacted.
const COMPACT: &str = "compact";

/// Returns what the agent is told, and begins the session's counts anew.
pub fn begin(start: &StopContext<'_>) -> Reply {
    let StopContext { input, env, config, state, session, project, started_ms, .. } = *start;
    if env.get(env::INSIDE_AUDITOR).is_some() {
        return Reply::Silent;
    }
    let off = state.switched_off(project, session);
    let is_on = config.gates.enabled && off.is_none();
    let parts = if is_on { parts(start) } else { None };
    let text = parts.and_then(|parts| text::text(&parts, &config.memory));
    let source = input.source.as_deref().unwrap_or_default();
    let begins_anew = source != COMPACT;
    if text.is_none() && !begins_anew {
        return Reply::Silent;
    }
    let around = Surroundings::look(start, off.as_ref()).digests;
    let now = Given {
        source: source.to_owned(),
        client: env.text(env_vars::PID).unwrap_or_default(),
        at_ms: started_ms,
    };
    let mut is_given = false;
    let mut change = |remembered: &mut SessionState| {
        if begins_anew {
            remembered.count_anew();
            remembered.surroundings.clone_from(&around);
        }
        if text.is_some() {
            is_given = remembered.given.as_ref().is_some_and(|last| is_same_start(last, &now));
            remembered.given = Some(now.clone());
        }
    };
    let mut written = state.update_session(session, &mut change);
    // What somebody else wrote, or an older punchlist, is of no use to a session that is counted anew.
    if begins_anew && written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::InvalidData) {
        let mut fresh = SessionState::default();
        change(&mut fresh);
        written = state.replace_session(session, &fresh);
    }
    if let Err(error) = written {
        complain(&format!("what is counted of this session can't be written: {error}"));
    }
    text.filter(|_| !is_given).map_or(Reply::Silent, Reply::Context)
}

/// Two hooks of one start begin within so many milliseconds of each other, even on a busy machine.
const TOGETHER_MS: u64 = 1_000;

/// Whether two hooks were run for the same start: the client runs a hook that is registered twice at the same time,
/// and once is enough for the agent. A note from the future is a clock that jumped back.
fn is_same_start(last: &Given, now: &Given) -> bool {
    let apart = now.at_ms.abs_diff(last.at_ms);
    last.source == now.source && last.client == now.client && apart < TOGETHER_MS
}

/// So much more of a file is read than is given: a secret may stand across the end.
const MARGIN: u64 = 8 << 10;

/// So many files are read at the most, and none that has no room for certain.
const MOST_READ: usize = 50;

/// All that there is to tell; `None` where nothing is set.
fn parts(start: &StopContext<'_>) -> Option<Parts> {
    let config = &start.config.memory;
    let task = current_task(start).map(|task| mask(&task).text);
    let is_set = !config.files.is_empty() || !config.mandates.is_empty() || !config.mandates_file.is_empty();
    if !is_set && task.is_none() {
        return None;
    }
    let found = |globs: &[String]| globbed(start.project, start.env.home().as_deref(), globs);
    let mut parts = Parts {
        mandates: config.mandates.iter().map(|text| mask(text.trim()).text).collect(),
        task,
        ..Parts::default()
    };
    if !config.mandates_file.is_empty() {
        for file in found(std::slice::from_ref(&config.mandates_file)).into_iter().take(1) {
            match read(&file, config) {
                Ok(note) => parts.mandates_file = Some(note),
                Err(left) => parts.left.push((file.name, left)),
            }
        }
    }
    let mut read_so_far = 0;
    for (at, file) in found(&config.files).into_iter().enumerate() {
        if at >= MOST_READ || read_so_far >= config.max_bytes {
            parts.left.push((file.name, Left::NoRoom));
            continue;
        }
        match read(&file, config) {
            Ok(note) if note.text.trim().is_empty() => {}
            Ok(note) => {
                read_so_far += note.text.len();
                parts.notes.push(note);
            }
            Err(left) => parts.left.push((file.name, left)),
        }
    }
    Some(parts)
}

fn read(file: &Globbed, config: &MemoryConfig) -> Result<Note, Left> {
    let most = u64::try_from(config.file_bytes).unwrap_or(u64::MAX).saturating_add(MARGIN);
    let read = file.start(most).map_err(|error| Left::Unreadable(error.to_string()))?;
    let bytes = read.ok_or(Left::Secret)?;
    if memchr::memchr(0, &bytes).is_some() {
        return Err(Left::NoText);
    }
    let goes_on = bytes.len() as u64 == most;
    let whole = mask(&String::from_utf8_lossy(&bytes)).text;
    let (text, is_cut) = cut(&whole, config.file_lines, config.file_bytes);
    let changed = Timestamp::try_from(file.modified).ok();
    Ok(Note {
        name: file.name.clone(),
        changed: changed.map(|time| time.strftime("%Y-%m-%d %H:%M UTC").to_string()),
        text,
        is_cut: is_cut || goes_on,
    })
}

/// The tasks that the session is at, one a line, where `[tasks]` or `[worker]` is set. A session's start must not
/// wait for them or fail with them: what can't be looked up is left out.
fn current_task(start: &StopContext<'_>) -> Option<String> {
    let mut config: TasksConfig = start.config.tasks.clone();
    if config.source == TaskSource::Off {
        if !start.config.worker.keep_alive {
            return None;
        }
        config.source = TaskSource::Registry;
    }
    let (session, fleet) = (start.input.session_id.as_deref(), start.config.fleet.database.as_deref());
    let ResolvedQuery { query, mut registry, .. } =
        resolve_query(&config, start.env, start.state.root(), fleet, session).ok()?;
    let lookup = Lookup {
        config: &config,
        env: start.env,
        project: start.project,
        query: &query,
        deadline: start.deadline,
    };
    let LookupOutcome::Found(tasks) = find_pending(&lookup, registry.as_mut()) else { return None };
    let lines = tasks.iter().map(|task| format!("{} ({}): {}\n", task.id, task.status.name(), task.title));
    Some(lines.collect::<String>()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_start_has_one_client_one_source_and_one_moment() {
        let at =
            |source: &str, client: &str, at_ms| Given { source: source.into(), client: client.into(), at_ms };
        let first = at("startup", "7", 10_000);
        for (other, is_same) in [
            (at("startup", "7", 10_000), true),
            (at("startup", "7", 10_400), true),
            (at("startup", "7", 9_800), true),
            (at("startup", "7", 11_000), false),
            (at("startup", "7", 5_000), false),
            (at("resume", "7", 10_000), false),
            (at("startup", "8", 10_000), false),
        ] {
            assert_eq!(is_same_start(&first, &other), is_same, "{other:?}");
        }
    }
}
