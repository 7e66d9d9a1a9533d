//! Cleans up after a hook that was killed by `SIGKILL`, which can't be caught (Linux). While it
//! runs, a hook keeps a locked note of its children and temporary folders, and a second process of
//! ours waits for the lock. Whoever gets the lock, that process or the next stop, ends the
//! children, and removes the folders and the note. Must not end a process whose start time or mark
//! differs from the note's.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

use super::{descendants, processes};
use crate::ids::new_id;
use crate::private_file::{self, Access};

/// The prefix of sealed clients' folders; nothing else is removed.
const FOLDER_PREFIX: &str = "punchlist-auditor-";

/// Where notes are written: set for a process that is to be supervised.
static NOTES: OnceLock<PathBuf> = OnceLock::new();
static OWN: OnceLock<Option<OwnNote>> = OnceLock::new();

/// A line of a note.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Line {
    /// The id of the system's boot: process ids start again after it.
    Boot(String),
    Child {
        pid: u32,
        started: u64,
    },
    Folder(PathBuf),
}

/// The note of this process.
#[derive(Debug)]
struct OwnNote {
    path: PathBuf,
    /// Locked while it is open.
    file: File,
    supervisor: Mutex<Option<std::process::Child>>,
}

/// Has this process supervised from its first child on, with its note in `folder`, and makes it
/// adopt the orphans of its children. For `hook`, which starts processes only through
/// [`super::run`] and its variants.
pub fn supervise(folder: PathBuf) {
    if NOTES.set(folder).is_ok() {
        descendants::adopt();
    }
}

/// Ends processes of ours that still run, and removes our note. A process that takes long to
/// die is left to the supervisor: its children are not ours before it is dead.
pub fn finish() {
    let Some(own) = OWN.get().and_then(Option::as_ref) else { return };
    if !descendants::are_gone() {
        return;
    }
    // The note first: without it the supervisor has nothing to do.
    let _ = fs::remove_file(&own.path);
    if let Some(mut supervisor) = own.supervisor.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = supervisor.kill();
        let _ = supervisor.wait();
    }
}

/// Returns the variable and the value that mark the children of this process.
pub(super) fn mark() -> Option<(&'static str, String)> {
    let own = own_note()?;
    Some((crate::env::RUN, own.path.file_name()?.to_str()?.to_owned()))
}

/// Adds a started child to the note.
pub(super) fn note_child(pid: Option<u32>) {
    if let Some((pid, own)) = pid.zip(own_note())
        && let Some(started) = processes::start_time(pid)
    {
        own.add(&Line::Child { pid, started });
    }
}

/// Creates a temporary folder in another one that is removed with this process. It is noted before it exists.
pub fn temp_folder(base: &Path) -> io::Result<tempfile::TempDir> {
    let name = format!("{FOLDER_PREFIX}{}", new_id());
    if let Some(own) = own_note() {
        own.add(&Line::Folder(base.join(&name)));
    }
    tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir_in(base)
}

fn own_note() -> Option<&'static OwnNote> {
    let folder = NOTES.get()?;
    OWN.get_or_init(|| {
        let made = OwnNote::make(folder);
        // Without a note this is as on other systems: only a `SIGKILL` leaves anything behind.
        made.inspect_err(|error| tracing::debug!(%error, "not supervised")).ok()
    })
    .as_ref()
}

impl OwnNote {
    fn make(folder: &Path) -> io::Result<Self> {
        let (path, file) = Self::create(folder)?;
        let own = Self { path, file, supervisor: Mutex::new(None) };
        if let Some(boot) = processes::boot_id() {
            own.add(&Line::Boot(boot));
        }
        match processes::start_supervisor(&own.path) {
            Ok(supervisor) => {
                descendants::keep_supervisor(supervisor.id());
                *own.supervisor.lock().unwrap_or_else(PoisonError::into_inner) = Some(supervisor);
            }
            Err(error) => tracing::debug!(%error, "nobody waits for our end"),
        }
        Ok(own)
    }

    fn create(folder: &Path) -> io::Result<(PathBuf, File)> {
        loop {
            let path = folder.join(new_id());
            let file = private_file::open(&path, Access::Append)?;
            // A sweep may run between the two, take the note for an abandoned one, and remove it.
            if file.try_lock().is_ok() && path.exists() {
                return Ok((path, file));
            }
        }
    }

    fn add(&self, line: &Line) {
        let written = serde_json::to_vec(line).map_err(io::Error::from).and_then(|mut text| {
            text.push(b'\n');
            (&self.file).write_all(&text)
        });
        if let Err(error) = written {
            tracing::debug!(%error, "not noted");
        }
    }
}

/// Cleans up after killed processes whose notes are in `folder`.
pub fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        // Only notes of our own count: what they name is killed and removed.
        if let Ok(note) = private_file::open(&entry.path(), Access::Read)
            && note.try_lock().is_ok()
        {
            clean_up(note, &entry.path());
        }
    }
}

/// The supervisor: waits for the end of the process whose note this is, and cleans up after it if
/// it could not do so itself.
pub fn wait_and_sweep(path: &Path) {
    // The client's signals are meant for the hook, which ends us when it is done.
    super::signals::watch_interrupts();
    let Ok(note) = private_file::open(path, Access::Read) else { return };
    while note.lock().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {}
    if path.exists() {
        clean_up(note, path);
    }
}

/// Ends and removes what a note lists. The note is locked.
fn clean_up(mut note: File, path: &Path) {
    let mut text = String::new();
    let _ = note.read_to_string(&mut text);
    let lines: Vec<Line> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mark = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    processes::end_all(&lines, mark);
    for line in &lines {
        let Line::Folder(folder) = line else { continue };
        let name = folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        if name.starts_with(FOLDER_PREFIX) {
            // Most are gone by now.
            let _ = fs::remove_dir_all(folder);
        }
    }
    let _ = fs::remove_file(path);
}
