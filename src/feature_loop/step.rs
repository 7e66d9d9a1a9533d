//! Decides what comes next in a loop, for the gate at a stop and for `loop run` between two
//! sessions. Pure, and the only place that decides it.

use super::context::ContextFill;
use super::features::Feature;
use super::progress::{Progress, Status};
use super::state::{ListChanges, LoopState};
use crate::config::LoopConfig;
use crate::text::counted;

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Work {
        /// Its index in the list; `None` where only removed features are left.
        at: Option<usize>,
        changes: ListChanges,
    },
    /// Let the session go: the loop is over, or a fresh session continues it.
    End {
        status: Status,
        why: String,
    },
    NoFeatures,
}

/// Returns the next step of a loop in which the last round is recorded. `note` is the session's word
/// beside a status of its own, `fill` how full its context is, if known.
pub fn next_step(
    state: &LoopState,
    features: &[Feature],
    progress: &Progress,
    note: Option<&str>,
    fill: Option<ContextFill>,
    config: &LoopConfig,
) -> Step {
    let end = |status: Status, why: String| Step::End { status, why };
    let changes = state.changes(features);
    if features.is_empty() && changes.gone.is_empty() {
        return Step::NoFeatures;
    }
    let at = features.iter().position(|feature| !feature.passes);
    if at.is_none() && changes.gone.is_empty() {
        let count = counted(features.len(), "feature passes", "features pass");
        return end(Status::Complete, format!("all {count}, after {}", iterations(state.iteration)));
    }
    let open = features.iter().filter(|feature| !feature.passes).count() + changes.gone.len();
    let open = format!("{} still open", counted(open, "feature is", "features are"));
    if let Some(status @ (Status::Blocked | Status::Paused)) = &progress.status {
        let note = note.map(|note| format!(": {note}")).unwrap_or_default();
        return end(status.clone(), format!("{} says {status}{note}; {open}", state.progress));
    }
    // The session may lower the limit in the progress file, but not raise it.
    let max = progress.max.filter(|max| *max > 0).map_or(state.max, |max| max.min(state.max));
    if state.iteration >= max {
        return end(Status::ReachedLimit, format!("the limit of {} is reached; {open}", iterations(max)));
    }
    if state.stalled_rounds >= config.stall_after {
        let times = iterations(state.stalled_rounds);
        let why = format!(
            "nothing moved for {times}: no feature passed, no file changed, nothing was committed; {open}"
        );
        return end(Status::Stalled, why);
    }
    if let Some(fill) = fill.filter(|fill| fill.part() >= config.context) {
        return end(Status::HandedOver, format!("the context is {fill} full; {open}, for a fresh session"));
    }
    Step::Work { at, changes }
}

pub fn iterations(count: u32) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "iteration", "iterations")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature_loop::progress;
    use crate::testing::{features, started_loop};

    const OPEN: &str = r#"[{"id":"a","description":"x","passes":true},{"id":"b","description":"y"}]"#;

    /// The step of a loop in iteration 4 of 10.
    fn step(list: &str, change: impl FnOnce(&mut LoopState), notes: &str, tokens: u64) -> Step {
        let mut state = started_loop(r#"[{"id":"a","description":"x"},{"id":"b","description":"y"}]"#);
        state.iteration = 4;
        change(&mut state);
        let (features, progress) = (features(list), progress::parse(notes));
        let note = progress::status_note(notes);
        let fill = Some(ContextFill { tokens, window: 200_000 });
        let config = LoopConfig { stall_after: 3, context: 0.8, ..LoopConfig::default() };
        next_step(&state, &features, &progress, note.as_deref(), fill, &config)
    }

    fn end(status: Status, why: &str) -> Step {
        Step::End { status, why: why.into() }
    }

    #[test]
    fn the_first_open_feature_is_handed_out() {
        let first = Step::Work { at: Some(1), changes: ListChanges::default() };
        assert_eq!(step(OPEN, |_| (), "", 159_999), first);
        assert_eq!(step(OPEN, |state| state.stalled_rounds = 2, "", 0), first);
        // Neither an unknown status nor the session's word for "done" ends a loop.
        for notes in ["status: COMPLETE", "status: WAITING"] {
            assert_eq!(step(OPEN, |_| (), notes, 0), first, "{notes}");
        }
        assert_eq!(step("[]", |state| state.known_features.clear(), "", 0), Step::NoFeatures);
    }

    #[test]
    fn all_that_pass_is_complete_whatever_else_is_so() {
        let all = OPEN.replace("\"y\"", "\"y\",\"passes\":true");
        let complete =
            |count| end(Status::Complete, &format!("all 2 features pass, after {count} iterations"));
        assert_eq!(step(&all, |_| (), "", 0), complete(4));
        let exhausted = |state: &mut LoopState| (state.iteration, state.stalled_rounds) = (10, 9);
        assert_eq!(step(&all, exhausted, "status: BLOCKED", 199_000), complete(10));
    }

    #[test]
    fn features_that_were_taken_out_keep_it_open() {
        let one = r#"[{"id":"a","description":"x","passes":true}]"#;
        for (list, gone) in [(one, vec!["b"]), ("[]", vec!["a", "b"])] {
            let Step::Work { at: None, changes } = step(list, |_| (), "status: COMPLETE", 0) else {
                panic!("open")
            };
            assert_eq!(changes.gone, gone);
        }
    }

    #[test]
    fn limits_a_standstill_a_full_context_and_a_blocked_session_end_it() {
        let limit = |max| format!("the limit of {max} iterations is reached; 1 feature is still open");
        let at_limit = |state: &mut LoopState| state.iteration = 10;
        assert_eq!(step(OPEN, at_limit, "", 0), end(Status::ReachedLimit, &limit(10)));
        assert_eq!(step(OPEN, at_limit, "max: 99", 0), end(Status::ReachedLimit, &limit(10)));
        assert_eq!(step(OPEN, |_| (), "max: 4", 0), end(Status::ReachedLimit, &limit(4)));
        let why = "nothing moved for 3 iterations: no feature passed, no file changed, nothing was committed; 1 feature is still open";
        assert_eq!(step(OPEN, |state| state.stalled_rounds = 3, "", 0), end(Status::Stalled, why));
        let why = "the context is 80 % full; 1 feature is still open, for a fresh session";
        assert_eq!(step(OPEN, |_| (), "", 160_000), end(Status::HandedOver, why));
        let notes = "status: BLOCKED\nThe API key is missing.\n";
        let why = "progress.txt says BLOCKED: The API key is missing.; 1 feature is still open";
        assert_eq!(step(OPEN, |_| (), notes, 0), end(Status::Blocked, why));
    }
}
