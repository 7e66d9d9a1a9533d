//! This program started again, apart from this process: the supervisor, and what ships decisions
//! after a stop. Both outlive us on purpose and end by themselves.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::env::{self, Env};

/// Returns the command that starts this program again, in a process group of its own, so that a
/// signal to ours does not reach it, and with none of our pipes: the client ignores a block while a
/// process that a hook started could still write to its stdout or stderr.
pub(super) fn this_program() -> io::Result<Command> {
    // This very program, even if it was replaced on disk since.
    let path = if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { std::env::current_exe()? };
    let mut command = Command::new(path);
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        command.arg0("punchlist").process_group(0);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

/// Starts this program again with these arguments, in a folder and with no variables but these, to
/// go on after us.
pub fn start_apart(args: &[&OsStr], folder: &Path, env: &Env) -> io::Result<()> {
    let mut command = this_program()?;
    command.args(args).current_dir(folder).env_clear().envs(env.iter());
    // Without the mark by which what a hook started is ended with it.
    command.env_remove(env::RUN).spawn().map(drop)
}
