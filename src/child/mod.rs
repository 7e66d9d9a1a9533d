//! Runs one program in a process group of its own, under one deadline.
//!
//! Takes a [`Job`], gives an [`Ended`]. It must not decide what an ending is worth: that is the
//! caller's. What it promises:
//!
//! - Every process of the group has its `SIGKILL` before the call is over, whichever way out is
//!   taken: the program's own end, the deadline, a flood, a signal to us, a panic, a dropped future.
//!   Two ways out are beyond it on Unix: our own `SIGKILL`, and `panic = "abort"`. So the profile
//!   has to unwind.
//! - It returns when the program ends, not when its pipes close. A grandchild that holds them, even
//!   from a session of its own, costs `DRAIN` at the most.
//! - It returns by the deadline + `GRACE` (or the grace that the caller gives) + `DRAIN` (+ `group::REAP` where even `SIGKILL`
//!   does not work, as in a hung disk).
//! - The program never gets our own stdout or stderr. (The client refuses a block while any
//!   descendant of the hook still holds them.)
//!
//! **Signals.** The first run takes over `SIGTERM`, `SIGINT`, `SIGHUP` and `SIGCHLD` for the rest of
//! the process: tokio never gives a handler back. A signal that comes when no program runs is
//! swallowed. So the caller has to be quick after a run, above all after [`Ending::Interrupted`].
//!
//! `group` has the process group and its safety, `pipes` the three pipes, `interrupts` the signals
//! to ourselves. Here is their order, and the two pure functions that name the ending.

mod group;
mod interrupts;
mod pipes;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};

use self::group::Group;
use self::interrupts::Interrupts;
use self::pipes::{Pipes, Pumped};

/// Between `SIGTERM` and `SIGKILL`. The client gives us two seconds between its own two, and what
/// is asked to end here is an auditor with nothing to save.
const GRACE: Duration = Duration::from_millis(250);

/// How long the pipes may stay open after the group is killed. What the program wrote before its
/// end is in the kernel's buffer already, so this bounds only a holder that escaped the group.
const DRAIN: Duration = Duration::from_millis(100);

/// How often somebody is asked whether the program is still wanted.
const STILL_WANTED: Duration = Duration::from_millis(100);

/// A flag that goes up when somebody asks this process to end. For commands that run many jobs: what they do
/// between two of them would go on to its end.
pub fn watch_interrupts() -> Arc<AtomicBool> {
    interrupts::watch()
}

/// What to run, and within which limits.
#[derive(Debug)]
pub struct Job {
    /// The program. Give an absolute path: how a relative one and `cwd` go together differs by
    /// platform.
    pub program: PathBuf,
    /// Its arguments, without the program's own name.
    pub args: Vec<OsString>,
    /// The folder it starts in.
    pub cwd: PathBuf,
    /// Variables to set, on top of our own environment. Wins over `env_unset`.
    pub env_set: Vec<(OsString, OsString)>,
    /// Variables of ours that it must not see.
    pub env_unset: Vec<OsString>,
    /// All it gets on stdin; the pipe is closed after that. It need not read any of it.
    pub stdin: Vec<u8>,
    /// Counted from the call, so that it includes the start.
    pub deadline: Duration,
    /// More than this many bytes on stdout is [`Ending::Flooded`].
    pub stdout_cap: usize,
    /// More than this many bytes on stderr are read and thrown away.
    pub stderr_cap: usize,
}

/// The program and the arguments that run a command line as a shell takes it.
pub fn shell(line: &str) -> (PathBuf, Vec<OsString>) {
    let (program, flag) = if cfg!(unix) {
        (PathBuf::from("/bin/sh"), "-c")
    } else {
        (std::env::var_os("COMSPEC").map_or_else(|| "cmd.exe".into(), PathBuf::from), "/C")
    };
    (program, vec![flag.into(), line.into()])
}

/// How a [`Job`] ended, and what it said until then.
#[derive(Debug)]
pub struct Ended {
    /// Why the program is no longer running.
    pub how: Ending,
    /// What was read of stdout: never more than the cap, and all of it after [`Ending::Exited`].
    pub stdout: Vec<u8>,
    /// The first bytes of stderr, up to the cap.
    pub stderr: Vec<u8>,
    /// From the call to the result.
    pub duration: Duration,
}

