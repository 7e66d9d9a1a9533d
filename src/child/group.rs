//! The process group (on Windows: the job object) of one child, killed on drop. Must not read pipes
//! or know the deadline.
//!
//! **Never signal a recycled group.** A group's id is its leader's process id. The kernel reserves
//! the number while the leader lives, is an unreaped zombie, or the group has another member. After
//! that the number is free, and `kill(-id, SIGKILL)` may hit a stranger. `tokio`'s `wait` reports
//! an exit by reaping, which is too late for a kill. So the exit is observed with
//! `waitid(WNOWAIT)`, which leaves the zombie in place; then the group is killed; only then is the
//! leader reaped, and nothing signals the group after that ([`Group::is_pinned`]). `process-wrap`'s
//! own `wait` and `try_wait` are not used: they reap, too, and wait for other members of the group.
//!
//! One `SIGKILL` is enough: the kernel delays a fork while a signal to its group is pending, so no
//! member can leave a child behind that the signal misses.
//!
//! On Windows handles pin the process and its job object, and kill-on-close ends the job even if we
//! are terminated.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

#[cfg(windows)]
use process_wrap::tokio::JobObject;
#[cfg(unix)]
use process_wrap::tokio::ProcessGroup;
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
#[cfg(unix)]
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
#[cfg(unix)]
use tokio::signal::unix::{Signal as SignalStream, SignalKind, signal};
#[cfg(unix)]
use tokio::time::sleep;
use tokio::time::timeout;

use super::descendants::Running;
use super::pipes::PipeEnds;
use super::{Job, supervisor};

/// How long to wait for a killed leader. It takes microseconds, unless the process is stuck inside
/// the kernel (a hung disk), where nothing ends it.
const REAP: Duration = Duration::from_secs(1);

/// How often the leader is polled without a `SIGCHLD`. A process inherits its signal mask, so our
/// parent may have blocked `SIGCHLD`; then only this poll notices an exit.
#[cfg(unix)]
const POLL: Duration = Duration::from_secs(1);

/// One child and everything that it started.
#[derive(Debug)]
pub(super) struct Group {
    child: Box<dyn ChildWrapper>,
    /// Whether the leader was not reaped yet, so that its group's id can't belong to anybody else.
    is_pinned: bool,
    #[cfg(unix)]
    leader: Pid,
    /// Wakes us when any child exits; `waitid` tells whether it was this one.
    #[cfg(unix)]
    sigchld: SignalStream,
    /// Dropped when the leader is reaped, which also ends processes that left the group.
    running: Option<Running>,
}

impl Group {
    /// Starts the program as the leader of a new group, with all three pipes.
    pub(super) fn spawn(job: &Job) -> io::Result<Self> {
        let running = Running::new();
        let mark = supervisor::mark();
        // Before the start, so that no exit is missed.
        #[cfg(unix)]
        let sigchld = signal(SignalKind::child())?;

        let mut command = CommandWrap::with_new(&job.program, |command| {
            command
                .args(&job.args)
                .current_dir(&job.cwd)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            for name in &job.env_unset {
                command.env_remove(name);
            }
            for (name, value) in &job.env_set {
                command.env(name, value);
            }
            command.envs(mark);
        });
        #[cfg(unix)]
        command.wrap(ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(JobObject);
        // On Unix for a leader that left its group; on Windows this sets kill-on-close.
        command.wrap(KillOnDrop);

        let child = command.spawn()?;
        supervisor::note_child(child.id());
        #[cfg(unix)]
        let leader = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
            .ok_or_else(|| io::Error::other("the child has no process id"))?;
        Ok(Self {
            child,
            is_pinned: true,
            #[cfg(unix)]
            leader,
            #[cfg(unix)]
            sigchld,
            running: Some(running),
        })
    }

    /// Returns the leader's process id; `None` after it was reaped.
    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Hands over the pipes, once.
    pub(super) fn take_pipes(&mut self) -> PipeEnds {
        (self.child.stdin().take(), self.child.stdout().take(), self.child.stderr().take())
    }

    /// Waits until the leader has exited, and leaves it unreaped. Cancel-safe, and can be called
    /// again.
    #[cfg(unix)]
    pub(super) async fn exited(&mut self) {
        let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(self.leader), peek) {
                Ok(Some(_)) => return,
                Ok(None) => {}
                Err(rustix::io::Errno::INTR) => continue,
                // ECHILD: other code reaped it, and the id may already belong to another process.
                Err(_) => {
                    self.is_pinned = false;
                    return;
                }
            }
            tokio::select! {
                Some(()) = self.sigchld.recv() => {}
                () = sleep(POLL) => {}
            }
        }
    }

    /// Waits until the leader has exited. Cancel-safe, and can be called again.
    #[cfg(not(unix))]
    pub(super) async fn exited(&mut self) {
        // The inner child's wait: the job object's own waits for the whole job. tokio stores the
        // status for `finish`.
        let _ = self.child.inner_mut().wait().await;
    }

    /// Sends `SIGTERM` to the group. Returns false if that is impossible, so that there is no point
    /// in a grace period.
    #[cfg(unix)]
    pub(super) fn terminate(&mut self) -> bool {
        self.is_pinned && self.child.signal(Signal::TERM.as_raw()).is_ok()
    }

    /// Windows has no equivalent of `SIGTERM`.
    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "the same call as on Unix")]
    pub(super) fn terminate(&mut self) -> bool {
        false
    }

    /// Kills the group, reaps its leader, then ends the processes that left the group.
    pub(super) async fn finish(&mut self) -> io::Result<ExitStatus> {
        self.kill();
        // Before the wait, not after it: this future can be dropped in between.
        self.is_pinned = false;
        let status = match timeout(REAP, self.child.inner_mut().wait()).await {
            Ok(status) => status,
            Err(late) => Err(late.into()),
        };
        self.running = None;
        status
    }

    /// Sends the one `SIGKILL`, if the group's id is still ours.
    fn kill(&mut self) {
        if !self.is_pinned {
            return;
        }
        // An error means that no process is left (ESRCH; EPERM on macOS for a group of zombies), or
        // none that we may kill. Either way there is nothing left to do.
        let _ = self.child.start_kill();
        // Kill the leader by its own id, too: it may have moved to another group.
        let _ = self.child.inner_mut().start_kill();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
