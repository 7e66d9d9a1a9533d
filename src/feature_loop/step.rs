//! What comes next: takes a loop, its list, what the progress file says and how full the session is, gives the one step.
//! Pure: the only place that decides it, for the gate at a stop and for `loop run` between two sessions.

use super::context::Fill;
use super::features::Feature;
use super::progress::{Progress, Status};
use crate::config::LoopConfig;
use crate::feature_loop::state::{Changes, Loop};
use crate::text::counted;

/// How far a loop may go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// How many times in a row nothing may come of the work.
    pub stall_after: u32,
    /// How full a session may get, as a part of 1.
    pub context: f64,
}

impl From<&LoopConfig> for Limits {
    fn from(config: &LoopConfig) -> Self {
        Self { stall_after: config.stall_after, context: config.context }
    }
}

/// What is seen of a loop.
#[derive(Debug)]
pub struct Look<'a> {
    /// The loop, after it was looked at what came of the work.
    pub memory: &'a Loop,
    /// The list.
    pub features: &'a [Feature],
    /// What the progress file says.
    pub progress: &'a Progress,
    /// What its author says about it, where the status is not ours.
    pub note: Option<&'a str>,
    /// How full the session is, where that is known.
    pub fill: Option<Fill>,
}

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Hand out this feature.
    Work {
        /// Which, by its place in the list; `None` where only what was removed is left.
        at: Option<usize>,
        /// What is not as it was.
        changes: Changes,
    },
    /// Let go: it is over, or it is for a fresh session to go on.
    End {
        /// How it stands.
        status: Status,
        /// In words.
        why: String,
    },
    /// There is nothing to hold anybody for.
    Nothing,
}

/// Decides.
pub fn next(look: &Look<'_>, limits: Limits) -> Step {
    let Look { memory, features, progress, .. } = *look;
    let end = |status: Status, why: String| Step::End { status, why };
    let changes = memory.changes(features);
    if features.is_empty() && changes.gone.is_empty() {
        return Step::Nothing;
    }
    let at = features.iter().position(|feature| !feature.passes);
    if at.is_none() && changes.gone.is_empty() {
        let count = counted(features.len(), "feature passes", "features pass");
        return end(Status::Complete, format!("all {count}, after {}", iterations(memory.iteration)));
    }
    let open = features.iter().filter(|feature| !feature.passes).count() + changes.gone.len();
    let open = format!("{} still open", counted(open, "feature is", "features are"));
    if let Some(status @ (Status::Blocked | Status::Paused)) = &progress.status {
        let note = look.note.map(|note| format!(": {note}")).unwrap_or_default();
        return end(status.clone(), format!("{} says {status}{note}; {open}", memory.progress));
    }
    // Whoever works may set the limit lower, and never higher.
    let max = progress.max.filter(|max| *max > 0).map_or(memory.max, |max| max.min(memory.max));
    if memory.iteration >= max {
        return end(Status::ReachedLimit, format!("the limit of {} is reached; {open}", iterations(max)));
    }
    if memory.still >= limits.stall_after {
        let times = iterations(memory.still);
        let why = format!(
            "nothing moved for {times}: no feature passed, no file changed, nothing was committed; {open}"
        );
        return end(Status::Stalled, why);
    }
    if let Some(fill) = look.fill.filter(|fill| fill.part() >= limits.context) {
        return end(Status::HandedOver, format!("the context is {fill} full; {open}, for a fresh session"));
    }
    Step::Work { at, changes }
}

