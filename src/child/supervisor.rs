//! What outlives a hook that is killed by `SIGKILL`, which nobody can catch: a note of its children and
//! its temporary folders, locked while it lives, and a process of our own that waits for the lock
//! (Linux). Whoever gets the lock of a note, that process or the next stop, ends the children, removes
//! the folders and the note. Must not end a process whose start or mark is another than the note says.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

use super::descendants;
use crate::files::in_private_folder;
use crate::ids::new_id;

/// How the folders of sealed clients are named; nothing else is removed.
const FOLDER_PREFIX: &str = "punchlist-auditor-";

/// Where notes are made: set for a process that is to be supervised.
static NOTES: OnceLock<PathBuf> = OnceLock::new();
static OWN: OnceLock<Option<OwnNote>> = OnceLock::new();

/// A line of a note.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    /// The start of the system, after which process ids begin anew.
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
    /// Locked as long as it is open.
    file: File,
    supervisor: Mutex<Option<std::process::Child>>,
}

/// Has this process supervised from its first child on, with its note in `folder`, and makes it adopt the
/// orphans of its children. For `hook`, which starts no process but by [`super::run`] and its kin.
pub fn supervise(folder: PathBuf) {
    if NOTES.set(folder).is_ok() {
        descendants::adopt();
    }
}

/// Ends what this process started and is still there, and removes its note.
pub fn finish() {
    let Some(own) = OWN.get().and_then(Option::as_ref) else { return };
    // First the note: without it the supervisor has nothing to do.
    let _ = fs::remove_file(&own.path);
    if let Some(mut supervisor) = own.supervisor.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = supervisor.kill();
        let _ = supervisor.wait();
    }
}

/// The variable and the value by which the children of this process are known.
pub(super) fn mark() -> Option<(&'static str, String)> {
    let own = own_note()?;
    Some((crate::env::RUN, own.path.file_name()?.to_str()?.to_owned()))
}

/// Notes a child that was started.
pub(super) fn note_child(pid: Option<u32>) {
    if let Some((pid, own)) = pid.zip(own_note())
        && let Some(started) = processes::start_time(pid)
    {
        own.add(&Line::Child { pid, started });
    }
}

/// Makes a temporary folder that goes with this process, and is noted before it is there.
pub fn temp_folder() -> io::Result<tempfile::TempDir> {
    let name = format!("{FOLDER_PREFIX}{}", new_id());
    if let Some(own) = own_note() {
        own.add(&Line::Folder(std::env::temp_dir().join(&name)));
    }
    tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir()
}

fn own_note() -> Option<&'static OwnNote> {
    let folder = NOTES.get()?;
    OWN.get_or_init(|| {
        let made = OwnNote::make(folder);
        // Without a note all is as it is elsewhere than on Linux: only a `SIGKILL` leaves anything.
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
            let open = || OpenOptions::new().create_new(true).append(true).open(&path);
            let file = in_private_folder(folder, open)?;
            // A sweep may come between the two, take it for one that is left, and remove it.
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

/// Sweeps up after processes that were killed, whose notes are in `folder`.
pub fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        // Nothing else is ever put there, and a pipe would keep us waiting.
        if entry.file_type().is_ok_and(|kind| kind.is_file())
            && let Ok(note) = File::open(entry.path())
            && note.try_lock().is_ok()
        {
            clean_up(note, &entry.path());
        }
    }
}

/// The supervisor: waits for the end of the process whose note this is, and sweeps up after it if it had
/// no time to do so itself.
pub fn wait_and_sweep(path: &Path) {
    // The client's signals are for the hook, which ends us when it is done.
    super::signals::watch_interrupts();
    let Ok(note) = File::open(path) else { return };
    while note.lock().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {}
    if path.exists() {
        clean_up(note, path);
    }
}

/// Does what a note says. The note is locked.
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
            // Most are gone already.
            let _ = fs::remove_dir_all(folder);
        }
    }
    let _ = fs::remove_file(path);
}

