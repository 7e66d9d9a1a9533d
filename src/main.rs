//! The exit code boundary, nothing else. The work is done on a thread with a stack of its own, so that a small limit on
//! the stack of a process does not end it, and a panic that nobody caught does not decide the exit code.

use std::process::ExitCode;

use punchlist::exit;

/// What the main thread of a process has on most systems.
const STACK_BYTES: usize = 8 << 20;

fn main() -> ExitCode {
    exit::ignore_file_size_signal();
    let work = std::thread::Builder::new().stack_size(STACK_BYTES);
    let ended =
        work.spawn(|| punchlist::commands::run(std::env::args_os())).map(std::thread::JoinHandle::join);
    let code = match ended {
        Ok(Ok(code)) => code,
        Ok(Err(_)) => exit::of_fault(),
        Err(error) => {
            exit::complain(&format!("no thread can be started: {error}"));
            exit::of_fault()
        }
    };
    code.into()
}
