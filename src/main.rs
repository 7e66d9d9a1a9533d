//! The exit code boundary, nothing else. If the limit on the process's stack is small, the work
//! runs on a thread with its own stack, so that it can't overflow; an uncaught panic does not
//! decide the exit code.

use std::process::ExitCode;

use punchlist::exit;

/// The size of the main thread's stack on most systems.
const STACK_BYTES: usize = 8 << 20;

fn main() -> ExitCode {
    exit::ignore_file_size_signal();
    let work = || punchlist::commands::run(std::env::args_os());
    let ended = if exit::has_stack(STACK_BYTES) {
        std::panic::catch_unwind(work)
    } else {
        match std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work) {
            Ok(thread) => thread.join(),
            Err(error) => {
                exit::complain(&format!("no thread can be started: {error}"));
                Ok(exit::of_fault())
            }
        }
    };
    ended.unwrap_or_else(|_| exit::of_fault()).into()
}
