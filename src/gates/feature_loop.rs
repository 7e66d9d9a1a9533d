//! The gate of the feature loop: keeps the session of a loop at work until every feature passes,
//! and lets it go when the loop is over or a fresh session should go on. Other sessions pass. The
//! rules are in `feature_loop::state`.

use std::path::Path;

use super::touched::touched_since;
use super::{CheckedGate, Gate, GateResult, SessionView, StopContext};
use crate::audit::AuditInput;
use crate::child;
use crate::client::env_vars;
use crate::config::asked_by_feature;
use crate::decision::{Cause, Outcome, OutcomeKind};
use crate::feature_loop::context::read_fill;
use crate::feature_loop::prompts;
use crate::feature_loop::prompts::BLOCK_PROMPT;
use crate::feature_loop::snapshot::{LoopSnapshot, now_ms};
use crate::feature_loop::state::iterations;
use crate::feature_loop::verify::{Judgement, TakenBack, Verifier};
use crate::feature_loop::{Feature, LoopState, Status, Step, question};
use crate::files::end_of;
use crate::gates::consecutive_blocks;
use crate::ids::ContentId;
use crate::readers::{Prompts, ReaderOutcome, Readers};
use crate::redact::mask;
use crate::shell::Action;
use crate::state::StateChange;

pub const NAME: &str = "loop";

/// How much of a transcript's end is searched for the token of a loop.
const TAIL: u64 = 4 << 20;

/// The gate, for a session that is bound to a loop.
#[derive(Debug)]
pub struct FeatureLoopGate {
    found: LoopState,
}

impl FeatureLoopGate {
    /// Finds the loop that this session is bound to, or was until it was halted by command. Where
    /// there never was a loop it costs one failed open.
    pub fn find(stop: &StopContext<'_>) -> Option<Self> {
        if !stop.is_main() {
            return None;
        }
        let session = stop.input.session_id.as_deref()?;
        let loops = stop.state.all_loops();
        let bound = loops.iter().find(|one| one.session.as_deref() == Some(session));
        let bound = bound.or_else(|| loops.iter().find(|one| has_printed(stop, one)));
        let found = bound.or_else(|| loops.iter().find(|one| one.untold_end(session).is_some()))?.clone();
        Some(Self { found })
    }
}

/// Whether this is the session in which a loop was begun. Clients before 2.1.136 do not tell a
/// command which session runs it, but what it printed stands in the transcript of that session
/// alone.
fn has_printed(stop: &StopContext<'_>, one: &LoopState) -> bool {
    let Some(token) = one.token.as_deref().filter(|token| token.len() > 8) else { return false };
    let project = std::fs::canonicalize(stop.project).unwrap_or_else(|_| stop.project.to_path_buf());
    let is_near = project.starts_with(&one.folder) || one.folder.starts_with(&project);
    let found = |path: &Path| {
        let tail = end_of(path, TAIL).ok()?;
        memchr::memmem::find(&tail, token.as_bytes())
    };
    is_near && stop.input.own_transcript().and_then(found).is_some()
}

impl Gate for FeatureLoopGate {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keeps_working(&self) -> bool {
        true
    }

    fn check(&self, stop: &StopContext<'_>, _: &[CheckedGate], readers: &mut Readers<'_>) -> GateResult {
        if let Some(words) = self.halted(stop) {
            let if_held = vec![words.clone()];
            return GateResult { if_held, ..Outcome::advise(Cause::LoopOver, words).into() };
        }
        let (mut config_faults, mut change) = (Vec::new(), StateChange::default());
        let outcome = self.round(stop, &mut config_faults, &mut change, readers).unwrap_or_else(|why| {
            Outcome::could_not_check(Cause::LoopUnreadable, format!("feature loop: {why}"))
        });
        GateResult { change, config_faults, ..outcome.into() }
    }
}

