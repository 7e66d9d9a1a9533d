//! The gate of the checks that a person set: runs those that are due side by side, and blocks if
//! one fails, again and again until it passes or has held as often as it may. Which are due and
//! what an exit code means is `crate::checks`.

use std::io::Write as _;
use std::time::{Duration, Instant};

use super::touched::touched;
use super::{CheckedGate, Gate, GateDetails, GateResult, StopContext, consecutive_blocks};
use crate::audit::reason::closing;
use crate::checks::hold::{CheckOutcome, Hold, nothing_changed, outcome_of, passes_now, still_fails};
use crate::checks::{self, NotDue, Passed, Ran, Touched, Verdict, due};
use crate::child::{self, Job};
use crate::client::hook_input::Event;
use crate::config::{CheckConfig, CheckOn};
use crate::decision::{Cause, Outcome};
use crate::env;
use crate::ids::ContentId;
use crate::readers::Readers;
use crate::state::StateChange;
use crate::text::harmless;
use crate::timing;

pub const NAME: &str = "checks";

/// No check is worth starting with less.
const LEAST_TIME: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct ChecksGate;

/// Whether a check is for stops of this kind.
pub fn is_for(check: &CheckConfig, event: &Event) -> bool {
    match event {
        Event::Stop => check.on != CheckOn::Subagent,
        Event::SubagentStop => check.on != CheckOn::Stop,
        Event::SessionStart | Event::PromptSubmit | Event::Other(_) => false,
    }
}

impl Gate for ChecksGate {
    fn name(&self) -> &'static str {
        NAME
    }

    fn looks_again(&self, stop: &StopContext<'_>) -> bool {
        let holds = &stop.saved().held_checks;
        let is_held = |check: &CheckConfig| holds.get(&key(stop, check)).is_some_and(|hold| !hold.is_let_go);
        !holds.is_empty() && for_stop(stop).any(is_held)
    }

    fn check(&self, stop: &StopContext<'_>, _: &[CheckedGate], _: &mut Readers<'_>) -> GateResult {
        let Due { mut to_run, idle, unchanged, touched } = Due::at(stop);
        let mut result = StopResult::default();
        let unread = to_run.iter().any(|(check, _)| check.needs_leave);
        to_run.retain(|(check, _)| !check.needs_leave);
        let ran = stop.phases.time(timing::CHECKS, || run_all(stop, &to_run));
        if !stop.is_background() {
            say(&ran);
        }
        // What a check itself writes is no change of the session: it passed with the files as they
        // are now. In the background the session may have gone on meanwhile.
        let after =
            if stop.is_background() || ran.is_empty() { touched } else { super::touched::touched(stop) };
        let work = stop.view().session.work_done();
        // The loop guard comes before the budget, so that a stop after a block is not known to have
        // none left.
        let has_budget =
            stop.guard != Some(Cause::Budget) && stop.saved().blocks < stop.config.gates.max_blocks;
        let may_block = || has_budget && consecutive_blocks::may_block_again(stop, NAME);
        let mut is_held = false;
        for ((check, before), ran) in to_run.iter().zip(&ran) {
            let key = key(stop, check);
            let hold = stop.saved().held_checks.get(&key);
            result.outcomes.push(outcome_of(ran, hold.is_some()));
            let ran_on = || due(check, &after, None).unwrap_or_else(|_| before.clone());
            match &ran.verdict {
                Verdict::Passed => {
                    result.change.checks.insert(key.clone(), ran_on());
                    if hold.is_some() {
                        result.change.held_checks.insert(key, None);
                        result.if_held.push(passes_now(&check.name));
                    }
                }
                Verdict::Failed { .. } => {
                    // A stop that follows no block begins to count anew.
                    let goes_on = stop.input.stop_hook_active || stop.guard.is_some();
                    let count = hold.filter(|_| goes_on).map_or(0, |hold| hold.count);
                    is_held = is_held || count < check.max_holds && may_block();
                    let (decision, failed_on) = (stop.id.to_owned(), ran_on());
                    let next = Hold { decision, count: count + 1, failed_on, work, is_let_go: false };
                    result.change.held_checks.insert(key, Some(next));
                }
                Verdict::CouldNotRun(_) => {}
            }
        }
        if is_held && let Some(reason) = checks::reason(&ran, &closing(stop.id)) {
            // Nobody is held in a dry run, and there is nothing to look at again.
            if stop.config.gates.dry_run {
                result.change.held_checks.clear();
            }
            return result.with(Outcome::block(Cause::CheckFailed, reason));
        }
        result.told.extend(result.if_held.clone());
        let has_failed = ran.iter().any(|ran| matches!(ran.verdict, Verdict::Failed { .. }));
        result.let_go(stop, &to_run, &ran, &unchanged);
        result.told.extend(checks::unchecked(&ran));
        result.told.extend(unread.then(|| not_allowed(stop, &mut result.change)).flatten());
        let not_due = idle.iter().map(|(check, _)| (check.name.clone(), "not-due"));
        let not_due = not_due.map(|(name, outcome)| CheckOutcome { name, outcome });
        result.outcomes.extend(not_due);
        let told = result.told.join("; ");
        let is_unchecked = unread || ran.iter().any(|ran| matches!(ran.verdict, Verdict::CouldNotRun(_)));
        let outcome = match (has_failed || !unchanged.is_empty(), is_unchecked) {
            _ if told.is_empty() => pass(&idle, &ran),
            (true, _) => Outcome::advise(Cause::CheckFailed, told),
            (false, true) => Outcome::could_not_check(Cause::CheckNotMade, told),
            (false, false) => Outcome::advise(Cause::Clean, told),
        };
        result.with(outcome)
    }
}

