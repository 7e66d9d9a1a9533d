//! What a person sees while they wait: takes what is going on, draws it on stderr if that is a terminal. Must not
//! print anything anywhere else.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A spinner with what is being done.
pub(super) fn spinner() -> ProgressBar {
    // Hidden by itself where stderr is no terminal.
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// A bar for so many sessions.
pub(super) fn bar(sessions: usize) -> ProgressBar {
    let bar = ProgressBar::new(sessions as u64);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} sessions, {eta} left") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
