//! Runs a program under `strace`, to see what it asks of the kernel.

use std::process::Command;

use crate::asked::Asked;
use crate::measure::{Fault, timed};

/// Whether there is a `strace` that may trace.
pub(crate) fn is_there() -> bool {
    Command::new("strace")
        .args(["-o", "/dev/null", "/bin/true"])
        .output()
        .is_ok_and(|out| out.status.success())
}

/// Runs a command under `strace`.
pub(crate) fn traced(command: &Command, stdin: &[u8]) -> Result<Asked, Fault> {
    let file = tempfile::NamedTempFile::new().map_err(|why| format!("strace: {why}"))?;
    let mut traced = Command::new("strace");
    traced.args(["-f", "-y", "-s", "0", "-o"]).arg(file.path()).arg(command.get_program());
    traced.args(command.get_args()).env_clear();
    if let Some(folder) = command.get_current_dir() {
        traced.current_dir(folder);
    }
    traced.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    timed(&mut traced, stdin)?;
    let text = std::fs::read_to_string(file.path()).map_err(|why| format!("strace: {why}"))?;
    Ok(Asked::of(&text))
}
