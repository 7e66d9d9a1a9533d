//! One session of the client, started by `loop run`: supervised in print mode, or in the person's
//! own terminal. Must not decide what comes next.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::outcome::{SessionOutcome, parse_output};
use crate::child::{self, Ending, Job};
use crate::client::program::env_unset;
use crate::feature_loop::state::SessionProcess;
use crate::text::first_part;

/// Between `SIGTERM` and `SIGKILL`: a session may be in the middle of writing a file.
const GRACE: Duration = Duration::from_secs(5);
/// The time limit of a session without one.
const NO_LIMIT: Duration = Duration::from_secs(30 * 24 * 3600);
const STDOUT_CAP: usize = 64 << 20;
const STDERR_CAP: usize = 64 << 10;
/// How often a session in the terminal is polled.
const POLL: Duration = Duration::from_millis(100);
/// How long a session that was let go may show its last message before the next one starts.
const LAST_MESSAGE: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(super) struct ClientSession<'a> {
    pub(super) client: &'a Path,
    pub(super) folder: &'a Path,
    /// Its id, which is chosen beforehand so that the loop is bound to it before it starts.
    pub(super) session: &'a str,
    pub(super) prompt: &'a str,
    pub(super) args: &'a [OsString],
    pub(super) time: Option<Duration>,
}

impl ClientSession<'_> {
    /// The client's arguments. The prompt is one of them only in a terminal, where stdin is the
    /// person's.
    pub(super) fn arguments(&self, interactive: bool) -> Vec<OsString> {
        let print: &[&str] = if interactive { &[] } else { &["-p", "--output-format", "json"] };
        let own = print.iter().map(OsString::from).chain(["--session-id".into(), self.session.into()]);
        let all = own.chain(self.args.iter().cloned());
        // After `--`, because a flag that takes many values would take the prompt, too.
        let prompt = if interactive { vec!["--".into(), self.prompt.into()] } else { Vec::new() };
        all.chain(prompt).collect()
    }

    /// Runs it in print mode, and returns its cost, too. `on_start` gets the process id; `poll` is
    /// called ten times a second.
    pub(super) fn run_in_print_mode(
        &self,
        on_start: impl FnOnce(u32),
        poll: &dyn Fn(),
    ) -> (SessionOutcome, Option<f64>) {
        let job = Job {
            program: self.client.to_path_buf(),
            args: self.arguments(false),
            cwd: self.folder.to_path_buf(),
            env_set: Vec::new(),
            env_unset: env_unset(),
            stdin: self.prompt.as_bytes().to_vec(),
            deadline: self.time.unwrap_or(NO_LIMIT),
            stdout_cap: STDOUT_CAP,
            stderr_cap: STDERR_CAP,
        };
        let ended = child::run_with_grace(job, GRACE, on_start, &|| {
            poll();
            true
        });
        let failed = |words: String| (SessionOutcome::Failed(words), None);
        match ended.how {
            Ending::Exited(code) => parse_output(code, &ended.stdout, &ended.stderr),
            Ending::Signaled(signal) => failed(format!("it was ended by signal {signal}")),
            Ending::TimedOut => (SessionOutcome::OutOfTime, None),
            Ending::Interrupted(_) | Ending::Unwanted => (SessionOutcome::Interrupted, None),
            Ending::Flooded => failed(format!("it printed more than {STDOUT_CAP} bytes")),
            Ending::NotStarted(error) => (self.not_started(&error), None),
        }
    }

    fn not_started(&self, error: &std::io::Error) -> SessionOutcome {
        SessionOutcome::Failed(format!("{} can't be started: {error}", self.client.display()))
    }

    /// Runs it in our terminal. It stays in our process group, which is the foreground one: so it
    /// may read the terminal, and Ctrl-C reaches both of us. `is_let_go` says whether the gate has
    /// let the session go for a fresh one.
    pub(super) fn run_in_terminal(
        &self,
        on_start: impl FnOnce(u32),
        is_let_go: &dyn Fn() -> bool,
    ) -> SessionOutcome {
        // A session that is killed can't restore the terminal's modes itself.
        #[cfg(unix)]
        let modes = rustix::termios::tcgetattr(std::io::stdin()).ok();
        let mut command = Command::new(self.client);
        command.args(self.arguments(true)).current_dir(self.folder);
        for name in env_unset() {
            command.env_remove(name);
        }
        let begun = Instant::now();
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return self.not_started(&error),
        };
        on_start(child.id());
        let mut let_go: Option<Instant> = None;
        let mut checked = Instant::now();
        let ended = loop {
            match child.try_wait() {
                Ok(None) => {}
                Ok(Some(status)) if status.success() => break SessionOutcome::Finished { denied: 0 },
                Ok(Some(status)) => break SessionOutcome::Failed(first_part(&status.to_string(), 100)),
                Err(error) => break SessionOutcome::Failed(error.to_string()),
            }
            if child::interrupted().is_some() {
                end(&mut child);
                break SessionOutcome::Interrupted;
            }
            if self.time.is_some_and(|time| begun.elapsed() >= time) {
                end(&mut child);
                break SessionOutcome::OutOfTime;
            }
            if let_go.is_some_and(|since| since.elapsed() >= LAST_MESSAGE) {
                end(&mut child);
                break SessionOutcome::Finished { denied: 0 };
            }
            if let_go.is_none() && checked.elapsed() >= 10 * POLL {
                checked = Instant::now();
                let_go = is_let_go().then(Instant::now);
            }
            sleep(POLL);
        };
        #[cfg(unix)]
        if let Some(modes) = modes {
            let now = rustix::termios::OptionalActions::Now;
            let _ = rustix::termios::tcsetattr(std::io::stdin(), now, &modes);
        }
        ended
    }
}

/// Ends a session in the terminal: `SIGTERM`, then `SIGKILL`.
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
            sleep(POLL);
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// The kernel's start time of a process; `None` where there is no such process, or no `/proc`.
pub(super) fn start_time(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain anything, and ends at the last bracket.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    if fields.first() == Some(&"Z") { None } else { fields.get(19)?.parse().ok() }
}

/// Whether the session of a run is still there.
pub(super) fn is_alive(child: &SessionProcess) -> bool {
    if cfg!(target_os = "linux") {
        return child.started.is_some() && start_time(child.pid) == child.started;
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
        let start = ClientSession {
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
        let child = |started| SessionProcess { session: "s".into(), pid: own, started };
        assert!(is_alive(&child(start_time(own))));
        assert!(!is_alive(&child(Some(1))) && !is_alive(&child(None)));
        assert_eq!(start_time(u32::MAX), None);
    }
}
