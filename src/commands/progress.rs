//! What a person sees while they wait: takes what is going on, draws it on stderr if that is a terminal, as one line
//! that goes away. Must not print anything anywhere else.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a count is drawn, at the most.
const REDRAW: Duration = Duration::from_millis(100);

/// One line that is drawn again and again.
#[derive(Debug)]
pub(super) struct Progress {
    count: usize,
    of: String,
    state: Option<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    begun: Instant,
    done: usize,
    drawn: Option<Instant>,
}

/// A line with what is being done.
pub(super) fn spinner() -> Progress {
    bar(0, "")
}

/// A line for so many of something.
pub(super) fn bar(count: usize, of: &str) -> Progress {
    let state = State { begun: Instant::now(), done: 0, drawn: None };
    let state = std::io::stderr().is_terminal().then(|| Mutex::new(state));
    Progress { count, of: of.to_owned(), state }
}

impl Progress {
    /// Says what is being done.
    pub(super) fn set_message(&self, message: impl Into<String>) {
        if self.state.is_some() {
            draw(&format!("{} …", message.into()));
        }
    }

    /// One more is done.
    pub(super) fn inc(&self) {
        let Some(state) = &self.state else { return };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += 1;
        if state.drawn.is_none_or(|drawn| drawn.elapsed() >= REDRAW) {
            state.drawn = Some(Instant::now());
            draw(&line(state.done, self.count, &self.of, state.begun.elapsed()));
        }
    }
}

/// How far it is, and how long the rest will take if it goes on like that.
fn line(done: usize, count: usize, of: &str, elapsed: Duration) -> String {
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let left = (elapsed / small(done.max(1))).saturating_mul(small(count.saturating_sub(done)));
    format!("{done}/{count} {of}, {} s left", left.as_secs())
}

fn draw(line: &str) {
    // Back to the start of the line, which is wiped first.
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
    fn the_rest_is_told_by_what_is_done() {
        assert_eq!(line(20, 100, "cases", Duration::from_secs(5)), "20/100 cases, 20 s left");
        assert_eq!(line(0, 0, "cases", Duration::ZERO), "0/0 cases, 0 s left");
    }
}
