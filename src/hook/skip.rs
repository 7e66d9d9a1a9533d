//! Whether a stop is skipped before any work, cheapest and surest reasons first; last comes its
//! lock, so that one stop is decided by one process. Must not wait, except for a background audit
//! that a newer stop supersedes.

use crate::client::hook_input::{Event, HookInput};
use crate::config::Config;
use crate::decision::{Cause, NEWER_STOP, Outcome};
use crate::env::{self, Env};
use crate::gates::StopContext;
use crate::hook::recount;
use crate::redact::mask;
use crate::state::{Acquired, SessionState, StopLock, SwitchedOff, stop_name};

/// Which gates skip a stop, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skip {
    All(Outcome),
    /// All but those that keep a session working, or that recheck what they blocked for.
    Guarded(Outcome),
}

/// Returns why a stop is skipped. `keeps_looking` tells whether a gate is set that runs even if the
/// loop guard or a spent budget stops the others.
pub fn skip<'s>(
    input: &HookInput,
    env: &Env,
    config: &Config,
    keeps_looking: bool,
    off: Option<&SwitchedOff>,
    saved: impl FnOnce() -> &'s SessionState,
) -> Option<Skip> {
    let all = |cause, detail: String| Some(Skip::All(Outcome::pass(cause, detail)));
    let guarded = |outcome| Some(if keeps_looking { Skip::Guarded(outcome) } else { Skip::All(outcome) });
    if env.get(env::INSIDE_AUDITOR).is_some() {
        return all(Cause::InsideAuditor, "the hook fired inside its own reader".into());
    }
    if !config.gates.enabled {
        let by = if env.switch(env::OFF) { env::OFF } else { "[gates] enabled = false" };
        return all(Cause::Off, format!("switched off by {by}"));
    }
    if let Some(off) = off {
        return all(Cause::Off, format!("switched off by `punchlist off` {}", off.what));
    }
    let loop_guard =
        || Outcome::pass(Cause::LoopGuard, "the session was blocked already and continues because of it");
    if input.stop_hook_active && !keeps_looking {
        return Some(Skip::All(loop_guard()));
    }
    if input.permission_mode.as_deref() == Some("plan") {
        return all(Cause::PlanMode, "the session is planning".into());
    }
    let running: Vec<_> =
        input.running_tasks().map(|task| format!("{} ({})", task.description, task.kind)).collect();
    if !running.is_empty() {
        // The descriptions are the agent's text, and go to the log.
        return all(Cause::BackgroundWork, format!("still running: {}", mask(&running.join(", ")).text));
    }
    let saved = saved();
    // A session that was only kept working has done work since, which no other gate has checked
    // yet.
    if input.stop_hook_active && !saved.kept_working {
        return guarded(loop_guard());
    }
    let (blocks, most) = (saved.blocks, config.gates.max_blocks);
    if blocks >= most {
        let detail = format!("the session was blocked {blocks} times; the limit is {most}");
        return guarded(Outcome::pass(Cause::Budget, detail));
    }
    None
}

/// Returns why no gate is set for a stop.
pub fn unset(stop: &StopContext<'_>, is_empty: bool) -> Option<Outcome> {
    let agent_type = stop.input.agent_type.as_deref().unwrap_or_default();
    if stop.input.event == Event::SubagentStop && !stop.config.subagents.includes(agent_type) {
        let why = format!("agents of type \"{agent_type}\" are not checked ([subagents])");
        return Some(Outcome::pass(Cause::NothingToAudit, why));
    }
    let why = if stop.config.audit.enabled {
        "[subagents] audit = false, and no check is set for subagents"
    } else {
        "switched off by [audit] enabled = false, and no other gate is set"
    };
    is_empty.then(|| Outcome::pass(Cause::Off, why))
}

/// What the person is told where a lock is never given up.
const HELD: &str = "this stop was not checked: something holds the lock of its session";

