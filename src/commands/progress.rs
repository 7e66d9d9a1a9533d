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

/// A bar for so many of something.
pub(super) fn bar(count: usize, of: &str) -> ProgressBar {
    let bar = ProgressBar::new(count as u64);
    if let Ok(style) =
        ProgressStyle::with_template(&format!("{{wide_bar}} {{pos}}/{{len}} {of}, {{eta}} left"))
    {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
