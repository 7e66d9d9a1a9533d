//! Every exit code of the program, in one place. Before adding one, check what the client makes of
//! the number: to a Stop hook, 2 means "block", and clap's own usage error is 2 as well.

use std::io::Write;

use crate::redact::mask;
use crate::text::harmless;

/// Success; in `hook`, the stop goes through.
pub const OK: u8 = 0;
/// A command other than `hook` failed, and said why on stderr.
pub const FAILED: u8 = 1;
/// `hook` only: the stop is blocked.
pub const BLOCK: u8 = 2;
/// `audit` and `eval`: the input could not be read. The same number as a block, which is harmless:
/// nobody registers these commands as hooks.
pub const COULD_NOT: u8 = 2;
/// The command line was not understood (`EX_USAGE`). Never 2: a misspelt registration must not
/// block.
pub const USAGE: u8 = 64;

/// Prints one line on stderr. The client shows a hook's stderr only in its debug log.
pub fn complain(line: &str) {
    let line = harmless(&mask(line).text).replace('\n', " ");
    let _ = writeln!(std::io::stderr(), "punchlist: {line}");
}

/// Returns the code for a fault that was not caught: a stop goes through.
pub fn of_fault() -> u8 {
    let is_hook = std::env::args_os().nth(1).is_some_and(|command| command == "hook");
    if is_hook { OK } else { FAILED }
}

/// Turns a write beyond the file size limit into an error instead of ending the process.
pub fn ignore_file_size_signal() {
    #[cfg(unix)]
    {
        let seen = std::sync::Arc::default();
        // If this fails, such a write ends the process as before.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen);
    }
}

/// Returns whether the main thread may use this much stack; true if the limit is unknown.
pub fn has_stack(bytes: usize) -> bool {
    #[cfg(unix)]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
        limit.is_none_or(|most| most >= bytes as u64)
    }
    #[cfg(not(unix))]
    {
        let _ = bytes;
        true
    }
}
