//! A session starts, is resumed or was compacted: returns what the agent is told, from the client's
//! input and the files that the config names. Must not read a transcript, block anything or keep a
//! session from starting: what can't be read is left out.
//!
//! The session's counters start again when it starts or is resumed: a person, or a program on their
//! behalf, is there again. A compaction happens by itself, in the middle of a turn that may be
//! blocked: if it reset the counters, a session could be blocked without end. Notices, disputes and
//! audits are kept in every case.

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
use crate::hook::{config_faults, notices};
use crate::redact::mask;
use crate::state::{Given, Line, SessionState};
use crate::tasks::{Lookup, LookupOutcome, ResolvedQuery, find_pending, resolve_query};
use crate::workspace::glob_files::{Globbed, globbed};
use text::{Left, Note, Parts, cut};

/// The client's word for a session whose context was compacted.
const COMPACT: &str = "compact";

/// Returns what the agent is told, and resets the session's counters.
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
    // What stops in the background left to be told: here the client shows it.
    let is_seen = !env_vars::is_unwatched(env);
    let has_untold = begins_anew || is_seen && !start.saved().pending_notices.is_empty();
    if text.is_none() && !has_untold {
        return Reply::Silent;
    }
    let around = Surroundings::look(start, off.as_ref());
    let now = Given {
        source: source.to_owned(),
        client: env.text(env_vars::PID).unwrap_or_default(),
        at_ms: started_ms,
    };
    let mut is_given = false;
    let mut untold: Vec<Line> = Vec::new();
    let mut change = |remembered: &mut SessionState| {
        if is_seen {
            untold = remembered.take_pending();
        }
        if begins_anew {
            remembered.count_anew();
            // A change is told at the next stop: anybody can run this hook with an input of a start.
            if around.message().is_none() {
                remembered.surroundings.clone_from(&around.digests);
            }
        }
        if text.is_some() {
            is_given = remembered.given.as_ref().is_some_and(|last| is_same_start(last, &now));
            remembered.given = Some(now.clone());
        }
    };
    let mut written = state.update_session(session, &mut change);
    // A state written by something else, or by an older punchlist, is useless when the counters
    // start again.
    if begins_anew && written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::InvalidData) {
        let mut fresh = SessionState::default();
        change(&mut fresh);
        written = state.replace_session(session, &fresh);
    }
    if let Err(error) = written {
        complain(&format!("this session's counters can't be written: {error}"));
    }
    untold.retain(|line| config_faults::is_to_be_shown(state, line));
    Reply::at_start(text.filter(|_| !is_given).unwrap_or_default(), notices::shown(&untold))
}

/// Two hooks of the same start begin within this many milliseconds, even on a busy machine.
const TOGETHER_MS: u64 = 1_000;

/// Returns whether two hooks were run for the same start: the client runs a hook that is registered
/// twice at the same time, and the agent needs the text once. A time in the future means that the
/// clock jumped back.
fn is_same_start(last: &Given, now: &Given) -> bool {
    let apart = now.at_ms.abs_diff(last.at_ms);
    last.source == now.source && last.client == now.client && apart < TOGETHER_MS
}

/// How much more of a file is read than is given: a secret may extend past the cut.
const MARGIN: u64 = 8 << 10;

/// How many files are read at most; a file that certainly has no room is not read.
const MOST_READ: usize = 50;

/// Returns everything there is to tell; `None` if nothing is configured.
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

/// Returns the session's current tasks, one per line, if `[tasks]` or `[worker]` is set. The start
/// of a session must not wait for them or fail because of them: what can't be looked up is left
/// out.
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
