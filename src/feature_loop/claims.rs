//! Whether features that were set to pass do: what is found out about each, and what that comes to. An agent that
//! works through a list sets its own marks, so a mark alone is a claim. Pure: `verify` runs the commands.

use std::time::Duration;

use super::features::Feature;
use super::state::LoopState;
use crate::checks::{Ran, Verdict};
use crate::config::{CHECK_TIMEOUT, CheckConfig, CheckOn, MAX_HOLDS};

/// A feature that was set to pass since the last look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Its index in the list.
    pub at: usize,
    pub name: String,
    /// The command that shows whether it passes.
    pub verify: Option<String>,
    pub state: ClaimState,
}

/// What was found out about a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimState {
    /// Nothing yet.
    Unknown,
    /// Its command succeeded, or a reader says that it was built.
    Shown,
    /// Why it does not pass.
    Refuted(String),
    /// Its command could not be run, and why.
    NotRun(String),
    /// Its command is not allowed to run.
    NotAllowed,
}

impl Claim {
    /// Whether only the agent says so.
    pub fn is_open(&self) -> bool {
        !matches!(self.state, ClaimState::Shown | ClaimState::Refuted(_))
    }
}

/// The features that were set to pass since the last look, each with its command. What the list said of that when the
/// feature was first seen counts: whoever sets a mark could take the command out as well.
pub fn claims(state: &LoopState, features: &[Feature]) -> Vec<Claim> {
    let is_new = |feature: &Feature| feature.passes && !state.passing.contains(&feature.key);
    let claim = |(at, feature): (usize, &Feature)| {
        let known = state.known_features.iter().find(|known| known.key == feature.key);
        let verify = known.and_then(|known| known.verify.clone()).or_else(|| feature.verify.clone());
        Claim { at, name: feature.display_name(), verify, state: ClaimState::Unknown }
    };
    features.iter().enumerate().filter(|(_, feature)| is_new(feature)).map(claim).collect()
}

/// What a loop is told where a feature was set to pass and nothing else happened.
const NO_WORK: &str = "no file changed and nothing was committed since it was handed out. Where it works already, add a test that shows it";

/// Refutes what has no work behind it: nothing in the folder has moved since the work was handed out.
pub fn refute_without_work(claims: &mut [Claim], has_moved: Option<bool>) {
    for claim in claims.iter_mut().filter(|claim| claim.is_open() && has_moved == Some(false)) {
        claim.state = ClaimState::Refuted(NO_WORK.to_owned());
    }
}

/// The check that a command of the list is.
pub fn check_of(name: &str, run: &str) -> CheckConfig {
    CheckConfig {
        name: name.to_owned(),
        run: run.to_owned(),
        when: Vec::new(),
        timeout: CHECK_TIMEOUT,
        on: CheckOn::Stop,
        max_holds: MAX_HOLDS,
        needs_leave: false,
    }
}

/// How much is told of what a command printed: it is in the middle of a prompt.
const OUTPUT_LINES: usize = 8;

/// What a run of a command says of the feature that it shows.
pub fn state_of(ran: &Ran) -> ClaimState {
    match &ran.verdict {
        Verdict::Passed => ClaimState::Shown,
        Verdict::Failed { how, output } => {
            let lines: Vec<&str> = output.lines().collect();
            let last = &lines[lines.len().saturating_sub(OUTPUT_LINES)..];
            let printed: String = last.iter().map(|line| format!("\n   | {line}")).collect();
            ClaimState::Refuted(format!("`{}` {how}{printed}", ran.run))
        }
        Verdict::CouldNotRun(why) => ClaimState::NotRun(why.clone()),
    }
}

/// How long the commands may take where this much is left: without time for the rest nobody would hear of them.
pub fn time_for(left: Duration) -> Duration {
    left.min(CHECK_TIMEOUT)
}

/// What the person is told of claims that nobody could look into.
pub fn told(claims: &[Claim], unread: Option<&str>) -> Vec<String> {
    let mut told = Vec::new();
    for claim in claims {
        if let ClaimState::NotRun(why) = &claim.state {
            told.push(format!("`verify` of feature {} was not run: {why}", claim.name));
        }
    }
    if claims.iter().any(|claim| claim.state == ClaimState::NotAllowed) {
        told.push(
            "`verify` in the feature list does not run before you have looked at it: `punchlist allow`"
                .into(),
        );
    }
    if let Some(why) = unread {
        let names: Vec<&str> =
            claims.iter().filter(|claim| claim.is_open()).map(|claim| claim.name.as_str()).collect();
        told.push(format!("{} pass at the agent's word alone: {why}", names.join(", ")));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{features, started_loop};

    const BEFORE: &str = r#"[{"id":"a","description":"x","passes":true},{"id":"b","description":"y","verify":"npm test -- b"},
        {"id":"c","description":"z"}]"#;

    fn claimed(now: &str) -> Vec<Claim> {
        claims(&started_loop(BEFORE), &features(now))
    }

    #[test]
    fn what_was_set_to_pass_is_a_claim_with_the_command_that_the_list_began_with() {
        let now = BEFORE.replace(r#","verify":"npm test -- b"}"#, r#","verify":"true","passes":true}"#);
        let claims = claimed(&now);
        let seen: Vec<_> = claims.iter().map(|claim| (claim.at, claim.verify.as_deref())).collect();
        assert_eq!(seen, [(1, Some("npm test -- b"))], "the command was swapped");
        let gone = BEFORE.replace(r#","verify":"npm test -- b"}"#, r#","passes":true}"#);
        assert_eq!(claimed(&gone)[0].verify.as_deref(), Some("npm test -- b"), "the command was taken out");
        assert_eq!(claimed(BEFORE), []);
    }

    #[test]
    fn a_mark_with_no_work_behind_it_is_refuted_and_what_a_command_shows_is_not() {
        let all = BEFORE.replace("}", ",\"passes\":true}").replace("true,\"passes\":true", "true");
        let mut claims = claimed(&all);
        claims[0].state = ClaimState::Shown;
        let mut moved = claims.clone();
        refute_without_work(&mut claims, Some(false));
        assert_eq!(claims[0].state, ClaimState::Shown);
        assert_eq!(claims[1].state, ClaimState::Refuted(NO_WORK.into()));
        for has_moved in [Some(true), None] {
            refute_without_work(&mut moved, has_moved);
            assert!(moved[1].is_open(), "{has_moved:?}");
        }
    }

    #[test]
    fn what_a_command_printed_last_is_told_with_how_it_ended() {
        let ran = |verdict| Ran { name: "b".into(), run: "npm test".into(), verdict, took: Duration::ZERO };
        let output = (1..=20).map(|n| format!("line {n}\n")).collect();
        let failed = state_of(&ran(Verdict::Failed { how: "ended with exit code 1".into(), output }));
        let ClaimState::Refuted(why) = failed else { panic!("{failed:?}") };
        assert!(why.starts_with("`npm test` ended with exit code 1\n   | line 13\n"), "{why}");
        assert!(why.ends_with("\n   | line 20"), "{why}");
        assert_eq!(state_of(&ran(Verdict::Passed)), ClaimState::Shown);
        let missing = state_of(&ran(Verdict::CouldNotRun("there is no npm".into())));
        assert_eq!(missing, ClaimState::NotRun("there is no npm".into()));
    }
}
