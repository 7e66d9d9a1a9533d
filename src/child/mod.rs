//! Runs one program in a process group of its own, under one deadline. Must not decide what an
//! ending means: that is the caller's job.
//!
//! - Every process of the group gets `SIGKILL` before the call returns, whatever ends it: the
//!   program's own exit, the deadline, too much output, a signal to us, a panic, a dropped future.
//!   In a process that is [supervised](supervise), on Linux, so does every process that left the
//!   group. On Unix two things are beyond that: a `SIGKILL` to us, after which the supervisor or
//!   the next stop does it, and `panic = "abort"`, so the profile has to unwind.
//! - It returns when the program exits, not when its pipes close: a grandchild that keeps them
//!   open, even from a session of its own, costs `DRAIN` at most.
//! - It returns by the deadline + the grace + `DRAIN` (+ `group::REAP` where even `SIGKILL` does
//!   not work).
//! - The program never gets our own stdout or stderr: the client ignores a hook's block while any
//!   descendant of the hook still has them open.
//!
//! **Signals.** The first run takes over `SIGTERM`, `SIGINT`, `SIGHUP` and `SIGCHLD` for the rest
//! of the process, since tokio never removes a handler. A signal that arrives while no program runs
//! is recorded ([`interrupted`]), and no program is started after it.
//!
//! `group` has the process group, `descendants` the processes that left it, `processes` what
//! `/proc` shows of them, `pipes` the three pipes, `signals` the signals to ourselves, and
//! `supervisor` the cleanup after a process that was killed. This file has the order of events, and
//! the pure functions that name the ending.
//! `apart` starts what deliberately outlives this process.

mod apart;
mod descendants;
mod group;
mod pipes;
#[cfg_attr(not(target_os = "linux"), path = "processes_elsewhere.rs")]
mod processes;
mod signals;
mod supervisor;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};

pub use self::apart::start_apart;
use self::group::Group;
use self::pipes::{Pipes, PumpEnd};
#[cfg(target_os = "linux")]
pub use self::processes::{has_variable, start_time};
pub use self::signals::{interrupted, watch_interrupts, when_overdue};
pub use self::supervisor::{finish, supervise, sweep, temp_folder, wait_and_sweep};

/// The argument that makes this program the supervisor of another.
pub const SUPERVISE: &str = "supervise";

/// The time between `SIGTERM` and `SIGKILL`. The client leaves two seconds between the two that it
/// sends us, and a sealed client has nothing to save.
const GRACE: Duration = Duration::from_millis(250);

/// How long the pipes may stay open after the group is killed. What the program wrote before its
/// exit is already in the kernel's buffer, so this only limits a process that left the group and
/// keeps them open.
const DRAIN: Duration = Duration::from_millis(100);

const WANTED_INTERVAL: Duration = Duration::from_millis(100);

/// What to run, and its limits.
#[derive(Debug)]
pub struct Job {
    /// The program's absolute path: how a relative one and `cwd` combine differs by platform.
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    /// Variables to set on top of our own environment. Takes precedence over `env_unset`.
    pub env_set: Vec<(OsString, OsString)>,
    /// Variables of ours to remove.
    pub env_unset: Vec<OsString>,
    /// All of its stdin. It need not read it.
    pub stdin: Vec<u8>,
    /// Measured from the call, so it includes the start.
    pub deadline: Duration,
    /// More bytes on stdout are [`Ending::Flooded`].
    pub stdout_cap: usize,
    /// More bytes on stderr are dropped.
    pub stderr_cap: usize,
}

/// How much of a command line's output is kept.
const OUTPUT_CAP: usize = 16 << 20;

impl Job {
    /// Returns a job that runs a command line in a folder, in the platform's shell, with empty
    /// stdin.
    pub fn of_line(line: &str, cwd: &Path, deadline: Duration) -> Self {
        let (program, args) = shell(line);
        Self {
            program,
            args,
            cwd: cwd.to_path_buf(),
            env_set: Vec::new(),
            env_unset: Vec::new(),
            stdin: Vec::new(),
            deadline,
            stdout_cap: OUTPUT_CAP,
            stderr_cap: OUTPUT_CAP,
        }
    }
}

/// Returns the program and the arguments that run a command line in the platform's shell.
pub fn shell(line: &str) -> (PathBuf, Vec<OsString>) {
    let (program, flag) = if cfg!(unix) {
        (PathBuf::from("/bin/sh"), "-c")
    } else {
        (std::env::var_os("COMSPEC").map_or_else(|| "cmd.exe".into(), PathBuf::from), "/C")
    };
    (program, vec![flag.into(), line.into()])
}

