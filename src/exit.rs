//! Every exit code of the program, in one place. Must not be extended without a look at what the client
//! makes of the number: to a Stop hook, 2 means "block", and clap's own usage error is 2 as well.

use std::io::Write;

use crate::redact::mask;
use crate::text::harmless;

/// All went well; in `hook`: the stop goes through.
pub const OK: u8 = 0;
/// A command other than `hook` failed, and said why on stderr.
pub const FAILED: u8 = 1;
/// `hook` only: the stop is held.
pub const BLOCK: u8 = 2;
/// `audit` and `eval`: what was to be looked at could not be. The same number as a block, which no hook runs into:
/// nobody registers these.
pub const COULD_NOT: u8 = 2;
/// The command line was not understood (`EX_USAGE`). Never 2: a misspelt registration must not block.
pub const USAGE: u8 = 64;

/// Prints one line on stderr. The client shows a hook's stderr only in its debug log.
pub fn complain(line: &str) {
    let line = harmless(&mask(line).text).replace('\n', " ");
    let _ = writeln!(std::io::stderr(), "punchlist: {line}");
}

/// The code for a fault that nobody caught: a stop goes through.
pub fn of_fault() -> u8 {
    let is_hook = std::env::args_os().nth(1).is_some_and(|command| command == "hook");
    if is_hook { OK } else { FAILED }
}

/// Makes a write beyond the limit on the size of files an error, in place of the end of the process.
pub fn ignore_file_size_signal() {
    #[cfg(unix)]
    {
        let seen = std::sync::Arc::default();
        // Where it can't be had, such a write ends the process as before.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen);
    }
}