impl FeatureLoopGate {
    /// What the person is told, once, of a loop that was halted by command: a session can run that
    /// as well.
    fn halted(&self, stop: &StopContext<'_>) -> Option<String> {
        let session = stop.input.session_id.as_deref()?;
        let ended = self.found.untold_end(session)?;
        let why = ended.why.replace(&format!("session {session}"), "this session");
        let words = told(&self.found, &Status::Paused, &why, &[]);
        let set_told = |kept: &mut Option<LoopState>| {
            if let Some(kept) = kept.as_mut().filter(|kept| kept.untold_end(session).is_some()) {
                kept.set_end_told();
            }
            Ok(())
        };
        if !stop.config.gates.dry_run {
            // Told once more is better than not at all.
            let _ = stop.state.change_loop(&self.found.folder, set_told);
        }
        Some(words)
    }

    fn round(
        &self,
        stop: &StopContext<'_>,
        faults: &mut Vec<String>,
        change: &mut StateChange,
        readers: &mut Readers<'_>,
    ) -> Result<Outcome, String> {
        let mut seen = LoopSnapshot::read(&self.found)?;
        if stop.config.gates.dry_run {
            return Ok(step(stop, faults, &seen, &mut self.found.clone()).0);
        }
        let mut told = self.verify(stop, &mut seen, readers)?;
        told.retain(|line| !stop.saved().shown_notices.contains(&ContentId::digest(line)));
        change.shown_notices.extend(told.iter().map(ContentId::digest));
        let session = stop.input.session_id.as_deref();
        stop.state.change_loop(&self.found.folder, |kept| {
            let ours = |one: &&mut LoopState| {
                one.session.as_deref() == session || one.token == self.found.token && one.token.is_some()
            };
            // The reply is thrown away: nobody is handed anything, and nothing ends.
            if let Some(signal) = child::interrupted() {
                return Err(format!("ended by {signal}"));
            }
            let Some(state) = kept.as_mut().filter(ours) else {
                return Ok(Outcome::pass(Cause::LoopOver, "the loop is another session's by now"));
            };
            (state.session, state.token) = (session.map(String::from), None);
            let (mut outcome, status) = step(stop, faults, &seen, state);
            let written = status.map_or(Ok(()), |status| seen.write_progress(state, status));
            // The state counts; the file is for people and for the next session.
            if let Err(why) = written
                && outcome.kind == OutcomeKind::Advise
            {
                outcome.words.push_str(&format!(" ({why})"));
            }
            // The person reads a block as well; there is no other way to tell them of it.
            let for_person = if outcome.wants_block() { "\n\nFor the person: " } else { "; " };
            for line in &told {
                outcome.words.push_str(&format!("{for_person}{line}"));
            }
            if told.is_empty() || outcome.kind != OutcomeKind::Pass {
                return Ok(outcome);
            }
            Ok(Outcome::advise(outcome.cause, outcome.words))
        })
    }

    /// Looks into the features that were set to pass since the last look. Returns what the person
    /// is told.
    fn verify(
        &self,
        stop: &StopContext<'_>,
        seen: &mut LoopSnapshot,
        readers: &mut Readers<'_>,
    ) -> Result<Vec<String>, String> {
        let config = &stop.config.feature_loop;
        let allowed = stop.state.allowed(stop.project);
        let is_allowed = |run: &str| asked_by_feature(run, &allowed).is_allowed;
        let hint = if config.verify.is_some() {
            ", which is all that the hook's own timeout leaves: `punchlist install` raises that"
        } else {
            ", which is all that the hook's own timeout leaves"
        };
        let mut verifier = Verifier {
            list: config.verify.as_deref(),
            is_allowed: &is_allowed,
            deadline: stop.work_deadline(),
            hint,
            has_session_worked: &|| has_session_worked(stop, &self.found),
            judge: &mut |features| judge(stop, features, readers),
        };
        verifier.settle(&self.found, seen)
    }
}

/// Whether the session changed a file of the loop's folder since work was handed out, or committed
/// what it changed before; `None` where the transcript can't tell.
fn has_session_worked(stop: &StopContext<'_>, state: &LoopState) -> Option<bool> {
    let SessionView { session, workspace, .. } = stop.view();
    // What a server's tool does is not in the transcript.
    let may_be_others = session.other_calls.iter().any(|call| call.tool.starts_with("mcp__"));
    if session.rows == 0 || may_be_others || !state.folder.starts_with(workspace.root()) {
        return None;
    }
    let own = [&state.features, &state.progress].map(|name| state.folder.join(name));
    let has_touched = |since| {
        let files = touched_since(stop, since);
        let mut paths = files.keys().map(|name| workspace.root().join(name));
        paths.any(|path| path.starts_with(&state.folder) && !own.contains(&path))
    };
    let has_committed = || {
        let is_new = |time: Option<i64>| time.is_none_or(|time| time >= state.handed_out_ms);
        let mut new = session.commands.iter().filter(|command| is_new(command.ended.or(command.time)));
        new.any(|command| command.line.all().iter().any(|one| one.action == Some(Action::Commit)))
    };
    Some(has_touched(Some(state.handed_out_ms)) || has_committed() && has_touched(None))
}