/// How a [`Job`] ended, and what it printed.
#[derive(Debug)]
pub struct Ended {
    pub how: Ending,
    /// Stdout up to the cap; complete after [`Ending::Exited`].
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub duration: Duration,
}

/// Every way in which a [`Job`] can end.
#[derive(Debug)]
pub enum Ending {
    Exited(i32),
    /// It was killed by a signal that we did not send.
    Signaled(i32),
    TimedOut,
    /// We got this signal before it ended or was started (`"SIGTERM"`, `"SIGINT"`, `"SIGHUP"`).
    Interrupted(&'static str),
    /// It wrote more to stdout than the job allows.
    Flooded,
    /// `is_wanted` returned false.
    Unwanted,
    /// It could not be started; or its exit status is lost because other code in this process
    /// waited for it, which is a bug that the error names.
    NotStarted(io::Error),
}

/// Runs a job to its end. For callers without an async runtime; panics inside one, where
/// [`run_async`] is the way.
#[must_use]
pub fn run(job: Job) -> Ended {
    block_on(job, GRACE, |_| (), std::future::pending())
}

/// Like [`run`], but ends the program when `is_wanted` returns false. That is called at the start
/// and ten times a second on this thread, so it must be quick.
#[must_use]
pub fn run_while(job: Job, is_wanted: &dyn Fn() -> bool) -> Ended {
    block_on(job, GRACE, |_| (), until_unwanted(is_wanted))
}

/// Like [`run_while`], for a program that has something to save: it gets `grace` between `SIGTERM`
/// and `SIGKILL`. `on_start` receives its process id.
#[must_use]
pub fn run_with_grace(
    job: Job,
    grace: Duration,
    on_start: impl FnOnce(u32),
    is_wanted: &dyn Fn() -> bool,
) -> Ended {
    block_on(job, grace, on_start, until_unwanted(is_wanted))
}

/// Runs several jobs side by side, each to its own end; returns the endings in the order of the
/// jobs.
#[must_use]
pub fn run_all(jobs: Vec<Job>) -> Vec<Ended> {
    let started = Instant::now();
    let count = jobs.len();
    let tasks = tokio::task::LocalSet::new();
    let running: Vec<_> = jobs.into_iter().map(|job| tasks.spawn_local(run_async(job))).collect();
    let all = on_runtime(tasks.run_until(async {
        let mut all = Vec::new();
        for job in running {
            all.push(job.await.unwrap_or_else(|lost| Ended::not_started(io::Error::other(lost), started)));
        }
        all
    }));
    all.unwrap_or_else(|error| {
        let failed = |_| Ended::not_started(io::Error::new(error.kind(), error.to_string()), started);
        (0..count).map(failed).collect()
    })
}

/// Runs a job to its end on the caller's runtime (with I/O and time enabled). Dropping the future
/// kills the group.
pub async fn run_async(job: Job) -> Ended {
    run_until(job, GRACE, |_| (), std::future::pending()).await
}

async fn until_unwanted(is_wanted: &dyn Fn() -> bool) {
    while is_wanted() {
        sleep(WANTED_INTERVAL).await;
    }
}

fn block_on(
    job: Job,
    grace: Duration,
    on_start: impl FnOnce(u32),
    unwanted: impl Future<Output = ()>,
) -> Ended {
    let started = Instant::now();
    on_runtime(run_until(job, grace, on_start, unwanted))
        .unwrap_or_else(|error| Ended::not_started(error, started))
}

fn on_runtime<T>(work: impl Future<Output = T>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(work);
    // Dropping the runtime would wait for its blocking threads. On Windows a pipe is read on one,
    // and a process that left the group and holds the pipe must not delay us.
    runtime.shutdown_background();
    Ok(result)
}

async fn run_until(
    job: Job,
    grace: Duration,
    on_start: impl FnOnce(u32),
    unwanted: impl Future<Output = ()>,
) -> Ended {
    let started = Instant::now();
    // Install the handlers before starting the child: otherwise a signal in between would end us
    // and leave the child running.
    let raised = match signals::listen() {
        Ok(raised) => raised,
        Err(error) => return Ended::not_started(error, started),
    };
    if let Some(name) = signals::interrupted() {
        return Ended::nothing(Ending::Interrupted(name), started);
    }
    let mut group = match Group::spawn(&job) {
        Ok(group) => group,
        Err(error) => return Ended::not_started(error, started),
    };
    if let Some(id) = group.id() {
        on_start(id);
    }
    let mut pipes = Pipes::new(group.take_pipes(), job.stdin, job.stdout_cap, job.stderr_cap);
    let left = job.deadline.saturating_sub(started.elapsed());

    // Biased, with `pump` last: a program that writes without a pause can use up tokio's budget for
    // this poll, and whatever is polled after it reports "pending", timers included.
    let cause = tokio::select! {
        biased;
        name = signals::raised(raised) => Cause::Interrupt(name),
        () = group.exited() => Cause::Exit,
        () = sleep(left) => Cause::Deadline,
        () = unwanted => Cause::Unwanted,
        PumpEnd::OverCap = pipes.pump() => Cause::Flood,
    };

    if cause.gets_grace() && group.terminate() {
        tokio::select! {
            biased;
            () = group.exited() => {}
            () = sleep(grace) => {}
            PumpEnd::OverCap = pipes.pump() => {}
        }
    }
    let status = group.finish().await;

    pipes.close_stdin();
    // Read the rest of what was written before the exit. A timeout is fine: it means that another
    // process keeps the pipes open.
    let _ = timeout(DRAIN, pipes.pump()).await;

    Ended {
        how: ending(cause, status, pipes.stdout.over_cap),
        duration: started.elapsed(),
        stdout: pipes.stdout.bytes,
        stderr: pipes.stderr.bytes,
    }
}

/// What ended the wait.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Exit,
    Deadline,
    Flood,
    Unwanted,
    Interrupt(&'static str),
}

impl Cause {
    /// Returns whether the group gets `SIGTERM` first. A flood does not: it would go on during the
    /// grace.
    fn gets_grace(self) -> bool {
        match self {
            Cause::Deadline | Cause::Unwanted | Cause::Interrupt(_) => true,
            Cause::Exit | Cause::Flood => false,
        }
    }
}

/// Names the ending. If we ended the program, its exit status means nothing.
fn ending(cause: Cause, status: io::Result<ExitStatus>, over_cap: bool) -> Ending {
    match (cause, status) {
        (Cause::Interrupt(name), _) => Ending::Interrupted(name),
        (Cause::Deadline, _) => Ending::TimedOut,
        (Cause::Flood, _) => Ending::Flooded,
        (Cause::Unwanted, _) => Ending::Unwanted,
        // It exited before all of its output was read.
        (Cause::Exit, _) if over_cap => Ending::Flooded,
        (Cause::Exit, Ok(status)) => own_ending(status),
        (Cause::Exit, Err(error)) => Ending::NotStarted(error),
    }
}

#[cfg(unix)]
fn own_ending(status: ExitStatus) -> Ending {
    use std::os::unix::process::ExitStatusExt;

    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, Some(signal)) => Ending::Signaled(signal),
        // Stopped or continued: `waitid` does not ask for those.
        (None, None) => Ending::NotStarted(io::Error::other(format!("not an ending: {status}"))),
    }
}

