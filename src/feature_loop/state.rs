//! What is saved of a loop between rounds, what a new look at its files changes in it, and what
//! comes next: for the gate at a stop and for `loop run` between two sessions. Pure: no clock, no
//! disk. The only place that decides about a loop.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::context::ContextFill;
use super::features::Feature;
use super::progress::{LoopProgress, Progress, Status};
use crate::config::LoopConfig;
use crate::text::{counted, shorten};

/// One loop, as it is saved. The names in the file are older than some of the names here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopState {
    /// The folder of its files. Fixed at the start: a config that changes later has no effect.
    pub folder: PathBuf,
    /// The feature list, relative to the folder.
    pub features: String,
    /// The progress file, relative to the folder.
    pub progress: String,
    /// When it was started, in milliseconds since 1970.
    pub begun_ms: i64,
    /// The session that it is bound to; only its stops are blocked.
    pub session: Option<String>,
    /// Printed by the session to be bound, where the client does not pass its id to commands.
    pub token: Option<String>,
    /// How often a feature was handed out.
    pub iteration: u32,
    /// How often one may be handed out.
    pub max: u32,
    /// Every feature that was ever in the list.
    #[serde(rename = "known")]
    pub known_features: Vec<KnownFeature>,
    /// Keys of the features that passed at the last look.
    pub passing: BTreeSet<String>,
    /// Keys of those among them whose command could not be run.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub unverified: BTreeSet<String>,
    /// The fingerprint at the last hand-out, of the workspace and, behind a colon, of what the list
    /// asks for; `None` where it can't be taken.
    #[serde(rename = "trace")]
    pub fingerprint: Option<String>,
    /// When work was handed out last, or the loop was begun, in milliseconds since 1970.
    pub handed_out_ms: i64,
    /// Whether work was handed out since the last look.
    #[serde(rename = "is_out")]
    pub is_handed_out: bool,
    /// How many rounds in a row changed nothing.
    #[serde(rename = "still")]
    pub stalled_rounds: u32,
    /// When something changed last, in milliseconds since 1970.
    pub moved_ms: i64,
    pub ended: Option<LoopEnd>,
    /// What all runs of `loop run` have spent together.
    pub spent: Spent,
}

/// A feature as it was first seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KnownFeature {
    pub key: String,
    pub description: String,
    /// [`Feature::content_id`].
    pub content: String,
    /// The command that shows whether it passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<String>,
}

impl KnownFeature {
    fn new(feature: &Feature) -> Self {
        let description = feature.description.clone();
        let (content, verify) = (feature.content_id(), feature.verify.clone());
        Self { key: feature.key.clone(), description, content, verify }
    }

    /// Its id, or the first words of its description where the key is only a hash.
    pub fn display_name(&self) -> String {
        let is_hash = self.key.len() == 12 && self.key.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hash { shorten(&self.description, 48) } else { self.key.clone() }
    }

    fn find_in<'a>(&self, features: &'a [Feature]) -> Option<&'a Feature> {
        let same_key = features.iter().find(|feature| feature.key == self.key);
        same_key.or_else(|| features.iter().find(|feature| self.has_description_of(feature)))
    }

    fn has_description_of(&self, feature: &Feature) -> bool {
        !self.description.is_empty() && self.description == feature.description
    }

    /// Takes the command that the list has now. Returns whether it is another.
    pub fn take_command(&mut self, features: &[Feature]) -> bool {
        let Some(feature) = self.find_in(features).filter(|feature| feature.verify != self.verify) else {
            return false;
        };
        // Other words or steps are told still.
        if (Feature { verify: self.verify.clone(), ..feature.clone() }).content_id() == self.content {
            self.content = feature.content_id();
        }
        self.verify.clone_from(&feature.verify);
        true
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopEnd {
    /// [`Status::as_str`].
    pub status: String,
    pub why: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The session that was bound then.
    pub session: Option<String>,
    /// Whether the stop of that session has told it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_told: bool,
}

/// What `loop run` has spent, over all its runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    pub sessions: u32,
    pub usd: f64,
    pub ms: u64,
    /// The session that runs now, or that ran when its run was cut off.
    pub child: Option<SessionProcess>,
}

/// The process of a session that `loop run` started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionProcess {
    pub session: String,
    pub pid: u32,
    /// The kernel's start time of the process, which tells a reused process id apart.
    #[serde(rename = "born")]
    pub started: Option<u64>,
}

