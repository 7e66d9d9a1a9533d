//! Looks into features that were set to pass: runs their commands and that of the whole list, takes
//! back the marks of what does not pass, and says why. Must not run a command that nobody allowed,
//! nor decide what comes next.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use super::claims::{
    Claim, ClaimState, Work, check_of, claims, not_allowed, not_judged, not_run, refute_without_work,
    state_of,
};
use super::disk;
use super::features::Feature;
use super::snapshot::LoopSnapshot;
use super::state::{LoopState, Shown};
use crate::checks::Ran;
use crate::child::{self, Ending, Job};
use crate::config::CHECK_TIMEOUT;
use crate::env;

/// What a look into the claims goes by.
pub struct Verifier<'a> {
    /// The command for the whole list, run before a loop is complete.
    pub list: Option<&'a str>,
    /// Whether a person has allowed a command of the list.
    pub is_allowed: &'a dyn Fn(&str) -> bool,
    /// By when all commands together have to be over.
    pub deadline: Instant,
    /// What would give them more time.
    pub hint: &'a str,
    /// Whether the session had a hand in what changed since work was handed out; `None` where that
    /// can't be told.
    pub has_session_worked: &'a dyn Fn() -> Option<bool>,
    /// Judges features that were set to pass at once; an error says why nobody could.
    pub judge: &'a mut dyn FnMut(&[&Feature]) -> Result<Judgements, String>,
}

/// What a reader says of each of some features.
pub type Judgements = Vec<Judgement>;

/// What a reader says of a feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    Built,
    /// Why it was not built.
    NotBuilt(String),
    NotJudged,
}

/// A mark that was taken back, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenBack {
    pub name: String,
    pub why: String,
}

/// The name of the whole list's command.
const WHOLE_LIST: &str = "the whole list";