/// So many iterations, in words.
pub fn iterations(count: u32) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "iteration", "iterations")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature_loop::features::read;
    use crate::feature_loop::progress;

    const LIMITS: Limits = Limits { stall_after: 3, context: 0.8 };

    fn step(list: &str, change: impl FnOnce(&mut Loop), said: &str, tokens: u64) -> Step {
        let features = read(list).expect("features");
        let before =
            read(r#"[{"id":"a","description":"x"},{"id":"b","description":"y"}]"#).expect("features");
        let mut memory = Loop { max: 10, iteration: 4, progress: "progress.txt".into(), ..Loop::default() };
        memory.begin(&before, None, 0);
        change(&mut memory);
        let progress = progress::read(said);
        let note = progress::note_on_status(said);
        let fill = Some(Fill { tokens, window: 200_000 });
        let look =
            Look { memory: &memory, features: &features, progress: &progress, note: note.as_deref(), fill };
        next(&look, LIMITS)
    }

    const OPEN: &str = r#"[{"id":"a","description":"x","passes":true},{"id":"b","description":"y"}]"#;

    fn end(status: Status, why: &str) -> Step {
        Step::End { status, why: why.into() }
    }

    #[test]
    fn the_first_open_feature_is_handed_out() {
        assert_eq!(step(OPEN, |_| (), "", 0), Step::Work { at: Some(1), changes: Changes::default() });
        assert_eq!(step("[]", |memory| memory.known.clear(), "", 0), Step::Nothing);
    }

    #[test]
    fn all_that_pass_is_complete_and_a_word_alone_is_not() {
        let all = OPEN.replace("\"y\"", "\"y\",\"passes\":true");
        assert_eq!(
            step(&all, |_| (), "", 0),
            end(Status::Complete, "all 2 features pass, after 4 iterations")
        );
        let full =
            step(&all, |memory| (memory.iteration, memory.still) = (10, 9), "status: BLOCKED", 199_000);
        assert!(matches!(full, Step::End { status: Status::Complete, .. }), "{full:?}");
        assert!(matches!(step(OPEN, |_| (), "status: COMPLETE", 0), Step::Work { .. }));
    }

    #[test]
    fn features_that_were_taken_out_keep_it_open() {
        let one = r#"[{"id":"a","description":"x","passes":true}]"#;
        let Step::Work { at: None, changes } = step(one, |_| (), "status: COMPLETE", 0) else {
            panic!("open")
        };
        assert_eq!(changes.gone, ["b"]);
        let Step::Work { at: None, changes } = step("[]", |_| (), "", 0) else { panic!("open") };
        assert_eq!(changes.gone, ["a", "b"]);
    }

    #[test]
    fn limits_end_it_and_may_be_set_lower_by_anybody() {
        let limit = "the limit of 10 iterations is reached; 1 feature is still open";
        assert_eq!(step(OPEN, |memory| memory.iteration = 10, "", 0), end(Status::ReachedLimit, limit));
        assert_eq!(
            step(OPEN, |memory| memory.iteration = 10, "max: 99", 0),
            end(Status::ReachedLimit, limit)
        );
        let lower = "the limit of 4 iterations is reached; 1 feature is still open";
        assert_eq!(step(OPEN, |_| (), "max: 4", 0), end(Status::ReachedLimit, lower));
    }

    #[test]
    fn standing_still_ends_it() {
        let why = "nothing moved for 3 iterations: no feature passed, no file changed, nothing was committed; 1 feature is still open";
        assert_eq!(step(OPEN, |memory| memory.still = 3, "", 0), end(Status::Stalled, why));
        assert!(matches!(step(OPEN, |memory| memory.still = 2, "", 0), Step::Work { .. }));
    }

    #[test]
    fn a_full_context_is_for_a_fresh_session() {
        let why = "the context is 80 % full; 1 feature is still open, for a fresh session";
        assert_eq!(step(OPEN, |_| (), "", 160_000), end(Status::HandedOver, why));
        assert!(matches!(step(OPEN, |_| (), "", 159_999), Step::Work { .. }));
    }

    #[test]
    fn whoever_is_blocked_is_let_go_with_its_words() {
        let said = "status: BLOCKED\nThe API key is missing.\n";
        let why = "progress.txt says BLOCKED: The API key is missing.; 1 feature is still open";
        assert_eq!(step(OPEN, |_| (), said, 0), end(Status::Blocked, why));
        assert!(matches!(step(OPEN, |_| (), "status: WAITING", 0), Step::Work { .. }));
    }
}