/// Every way in which a [`Job`] can end.
#[derive(Debug)]
pub enum Ending {
    /// It ended by itself, with this exit code.
    Exited(i32),
    /// It was killed by this signal, which was not ours.
    Signaled(i32),
    /// The deadline came first.
    TimedOut,
    /// We got this signal while it ran (`"SIGTERM"`, `"SIGINT"`, `"SIGHUP"`).
    Interrupted(&'static str),
    /// It wrote more to stdout than the job allows.
    Flooded,
    /// Nobody wanted it any more.
    Unwanted,
    /// It could not be started. Or it was started and its exit status is lost, because other code
    /// in this process waited for it, which is a bug: there is no ending to tell then, and the
    /// error says so.
    NotStarted(io::Error),
}

/// Runs `job` to its end. For callers without an async runtime; panics inside of one, where
/// [`run_async`] is the way.
#[must_use]
pub fn run(job: Job) -> Ended {
    block_on(job, GRACE, |_| (), std::future::pending())
}

/// The same, and ends the program when `is_wanted` says no. It is asked at the start and ten times a second, on
/// this thread: it must be quick.
#[must_use]
pub fn run_while(job: Job, is_wanted: &dyn Fn() -> bool) -> Ended {
    block_on(job, GRACE, |_| (), until(is_wanted))
}

/// The same for a program that has something to save: it has `grace` between `SIGTERM` and `SIGKILL`. `started` is told its
/// process id.
#[must_use]
pub fn run_with_grace(
    job: Job,
    grace: Duration,
    started: impl FnOnce(u32),
    is_wanted: &dyn Fn() -> bool,
) -> Ended {
    block_on(job, grace, started, until(is_wanted))
}

async fn until(is_wanted: &dyn Fn() -> bool) {
    while is_wanted() {
        sleep(STILL_WANTED).await;
    }
}

fn block_on(job: Job, grace: Duration, tell: impl FnOnce(u32), unwanted: impl Future<Output = ()>) -> Ended {
    let started = Instant::now();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Ended::not_started(error, started),
    };
    let ended = runtime.block_on(run_until(job, grace, tell, unwanted));
    // Dropping the runtime would wait for its blocking threads, and on Windows a pipe is read on
    // one: an escaped grandchild that holds it must not keep us.
    runtime.shutdown_background();
    ended
}

/// Runs several jobs side by side, each to its own end; gives the endings in the order of the jobs.
#[must_use]
pub fn run_all(jobs: Vec<Job>) -> Vec<Ended> {
    let started = Instant::now();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let failed = |_| Ended::not_started(io::Error::new(error.kind(), error.to_string()), started);
            return jobs.into_iter().map(failed).collect();
        }
    };
    let side_by_side = tokio::task::LocalSet::new();
    let running: Vec<_> = jobs.into_iter().map(|job| side_by_side.spawn_local(run_async(job))).collect();
    let ended = runtime.block_on(side_by_side.run_until(async {
        let mut all = Vec::new();
        for job in running {
            all.push(job.await.unwrap_or_else(|lost| Ended::not_started(io::Error::other(lost), started)));
        }
        all
    }));
    runtime.shutdown_background();
    ended
}

/// Runs `job` to its end, on the runtime of the caller (with I/O and time enabled). Dropping the
/// future kills the group.
pub async fn run_async(job: Job) -> Ended {
    run_until(job, GRACE, |_| (), std::future::pending()).await
}