impl Verifier<'_> {
    /// Looks into what was set to pass since the last look, and, where all is, into the list as a
    /// whole. Marks that do not hold are taken back, in the file and in the snapshot. Returns what
    /// the person is told. Fails where a signal ended it: then nothing is known, and nothing has
    /// changed.
    pub fn settle(&mut self, state: &LoopState, snapshot: &mut LoopSnapshot) -> Result<Vec<String>, String> {
        let mut claims = claims(state, &snapshot.features);
        self.run_commands(&state.folder, &mut claims)?;
        self.look_for_work(state, snapshot, &mut claims);
        let unread = self.ask(&snapshot.features, &mut claims);
        let is_refuted = |at: usize| {
            claims.iter().any(|claim| claim.at == at && matches!(claim.state, ClaimState::Refuted(_)))
        };
        let all_pass = snapshot.features.iter().enumerate().all(|(at, one)| one.passes && !is_refuted(at));
        let is_over =
            all_pass && !snapshot.features.is_empty() && state.changes(&snapshot.features).gone.is_empty();
        let not_judged = unread.and_then(|why| not_judged(&claims, &why));
        let unshown: Vec<String> = not_run(&claims).into_iter().chain(not_allowed(&claims)).collect();
        let mut told: Vec<String> = Vec::new();
        match (is_over, claims.iter().any(|claim| matches!(claim.state, ClaimState::NotRun(_)))) {
            // The command for the whole list speaks for all of it.
            (true, false) if self.list.is_some() || unshown.is_empty() && not_judged.is_none() => {
                snapshot.shown = self.run_list(&state.folder, &mut claims)?;
            }
            (true, _) => {
                snapshot.shown =
                    Shown::NotRun(unshown.into_iter().chain(not_judged).collect::<Vec<_>>().join("; "));
            }
            (false, _) => told.extend(unshown.into_iter().chain(not_judged)),
        }
        not_interrupted()?;
        for claim in claims {
            let feature = &mut snapshot.features[claim.at];
            if claim.state.is_unverified() {
                snapshot.unverified.insert(feature.key.clone());
            } else {
                snapshot.unverified.remove(&feature.key);
            }
            let ClaimState::Refuted(why) = claim.state else { continue };
            disk::set_passes(&state.folder, &state.features, &feature.key, false)?;
            feature.passes = false;
            snapshot.taken_back.push(TakenBack { name: claim.name, why });
        }
        let LoopSnapshot { features, unverified, .. } = snapshot;
        unverified.retain(|key| features.iter().any(|feature| feature.passes && feature.key == *key));
        Ok(told)
    }

    /// Refutes the claims with no work of the session behind them.
    fn look_for_work(&self, state: &LoopState, snapshot: &LoopSnapshot, claims: &mut [Claim]) {
        if !claims.iter().any(|claim| claim.is_new && claim.is_open()) {
            return;
        }
        let work = match state.has_workspace_moved(snapshot.fingerprint.as_deref()) {
            Some(false) => Work::None,
            Some(true) if (self.has_session_worked)() == Some(false) => Work::Others,
            Some(true) | None => Work::Done,
        };
        refute_without_work(claims, work);
    }

    /// Runs the commands of features one after another, each once whatever shares it: they may want
    /// the same port, database or lock.
    fn run_commands(&self, folder: &Path, claims: &mut [Claim]) -> Result<(), String> {
        let mut ended: HashMap<String, ClaimState> = HashMap::new();
        for claim in claims {
            let Some(run) = claim.verify.clone() else { continue };
            claim.state = match ended.get(&run) {
                Some(state) => state.clone(),
                None if (self.is_allowed)(&run) => {
                    let state = self.run(folder, &claim.name, &run)?;
                    ended.insert(run, state.clone());
                    state
                }
                None => ClaimState::NotAllowed,
            };
        }
        Ok(())
    }

    /// Runs the whole list's command: where it fails, none of what was set to pass now is believed.
    /// Where nothing was, the list stays open as a whole.
    fn run_list(&self, folder: &Path, claims: &mut [Claim]) -> Result<Shown, String> {
        let Some(run) = self.list else { return Ok(Shown::Complete) };
        Ok(match self.run(folder, WHOLE_LIST, run)? {
            ClaimState::Refuted(how) if claims.is_empty() => Shown::ListFails(how),
            ClaimState::Refuted(why) => {
                for claim in claims {
                    claim.state = ClaimState::Refuted(why.clone());
                }
                Shown::Complete
            }
            ClaimState::NotRun(why) => Shown::NotRun(format!("`verify` of {WHOLE_LIST} was not run: {why}")),
            ClaimState::Unknown | ClaimState::Shown | ClaimState::NotAllowed | ClaimState::NotJudged => {
                for claim in claims.iter_mut().filter(|claim| claim.state.is_unverified()) {
                    claim.state = ClaimState::Shown;
                }
                Shown::Complete
            }
        })
    }

    /// Has several that were set at once judged, and those that nobody could judge before. Returns
    /// why some were not.
    fn ask(&mut self, features: &[Feature], claims: &mut [Claim]) -> Option<String> {
        let is_asked = |claim: &&mut Claim| claim.is_open() && (claim.is_new || !claim.state.has_command());
        let mut open: Vec<&mut Claim> = claims.iter_mut().filter(is_asked).collect();
        if open.len() < 2 && open.iter().all(|claim| claim.is_new) {
            return None;
        }
        let asked: Vec<&Feature> = open.iter().map(|claim| &features[claim.at]).collect();
        let judgements = match (self.judge)(&asked) {
            Ok(judgements) => judgements,
            Err(why) => {
                for claim in open {
                    claim.set_not_judged();
                }
                return Some(why);
            }
        };
        for (claim, judgement) in open.iter_mut().zip(judgements) {
            match judgement {
                // Whose command waits for a person's leave is shown by that command.
                Judgement::Built if claim.state == ClaimState::NotAllowed => {}
                Judgement::Built => claim.state = ClaimState::Shown,
                Judgement::NotBuilt(why) => claim.state = ClaimState::Refuted(why),
                Judgement::NotJudged => {}
            }
        }
        for claim in open.iter_mut().filter(|claim| claim.is_open()) {
            claim.set_not_judged();
        }
        let are_all_judged = open.iter().all(|claim| !claim.is_open());
        (!are_all_judged).then(|| "the reader did not judge them".to_owned())
    }

    /// Runs one command, in what is left of the time.
    fn run(&self, folder: &Path, name: &str, run: &str) -> Result<ClaimState, String> {
        let time = self.deadline.saturating_duration_since(Instant::now()).min(CHECK_TIMEOUT);
        if time.is_zero() {
            return Ok(ClaimState::NotRun(format!("there was no time left{}", self.hint)));
        }
        let ended = child::run(Job {
            // A command that starts a client of its own must not be blocked by us.
            env_set: vec![(env::INSIDE_AUDITOR.into(), "1".into())],
            ..Job::of_line(run, folder, time)
        });
        not_interrupted()?;
        Ok(match ended.how {
            Ending::TimedOut => {
                let hint =
                    if time < CHECK_TIMEOUT { self.hint } else { ", which is the most that it may take" };
                ClaimState::NotRun(format!("it did not end within {} s{hint}", time.as_secs().max(1)))
            }
            _ => state_of(&Ran::of(&check_of(name, run), &ended, time)),
        })
    }
}