/// How the list differs from the features that are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListChanges {
    pub gone: Vec<String>,
    /// Features whose description or steps changed.
    pub rewritten: Vec<String>,
}

impl LoopState {
    /// Starts over with this list.
    pub fn begin(&mut self, features: &[Feature], fingerprint: Option<String>, now_ms: i64) {
        self.known_features = features.iter().map(KnownFeature::new).collect();
        self.passing = passing_keys(features);
        self.unverified.clear();
        self.fingerprint = fingerprint;
        self.handed_out_ms = now_ms;
        self.is_handed_out = false;
        self.stalled_rounds = 0;
        self.moved_ms = now_ms;
        self.ended = None;
    }

    /// Returns this new loop with what is known of an older one that is over: its features and
    /// which of them passed. Of one that was complete nothing is asked for any more, and another
    /// list begins afresh.
    #[must_use]
    pub fn continuing(mut self, older: &Self, features: &[Feature]) -> Self {
        let mut known = older.known_features.clone();
        if older.end_status() == Some(Status::Complete) {
            known.retain(|known| known.find_in(features).is_some());
        }
        if !known.is_empty() {
            self.known_features = known;
            self.passing.clone_from(&older.passing);
            self.unverified.clone_from(&older.unverified);
            self.fingerprint.clone_from(&older.fingerprint);
            self.handed_out_ms = older.handed_out_ms;
        }
        self
    }

    /// Takes back that it was begun again by somebody who can't vouch for marks: what `known` says
    /// of them counts.
    pub fn keep_marks_of(&mut self, known: &Self) {
        self.passing.retain(|key| known.passing.contains(key));
        self.unverified.clone_from(&known.unverified);
        self.fingerprint.clone_from(&known.fingerprint);
        self.handed_out_ms = known.handed_out_ms;
    }

    /// Compares the list with the known features. A new id with an old description is the same
    /// feature.
    pub fn changes(&self, features: &[Feature]) -> ListChanges {
        let mut changes = ListChanges::default();
        for known in &self.known_features {
            match known.find_in(features) {
                None => changes.gone.push(known.display_name()),
                Some(feature) if feature.content_id() != known.content => {
                    changes.rewritten.push(known.display_name());
                }
                Some(_) => {}
            }
        }
        changes
    }

