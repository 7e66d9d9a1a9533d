//! Prints: takes a text, gives it to stdout, with its colours where somebody can see them. Whoever has read enough is no error.

use std::io::{self, IsTerminal, Write};

use super::complain;
use crate::exit;

/// Wider than this nobody reads with ease.
const WIDEST: usize = 100;

/// How wide the terminal is, where there is one.
pub(super) fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    terminal.unwrap_or(WIDEST).clamp(40, WIDEST)
}

/// How wide the terminal is; nothing is cut where there is none.
pub(super) fn terminal_width() -> Option<usize> {
    let width = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    width.filter(|_| io::stdout().is_terminal()).map(|width| width.max(20))
}

/// Prints, and gives the exit code: the given one, unless it could not be printed.
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

/// What a command came to: the text is printed, or why there is none is said on stderr.
pub(super) fn finish(done: Result<String, String>) -> u8 {
    match done {
        Ok(text) => say(&text, exit::OK),
        Err(why) => {
            complain(&why);
            exit::FAILED
        }
    }
}

/// Prints for programs.
pub(super) fn say_json(value: &impl serde::Serialize, code: u8) -> u8 {
    match serde_json::to_string_pretty(value) {
        Ok(text) => say(&(text + "\n"), code),
        Err(error) => {
            complain(&error.to_string());
            exit::FAILED
        }
    }
}
