//! The process group (on Windows: the job object) of one child, and the guard that ends it.
//!
//! Takes a [`Job`], gives its pipes, its exit and its exit status. It must not read pipes, nor
//! know the deadline.
//!
//! **Never signal a recycled group.** A group's id is the leader's process id. The kernel gives it
//! to nobody else while the leader lives or is a zombie that was not waited for, nor while the
//! group has another member. After the last of them the number is free, and the same
//! `kill(-id, SIGKILL)` may hit a stranger. `tokio`'s `wait` tells of an exit by reaping, which is
//! a moment too late for a kill. So here the exit is *seen* with `waitid(WNOWAIT)`, which leaves the
//! zombie in place, then the group is killed, and only then is the leader reaped; after that no
//! code path signals the group ([`Group::pinned`]). `process-wrap`'s own `try_wait` and `wait`
//! are not used: they reap too, and wait for other members of the group.
//!
//! One `SIGKILL` is enough. The kernel holds off a fork while a signal to its group is on the way,
//! so no member can have a child that the signal misses.
//!
//! On Windows handles pin both the process and its job object, so none of this applies, and
//! kill-on-close ends the job even where we are terminated ourselves.

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
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
#[cfg(unix)]
use tokio::signal::unix::{Signal as SignalStream, SignalKind, signal};
#[cfg(unix)]
use tokio::time::sleep;
use tokio::time::timeout;

use super::Job;

/// The last wait, for a leader that has been killed. It takes microseconds, unless the process is
/// stuck inside the kernel, and then nothing we do ends it.
pub(super) const REAP: Duration = Duration::from_secs(1);

/// How often to look at the leader without being told. A process inherits its signal mask, so
/// whoever started us may have blocked `SIGCHLD`; then this is all that notices an exit.
#[cfg(unix)]
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The ends of the child's pipes that are ours.
pub(super) type OwnEnds = (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>);

/// One child and everything it started, killed on drop.
#[derive(Debug)]
pub(super) struct Group {
    child: Box<dyn ChildWrapper>,
    /// Whether the leader is still there, alive or as a zombie, so that the group's id is its own.
    pinned: bool,
    #[cfg(unix)]
    leader: Pid,
    /// Wakes us at the end of any child; which one it was, `waitid` knows.
    #[cfg(unix)]
    sigchld: SignalStream,
}

impl Group {
    /// Starts the program, as the leader of a new group and with all three pipes.
    pub(super) fn spawn(job: &Job) -> io::Result<Self> {
        // Before the start, so that no exit can be missed.
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
        });
        #[cfg(unix)]
        command.wrap(ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(JobObject);
        // The leader may have left the group, and on Windows this is what sets kill-on-close.
        command.wrap(KillOnDrop);

        let child = command.spawn()?;
        #[cfg(unix)]
        let leader = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
            .ok_or_else(|| io::Error::other("the child has no process id"))?;
        Ok(Group {
            child,
            pinned: true,
            #[cfg(unix)]
            leader,
            #[cfg(unix)]
            sigchld,
        })
    }

    /// The leader's process id, as long as it was not waited for.
    pub(super) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Hands over the pipes, once.
    pub(super) fn take_pipes(&mut self) -> OwnEnds {
        (self.child.stdin().take(), self.child.stdout().take(), self.child.stderr().take())
    }

    /// Waits until the leader has exited, and leaves it unreaped. Can be called again, and dropped
    /// at any point.
    #[cfg(unix)]
    pub(super) async fn exited(&mut self) {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(self.leader), look) {
                Ok(Some(_)) => return,
                Ok(None) => {}
                Err(rustix::io::Errno::INTR) => continue,
                // ECHILD: somebody else has reaped it. The id may be a stranger's by now.
                Err(_) => {
                    self.pinned = false;
                    return;
                }
            }
            tokio::select! {
                Some(()) = self.sigchld.recv() => {}
                () = sleep(LOOK_AGAIN) => {}
            }
        }
    }

    /// Waits until the leader has exited. Can be called again, and dropped at any point.
    #[cfg(not(unix))]
    pub(super) async fn exited(&mut self) {
        // The inner child: the job object's own wait is for all of the job. The status, or the
        // error, is kept by tokio and comes again in `finish`.
        let _ = self.child.inner_mut().wait().await;
    }

    /// Asks the whole group to end. False where there is no such request, and so no use in waiting.
    #[cfg(unix)]
    pub(super) fn terminate(&mut self) -> bool {
        self.pinned && self.child.signal(Signal::TERM.as_raw()).is_ok()
    }

    /// Asks the whole group to end. False where there is no such request, and so no use in waiting.
    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "the same call as on Unix")]
    pub(super) fn terminate(&mut self) -> bool {
        false
    }

    /// Kills the whole group, then reaps its leader.
    pub(super) async fn finish(&mut self) -> io::Result<ExitStatus> {
        self.kill();
        // Before the wait and not after it: this future can be dropped in between.
        self.pinned = false;
        match timeout(REAP, self.child.inner_mut().wait()).await {
            Ok(status) => status,
            Err(late) => Err(late.into()),
        }
    }

    /// Sends the one `SIGKILL`, if it is safe.
    fn kill(&mut self) {
        if !self.pinned {
            return;
        }
        // An error means that there is nobody left to kill (ESRCH, or EPERM on macOS for a group
        // of zombies), or nobody we may kill. Neither leaves anything to do.
        let _ = self.child.start_kill();
        // The leader as well, by its own id: it may have moved to another group.
        let _ = self.child.inner_mut().start_kill();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