/// Fails once a signal has come: what a command did then says nothing of the features.
fn not_interrupted() -> Result<(), String> {
    child::interrupted().map_or(Ok(()), |signal| Err(format!("ended by {signal}")))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;
    use crate::testing::started_loop;

    /// Settles a list in a folder of its own, all of which may run, within so many milliseconds.
    fn settled(
        before: &str,
        now: &str,
        list: Option<&str>,
        ms: u64,
    ) -> (tempfile::TempDir, LoopSnapshot, Vec<String>) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut state = started_loop(before);
        state.folder = folder.path().to_path_buf();
        fs::write(folder.path().join("feature_list.json"), now).expect("written");
        let mut snapshot = LoopSnapshot::read(&state).expect("read");
        let mut verifier = Verifier {
            list,
            is_allowed: &|_| true,
            deadline: Instant::now() + Duration::from_millis(ms),
            hint: ", all that there is",
            has_session_worked: &|| None,
            judge: &mut |asked| {
                // The reader speaks of the first forty.
                let judgement = |at| if at < 40 { Judgement::Built } else { Judgement::NotJudged };
                Ok((0..asked.len()).map(judgement).collect())
            },
        };
        let told = verifier.settle(&state, &mut snapshot).expect("settled");
        (folder, snapshot, told)
    }

    fn list(verify: &[&str], passes: bool) -> String {
        let one = |(at, run): (usize, &&str)| {
            let mut one = serde_json::json!({ "id": format!("F{}", at + 1), "passes": passes });
            if !run.is_empty() {
                one["verify"] = (*run).into();
            }
            one
        };
        verify.iter().enumerate().map(one).collect::<serde_json::Value>().to_string()
    }

    #[test]
    fn each_command_runs_once_and_none_beside_another() {
        let alone = "mkdir lock && echo x >> ran && sleep 0.2 && rmdir lock";
        let other = format!("{alone} && true");
        let commands = [alone, alone, &other];
        let (folder, snapshot, told) = settled(&list(&commands, false), &list(&commands, true), None, 60_000);
        assert_eq!((snapshot.taken_back, told), (vec![], vec![]));
        assert_eq!(fs::read_to_string(folder.path().join("ran")).expect("it ran"), "x\nx\n");
    }

    #[test]
    fn all_commands_share_one_deadline_and_what_was_not_run_keeps_the_loop_open() {
        let started = Instant::now();
        let slow = ["sleep 20", "sleep 21"];
        let (_folder, snapshot, told) =
            settled(&list(&slow, false), &list(&slow, true), Some("sleep 22"), 1_000);
        assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
        // A reader has judged both, so that only the whole list is left.
        let why = "`verify` of the whole list was not run: there was no time left, all that there is";
        assert_eq!((snapshot.shown, told), (Shown::NotRun(why.into()), vec![]));
        let (_folder, snapshot, told) = settled(&list(&slow[..1], false), &list(&slow[..1], true), None, 300);
        let why = "`verify` of feature F1 was not run: it did not end within 1 s, all that there is";
        assert_eq!((snapshot.shown, told), (Shown::NotRun(why.into()), vec![]));
        assert!(snapshot.unverified.contains("F1"));
    }

    #[test]
    fn the_whole_lists_command_is_asked_also_where_no_mark_is_new() {
        let all = list(&[""], true);
        let (_folder, snapshot, _) = settled(&all, &all, Some("exit 3"), 60_000);
        assert_eq!(snapshot.shown, Shown::ListFails("`exit 3` ended with exit code 3".into()));
        assert!(snapshot.features[0].passes, "a person's word is not taken back");
        let (_folder, snapshot, _) = settled(&all, &all, Some("true"), 60_000);
        assert_eq!(snapshot.shown, Shown::Complete);
    }

    #[test]
    fn what_the_reader_was_not_asked_about_is_told_and_stays_open() {
        let many = [""; 53];
        let (_folder, snapshot, told) = settled(&list(&many, false), &list(&many, true), None, 60_000);
        assert_eq!(snapshot.taken_back, []);
        let names: Vec<String> = (41..=50).map(|number| format!("F{number}")).collect();
        let line = format!(
            "{} and 3 more were set to pass at once, and nobody could judge that: the reader did not judge them. A \
             `verify` in the list would show it; `punchlist loop pass`, typed by you, takes your word",
            names.join(", ")
        );
        assert_eq!((snapshot.shown, told), (Shown::NotRun(line), vec![]));
        assert_eq!(snapshot.unverified.len(), 13);
    }
}