#[cfg(target_os = "linux")]
mod processes {
    //! Processes as `/proc` shows them.

    use std::collections::BTreeSet;
    use std::fs;
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::Line;

    /// How long killed processes are waited for.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// Starts this program again, as the supervisor.
    pub(super) fn start_supervisor(note: &Path) -> io::Result<Child> {
        // This very program, even if it was replaced on disk since.
        let mut command = Command::new("/proc/self/exe");
        command.arg0("punchlist").arg(super::super::SUPERVISE).arg(note).current_dir("/");
        // In a group of its own: a signal to ours is not for it. With none of our pipes.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    }

    pub(super) fn boot_id() -> Option<String> {
        Some(fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
    }

    /// When a process started, in ticks since the system did.
    pub(super) fn start_time(pid: u32) -> Option<u64> {
        stat(pid).map(|(_, started)| started)
    }

    /// The parent of a process, and when it started.
    fn stat(pid: u32) -> Option<(u32, u64)> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name is in brackets and may hold anything. A zombie is gone.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        if fields.first() == Some(&"Z") {
            return None;
        }
        Some((fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?))
    }

    /// Ends the children that a note names, all that has its mark, and all that those started.
    pub(super) fn end_all(lines: &[Line], mark: &str) {
        let boot = boot_id();
        let is_this_boot = lines.iter().all(|line| match line {
            Line::Boot(noted) => Some(noted) == boot.as_ref(),
            Line::Child { .. } | Line::Folder(_) => true,
        });
        if !is_this_boot {
            return;
        }
        let noted: BTreeSet<(u32, u64)> = lines
            .iter()
            .filter_map(|line| match line {
                Line::Child { pid, started } => Some((*pid, *started)),
                Line::Boot(_) | Line::Folder(_) => None,
            })
            .collect();
        let marked = format!("{}={mark}", crate::env::RUN);
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let ours = ours(&noted, marked.as_bytes());
            if ours.is_empty() {
                return;
            }
            for (pid, started) in ours {
                kill(pid, started);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn ours(noted: &BTreeSet<(u32, u64)>, marked: &[u8]) -> Vec<(u32, u64)> {
        let own = std::process::id();
        let names = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        let all: Vec<(u32, u32, u64)> = names
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| *pid != own)
            .filter_map(|pid| stat(pid).map(|(parent, started)| (pid, parent, started)))
            .collect();
        let has_mark = |pid: u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == marked)
        };
        let mut found: BTreeSet<u32> = all
            .iter()
            .filter(|(pid, _, started)| noted.contains(&(*pid, *started)) || has_mark(*pid))
            .map(|(pid, ..)| *pid)
            .collect();
        // Those that they started, and so on.
        loop {
            let before = found.len();
            let children = all.iter().filter(|(_, parent, _)| found.contains(parent)).map(|(pid, ..)| *pid);
            found.extend(children.collect::<Vec<_>>());
            if found.len() == before {
                break;
            }
        }
        all.into_iter()
            .filter(|(pid, ..)| found.contains(pid))
            .map(|(pid, _, started)| (pid, started))
            .collect()
    }

    /// Kills a process, if its id still is its own.
    fn kill(pid: u32, started: u64) {
        let Some(raw) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
        let Ok(handle) = pidfd_open(raw, PidfdFlags::empty()) else { return };
        // Looked at again now that the handle holds on to it.
        if start_time(pid) == Some(started) {
            let _ = pidfd_send_signal(handle, Signal::KILL);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod processes {
    //! Elsewhere processes are not looked for.

    use std::io;
    use std::path::Path;

    use super::Line;

    pub(super) fn start_supervisor(_: &Path) -> io::Result<std::process::Child> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn boot_id() -> Option<String> {
        None
    }

    pub(super) fn start_time(_: u32) -> Option<u64> {
        None
    }

    pub(super) fn end_all(_: &[Line], _: &str) {}
}