/// What this stop comes to, as far as it is known.
#[derive(Debug, Default)]
struct StopResult {
    change: StateChange,
    outcomes: Vec<CheckOutcome>,
    /// What the person is told of a stop that goes through, and what after one that is held.
    told: Vec<String>,
    if_held: Vec<String>,
}

impl StopResult {
    fn with(self, outcome: Outcome) -> GateResult {
        let details = GateDetails::Checks(self.outcomes);
        GateResult { change: self.change, if_held: self.if_held, details, ..outcome.into() }
    }

    /// Lets go of what still fails: it does not run again before there is work.
    fn let_go(
        &mut self,
        stop: &StopContext<'_>,
        to_run: &[(&CheckConfig, Passed)],
        ran: &[Ran],
        unchanged: &[(&CheckConfig, Hold)],
    ) {
        for ((check, _), ran) in to_run.iter().zip(ran) {
            let key = key(stop, check);
            let Some(Some(next)) = self.change.held_checks.get_mut(&key) else { continue };
            let before = stop.saved().held_checks.get(&key);
            next.count = before.map_or(0, |hold| hold.count);
            next.is_let_go = true;
            self.told.extend(still_fails(ran, next));
        }
        for (check, hold) in unchanged {
            self.outcomes.push(CheckOutcome { name: check.name.clone(), outcome: "still-failing" });
            self.told.push(nothing_changed(&check.name, hold));
            let hold = Hold { is_let_go: true, ..hold.clone() };
            self.change.held_checks.insert(key(stop, check), Some(hold));
        }
    }
}

/// The checks of a stop: which run, which are not due, and which failed already on what is there.
struct Due<'a> {
    to_run: Vec<(&'a CheckConfig, Passed)>,
    idle: Vec<(&'a CheckConfig, NotDue)>,
    unchanged: Vec<(&'a CheckConfig, Hold)>,
    touched: Touched,
}

impl<'a> Due<'a> {
    fn at(stop: &'a StopContext<'_>) -> Self {
        let touched = touched(stop);
        let (saved, work) = (stop.saved(), stop.view().session.work_done());
        let (mut to_run, mut idle, mut unchanged) = (Vec::new(), Vec::new(), Vec::new());
        for check in for_stop(stop) {
            let hold = saved.held_checks.get(&key(stop, check));
            if stop.guard.is_some() && hold.is_none_or(|hold| hold.is_let_go) {
                continue;
            }
            match (due(check, &touched, saved.checks.get(&key(stop, check))), hold) {
                (Ok(now), Some(hold)) if hold.is_let_go && !hold.has_changed(&now, work) => {
                    idle.push((check, NotDue::LetGo));
                }
                (Ok(now), Some(hold)) if stop.guard.is_some() && !hold.has_changed(&now, work) => {
                    unchanged.push((check, hold.clone()));
                }
                (Ok(now), _) => to_run.push((check, now)),
                // What it failed on is gone, or not the session's any more: that it holds no longer
                // is to be seen.
                (Err(_), Some(hold)) if !hold.is_let_go => to_run.push((check, hold.failed_on.clone())),
                (Err(why), _) => idle.push((check, why)),
            }
        }
        Self { to_run, idle, unchanged, touched }
    }
}

/// The checks that are for a stop of this kind.
fn for_stop<'a>(stop: &'a StopContext<'_>) -> impl Iterator<Item = &'a CheckConfig> {
    stop.config.checks.iter().filter(|check| is_for(check, &stop.input.event))
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
    let name = ContentId::digest(&words);
    if stop.saved().shown_notices.contains(&name) || stop.is_background() {
        return None;
    }
    change.shown_notices.insert(name);
    Some(words)
}

fn pass(idle: &[(&CheckConfig, NotDue)], ran: &[Ran]) -> Outcome {
    let passed = ran.iter().map(|ran| format!("{} passed", ran.name));
    let idle = idle.iter().map(|(check, why)| {
        let why = match why {
            NotDue::NothingTouched => "touched nothing that it cares about",
            NotDue::PassedAlready => "touched nothing since it passed",
            NotDue::LetGo => "was let go with it, and has done nothing since",
        };
        format!("{}: the session {why}", check.name)
    });
    let detail: Vec<String> = passed.chain(idle).collect();
    Outcome::pass(Cause::Clean, detail.join("; "))
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
    Job {
        // A check that starts a client of its own must not be blocked by us.
        env_set: vec![(env::INSIDE_AUDITOR.into(), "1".into())],
        ..Job::of_line(&check.run, stop.project, deadline)
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
