//! When to step aside before any work: takes a stop and what is remembered of its session, gives the reason,
//! in the order of what is cheapest and surest. Pure.

use crate::config::Config;
use crate::decision::{Cause, Outcome};
use crate::env::{self, Env};
use crate::hook::HookInput;
use crate::redact::mask;
use crate::state::{SessionState, SwitchedOff};

/// Who steps aside, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skip {
    /// Everybody.
    All(Outcome),
    /// All but the gates that keep a session at work.
    Guarded(Outcome),
}

/// Why this stop is none of our business, if it is not. `switch` and `remembered` are asked for only if needed: they
/// have to be read from the disk. `keeps_working` says whether any gate that keeps sessions at work is set.
pub fn aside(
    input: &HookInput,
    env: &Env,
    config: &Config,
    keeps_working: bool,
    switch: impl FnOnce() -> Option<SwitchedOff>,
    remembered: impl FnOnce() -> SessionState,
) -> Option<Skip> {
    let outcome = |cause, detail: String| Outcome::Pass { cause, detail: Some(detail) };
    let pass = |cause, detail: String| Some(Skip::All(outcome(cause, detail)));
    if env.get(env::INSIDE_AUDITOR).is_some() {
        return pass(Cause::InsideAuditor, "the hook fired inside its own reader".into());
    }
    if !config.gates.enabled {
        let by = if env.switch(env::OFF) { env::OFF } else { "[gates] enabled = false" };
        return pass(Cause::Off, format!("switched off by {by}"));
    }
    if let Some(off) = switch() {
        return pass(Cause::Off, format!("switched off by `punchlist off` {}", off.what));
    }
    let guard = input
        .stop_hook_active
        .then(|| outcome(Cause::LoopGuard, "the session was held already and goes on because of it".into()));
    if let Some(guard) = guard.as_ref().filter(|_| !keeps_working) {
        return Some(Skip::All(guard.clone()));
    }
    if input.permission_mode.as_deref() == Some("plan") {
        return pass(Cause::PlanMode, "the session is planning".into());
    }
    let running: Vec<_> =
        input.running_tasks().map(|task| format!("{} ({})", task.description, task.kind)).collect();
    if !running.is_empty() {
        // The descriptions are the agent's words, and go into the log.
        return pass(Cause::BackgroundWork, format!("still running: {}", mask(&running.join(", ")).text));
    }
    let remembered = remembered();
    // Who was only kept at work has done a stretch of it since, and nobody has looked at that yet.
    if let Some(guard) = guard.filter(|_| !remembered.kept_working) {
        return Some(Skip::Guarded(guard));
    }
    let (blocks, most) = (remembered.blocks, config.gates.max_blocks);
    if blocks >= most {
        let spent =
            outcome(Cause::Budget, format!("the session was held {blocks} times, of {most} at the most"));
        return Some(if keeps_working { Skip::Guarded(spent) } else { Skip::All(spent) });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Thrown;

    fn cause(json: &str, vars: &[(&str, &str)], enabled: bool, blocks: u32) -> Option<Cause> {
        let input = HookInput::parse(json.as_bytes()).expect("input");
        let mut config = Config::default();
        config.gates.enabled = enabled;
        let env = Env::from_pairs(vars.iter().copied());
        let remembered = || SessionState { blocks, ..SessionState::default() };
        aside(&input, &env, &config, false, || None, remembered).map(|aside| match aside {
            Skip::All(outcome) => outcome.cause(),
            Skip::Guarded(outcome) => panic!("no gate keeps working: {outcome:?}"),
        })
    }

    #[test]
    fn the_persons_switch_comes_before_what_the_client_says() {
        let input = HookInput::parse(ALL.as_bytes()).expect("input");
        let off = || Some(SwitchedOff { what: "for /w".into(), thrown: Thrown::default() });
        let outcome = aside(&input, &Env::default(), &Config::default(), true, off, SessionState::default);
        let detail = Some("switched off by `punchlist off` for /w".to_owned());
        assert_eq!(outcome, Some(Skip::All(Outcome::Pass { cause: Cause::Off, detail })));
    }

    const ALL: &str = r#"{"stop_hook_active":true,"permission_mode":"plan","background_tasks":[{"id":"1","status":"running"}]}"#;

    #[test]
    fn the_order_is_the_documented_one() {
        let inside = [(env::INSIDE_AUDITOR, "1")];
        assert_eq!(cause(ALL, &inside, false, 9), Some(Cause::InsideAuditor));
        assert_eq!(cause(ALL, &[], false, 9), Some(Cause::Off));
        assert_eq!(cause(ALL, &[], true, 9), Some(Cause::LoopGuard));
        let planning = ALL.replace("true", "false");
        assert_eq!(cause(&planning, &[], true, 9), Some(Cause::PlanMode));
        let working = planning.replace("plan", "default");
        assert_eq!(cause(&working, &[], true, 9), Some(Cause::BackgroundWork));
        assert_eq!(cause("{}", &[], true, 3), Some(Cause::Budget));
        assert_eq!(cause("{}", &[], true, 2), None);
    }

    fn guarded(json: &str, remembered: SessionState) -> Option<Skip> {
        let input = HookInput::parse(json.as_bytes()).expect("input");
        aside(&input, &Env::default(), &Config::default(), true, || None, || remembered)
    }

    #[test]
    fn gates_that_keep_a_session_at_work_look_where_the_others_must_not() {
        let active = r#"{"stop_hook_active":true}"#;
        let spent = SessionState { blocks: 3, ..SessionState::default() };
        for (json, remembered, cause) in [
            (active, SessionState::default(), Cause::LoopGuard),
            (active, spent.clone(), Cause::LoopGuard),
            ("{}", spent, Cause::Budget),
        ] {
            match guarded(json, remembered) {
                Some(Skip::Guarded(outcome)) => assert_eq!(outcome.cause(), cause, "{json}"),
                other => panic!("{json}: {other:?}"),
            }
        }
        assert!(matches!(guarded(ALL, SessionState::default()), Some(Skip::All(_))), "it plans");
    }

    #[test]
    fn after_a_hold_that_only_kept_it_at_work_everybody_looks_again() {
        let kept = |blocks| SessionState { blocks, kept_working: true, ..SessionState::default() };
        assert_eq!(guarded(r#"{"stop_hook_active":true}"#, kept(0)), None);
        let spent = guarded(r#"{"stop_hook_active":true}"#, kept(3));
        assert!(matches!(spent, Some(Skip::Guarded(Outcome::Pass { cause: Cause::Budget, .. }))));
    }
}
