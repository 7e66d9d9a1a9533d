//! What `loop run` and `loop status` show: colours, durations, a live line while a session works,
//! and one line for each that ended.

use std::cell::Cell;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};

use super::super::progress::Progress;
use super::outcome::SessionOutcome;
use super::output::{print, width};
use crate::feature_loop::snapshot::LoopSnapshot;
use crate::feature_loop::{Feature, LoopState, disk};
use crate::text::{counted, harmless, shorten};

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

pub(super) fn passing(features: &[Feature]) -> usize {
    features.iter().filter(|feature| feature.passes).count()
}

/// A session of `loop run` as it is shown: drawn while it works, printed when it has ended.
pub(super) struct SessionLine {
    iteration: String,
    feature: String,
    passing: usize,
    started: Instant,
    drawn: Cell<Option<Instant>>,
}

impl SessionLine {
    pub(super) fn new(state: &LoopState, snapshot: &LoopSnapshot, at: Option<usize>) -> Self {
        let feature =
            at.and_then(|at| snapshot.features.get(at)).map_or("what was removed".into(), |feature| {
                let id = feature.id.as_ref().map(|id| format!("{id} ")).unwrap_or_default();
                shorten(&format!("{id}{}", feature.description), 60)
            });
        let iteration = format!("iteration {} of {}", state.iteration, state.max);
        let passing = snapshot.passing();
        Self { iteration, feature, passing, started: Instant::now(), drawn: Cell::new(None) }
    }

    /// Called ten times a second; draws about once a second.
    pub(super) fn draw(&self, progress: &Progress, state: &LoopState) {
        const INTERVAL: Duration = Duration::from_millis(900);
        if self.drawn.get().is_some_and(|drawn| drawn.elapsed() < INTERVAL) {
            return;
        }
        self.drawn.set(Some(Instant::now()));
        // A list that is missing or half written is read again the next time.
        let list = disk::read_features(&state.folder, &state.features).ok();
        let count = list.map(|list| format!("  {} of {} pass", passing(&list), list.len()));
        let end = format!("{}  {}", count.unwrap_or_default(), duration(self.started.elapsed()));
        let room = width().saturating_sub(self.iteration.len() + end.len() + 6).max(10);
        let feature: String = harmless(&self.feature).chars().take(room).collect();
        progress.set_message(&format!("{}  {feature}{end}", self.iteration));
    }

    pub(super) fn print(&self, outcome: &SessionOutcome, usd: Option<f64>, state: &LoopState) {
        let (before, all) = (self.passing, state.known_features.len());
        let list = disk::read_features(&state.folder, &state.features).ok();
        let now = list.map_or(before, |list| passing(&list));
        let (style, how) = match outcome {
            SessionOutcome::Finished { .. } if now > before => (GOOD, format!("{now} of {all} pass")),
            SessionOutcome::Finished { .. } if now == before => {
                (OPEN, format!("{now} of {all} pass, as before"))
            }
            SessionOutcome::Finished { .. } => (OPEN, format!("{now} of {all} pass, {before} did before")),
            SessionOutcome::Failed(words) => (BAD, format!("failed: {words}")),
            SessionOutcome::OutOfTime => (OPEN, "its time was up".into()),
            SessionOutcome::Interrupted => (OPEN, "asked to end".into()),
        };
        let cost = usd.map(|usd| format!("  {}", dollars(usd))).unwrap_or_default();
        let mut text = format!(
            "{LABEL}{}{LABEL:#}  {}  {style}{}{style:#}  {LABEL}{}{cost}{LABEL:#}\n",
            self.iteration,
            harmless(&self.feature),
            harmless(&how),
            duration(self.started.elapsed())
        );
        if let SessionOutcome::Finished { denied: denied @ 1.. } = outcome {
            text.push_str(&format!(
                "  The client denied it {}: say what it may do, such as `punchlist loop run -- --permission-mode acceptEdits`.\n",
                counted(*denied, "tool call", "tool calls")
            ));
        }
        // The loop goes on, even if nobody reads it.
        let _ = print(&text);
    }
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