/// Takes the lock of a stop, and reads the state of its session again: the client runs a hook that
/// is registered twice at the same time, and the other one may have decided the stop since the
/// state was first read. The error is the outcome if this process has nothing to decide.
pub fn lock(stop: &StopContext<'_>) -> Result<(StopLock, SessionState), Outcome> {
    let stopped_before = stop.state.stopped_before(stop.session, stop.agent());
    let acquired = if let Some(newest) = stop.newest {
        newest.acquire()
    } else {
        let (name, deadline) = (stop_name(stop.input), stop.work_deadline());
        // A hook of ours would have decided by then.
        let lock = stop.state.lock_stop(stop.session, stop.agent(), &name, deadline);
        let lock = lock.ok_or_else(|| Outcome::could_not_check(Cause::StateUnusable, HELD))?;
        Acquired::Lock { lock, is_second: true }
    };
    let unchanged = |why| Err(Outcome::pass(Cause::Unchanged, why));
    let (lock, may_be_decided) = match acquired {
        Acquired::Lock { lock, is_second } => (lock, is_second),
        Acquired::InHand => return unchanged("another hook is handling this stop"),
        Acquired::Superseded => return Err(Outcome::pass(Cause::Superseded, NEWER_STOP)),
    };
    // Looked for now: the hook that was waited for may have written it.
    let has_state = stop.state.has_session(stop.session);
    if !has_state && let Some(outcome) = recount::outcome_if_counted(stop, stopped_before) {
        return Err(outcome);
    }
    let saved = stop.state.session(stop.session).map_err(|error| recount::outcome(stop, &error))?;
    let audited = saved.audits.get(stop.agent()).map(|last| last.decided_ms);
    let blocked = saved.blocked_ms.get(stop.agent()).copied();
    // A decision from the future means that the clock jumped back.
    let since_start = stop.started_ms.saturating_add(1)..=crate::clock::now().as_millisecond();
    if may_be_decided && audited.into_iter().chain(blocked).any(|decided| since_start.contains(&decided)) {
        return unchanged("another hook has decided this stop");
    }
    Ok((lock, saved))
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
        let saved = SessionState { blocks, ..SessionState::default() };
        skip(&input, &env, &config, false, None, || &saved).map(|skip| match skip {
            Skip::All(outcome) => outcome.cause,
            Skip::Guarded(outcome) => panic!("no gate keeps working: {outcome:?}"),
        })
    }

    #[test]
    fn the_persons_switch_comes_before_what_the_client_says() {
        let input = HookInput::parse(ALL.as_bytes()).expect("input");
        let off = SwitchedOff { what: "for /w".into(), thrown: Thrown::default(), is_ours: true };
        let (env, config, saved) = (Env::default(), Config::default(), SessionState::default());
        let outcome = skip(&input, &env, &config, true, Some(&off), || &saved);
        let passed = Outcome::pass(Cause::Off, "switched off by `punchlist off` for /w");
        assert_eq!(outcome, Some(Skip::All(passed)));
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

    fn guarded(json: &str, saved: &SessionState) -> Option<Skip> {
        let input = HookInput::parse(json.as_bytes()).expect("input");
        skip(&input, &Env::default(), &Config::default(), true, None, || saved)
    }

    #[test]
    fn gates_that_keep_a_session_at_work_look_where_the_others_must_not() {
        let active = r#"{"stop_hook_active":true}"#;
        let spent = SessionState { blocks: 3, ..SessionState::default() };
        for (json, saved, cause) in [
            (active, &SessionState::default(), Cause::LoopGuard),
            (active, &spent, Cause::LoopGuard),
            ("{}", &spent, Cause::Budget),
        ] {
            match guarded(json, saved) {
                Some(Skip::Guarded(outcome)) => assert_eq!(outcome.cause, cause, "{json}"),
                other => panic!("{json}: {other:?}"),
            }
        }
        assert!(matches!(guarded(ALL, &SessionState::default()), Some(Skip::All(_))), "it plans");
    }

    #[test]
    fn after_a_hold_that_only_kept_it_at_work_everybody_looks_again() {
        let kept = |blocks| SessionState { blocks, kept_working: true, ..SessionState::default() };
        assert_eq!(guarded(r#"{"stop_hook_active":true}"#, &kept(0)), None);
        let spent = guarded(r#"{"stop_hook_active":true}"#, &kept(3));
        assert!(matches!(spent, Some(Skip::Guarded(Outcome { cause: Cause::Budget, .. }))));
    }
}
