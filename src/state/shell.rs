//! The shell in whose terminal a command was typed, as the process that leads the terminal's
//! session. If it is still running and was not started by an agent, a person typed the command.

use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
use crate::child;

/// A process that leads a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shell {
    pub process: u32,
    /// When it was started, by the system's clock: distinguishes processes that reuse a number.
    pub started: u64,
}

#[cfg(target_os = "linux")]
impl Shell {
    /// Returns the shell that leads this process's session; `None` if this process leads it itself.
    pub fn current() -> Option<Self> {
        let leader = rustix::process::getsid(None).ok()?;
        let process = u32::try_from(leader.as_raw_nonzero().get()).ok()?;
        (process != std::process::id()).then_some(process).and_then(Self::running)
    }

    fn running(process: u32) -> Option<Self> {
        child::start_time(process).map(|started| Self { process, started })
    }

    /// Returns whether it is still running, outside every session of the client.
    pub fn is_a_persons(self) -> bool {
        let name = format!("{}=", crate::client::env_vars::INSIDE_SESSION);
        let is_inside = child::has_variable(self.process, |variable| variable.starts_with(name.as_bytes()));
        Self::running(self.process) == Some(self) && is_inside == Some(false)
    }
}

/// Other systems have to trust the terminal.
#[cfg(not(target_os = "linux"))]
impl Shell {
    pub fn current() -> Option<Self> {
        Some(Self::default())
    }

    pub fn is_a_persons(self) -> bool {
        true
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_shell_that_is_gone_or_another_one_is_nobodys() {
        let here = Shell::running(std::process::id()).expect("this process");
        assert_eq!(Shell::running(std::process::id()), Some(here));
        assert!(!Shell { started: here.started + 1, ..here }.is_a_persons());
        let mut child =
            std::process::Command::new("sleep").arg("60").env("CLAUDECODE", "1").spawn().expect("started");
        let inside = Shell::running(child.id()).expect("it runs");
        // Until it is another program, it has this one's environment.
        while std::fs::read(format!("/proc/{}/comm", child.id())).expect("its name") != b"sleep\n" {
            std::thread::yield_now();
        }
        assert!(!inside.is_a_persons());
        child.kill().and_then(|()| child.wait()).expect("ended");
        assert!(!inside.is_a_persons());
    }
}
