//! What `loop run` shows: a live line while a session works, and one line for each that ended.

use std::cell::Cell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::super::progress::{Progress, spinner};
use super::super::say::{say, width};
use super::format::{BAD, GOOD, LABEL, OPEN, dollars, duration};
use super::outcome::SessionOutcome;
use crate::exit;
use crate::feature_loop::snapshot::LoopSnapshot;
use crate::feature_loop::{LoopState, disk, features};
use crate::text::{counted, first_part, harmless};

/// One session's place in the loop, as it is shown.
pub(super) struct SessionLabel {
    iteration: String,
    feature: String,
    /// How many features passed before the session.
    passing: usize,
}

impl SessionLabel {
    pub(super) fn new(state: &LoopState, snapshot: &LoopSnapshot, at: Option<usize>) -> Self {
        let feature =
            at.and_then(|at| snapshot.features.get(at)).map_or("what was removed".into(), |feature| {
                let id = feature.id.as_ref().map(|id| format!("{id} ")).unwrap_or_default();
                shorten(&format!("{id}{}", feature.description))
            });
        let iteration = format!("iteration {} of {}", state.iteration, state.max);
        Self { iteration, feature, passing: snapshot.passing() }
    }

    /// Prints how the session ended.
    pub(super) fn print(
        &self,
        outcome: &SessionOutcome,
        usd: Option<f64>,
        took: Duration,
        state: &LoopState,
    ) {
        let (before, all) = (self.passing, state.known_features.len());
        let list = disk::read_features(&state.folder, &state.features).ok();
        let now = list.map_or(before, |list| list.iter().filter(|feature| feature.passes).count());
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
            duration(took)
        );
        if let SessionOutcome::Finished { denied: denied @ 1.. } = outcome {
            text.push_str(&format!(
                "  The client denied it {}: say what it may do, such as `punchlist loop run -- --permission-mode acceptEdits`.\n",
                counted(*denied, "tool call", "tool calls")
            ));
        }
        say(&text, exit::OK);
    }
}

/// The line that is drawn while a session works.
pub(super) struct LiveLine<'a> {
    progress: Progress,
    started: Instant,
    label: &'a SessionLabel,
    list: PathBuf,
    drawn: Cell<Option<Instant>>,
}

impl<'a> LiveLine<'a> {
    pub(super) fn new(label: &'a SessionLabel, list: PathBuf) -> Self {
        Self { progress: spinner(), started: Instant::now(), label, list, drawn: Cell::new(None) }
    }

    /// Called ten times a second; draws about once a second.
    pub(super) fn draw(&self) {
        const INTERVAL: Duration = Duration::from_millis(900);
        if self.drawn.get().is_some_and(|drawn| drawn.elapsed() < INTERVAL) {
            return;
        }
        self.drawn.set(Some(Instant::now()));
        // A list that is missing or half written is read again the next time.
        let list = std::fs::read_to_string(&self.list).ok().and_then(|text| features::parse(&text).ok());
        let passing = list.map_or_else(String::new, |list| {
            format!("  {} of {} pass", list.iter().filter(|feature| feature.passes).count(), list.len())
        });
        let end = format!("{passing}  {}", duration(self.started.elapsed()));
        let room = width().saturating_sub(self.label.iteration.len() + end.len() + 6).max(10);
        let feature: String = harmless(&self.label.feature).chars().take(room).collect();
        self.progress.set_message(format!("{}  {feature}{end}", self.label.iteration));
    }
}

fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let text = first_part(text, MAX_CHARS * 4);
    if text.chars().count() <= MAX_CHARS {
        return text;
    }
    format!("{}…", text.chars().take(MAX_CHARS - 1).collect::<String>().trim_end())
}
