//! Looks into features that were set to pass: runs their commands and that of the whole list, takes back the marks of
//! what does not pass, and says why. Must not run a command that nobody allowed, nor decide what comes next.

use std::path::Path;
use std::time::Duration;

use super::claims::{Claim, ClaimState, check_of, claims, refute_without_work, state_of, time_for, told};
use super::disk;
use super::features::Feature;
use super::snapshot::LoopSnapshot;
use super::state::LoopState;
use crate::checks::Ran;
use crate::child::{self, Job};
use crate::env;

/// What a look into the claims goes by.
pub struct Verifier<'a> {
    /// The command for the whole list, run before a loop is complete.
    pub list: Option<&'a str>,
    /// Whether a person has allowed a command of the list.
    pub is_allowed: &'a dyn Fn(&str) -> bool,
    /// How long the commands may take.
    pub time: Duration,
    /// Judges features that were set to pass at once; an error says why nobody could.
    pub judge: &'a mut dyn FnMut(&[&Feature]) -> Result<NotBuilt, String>,
}

/// Why each of some features was not built, where a reader says so.
pub type NotBuilt = Vec<Option<String>>;

/// A mark that was taken back, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenBack {
    pub name: String,
    pub why: String,
}

/// The name of the whole list's command.
const WHOLE_LIST: &str = "the whole list";

impl Verifier<'_> {
    /// Looks into what was set to pass since the last look. Marks that do not hold are taken back, in the file and in the
    /// snapshot. Returns what the person is told.
    pub fn settle(&mut self, state: &LoopState, snapshot: &mut LoopSnapshot) -> Result<Vec<String>, String> {
        let mut claims = claims(state, &snapshot.features);
        if claims.is_empty() {
            return Ok(Vec::new());
        }
        self.run_commands(&state.folder, &mut claims);
        refute_without_work(&mut claims, state.has_workspace_moved(snapshot.fingerprint.as_deref()));
        let unread = self.ask(&snapshot.features, &mut claims);
        let mut told = told(&claims, unread.as_deref());
        let is_refuted = |at: usize| {
            claims.iter().any(|claim| claim.at == at && matches!(claim.state, ClaimState::Refuted(_)))
        };
        let all_pass = snapshot.features.iter().enumerate().all(|(at, one)| one.passes && !is_refuted(at));
        if all_pass && state.changes(&snapshot.features).gone.is_empty() {
            told.extend(self.run_list(&state.folder, &mut claims));
        }
        for claim in claims {
            let ClaimState::Refuted(why) = claim.state else { continue };
            let feature = &mut snapshot.features[claim.at];
            disk::set_passes(&state.folder, &state.features, &feature.key, false)?;
            feature.passes = false;
            snapshot.taken_back.push(TakenBack { name: claim.name, why });
        }
        Ok(told)
    }

    /// Runs the commands of features, side by side.
    fn run_commands(&self, folder: &Path, claims: &mut [Claim]) {
        let mut to_run = Vec::new();
        for claim in claims.iter_mut() {
            match claim.verify.clone() {
                Some(run) if (self.is_allowed)(&run) => to_run.push((claim, run)),
                Some(_) => claim.state = ClaimState::NotAllowed,
                None => {}
            }
        }
        let lines: Vec<(&str, &str)> =
            to_run.iter().map(|(claim, run)| (claim.name.as_str(), run.as_str())).collect();
        let ran = self.run(folder, &lines);
        for ((claim, _), ran) in to_run.into_iter().zip(&ran) {
            claim.state = state_of(ran);
        }
    }

    /// Runs the whole list's command: where it fails, none of what was set to pass now is believed.
    fn run_list(&self, folder: &Path, claims: &mut [Claim]) -> Option<String> {
        let run = self.list?;
        let ran = self.run(folder, &[(WHOLE_LIST, run)]);
        match state_of(ran.first()?) {
            ClaimState::Refuted(why) => {
                for claim in claims {
                    claim.state = ClaimState::Refuted(why.clone());
                }
                None
            }
            ClaimState::NotRun(why) => Some(format!("`verify` of {WHOLE_LIST} was not run: {why}")),
            ClaimState::Unknown | ClaimState::Shown | ClaimState::NotAllowed => None,
        }
    }

    /// Has several that were set at once judged. Returns why nobody could.
    fn ask(&mut self, features: &[Feature], claims: &mut [Claim]) -> Option<String> {
        let open: Vec<usize> = (0..claims.len()).filter(|at| claims[*at].is_open()).collect();
        if open.len() < 2 {
            return None;
        }
        let asked: Vec<&Feature> = open.iter().map(|at| &features[claims[*at].at]).collect();
        match (self.judge)(&asked) {
            Ok(verdicts) => {
                for (at, why) in open.into_iter().zip(verdicts) {
                    claims[at].state = why.map_or(ClaimState::Shown, ClaimState::Refuted);
                }
                None
            }
            Err(why) => Some(why),
        }
    }

    fn run(&self, folder: &Path, lines: &[(&str, &str)]) -> Vec<Ran> {
        let time = time_for(self.time);
        let job = |(_, run): &(&str, &str)| Job {
            // A command that starts a client of its own must not be blocked by us.
            env_set: vec![(env::INSIDE_AUDITOR.into(), "1".into())],
            ..Job::of_line(run, folder, time)
        };
        let ended = child::run_all(lines.iter().map(job).collect());
        let checks = lines.iter().map(|(name, run)| check_of(name, run));
        checks.zip(ended).map(|(check, ended)| Ran::of(&check, &ended, time)).collect()
    }
}
