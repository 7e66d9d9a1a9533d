//! When to step aside before any work: takes a stop and what is remembered of its session, gives the reason,
//! in the order of what is cheapest and surest. Pure.

use crate::config::Config;
use crate::decision::{Cause, Outcome};
use crate::env::{self, Env};
use crate::evidence::redact::mask;
use crate::hook::HookInput;
use crate::state::SwitchedOff;

/// Why this stop is none of our business, if it is not. `switch` and `blocks` are asked for only if needed: they
/// have to be read from the disk.
pub fn aside(
    input: &HookInput,
    env: &Env,
    config: &Config,
    switch: impl FnOnce() -> Option<SwitchedOff>,
    blocks: impl FnOnce() -> u32,
) -> Option<Outcome> {
    let pass = |cause, detail: String| Some(Outcome::Pass { cause, detail: Some(detail) });
    if env.get(env::INSIDE_AUDITOR).is_some() {
        return pass(Cause::InsideAuditor, "the hook fired inside its own auditor".into());
    }
    if !config.audit.enabled {
        let by = if env.switch(env::OFF) { env::OFF } else { "[audit] enabled = false" };
        return pass(Cause::Off, format!("switched off by {by}"));
    }
    if let Some(off) = switch() {
        return pass(Cause::Off, format!("switched off by `punchlist off` {}", off.what));
    }
    if input.stop_hook_active {
        return pass(Cause::LoopGuard, "the session was held already and goes on because of it".into());
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
    let (blocks, most) = (blocks(), config.audit.max_blocks);
    if blocks >= most {
        return pass(Cause::Budget, format!("the session was held {blocks} times, of {most} at the most"));
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
        config.audit.enabled = enabled;
        cause_of(aside(&input, &Env::from_pairs(vars.iter().copied()), &config, || None, || blocks))
    }

    fn cause_of(outcome: Option<Outcome>) -> Option<Cause> {
        outcome.map(|outcome| match outcome {
            Outcome::Pass { cause, .. } => cause,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn the_persons_switch_comes_before_what_the_client_says() {
        let input = HookInput::parse(ALL.as_bytes()).expect("input");
        let off = || Some(SwitchedOff { what: "for /w".into(), thrown: Thrown::default() });
        let outcome = aside(&input, &Env::default(), &Config::default(), off, || 9);
        let detail = Some("switched off by `punchlist off` for /w".to_owned());
        assert_eq!(outcome, Some(Outcome::Pass { cause: Cause::Off, detail }));
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
}
