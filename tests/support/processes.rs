//! Which processes are left: looks at them from the outside, and ends what a failed test left.
//!
//! A zombie counts as gone. It is dead, and who has to reap it is another question.

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// One process, as `ps` tells it.
struct Process {
    pid: Pid,
    group: Pid,
}

/// All processes that are not zombies.
fn processes() -> Vec<Process> {
    let output = Command::new("ps").args(["-A", "-o", "pid=,pgid=,stat="]).output().expect("ps");
    assert!(output.status.success(), "ps: {output:?}");
    let text = String::from_utf8(output.stdout).expect("plain text");
    text.lines().filter_map(parse).collect()
}

fn parse(line: &str) -> Option<Process> {
    let mut words = line.split_whitespace();
    let mut id = || words.next()?.parse().ok().and_then(Pid::from_raw);
    // Linux's kernel threads are in group 0, which is no `Pid`.
    let (pid, group) = (id()?, id()?);
    (!words.next()?.starts_with('Z')).then_some(Process { pid, group })
}

fn members(group: Pid) -> Vec<Pid> {
    processes().into_iter().filter(|process| process.group == group).map(|process| process.pid).collect()
}

/// Whether there is such a process, and not only its zombie.
pub(crate) fn is_alive(pid: Pid) -> bool {
    processes().iter().any(|process| process.pid == pid)
}

/// Waits for a condition, with patience for a busy machine.
pub(crate) fn eventually(condition: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(20) {
        if condition() {
            return true;
        }
        sleep(Duration::from_millis(20));
    }
    false
}

/// Asserts that nobody of this group is left. A `SIGKILL` is sent when the call under test returns,
/// but the dying takes its moment. What is left after that is ended here, then the test fails.
pub(crate) fn assert_group_is_gone(group: Pid) {
    if !eventually(|| members(group).is_empty()) {
        let left = kill_group_of(group);
        panic!("left in the group {group:?}: {left:?}");
    }
}

/// The same, for one process.
pub(crate) fn assert_is_gone(pid: Pid) {
    if !eventually(|| !is_alive(pid)) {
        let _ = kill_process(pid, Signal::KILL);
        panic!("still alive: {pid:?}");
    }
}

/// Kills the members of a group, one by one; gives who they were.
pub(crate) fn kill_group_of(group: Pid) -> Vec<Pid> {
    let left = members(group);
    for pid in &left {
        let _ = kill_process(*pid, Signal::KILL);
    }
    left
}

/// The most memory that this process ever had, in bytes.
#[cfg(target_os = "linux")]
pub(crate) fn own_peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
    let kilobytes = line.split_whitespace().nth(1).and_then(|text| text.parse().ok());
    kilobytes.map(|kilobytes: usize| kilobytes * 1024).expect("a number")
}
