//! Whether features that were set to pass do: what is found out about each, and what that comes to.
//! An agent that works through a list sets its own marks, so a mark alone is a claim. Pure:
//! `verify` runs the commands.

use super::features::Feature;
use super::state::LoopState;
use crate::checks::{Ran, Verdict};
use crate::config::{CHECK_TIMEOUT, CheckConfig, CheckOn, MAX_HOLDS};

/// A feature that was set to pass since the last look, or whose command could not be run then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Its index in the list.
    pub at: usize,
    /// Whether the mark is new; otherwise only its command is missing.
    pub is_new: bool,
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
    /// It was set to pass together with others, and nobody could judge them.
    NotJudged,
}

/// What happened in a loop's folder since the work was handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// The session changed something, or nobody can tell.
    Done,
    /// Nothing changed.
    None,
    /// Something changed, and the session had no hand in it.
    Others,
}

impl ClaimState {
    /// Whether a command would show it, and did not run.
    pub fn has_command(&self) -> bool {
        matches!(self, Self::NotRun(_) | Self::NotAllowed)
    }

    /// Whether it was looked into, and nothing shows that it passes.
    pub fn is_unverified(&self) -> bool {
        self.has_command() || *self == Self::NotJudged
    }
}

impl Claim {
    /// Records that nobody could judge it. Why its command was not run stays said.
    pub fn set_not_judged(&mut self) {
        if !self.state.has_command() {
            self.state = ClaimState::NotJudged;
        }
    }

    /// Whether only the agent says so.
    pub fn is_open(&self) -> bool {
        !matches!(self.state, ClaimState::Shown | ClaimState::Refuted(_))
    }
}

/// The features that were set to pass since the last look, each with its command, and, where all
/// are set to pass, those whose command could not be run. What the list said of a command when the
/// feature was first seen counts: whoever sets a mark could take the command out as well, or give
/// the feature another id.
pub fn claims(state: &LoopState, features: &[Feature]) -> Vec<Claim> {
    let all_pass = features.iter().all(|feature| feature.passes);
    let claim = |(at, feature): (usize, &Feature)| {
        let is_new = !state.passing.contains(&feature.key);
        let is_due = is_new || all_pass && state.unverified.contains(&feature.key);
        let verify = state.known_command(feature).or(feature.verify.as_deref()).map(String::from);
        let name = feature.display_name();
        is_due.then_some(Claim { at, is_new, name, verify, state: ClaimState::Unknown })
    };
    features.iter().enumerate().filter(|(_, feature)| feature.passes).filter_map(claim).collect()
}

/// What a loop is told where a feature was set to pass and nothing else happened, and where others
/// did what happened.
const NO_WORK: &str = "no file changed and nothing was committed since it was handed out. Where it works already, add a test that shows it";
const WORK_OF_OTHERS: &str = "what changed since it was handed out was not changed by this session. Where it works already, add a test that shows it";

