//! The processes that this process's children started, wherever they have moved to (Linux). The
//! hook becomes the parent of every orphan among them, so that one that left its group by `setsid`
//! or a double fork is found and ended with the rest. Must not touch anybody else's process.

use std::sync::{Mutex, PoisonError};

struct Family {
    /// Whether orphans among our descendants become our children.
    adopts: bool,
    /// How many groups are running, or about to.
    running: usize,
    /// The one child that is not a group.
    supervisor: Option<u32>,
}

static FAMILY: Mutex<Family> = Mutex::new(Family { adopts: false, running: 0, supervisor: None });

fn family<T>(with: impl FnOnce(&mut Family) -> T) -> T {
    with(&mut FAMILY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Makes this process the parent of the orphans among its descendants. Only for a process whose
/// children are all [`super::Job`]s, except the supervisor: any other child would be taken for an
/// orphan and ended.
pub(super) fn adopt() {
    #[cfg(target_os = "linux")]
    match rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        Ok(()) => family(|family| family.adopts = true),
        Err(error) => tracing::debug!(%error, "orphans are not adopted"),
    }
}

/// Records the child that must not be ended.
pub(super) fn keep_supervisor(id: u32) {
    family(|family| family.supervisor = Some(id));
}

/// One group, from before its start to after its end. When the last one ends, the orphans of all
/// are ended: which group an orphan came from can't be known.
#[derive(Debug)]
pub(super) struct Running(());

impl Running {
    pub(super) fn new() -> Self {
        family(|family| family.running += 1);
        Self(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        family(|family| {
            family.running -= 1;
            // Keeps the lock: a group that starts now would be taken for an orphan.
            if family.adopts && family.running == 0 {
                end_orphans(family.supervisor);
            }
        });
    }
}

/// Ends what is left; returns whether nothing is, as far as can be known.
pub(super) fn are_gone() -> bool {
    family(|family| !family.adopts || end_orphans(family.supervisor))
}

#[cfg(target_os = "linux")]
fn end_orphans(supervisor: Option<u32>) -> bool {
    use std::time::{Duration, Instant};

    use rustix::process::{Signal, WaitOptions, kill_process, waitpid};

    /// Dying takes microseconds, unless the machine is busy, or a process is stuck in the kernel,
    /// where nothing ends it.
    const PATIENCE: Duration = Duration::from_millis(500);

    let is_orphan = |pid: &rustix::process::Pid| u32::try_from(pid.as_raw_pid()).ok() != supervisor;
    let started = Instant::now();
    loop {
        let orphans: Vec<_> = own_children().into_iter().filter(is_orphan).collect();
        if orphans.is_empty() || started.elapsed() > PATIENCE {
            return orphans.is_empty();
        }
        for orphan in orphans {
            // A child's id stays its own until it is waited for, and nobody else waits for this
            // one. Once it is gone its children are ours, and the next round finds them.
            let _ = kill_process(orphan, Signal::KILL);
            let _ = waitpid(Some(orphan), WaitOptions::NOHANG);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Other systems have no adoption of orphans.
#[cfg(not(target_os = "linux"))]
fn end_orphans(_: Option<u32>) -> bool {
    true
}

/// The children of all threads of this process, zombies included.
#[cfg(target_os = "linux")]
fn own_children() -> Vec<rustix::process::Pid> {
    let mut children = Vec::new();
    for thread in std::fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(Result::ok) {
        let listed = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        let ids = listed.split_whitespace().filter_map(|id| id.parse().ok());
        children.extend(ids.filter_map(rustix::process::Pid::from_raw));
    }
    children
}
