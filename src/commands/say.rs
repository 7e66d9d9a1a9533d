//! Prints a command's result on stdout, with colours only on a terminal. A closed pipe is no error.

use std::io::{self, IsTerminal, Write};

use super::complain;
use crate::exit;

/// Longer lines are hard to read.
const MAX_WIDTH: usize = 100;

/// Returns the width for running text, within limits; without a terminal, the widest.
pub(super) fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    terminal.unwrap_or(MAX_WIDTH).clamp(40, MAX_WIDTH)
}

/// Returns the terminal's width; `None` where stdout is none and nothing is to be cut.
pub(super) fn terminal_width() -> Option<usize> {
    let width = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    width.filter(|_| io::stdout().is_terminal()).map(|width| width.max(20))
}

/// Prints a text; returns the given exit code, or that of a failure to print.
pub(super) fn say(text: &str, code: u8) -> u8 {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(&format!("stdout: {error}"));
            exit::FAILED
        }
        _ => code,
    }
}

/// Prints a command's text, or its error on stderr; returns the exit code.
pub(super) fn finish(done: Result<String, String>) -> u8 {
    match done {
        Ok(text) => say(&text, exit::OK),
        Err(why) => {
            complain(&why);
            exit::FAILED
        }
    }
}

/// Prints JSON.
pub(super) fn say_json(value: &impl serde::Serialize, code: u8) -> u8 {
    match serde_json::to_string_pretty(value) {
        Ok(text) => say(&(text + "\n"), code),
        Err(error) => {
            complain(&error.to_string());
            exit::FAILED
        }
    }
}
