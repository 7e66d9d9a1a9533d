//! The gate of the checks that a person set: runs those that are due side by side, and blocks if one fails. Which
//! are due and what an exit code means is `crate::checks`.

use std::io::Write as _;
use std::time::{Duration, Instant};

use super::{CheckedGate, Gate, GateResult, SessionView, StopContext};
use crate::audit::reason::SWITCH;
use crate::checks::{self, NotDue, Passed, Ran, Touched, Verdict, due};
use crate::child::{self, Job};
use crate::client::hook_input::Event;
use crate::config::{CheckConfig, CheckOn};
use crate::decision::{Cause, Outcome};
use crate::env;
use crate::ids::ContentId;
use crate::readers::Readers;
use crate::session::Command;
use crate::state::StateChange;
use crate::text::harmless;
use crate::timing;

/// No check is worth starting with less.
const LEAST_TIME: Duration = Duration::from_secs(1);
/// What is kept of what a check prints.
const OUTPUT_CAP: usize = 16 << 20;

#[derive(Debug)]
pub struct ChecksGate;

/// Whether a check is for stops of this kind.
pub fn is_for(check: &CheckConfig, event: &Event) -> bool {
    match event {
        Event::Stop => check.on != CheckOn::Subagent,
        Event::SubagentStop => check.on != CheckOn::Stop,
        Event::SessionStart | Event::Other(_) => false,
    }
}

impl Gate for ChecksGate {
    fn name(&self) -> &'static str {
        "checks"
    }

    fn check(&self, stop: &StopContext<'_>, _: &[CheckedGate], _: &mut Readers<'_>) -> GateResult {
        let mine: Vec<&CheckConfig> =
            stop.config.checks.iter().filter(|check| is_for(check, &stop.input.event)).collect();
        let touched = touched(stop.view());
        let (mut to_run, mut idle) = (Vec::new(), Vec::new());
        for check in mine {
            match due(check, &touched, stop.saved().checks.get(&key(stop, check))) {
                Ok(passed) => to_run.push((check, passed)),
                Err(why) => idle.push((check, why)),
            }
        }
        if to_run.is_empty() {
            return pass(&idle, &[]).into();
        }
        let unread = to_run.iter().any(|(check, _)| check.needs_leave);
        to_run.retain(|(check, _)| !check.needs_leave);
        let ran = stop.phases.time(timing::CHECKS, || run_all(stop, &to_run));
        if !stop.is_background() {
            say(&ran);
        }
        // What a check itself writes is no change of the session: it passed with the files as they are now. In the
        // background the session may have gone on meanwhile.
        let after = if stop.is_background() { touched } else { self::touched(stop.view()) };
        let mut change = StateChange::default();
        for ((check, before), ran) in to_run.iter().zip(&ran) {
            if ran.verdict == Verdict::Passed {
                let passed = due(check, &after, None).unwrap_or_else(|_| before.clone());
                change.checks.insert(key(stop, check), passed);
            }
        }
        if let Some(reason) = checks::reason(&ran, SWITCH) {
            return GateResult { change, ..Outcome::block(Cause::CheckFailed, reason).into() };
        }
        let unread = unread.then(|| not_allowed(stop, &mut change)).flatten();
        let outcome = match (checks::unchecked(&ran), unread) {
            (None, None) => pass(&idle, &ran),
            (unchecked, unread) => {
                let told: Vec<String> = unchecked.into_iter().chain(unread).collect();
                Outcome::could_not_check(Cause::CheckNotMade, told.join("; "))
            }
        };
        GateResult { change, ..outcome.into() }
    }
}

/// The name of a check in the state. What a subagent touched is not what the main agent touched.
fn key(stop: &StopContext<'_>, check: &CheckConfig) -> String {
    match stop.agent() {
        "" => check.name.clone(),
        agent => format!("{agent}: {}", check.name),
    }
}

/// Tells the person once a session of checks that are not allowed.
fn not_allowed(stop: &StopContext<'_>, change: &mut StateChange) -> Option<String> {
    let words =
        "the project's checks do not run before you have looked at them: `punchlist allow`".to_owned();
    let name = ContentId::of(&words);
    if stop.saved().told.contains(&name) || stop.is_background() {
        return None;
    }
    change.told.insert(name);
    Some(words)
}

fn pass(idle: &[(&CheckConfig, NotDue)], ran: &[Ran]) -> Outcome {
    let passed = ran.iter().map(|ran| format!("{} passed", ran.name));
    let idle = idle.iter().map(|(check, why)| {
        let why = match why {
            NotDue::NothingTouched => "touched nothing that it cares about",
            NotDue::PassedAlready => "touched nothing since it passed",
        };
        format!("{}: the session {why}", check.name)
    });
    let detail: Vec<String> = passed.chain(idle).collect();
    Outcome::pass(Cause::Clean, detail.join("; "))
}

/// The files that the session touched, as they are now: with its tools and, where commands may have changed
/// something, all that is newer than the session.
fn touched(view: &SessionView) -> Touched {
    let SessionView { session, workspace, .. } = view;
    let mut touched = Touched::new();
    for touch in session.done_touches() {
        if let Some(place) = workspace.locate(&touch.path) {
            let stamp = workspace.stamp(&place).map(|stamp| (stamp.bytes, stamp.changed_ns));
            touched.insert(place.name, stamp);
        }
    }
    if session.commands.iter().any(Command::may_have_effects) {
        let (changed, _) = workspace.changed_since(session.started.as_deref());
        touched.extend(changed.into_iter().map(|(name, stamp)| (name, Some(stamp))));
    }
    touched
}

fn run_all(stop: &StopContext<'_>, due: &[(&CheckConfig, Passed)]) -> Vec<Ran> {
    let for_the_audit = if stop.config.audit.enabled { stop.config.auditor.timeout } else { Duration::ZERO };
    // An audit without time is worth less than a check without: the disk speaks for itself.
    let left = stop.work_deadline().saturating_duration_since(Instant::now());
    let left = left.saturating_sub(for_the_audit).max(LEAST_TIME);
    let allowed = |check: &CheckConfig| check.timeout.min(left);
    let jobs = due.iter().map(|(check, _)| job(stop, check, allowed(check))).collect();
    let ended = child::run_all(jobs);
    due.iter().zip(ended).map(|((check, _), ended)| Ran::of(check, &ended, allowed(check))).collect()
}

fn job(stop: &StopContext<'_>, check: &CheckConfig, deadline: Duration) -> Job {
    let (program, args) = child::shell(&check.run);
    Job {
        program,
        args,
        cwd: stop.project.to_path_buf(),
        // A check that starts a client of its own must not be blocked by us.
        env_set: vec![(env::INSIDE_AUDITOR.into(), "1".into())],
        env_unset: Vec::new(),
        stdin: Vec::new(),
        deadline,
        stdout_cap: OUTPUT_CAP,
        stderr_cap: OUTPUT_CAP,
    }
}

/// Prints how each check ended on stderr, for the client's debug log.
fn say(ran: &[Ran]) {
    let mut stderr = std::io::stderr().lock();
    for ran in ran {
        let (verdict, output) = match &ran.verdict {
            Verdict::Passed => ("passed", ""),
            Verdict::Failed { how, output } => (how.as_str(), output.as_str()),
            Verdict::CouldNotRun(why) => (why.as_str(), ""),
        };
        let name = harmless(&ran.name).replace('\n', " ");
        let _ = writeln!(stderr, "{name} | {} ({:.1} s)", harmless(verdict), ran.took.as_secs_f64());
        for line in output.lines() {
            let _ = writeln!(stderr, "{name} | {}", harmless(line));
        }
    }
}
