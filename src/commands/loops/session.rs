//! One session of the client, started by `loop run`: in print mode, supervised, or in the person's own terminal. Takes what to
//! run, gives how it ended. Must not decide what comes next.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::outside::{Ended, Report, of_print};
use crate::child::{self, Ending, Job};
use crate::client::claude_args::env_unset;
use crate::feature_loop::state;
use crate::text::first_part;

/// Between `SIGTERM` and `SIGKILL`: a session may be in the middle of a file.
const GRACE: Duration = Duration::from_secs(5);
/// A session that nobody has set a time for.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);
/// The most that it may print: one envelope, or all its events.
const STDOUT_CAP: usize = 64 << 20;
const STDERR_CAP: usize = 64 << 10;
/// How often a session in the terminal is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long a session that was let go may show its last words before it makes room for the next.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// What to start.
#[derive(Debug)]
pub(super) struct Start<'a> {
    /// The client's program.
    pub(super) client: &'a Path,
    /// Where.
    pub(super) folder: &'a Path,
    /// The id that the session gets: the loop is bound to it before it begins.
    pub(super) session: &'a str,
    /// What it is told.
    pub(super) prompt: &'a str,
    /// What the person wants the client to be given.
    pub(super) args: &'a [OsString],
    /// How long it may take.
    pub(super) time: Option<Duration>,
}

impl Start<'_> {
    /// The client's arguments. In print mode the prompt goes to stdin; in a terminal, that is the person's.
    pub(super) fn arguments(&self, interactive: bool) -> Vec<OsString> {
        let print: &[&str] = if interactive { &[] } else { &["-p", "--output-format", "json"] };
        let own = print.iter().map(OsString::from).chain(["--session-id".into(), self.session.into()]);
        let all = own.chain(self.args.iter().cloned());
        // Flags that take many values would take the prompt, too.
        let prompt = if interactive { vec!["--".into(), self.prompt.into()] } else { Vec::new() };
        all.chain(prompt).collect()
    }

    /// Runs it in print mode. `started` is told the process, `look` is asked ten times a second. Gives what it cost, too.
    pub(super) fn in_print(&self, started: impl FnOnce(u32), look: &dyn Fn()) -> (Ended, Option<f64>) {
        let job = Job {
            program: self.client.to_path_buf(),
            args: self.arguments(false),
            cwd: self.folder.to_path_buf(),
            env_set: Vec::new(),
            env_unset: env_unset(),
            stdin: self.prompt.as_bytes().to_vec(),
            deadline: self.time.unwrap_or(LONGEST),
            stdout_cap: STDOUT_CAP,
            stderr_cap: STDERR_CAP,
        };
        let ended = child::run_with_grace(job, GRACE, started, &|| {
            look();
            true
        });
        let failed = |words: String| (Ended::Failed(words), None);
        match ended.how {
            Ending::Exited(code) => of_print(code, &ended.stdout, &ended.stderr),
            Ending::Signaled(signal) => failed(format!("it was ended by signal {signal}")),
            Ending::TimedOut => (Ended::OutOfTime, None),
            Ending::Interrupted(_) | Ending::Unwanted => (Ended::Interrupted, None),
            Ending::Flooded => failed(format!("it printed more than {STDOUT_CAP} bytes")),
            Ending::NotStarted(error) => {
                failed(format!("{} can't be started: {error}", self.client.display()))
            }
        }
    }

    /// Runs it in the terminal that we have. It stays in our own process group, which is the one in the foreground: so it may
    /// read the terminal, and what is typed there to stop or end it reaches both of us. `is_over` says whether the session
    /// was let go for a fresh one.
    pub(super) fn in_terminal(
        &self,
        started: impl FnOnce(u32),
        asked_to_end: &AtomicBool,
        is_over: &dyn Fn() -> bool,
    ) -> Ended {
        let terminal = Terminal::keep();
        let mut command = Command::new(self.client);
        command.args(self.arguments(true)).current_dir(self.folder);
        for name in env_unset() {
            command.env_remove(name);
        }
        let begun = Instant::now();
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                return Ended::Failed(format!("{} can't be started: {error}", self.client.display()));
            }
        };
        started(child.id());
        let mut over: Option<Instant> = None;
        let mut looked = Instant::now();
        let ended = loop {
            match child.try_wait() {
                Ok(None) => {}
                Ok(Some(status)) if status.success() => break Ended::Well(Report::default()),
                Ok(Some(status)) => break Ended::Failed(first_part(&status.to_string(), 100)),
                Err(error) => break Ended::Failed(error.to_string()),
            }
            if asked_to_end.load(Ordering::Relaxed) {
                end(&mut child);
                break Ended::Interrupted;
            }
            if self.time.is_some_and(|time| begun.elapsed() >= time) {
                end(&mut child);
                break Ended::OutOfTime;
            }
            if over.is_some_and(|since| since.elapsed() >= LAST_WORDS) {
                end(&mut child);
                break Ended::Well(Report::default());
            }
            if over.is_none() && looked.elapsed() >= 10 * LOOK {
                looked = Instant::now();
                over = is_over().then(Instant::now);
            }
            sleep(LOOK);
        };
        terminal.restore();
        ended
    }
}

