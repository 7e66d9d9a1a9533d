//! The shell in whose terminal a command was typed, as the process that leads the terminal's session: whether it is
//! still there and was not started by an agent tells a person's hand from one that was made to look like it.

use serde::{Deserialize, Serialize};

/// A process that leads a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shell {
    pub process: u32,
    /// When it was started, in the system's own count: another process of the same number has another.
    pub started: u64,
}

#[cfg(target_os = "linux")]
impl Shell {
    /// The shell that leads this process's session; `None` where this process itself does.
    pub fn current() -> Option<Self> {
        let leader = rustix::process::getsid(None).ok()?;
        let process = u32::try_from(leader.as_raw_nonzero().get()).ok()?;
        (process != std::process::id()).then_some(process).and_then(Self::of)
    }

    fn of(process: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name of the program is in brackets, and may hold anything. The start is the 22nd field.
        let (_, fields) = stat.rsplit_once(')')?;
        Some(Self { process, started: fields.split_whitespace().nth(19)?.parse().ok()? })
    }

    /// Whether it runs still, and outside of every session of the client.
    pub fn is_a_persons(self) -> bool {
        let environment = std::fs::read(format!("/proc/{}/environ", self.process));
        let name = format!("{}=", crate::client::env_vars::INSIDE_SESSION);
        let is_inside =
            |bytes: &[u8]| bytes.split(|byte| *byte == 0).any(|pair| pair.starts_with(name.as_bytes()));
        // A program that is just being started has no environment yet: nobody's, to be safe.
        let is_outside = |bytes: Vec<u8>| !bytes.is_empty() && !is_inside(&bytes);
        Self::of(self.process) == Some(self) && environment.is_ok_and(is_outside)
    }
}

/// Elsewhere the terminal's word has to be enough.
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
        let here = Shell::of(std::process::id()).expect("this process");
        assert_eq!(Shell::of(std::process::id()), Some(here));
        assert!(!Shell { started: here.started + 1, ..here }.is_a_persons());
        let mut child =
            std::process::Command::new("sleep").arg("60").env("CLAUDECODE", "1").spawn().expect("started");
        let inside = Shell::of(child.id()).expect("it runs");
        // Until it is another program, it has this one's environment.
        while std::fs::read(format!("/proc/{}/comm", child.id())).expect("its name") != b"sleep\n" {
            std::thread::yield_now();
        }
        assert!(!inside.is_a_persons());
        child.kill().and_then(|()| child.wait()).expect("ended");
        assert!(!inside.is_a_persons());
    }
}
