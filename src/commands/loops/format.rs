//! Colours, bars, durations and amounts in the texts of `punchlist loop`. Pure.

use std::time::Duration;

use anstyle::{AnsiColor, Style};

pub(super) const LABEL: Style = Style::new().dimmed();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default();
pub(super) const OPEN: Style = AnsiColor::Yellow.on_default();

const BAR_WIDTH: usize = 20;

/// A progress bar. Its ends mean "none" and "all".
pub(super) fn bar(count: usize, of: usize) -> String {
    let full = (count * BAR_WIDTH).checked_div(of).unwrap_or_default().min(BAR_WIDTH);
    let full = if count > 0 { full.max(1) } else { full };
    format!("{}{}", "█".repeat(full), "░".repeat(BAR_WIDTH - full))
}

/// A duration in its two largest units.
pub(super) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, seconds) => format!("{seconds}s"),
        (0, 0, minutes, seconds) => format!("{minutes}m {seconds:02}s"),
        (0, hours, minutes, _) => format!("{hours}h {minutes:02}m"),
        (days, hours, _, _) => format!("{days}d {hours:02}h"),
    }
}

/// How long ago a time was; a time in the future is "just now".
pub(super) fn ago(then_ms: i64, now_ms: i64) -> String {
    let passed = u64::try_from(now_ms.saturating_sub(then_ms)).unwrap_or_default();
    match passed {
        0..1_000 => "just now".into(),
        _ => format!("{} ago", duration(Duration::from_millis(passed))),
    }
}

pub(super) fn dollars(usd: f64) -> String {
    format!("${usd:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_moments_in_words() {
        let texts: Vec<_> =
            [0, 59, 61, 3_600, 90_061].map(|seconds| duration(Duration::from_secs(seconds))).into();
        assert_eq!(texts, ["0s", "59s", "1m 01s", "1h 00m", "1d 01h"]);
        assert_eq!((ago(0, 61_000), ago(5_000, 1_000)), ("1m 01s ago".to_owned(), "just now".into()));
        assert_eq!(dollars(1.416), "$1.42");
    }

    #[test]
    fn a_bar_never_lies_at_its_ends() {
        assert_eq!((bar(0, 0), bar(0, 9)), ("░".repeat(20), "░".repeat(20)));
        assert_eq!(bar(1, 200).chars().filter(|c| *c == '█').count(), 1);
        assert_eq!(bar(199, 200).chars().filter(|c| *c == '█').count(), 19);
        assert_eq!(bar(9, 9), "█".repeat(20));
    }
}
