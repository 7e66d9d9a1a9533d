//! Processes as `/proc` shows them (Linux): start times, environments, descent. Must not end a
//! process whose id may have been reused.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::supervisor::Line;

/// How long to wait for killed processes.
const PATIENCE: Duration = Duration::from_secs(2);

/// Starts this program again, as the supervisor.
pub(super) fn start_supervisor(note: &Path) -> io::Result<Child> {
    super::apart::this_program()?.arg(super::SUPERVISE).arg(note).current_dir("/").spawn()
}

pub(super) fn boot_id() -> Option<String> {
    Some(fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}

/// Returns when a process started, in ticks since boot.
pub fn start_time(pid: u32) -> Option<u64> {
    stat(pid).map(|(_, started)| started)
}

/// Returns whether a process was started with a matching variable (`NAME=value`); `None` if that
/// can't be known, for example while it is being started.
pub fn has_variable(pid: u32, is_it: impl Fn(&[u8]) -> bool) -> Option<bool> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok().filter(|bytes| !bytes.is_empty())?;
    Some(environment.split(|byte| *byte == 0).any(is_it))
}

/// Returns the parent of a process, and when it started.
fn stat(pid: u32) -> Option<(u32, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in brackets and may contain anything. A zombie counts as gone.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    if fields.first() == Some(&"Z") {
        return None;
    }
    Some((fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?))
}

/// Ends the children that a note names, all processes with its mark, and everything those started.
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
    let mut is_over = false;
    while begun.elapsed() < PATIENCE {
        let Ours { found, starting } = ours(&noted, marked.as_bytes());
        // Empty twice in a row: a process that was being started during one look shows up in the
        // next.
        let was_over = std::mem::replace(&mut is_over, found.is_empty() && !starting);
        if was_over && is_over {
            return;
        }
        for (pid, started) in found {
            kill(pid, started);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The processes to end.
struct Ours {
    found: Vec<(u32, u64)>,
    /// Whether a process that may be ours is in the middle of an `exec`: it shows no environment
    /// yet, and its parent may already be gone, so neither mark nor descent tells. The next round
    /// looks again.
    starting: bool,
}

fn ours(noted: &BTreeSet<(u32, u64)>, marked: &[u8]) -> Ours {
    let own = std::process::id();
    // Nothing older than the first child can be ours.
    let first = noted.iter().map(|(_, started)| *started).chain(start_time(own)).min();
    let names = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let all: Vec<(u32, u32, u64)> = names
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != own)
        .filter_map(|pid| stat(pid).map(|(parent, started)| (pid, parent, started)))
        .collect();
    let (mut found, mut starting) = (BTreeSet::new(), false);
    for (pid, parent, started) in &all {
        match has_variable(*pid, |variable| variable == marked) {
            Some(true) => drop(found.insert(*pid)),
            _ if noted.contains(&(*pid, *started)) => drop(found.insert(*pid)),
            Some(false) => {}
            // Kernel threads have no environment, and are children of process 2.
            None => starting |= Some(*started) >= first && !matches!(parent, 0 | 2),
        }
    }
    // Then their children, and so on.
    loop {
        let before = found.len();
        let children = all.iter().filter(|(_, parent, _)| found.contains(parent)).map(|(pid, ..)| *pid);
        found.extend(children.collect::<Vec<_>>());
        if found.len() == before {
            break;
        }
    }
    let found = all.into_iter().filter(|(pid, ..)| found.contains(pid));
    Ours { found: found.map(|(pid, _, started)| (pid, started)).collect(), starting }
}

/// Kills a process, if its id still belongs to it.
fn kill(pid: u32, started: u64) {
    let Some(raw) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    let Ok(handle) = pidfd_open(raw, PidfdFlags::empty()) else { return };
    // Check again, now that the handle pins the process.
    if start_time(pid) == Some(started) {
        let _ = pidfd_send_signal(handle, Signal::KILL);
    }
}
