//! Progress as one line on stderr, drawn only on a terminal and wiped at the end. Must not print
//! anywhere else.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The shortest time between two redraws of a count.
const REDRAW: Duration = Duration::from_millis(100);

/// A line of progress; dropping it wipes it.
#[derive(Debug)]
pub(super) struct Progress {
    count: usize,
    noun: String,
    state: Option<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    begun: Instant,
    done: usize,
    drawn: Option<Instant>,
}

/// A line with a message.
pub(super) fn spinner() -> Progress {
    bar(0, "")
}

/// A line that counts to `count`.
pub(super) fn bar(count: usize, noun: &str) -> Progress {
    let state = State { begun: Instant::now(), done: 0, drawn: None };
    let state = std::io::stderr().is_terminal().then(|| Mutex::new(state));
    Progress { count, noun: noun.to_owned(), state }
}

impl Progress {
    /// Shows a message.
    pub(super) fn set_message(&self, message: impl Into<String>) {
        if self.state.is_some() {
            draw(&format!("{} …", message.into()));
        }
    }

    /// Counts one more.
    pub(super) fn inc(&self) {
        let Some(state) = &self.state else { return };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += 1;
        if state.drawn.is_none_or(|drawn| drawn.elapsed() >= REDRAW) {
            state.drawn = Some(Instant::now());
            draw(&line(state.done, self.count, &self.noun, state.begun.elapsed()));
        }
    }
}

/// Shows the count, and the time that is left at the present rate.
fn line(done: usize, count: usize, noun: &str, elapsed: Duration) -> String {
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let left = (elapsed / small(done.max(1))).saturating_mul(small(count.saturating_sub(done)));
    format!("{done}/{count} {noun}, {} s left", left.as_secs())
}

fn draw(line: &str) {
    // Carriage return, then "erase to the end of the line".
    let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.state.is_some() {
            draw("");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_the_rate() {
        assert_eq!(line(20, 100, "cases", Duration::from_secs(5)), "20/100 cases, 20 s left");
        assert_eq!(line(0, 0, "cases", Duration::ZERO), "0/0 cases, 0 s left");
    }
}