/// Refutes what has no work of the session behind it.
pub fn refute_without_work(claims: &mut [Claim], work: Work) {
    let why = match work {
        Work::Done => return,
        Work::None => NO_WORK,
        Work::Others => WORK_OF_OTHERS,
    };
    for claim in claims.iter_mut().filter(|claim| claim.is_new && claim.is_open()) {
        claim.state = ClaimState::Refuted(why.to_owned());
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

/// How many names are told.
const MAX_NAMES: usize = 10;

/// What the person is told of features that nobody could judge, and why.
pub fn not_judged(claims: &[Claim], why: &str) -> Option<String> {
    let names = names_of(claims, |claim| claim.state == ClaimState::NotJudged)?;
    let count = claims.iter().filter(|claim| claim.state == ClaimState::NotJudged).count();
    let at_once = if count > 1 { " at once" } else { "" };
    Some(format!(
        "{names} set to pass{at_once}, and nobody could judge that: {why}. A `verify` in the list would show it; \
         `punchlist loop pass`, typed by you, takes your word"
    ))
}

/// The names of some of the claims, and the verb for as many; `None` where there are none.
fn names_of(claims: &[Claim], is_one: impl Fn(&Claim) -> bool) -> Option<String> {
    let names: Vec<&str> =
        claims.iter().filter(|claim| is_one(claim)).map(|claim| claim.name.as_str()).collect();
    let more = names.len().saturating_sub(MAX_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let verb = if names.len() == 1 { "was" } else { "were" };
    (!names.is_empty()).then(|| format!("{}{more} {verb}", names[..names.len().min(MAX_NAMES)].join(", ")))
}

/// What the person is told of commands that could not be run.
pub fn not_run(claims: &[Claim]) -> Vec<String> {
    let line = |claim: &Claim| match &claim.state {
        ClaimState::NotRun(why) => Some(format!("`verify` of feature {} was not run: {why}", claim.name)),
        _ => None,
    };
    claims.iter().filter_map(line).collect()
}

/// What the person is told of commands that nobody has allowed.
pub fn not_allowed(claims: &[Claim]) -> Option<String> {
    let words = "`verify` in the feature list does not run before you have looked at it: `punchlist allow`";
    let is_any = claims.iter().any(|claim| claim.state == ClaimState::NotAllowed);
    is_any.then(|| words.to_owned())
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
    fn a_new_id_took_the_command_away() {
        let renamed = BEFORE.replace(
            r#""id":"b","description":"y","verify":"npm test -- b"}"#,
            r#""id":"b2","description":"y","passes":true}"#,
        );
        assert_eq!(claimed(&renamed)[0].verify.as_deref(), Some("npm test -- b"));
        // Nor does the id of a feature that has no command.
        let swapped = renamed.replace(r#""id":"c""#, r#""id":"d""#).replace(r#""id":"b2""#, r#""id":"c""#);
        assert_eq!(claimed(&swapped)[0].verify.as_deref(), Some("npm test -- b"));
    }

    #[test]
    fn a_command_that_could_not_be_run_is_due_again_when_all_are_set_to_pass() {
        let mut state = started_loop(BEFORE);
        state.passing.insert("b".into());
        state.unverified.insert("b".into());
        let b = BEFORE.replace(r#"-- b"}"#, r#"-- b","passes":true}"#);
        assert_eq!(claims(&state, &features(&b)), [], "not while others are open");
        let all = b.replace(r#""z"}"#, r#""z","passes":true}"#);
        let mut claims = claims(&state, &features(&all));
        let seen: Vec<_> = claims.iter().map(|claim| (claim.at, claim.is_new)).collect();
        assert_eq!(seen, [(1, false), (2, true)]);
        refute_without_work(&mut claims, Work::None);
        assert!(claims[0].is_open(), "it was worked on before");
    }

    #[test]
    fn a_mark_with_no_work_behind_it_is_refuted_and_what_a_command_shows_is_not() {
        let all = BEFORE.replace('}', ",\"passes\":true}").replace("true,\"passes\":true", "true");
        let mut claims = claimed(&all);
        claims[0].state = ClaimState::Shown;
        let mut moved = claims.clone();
        refute_without_work(&mut claims, Work::None);
        assert_eq!(claims[0].state, ClaimState::Shown);
        assert_eq!(claims[1].state, ClaimState::Refuted(NO_WORK.into()));
        refute_without_work(&mut moved, Work::Done);
        assert!(moved[1].is_open());
        refute_without_work(&mut moved, Work::Others);
        assert_eq!(moved[1].state, ClaimState::Refuted(WORK_OF_OTHERS.into()));
    }

    #[test]
    fn what_a_command_printed_last_is_told_with_how_it_ended() {
        let took = std::time::Duration::ZERO;
        let ran = |verdict| Ran { name: "b".into(), run: "npm test".into(), verdict, took };
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