#[cfg(not(unix))]
fn own_ending(status: ExitStatus) -> Ending {
    match status.code() {
        Some(code) => Ending::Exited(code),
        None => Ending::NotStarted(io::Error::other(format!("not an ending: {status}"))),
    }
}

impl Ended {
    fn not_started(error: io::Error, started: Instant) -> Self {
        Self::nothing(Ending::NotStarted(error), started)
    }

    /// Returns the result of a job that never ran.
    fn nothing(how: Ending, started: Instant) -> Self {
        Ended { how, stdout: Vec::new(), stderr: Vec::new(), duration: started.elapsed() }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn an_exit_is_named_by_its_status_and_our_own_kill_by_its_cause() {
        // Wait statuses as the kernel packs them.
        let exit = |code: i32| Ok(ExitStatus::from_raw(code << 8));
        let signal = |number: i32| Ok(ExitStatus::from_raw(number));
        let lost = || Err(io::Error::other("lost"));
        for (cause, status, over_cap, expected) in [
            (Cause::Exit, exit(0), false, "Exited(0)"),
            (Cause::Exit, exit(143), false, "Exited(143)"),
            (Cause::Exit, signal(9), false, "Signaled(9)"),
            (Cause::Exit, lost(), false, "NotStarted(Custom { kind: Other, error: \"lost\" })"),
            (Cause::Exit, exit(0), true, "Flooded"),
            (Cause::Deadline, exit(0), false, "TimedOut"),
            (Cause::Deadline, exit(0), true, "TimedOut"),
            (Cause::Deadline, signal(15), false, "TimedOut"),
            (Cause::Deadline, lost(), false, "TimedOut"),
            (Cause::Flood, signal(9), false, "Flooded"),
            (Cause::Flood, signal(9), true, "Flooded"),
            (Cause::Unwanted, signal(15), true, "Unwanted"),
            (Cause::Interrupt("SIGHUP"), exit(0), false, "Interrupted(\"SIGHUP\")"),
            (Cause::Interrupt("SIGHUP"), exit(0), true, "Interrupted(\"SIGHUP\")"),
        ] {
            assert_eq!(format!("{:?}", ending(cause, status, over_cap)), expected);
        }
    }
}
