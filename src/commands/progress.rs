//! Progress as one line on stderr, drawn only on a terminal and erased at the end. Must not print
//! anywhere else.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A line of progress; erased on drop.
#[derive(Debug)]
pub(super) struct Progress {
    begun: Instant,
    done: AtomicUsize,
    is_drawn: bool,
}

impl Progress {
    pub(super) fn start() -> Self {
        Self { begun: Instant::now(), done: AtomicUsize::new(0), is_drawn: std::io::stderr().is_terminal() }
    }

    pub(super) fn set_message(&self, message: &str) {
        self.draw(&format!("{message} …"));
    }

    /// Counts one more of `count`.
    pub(super) fn inc(&self, count: usize, noun: &str) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.draw(&line(done, count, noun, self.begun.elapsed()));
    }

    fn draw(&self, line: &str) {
        if self.is_drawn {
            // Carriage return, then "erase to the end of the line".
            let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
        }
    }
}

/// Returns the count, and the estimated time left.
fn line(done: usize, count: usize, noun: &str, elapsed: Duration) -> String {
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let left = (elapsed / small(done.max(1))).saturating_mul(small(count.saturating_sub(done)));
    format!("{done}/{count} {noun}, {} s left", left.as_secs())
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.draw("");
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