/// Has a reader judge features by the evidence of the session.
fn judge(
    stop: &StopContext<'_>,
    features: &[&Feature],
    readers: &mut Readers<'_>,
) -> Result<Vec<Judgement>, String> {
    let view = stop.view();
    let mut cache = stop.state.evidence(stop.session, stop.agent());
    let (session, plan, config) = (view.session.clone(), view.plan.clone(), &stop.config.audit);
    let input = AuditInput::new(session, plan, &view.workspace, Prompts::default(), config, None, &mut cache);
    let shown = input.shown().map_err(|error| error.to_string())?.0;
    let prompt = question::prompt(&shown, features).map_err(|error| error.to_string())?;
    match readers.ask(&prompt).outcome {
        ReaderOutcome::Answered(json) => Ok(question::judgements(&json, features.len())),
        other => {
            let why = other.detail().map(|why| format!(" ({})", mask(&why).text)).unwrap_or_default();
            Err(format!("no reader could judge them, {}{why}", other.name()))
        }
    }
}

/// Decides, and changes the state of the loop. Returns the status to write into the progress file,
/// if any.
fn step(
    stop: &StopContext<'_>,
    faults: &mut Vec<String>,
    seen: &LoopSnapshot,
    state: &mut LoopState,
) -> (Outcome, Option<Status>) {
    let config = &stop.config.feature_loop;
    let chosen = stop.env.text(env_vars::MODEL);
    let transcript = stop.input.own_transcript();
    let fill = transcript.and_then(|path| read_fill(path, config.window, chosen.as_deref()));
    let mut next = seen.next_step(state, fill, config);
    if matches!(next, Step::Work { .. }) && !consecutive_blocks::may_block_again(stop, NAME) {
        let why = format!(
            "the session was held {} times in a row and used no tool",
            consecutive_blocks::MOST_IN_A_ROW
        );
        next = Step::End { status: Status::Stalled, why };
    }
    match next {
        Step::NoFeatures => {
            (Outcome::pass(Cause::LoopOver, format!("{} has no features", state.features)), None)
        }
        Step::Work { at, changes } => {
            let (template, fault) =
                prompts::load_template(stop.config.auditor.prompts.as_deref(), "loop-hold.md", BLOCK_PROMPT);
            faults.extend(fault);
            let reason = seen.hand_out(state, at, &changes, &template, BLOCK_PROMPT);
            (Outcome::block(Cause::FeatureOpen, reason), Some(Status::InProgress))
        }
        Step::Unverified { why } => {
            let words = format!("feature loop: all features are set to pass, and it stays open: {why}");
            (Outcome::could_not_check(Cause::LoopUnproven, words), Some(Status::InProgress))
        }
        Step::End { status, why } => {
            state.end(&status, &why, now_ms());
            state.set_end_told();
            (Outcome::advise(Cause::LoopOver, told(state, &status, &why, &seen.taken_back)), Some(status))
        }
    }
}

fn told(state: &LoopState, status: &Status, why: &str, taken_back: &[TakenBack]) -> String {
    let on = match status {
        Status::HandedOver => ": `punchlist loop start` there, or `punchlist loop run`",
        Status::ReachedLimit => "; `punchlist loop start --max` sets it higher",
        _ => "",
    };
    let so_far = if *status == Status::Complete {
        String::new()
    } else {
        format!(", after {}", iterations(state.iteration))
    };
    let back: Vec<&str> = taken_back.iter().map(|one| one.name.as_str()).collect();
    let back =
        if back.is_empty() { String::new() } else { format!("; set back to open: {}", back.join(", ")) };
    format!("feature loop {status}{so_far}: {why}{on}{back}")
}