    /// Returns the features that are set to pass, which does not count yet: no stop has looked into
    /// it, or nothing could show it.
    pub fn unproven<'f>(&self, features: &'f [Feature]) -> Vec<&'f Feature> {
        let counts = |key: &String| self.passing.contains(key) && !self.unverified.contains(key);
        features.iter().filter(|feature| feature.passes && !counts(&feature.key)).collect()
    }

    /// The command that a feature had when it was first seen. A new id with an old description is
    /// the same feature.
    pub fn known_command(&self, feature: &Feature) -> Option<&str> {
        let command = |is_it: &dyn Fn(&&KnownFeature) -> bool| {
            self.known_features.iter().filter(is_it).find_map(|known| known.verify.as_deref())
        };
        command(&|known| known.key == feature.key)
            .or_else(|| command(&|known| known.has_description_of(feature)))
    }

    /// Whether the workspace has changed since the last look or hand-out, if that can be told.
    pub fn has_workspace_moved(&self, fingerprint: Option<&str>) -> Option<bool> {
        let workspace = |print: &str| print.split(':').next().map(str::to_owned);
        let (before, now) = self.fingerprint.as_deref().zip(fingerprint)?;
        Some(workspace(before) != workspace(now))
    }

    /// Records what the last round changed, and returns whether it changed anything. A round
    /// counts as stalled only once, and only if the workspace could be fingerprinted.
    pub fn record_round(&mut self, features: &[Feature], fingerprint: Option<&str>, now_ms: i64) -> bool {
        let passing = passing_keys(features);
        let can_compare = self.fingerprint.is_some() && fingerprint.is_some();
        let has_moved =
            passing != self.passing || (can_compare && self.fingerprint.as_deref() != fingerprint);
        if has_moved {
            self.stalled_rounds = 0;
            self.moved_ms = now_ms;
        } else if self.is_handed_out && can_compare {
            self.stalled_rounds += 1;
        }
        self.is_handed_out = false;
        self.passing = passing;
        if fingerprint.is_some() {
            self.fingerprint = fingerprint.map(String::from);
        }
        for feature in features {
            let is_known =
                |known: &KnownFeature| known.key == feature.key || known.has_description_of(feature);
            if !self.known_features.iter().any(is_known) {
                self.known_features.push(KnownFeature::new(feature));
            }
        }
        has_moved
    }

    /// Counts one more hand-out.
    pub fn hand_out(&mut self, fingerprint: Option<String>, now_ms: i64) {
        self.iteration += 1;
        self.handed_out_ms = now_ms;
        self.is_handed_out = true;
        if fingerprint.is_some() {
            self.fingerprint = fingerprint;
        }
    }

    /// Takes a person's word for the mark of a feature.
    pub fn set_passing(&mut self, feature: &Feature) {
        self.unverified.remove(&feature.key);
        if feature.passes {
            self.passing.insert(feature.key.clone());
        } else {
            self.passing.remove(&feature.key);
        }
    }

    /// Ends the loop and unbinds its session.
    pub fn end(&mut self, status: &Status, why: &str, now_ms: i64) {
        let session = self.session.take();
        let (status, why) = (status.as_str().to_owned(), why.to_owned());
        self.ended = Some(LoopEnd { status, why, at_ms: now_ms, session, is_told: false });
        self.token = None;
        self.is_handed_out = false;
    }

    /// How a loop of this session was halted by command, where its stop has not told that yet.
    pub fn untold_end(&self, session: &str) -> Option<&LoopEnd> {
        let is_untold = |ended: &&LoopEnd| {
            !ended.is_told
                && ended.session.as_deref() == Some(session)
                && ended.status == Status::Paused.as_str()
        };
        self.ended.as_ref().filter(is_untold)
    }

    /// Records that the stop of the session tells how it ended.
    pub fn set_end_told(&mut self) {
        if let Some(ended) = &mut self.ended {
            ended.is_told = true;
        }
    }

    /// The status it ended with, if it did.
    pub fn end_status(&self) -> Option<Status> {
        self.ended.as_ref().and_then(|ended| Status::parse(&ended.status))
    }

    /// What the progress file should say.
    pub fn to_progress(&self, features: &[Feature], status: Status, updated: String) -> LoopProgress {
        let gone = self.changes(features).gone;
        let passing = (self.passing.len(), features.len() + gone.len());
        let open = features.iter().filter(|feature| !feature.passes).map(Feature::display_name);
        let left = if status == Status::InProgress { Vec::new() } else { open.chain(gone).collect() };
        LoopProgress { iteration: self.iteration, max: self.max, passing, left, status, updated }
    }
}

fn passing_keys(features: &[Feature]) -> BTreeSet<String> {
    features.iter().filter(|feature| feature.passes).map(|feature| feature.key.clone()).collect()
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Work {
        /// Its index in the list; `None` where only removed features are left, or the whole list's
        /// command fails.
        at: Option<usize>,
        changes: ListChanges,
    },
    /// Let the session go, but keep the loop open: all features are set to pass, and a command that
    /// would show it could not be run.
    Unverified {
        why: String,
    },
    /// Let the session go: the loop is over, or a fresh session continues it.
    End {
        status: Status,
        why: String,
    },
    NoFeatures,
}

/// What the commands showed once all features are set to pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Shown {
    /// Nothing that would keep the loop open.
    #[default]
    Complete,
    /// The whole list's command failed, and how.
    ListFails(String),
    /// Why a command could not be run.
    NotRun(String),
}