/// Asks a session in the terminal to end, and sees to it.
fn end(child: &mut Child) {
    #[cfg(unix)]
    {
        let asked = rustix::process::kill_process(
            rustix::process::Pid::from_child(child),
            rustix::process::Signal::TERM,
        );
        let begun = Instant::now();
        while asked.is_ok() && begun.elapsed() < GRACE {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            sleep(LOOK);
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// How the terminal was before a session used it; one that is ended by force can't put it back.
struct Terminal {
    #[cfg(unix)]
    modes: Option<rustix::termios::Termios>,
}

impl Terminal {
    fn keep() -> Self {
        Self {
            #[cfg(unix)]
            modes: rustix::termios::tcgetattr(std::io::stdin()).ok(),
        }
    }

    #[cfg_attr(not(unix), expect(clippy::unused_self, reason = "the same call as on Unix"))]
    fn restore(&self) {
        #[cfg(unix)]
        if let Some(modes) = &self.modes {
            let now = rustix::termios::OptionalActions::Now;
            let _ = rustix::termios::tcsetattr(std::io::stdin(), now, modes);
        }
    }
}

/// When a process began, as the system counts; `None` where it does not tell, or where there is no such process.
#[cfg(target_os = "linux")]
pub(super) fn born(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, which may hold anything, ends at the last bracket.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    if fields.first() == Some(&"Z") { None } else { fields.get(19)?.parse().ok() }
}

/// When a process began; nobody tells.
#[cfg(not(target_os = "linux"))]
pub(super) fn born(_pid: u32) -> Option<u64> {
    None
}

/// Whether a session that a run has started is still there.
pub(super) fn is_alive(child: &state::Child) -> bool {
    if cfg!(target_os = "linux") {
        return child.born.is_some() && born(child.pid) == child.born;
    }
    #[cfg(unix)]
    {
        let pid = i32::try_from(child.pid).ok().and_then(rustix::process::Pid::from_raw);
        pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
    }
    #[cfg(not(unix))]
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_goes_where_no_flag_takes_it() {
        let args = ["--allowedTools".into(), "Edit".into()];
        let start = Start {
            client: Path::new("claude"),
            folder: Path::new("/"),
            session: "s",
            prompt: "Do it.",
            args: &args,
            time: None,
        };
        let print = ["-p", "--output-format", "json", "--session-id", "s", "--allowedTools", "Edit"];
        assert_eq!(start.arguments(false), print.map(OsString::from));
        let terminal = ["--session-id", "s", "--allowedTools", "Edit", "--", "Do it."];
        assert_eq!(start.arguments(true), terminal.map(OsString::from));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_is_told_from_another_of_its_number() {
        let own = std::process::id();
        let child = |born| state::Child { session: "s".into(), pid: own, born };
        assert!(is_alive(&child(born(own))));
        assert!(!is_alive(&child(Some(1))) && !is_alive(&child(None)));
        assert_eq!(born(u32::MAX), None);
    }
}
