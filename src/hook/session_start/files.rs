//! The files that a session is given: takes the config's globs, reads the start of what they name. Must not let a file for
//! secrets in, nor a secret in any other, and must not wait for anything.

use std::io::{self, Read};
use std::path::Path;

use jiff::Timestamp;

use crate::config::{MemoryConfig, TaskSource, TasksConfig};
use crate::files::open_regular;
use crate::hook::session_start::Start;
use crate::hook::session_start::text::{Left, Note, Parts, cut};
use crate::redact::{is_secret_file, mask};
use crate::tasks::{Lookup, LookupOutcome, ResolvedQuery, find_pending, resolve_query};
use crate::workspace::glob_files::{Globbed, globbed};

/// So much more of a file is read than is given: a secret may stand across the end.
const MARGIN: u64 = 8 << 10;

/// So many files are read at the most, and none that has no room for certain.
const MOST_READ: usize = 50;

/// All that there is to tell; `None` where nothing is set.
pub(super) fn parts(start: &Start<'_>) -> Option<Parts> {
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
    if is_secret_file(&file.path) || is_secret_file(Path::new(&file.name)) {
        return Err(Left::Secret);
    }
    let most = u64::try_from(config.file_bytes).unwrap_or(u64::MAX).saturating_add(MARGIN);
    let bytes = start_of(&file.path, most).map_err(|error| Left::Unreadable(error.to_string()))?;
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

fn start_of(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The tasks that the session is at, one a line, where `[tasks]` or `[worker]` is set. A session's start must not
/// wait for them or fail with them: what can't be looked up is left out.
fn current_task(start: &Start<'_>) -> Option<String> {
    let mut config: TasksConfig = start.config.tasks.clone();
    if config.source == TaskSource::Off {
        if !start.config.worker.keep_alive {
            return None;
        }
        config.source = TaskSource::Registry;
    }
    let session = start.input.session_id.as_deref();
    let ResolvedQuery { query, mut registry, .. } =
        resolve_query(&config, start.env, start.state.root(), session, start.started_ms).ok()?;
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