/// Returns the next step of a loop in which the last round is recorded. `note` is the session's
/// word beside a status of its own, `fill` how full its context is, if known.
pub fn next_step(
    state: &LoopState,
    features: &[Feature],
    shown: &Shown,
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
    let open = features.iter().filter(|feature| !feature.passes).count() + changes.gone.len();
    let open = match (open, shown) {
        (0, Shown::Complete) => {
            let all = match features.len() {
                1 => "the only feature passes".to_owned(),
                count => format!("all {count} features pass"),
            };
            return end(Status::Complete, format!("{all}, after {}", iterations(state.iteration)));
        }
        (0, Shown::NotRun(why)) => return Step::Unverified { why: why.clone() },
        (0, Shown::ListFails(_)) => "`[loop] verify` fails".to_owned(),
        (open, _) => format!("{} still open", counted(open, "feature is", "features are")),
    };
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

    const TWO: &str = r#"[{"id":"a","description":"x","steps":["1"]},{"id":"b","description":"y"}]"#;
    const B_PASSES: &str =
        r#"[{"id":"a","description":"x","steps":["1"]},{"id":"b","description":"y","passes":true}]"#;

    #[test]
    fn what_moved_is_a_feature_or_the_workspace_and_an_unknown_workspace_is_no_standstill() {
        let mut state = started_loop(TWO);
        // Handed out before the look, list, fingerprint; has it moved, stalled rounds, moved at.
        let rounds = [
            (false, TWO, Some("a"), false, 0, 0),
            (true, TWO, Some("a"), false, 1, 0),
            (false, TWO, Some("a"), false, 1, 0),
            (true, TWO, Some("a"), false, 2, 0),
            (true, TWO, Some("b"), true, 0, 5),
            (true, B_PASSES, Some("b"), true, 0, 6),
            (true, B_PASSES, None, false, 0, 6),
        ];
        for (round, (is_handed_out, list, now, has_moved, stalled, moved_ms)) in (1_i64..).zip(rounds) {
            if is_handed_out {
                state.hand_out(None, 0);
            }
            assert_eq!(state.record_round(&features(list), now, round), has_moved, "round {round}");
            assert_eq!((state.stalled_rounds, state.moved_ms), (stalled, moved_ms), "round {round}");
        }
        assert_eq!(state.iteration, 5);
    }

    #[test]
    fn features_that_are_gone_or_rewritten_are_told() {
        let state = started_loop(TWO);
        let without = features(r#"[{"id":"a","description":"x","steps":["2"],"passes":true}]"#);
        let changes = state.changes(&without);
        assert_eq!((changes.gone, changes.rewritten), (vec!["b".to_owned()], vec!["a".to_owned()]));
        let renamed =
            features(r#"[{"id":"A1","description":"x","steps":["1"]},{"id":"b","description":"y"}]"#);
        assert_eq!(state.changes(&renamed), ListChanges::default());
    }

    #[test]
    fn what_came_later_is_remembered_too() {
        let mut state = started_loop(TWO);
        let third = TWO.replace("\"y\"}]", "\"y\"},{\"description\":\"a third\"}]");
        state.record_round(&features(&third), Some("b"), 2);
        assert_eq!(state.changes(&features(TWO)).gone, ["a third"]);
    }

    #[test]
    fn what_is_left_stands_in_the_file_when_it_is_over() {
        let mut state = started_loop(TWO);
        let one = features(r#"[{"id":"a","description":"x","steps":["1"]}]"#);
        state.record_round(&one, Some("b"), 2);
        let progress = state.to_progress(&one, Status::ReachedLimit, "now".into());
        assert_eq!((progress.left, progress.passing), (vec!["a".to_owned(), "b".into()], (0, 2)));
        assert!(state.to_progress(&one, Status::InProgress, "now".into()).left.is_empty());
    }

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
        next_step(&state, &features, &Shown::Complete, &progress, note.as_deref(), fill, &config)
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
    fn a_command_that_failed_or_was_not_run_keeps_it_open() {
        let all = features(&OPEN.replace("\"y\"", "\"y\",\"passes\":true"));
        let (mut state, progress) = (started_loop(OPEN), progress::parse(""));
        let step = |state: &LoopState, shown: &Shown| {
            next_step(state, &all, shown, &progress, None, None, &LoopConfig::default())
        };
        let not_run = Shown::NotRun("it did not end within 9 s".into());
        assert_eq!(step(&state, &not_run), Step::Unverified { why: "it did not end within 9 s".into() });
        let fails = Shown::ListFails("`npm test` ended with exit code 1".into());
        assert_eq!(step(&state, &fails), Step::Work { at: None, changes: ListChanges::default() });
        state.iteration = 10;
        let why = "the limit of 10 iterations is reached; `[loop] verify` fails";
        assert_eq!(step(&state, &fails), end(Status::ReachedLimit, why));
    }

    #[test]
    fn a_command_that_a_person_corrects_is_taken_and_other_words_are_told_still() {
        let list = r#"[{"id":"a","description":"x","verify":"old"},{"id":"b","description":"y"}]"#;
        let mut state = started_loop(list);
        let now = features(&list.replace("old", "new").replace("\"y\"", "\"z\",\"verify\":\"b\""));
        let taken: Vec<bool> =
            state.known_features.iter_mut().map(|known| known.take_command(&now)).collect();
        let commands: Vec<_> = state.known_features.iter().map(|known| known.verify.as_deref()).collect();
        assert_eq!((taken, commands), (vec![true, true], vec![Some("new"), Some("b")]));
        assert_eq!(state.changes(&now).rewritten, ["b"]);
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