async fn run_until(
    job: Job,
    grace: Duration,
    tell: impl FnOnce(u32),
    unwanted: impl Future<Output = ()>,
) -> Ended {
    let started = Instant::now();
    // The handlers come before the child: else a signal could end us in between, and leave it.
    let (mut interrupts, mut group) = match start(&job) {
        Ok(parts) => parts,
        Err(error) => return Ended::not_started(error, started),
    };
    if let Some(id) = group.id() {
        tell(id);
    }
    let mut pipes = Pipes::new(group.take_pipes(), job.stdin, job.stdout_cap, job.stderr_cap);
    let left = job.deadline.saturating_sub(started.elapsed());

    // `pump` is last on purpose. A program that writes without a pause can use up tokio's budget
    // for this poll, and what is polled after that reports "not yet", timers included.
    let cause = tokio::select! {
        biased;
        name = interrupts.next() => Cause::Interrupt(name),
        () = group.exited() => Cause::Exit,
        () = sleep(left) => Cause::Deadline,
        () = unwanted => Cause::Unwanted,
        Pumped::Flooded = pipes.pump() => Cause::Flood,
    };

    if cause.gets_grace() && group.terminate() {
        tokio::select! {
            biased;
            () = group.exited() => {}
            () = sleep(grace) => {}
            Pumped::Flooded = pipes.pump() => {}
        }
    }
    let status = group.finish().await;

    pipes.close_stdin();
    // Both results will do: at the end of file, at a flood and after the wait, the pipes hold what
    // there is to know.
    let _ = timeout(DRAIN, pipes.pump()).await;

    Ended {
        how: ending(cause, status, pipes.flooded()),
        duration: started.elapsed(),
        stdout: pipes.stdout.into_kept(),
        stderr: pipes.stderr.into_kept(),
    }
}

fn start(job: &Job) -> io::Result<(Interrupts, Group)> {
    Ok((Interrupts::listen()?, Group::spawn(job)?))
}

/// What made us stop waiting.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Exit,
    Deadline,
    Flood,
    Unwanted,
    Interrupt(&'static str),
}

impl Cause {
    /// A flood is killed at once: it would go on into the grace.
    fn gets_grace(self) -> bool {
        match self {
            Cause::Deadline | Cause::Unwanted | Cause::Interrupt(_) => true,
            Cause::Exit | Cause::Flood => false,
        }
    }
}

/// Names the ending. Where we ended the program, its exit status tells nothing and is dropped.
fn ending(cause: Cause, status: io::Result<ExitStatus>, flooded: bool) -> Ending {
    match (cause, status) {
        (Cause::Interrupt(name), _) => Ending::Interrupted(name),
        (Cause::Deadline, _) => Ending::TimedOut,
        (Cause::Flood, _) => Ending::Flooded,
        (Cause::Unwanted, _) => Ending::Unwanted,
        // It ended so fast that the rest of its flood was still in the pipe.
        (Cause::Exit, _) if flooded => Ending::Flooded,
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
        // Stopped or continued, which nobody waits for here.
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
        Ended {
            how: Ending::NotStarted(error),
            stdout: Vec::new(),
            stderr: Vec::new(),
            duration: started.elapsed(),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    /// The wait status of an exit with `code`, as the kernel packs it.
    fn exit(code: i32) -> ExitStatus {
        ExitStatus::from_raw(code << 8)
    }

    fn signal(number: i32) -> ExitStatus {
        ExitStatus::from_raw(number)
    }

    fn lost() -> io::Result<ExitStatus> {
        Err(io::Error::other("lost"))
    }

    #[test]
    fn an_end_of_its_own_is_told_by_the_status() {
        assert!(matches!(ending(Cause::Exit, Ok(exit(0)), false), Ending::Exited(0)));
        assert!(matches!(ending(Cause::Exit, Ok(exit(143)), false), Ending::Exited(143)));
        assert!(matches!(ending(Cause::Exit, Ok(signal(9)), false), Ending::Signaled(9)));
        assert!(matches!(ending(Cause::Exit, lost(), false), Ending::NotStarted(_)));
    }

    #[test]
    fn an_end_by_our_hand_is_told_by_the_cause_whatever_the_status() {
        for status in [Ok(exit(0)), Ok(signal(15)), Ok(signal(9)), lost()] {
            assert!(matches!(ending(Cause::Deadline, status, false), Ending::TimedOut));
        }
        for flooded in [false, true] {
            let how = ending(Cause::Interrupt("SIGHUP"), Ok(exit(0)), flooded);
            assert!(matches!(how, Ending::Interrupted("SIGHUP")));
            assert!(matches!(ending(Cause::Deadline, Ok(exit(0)), flooded), Ending::TimedOut));
            assert!(matches!(ending(Cause::Flood, Ok(signal(9)), flooded), Ending::Flooded));
            assert!(matches!(ending(Cause::Unwanted, Ok(signal(15)), flooded), Ending::Unwanted));
        }
    }

    #[test]
    fn a_flood_that_was_noticed_after_the_exit_is_a_flood() {
        assert!(matches!(ending(Cause::Exit, Ok(exit(0)), true), Ending::Flooded));
    }
}
