//! What became of the block before this stop: reads session, plan and disk again as an audit does, asks a reader about what
//! those do not settle, and writes down of each finding that held whether it was fixed, disputed or ignored. Must not hold
//! anybody or print anything; where nothing is pending it costs one failed open.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::{ReaderPair, StopContext, StopReport};
use crate::audit::{AuditInput, plan_places};
use crate::config::SecondReader;
use crate::decision::Cause;
use crate::evidence::Workspace;
use crate::finding::Finding;
use crate::followup::{self, Held, Outcome, PendingBlock, Said, question, settled};
use crate::gates::context::{find_plan, read_session};
use crate::ids::new_id;
use crate::log::note::{self, FindingOutcome};
use crate::log::{DecisionLog, Note, OutcomeNote};
use crate::readers::{Prompts, ReaderOutcome};
use crate::redact::mask;
use crate::session::{Command, Session};
use crate::state::Dispute;

/// Whether a stop that was decided so tells what became of the block before it. One that is none of our business, or
/// at which work still runs, does not.
pub fn is_told_by(cause: Cause) -> bool {
    !matches!(
        cause,
        Cause::InsideAuditor
            | Cause::Off
            | Cause::PlanMode
            | Cause::BackgroundWork
            | Cause::Superseded
            | Cause::BadInput
    )
}

/// Writes down what became of the block before this stop, if there is one; returns it. `told_by` is this stop's own record.
pub fn tell(
    stop: &StopContext<'_>,
    told_by: &str,
    log: &DecisionLog,
    readers: &mut ReaderPair<'_>,
) -> Vec<(Held, Outcome)> {
    let Some(pending) = stop.state.pending(stop.session, stop.agent()) else { return Vec::new() };
    let now = Timestamp::now();
    // The client runs a hook that is registered twice at the same time: the other one has held this very stop.
    // (A decision from the future is a clock that jumped back.)
    if (stop.started_ms + 1..=now.as_millisecond()).contains(&pending.decided_ms) {
        return Vec::new();
    }
    if !stop.state.take_pending(stop.session, stop.agent()) {
        return Vec::new();
    }
    let (outcomes, said) = outcomes(stop, &pending, readers);
    let told: Vec<(Held, Outcome)> = pending.findings.iter().cloned().zip(outcomes).collect();
    remember_disputes(stop, &pending.id, &told, &said);
    let notes: Vec<Note> = told
        .iter()
        .map(|(held, outcome)| {
            Note::Outcome(outcome_note(stop, &pending.id, held, (outcome, &said), told_by, now))
        })
        .collect();
    if let Err(error) = log.append_notes(&notes, now) {
        tracing::debug!(%error, "what became of a block can't be written");
        // Some later stop may be able to.
        let _ = stop.state.keep_pending(stop.session, stop.agent(), &pending);
    }
    told
}

fn outcome_note(
    stop: &StopContext<'_>,
    block: &str,
    held: &Held,
    (outcome, said): (&Outcome, &str),
    told_by: &str,
    now: Timestamp,
) -> OutcomeNote {
    OutcomeNote {
        schema: note::SCHEMA,
        id: new_id(),
        time: format!("{now:.3}"),
        session: stop.input.session_id.clone(),
        project: Some(stop.project.display().to_string()),
        of: block.to_owned(),
        finding: held.number,
        outcome: outcome.became,
        why: Some(outcome.why.clone()),
        sentence: (outcome.became == FindingOutcome::Disputed).then(|| excerpt(said)),
        was_wrong: outcome.was_wrong,
        told_by: Some(told_by.to_owned()),
    }
}

/// What became of each finding, in order, and what the agent said last.
fn outcomes(
    stop: &StopContext<'_>,
    pending: &PendingBlock,
    readers: &mut ReaderPair<'_>,
) -> (Vec<Outcome>, String) {
    let mut story = StopReport::default();
    let (mut session, workspace, said) = read_anew(stop, pending, &mut story);
    let problem = story.transcript.take().and_then(|transcript| transcript.problem);
    if problem.is_some() {
        // A session of which nothing is known would settle everything.
        let unread = |held: &Held| followup::outcome(held, None, None, &said, false);
        return (pending.findings.iter().map(unread).collect(), said);
    }
    let places = plan_places(&workspace, &stop.config.audit);
    let plan = find_plan(stop, &mut session, &workspace, &places, &mut story);
    session.final_message = Some(said.clone());
    let mut memory = stop.state.evidence(stop.session, stop.agent());
    let config = &stop.config.audit;
    let brief = AuditInput::new(session, plan, &workspace, Prompts::default(), config, None, &mut memory);
    let settled: Vec<Option<String>> = pending
        .findings
        .iter()
        .map(|held| {
            let place = held.finding.path.as_deref().and_then(|path| workspace.locate(path));
            let state = workspace.state(place.as_ref());
            settled::settled(held, Some(&state), &brief.evidence, pending.rows)
        })
        .collect();
    let open: Vec<usize> = (0..settled.len()).filter(|at| settled[*at].is_none()).collect();
    let findings: Vec<&Finding> = open.iter().map(|at| &pending.findings[*at].finding).collect();
    let mut words = ask(stop, &brief, &findings, readers);
    // Words that were said before the block are no answer to it.
    let answer = if pending.was_said(&said) { "" } else { said.as_str() };
    let outcomes = pending.findings.iter().zip(settled).enumerate().map(|(at, (held, settled))| {
        let word = open.iter().position(|one| *one == at).and_then(|one| words.get_mut(one)?.take());
        let has_moved = has_moved(held, &brief, pending.rows);
        followup::outcome(held, settled, word, answer, has_moved)
    });
    (outcomes.collect(), said)
}

/// What is left to finish in after the reader's time.
const ROOM_TO_ANSWER: Duration = Duration::from_secs(5);
/// With less time than this no reader is asked.
const LEAST_TIME: Duration = Duration::from_secs(4);

/// A reader's word on each of these findings, where one can be had.
fn ask(
    stop: &StopContext<'_>,
    brief: &AuditInput,
    findings: &[&Finding],
    readers: &mut ReaderPair<'_>,
) -> Vec<Option<Said>> {
    let left = stop.deadline.saturating_duration_since(Instant::now()).saturating_sub(ROOM_TO_ANSWER);
    if findings.is_empty() || left < LEAST_TIME || stop.config.auditor.second_reader == SecondReader::Off {
        return Vec::new();
    }
    let Ok((shown, _)) = brief.shown() else { return Vec::new() };
    let Ok(prompt) = question::prompt(&shown, findings) else { return Vec::new() };
    let reader = match &mut readers.second {
        Some(second) => &mut **second,
        None => &mut *readers.first,
    };
    match reader.ask(&prompt, left.min(stop.config.auditor.timeout)).outcome {
        ReaderOutcome::Answered(json) => question::words(&json, findings.len()),
        _ => Vec::new(),
    }
}

/// Whether the session has worked on what a finding speaks of since the block.
fn has_moved(held: &Held, brief: &AuditInput, since: usize) -> bool {
    let session = &brief.evidence.session;
    let mut touches = session.done_touches().filter(|touch| touch.at > since);
    if let Some(path) = held.finding.path.as_deref() {
        return touches.any(|touch| touch.path == path || touch.path.ends_with(&format!("/{path}")));
    }
    let mut runs = session.commands.iter().filter(|command| command.at > since);
    touches.next().is_some() || runs.any(Command::may_have_effects)
}

/// Clients before 2.1.47 do not send the final message along, and write it down late: these bound how long we wait for
/// words that are not the ones of the block.
const PATIENCE: Duration = Duration::from_millis(600);
const POLL: Duration = Duration::from_millis(30);

/// The session as it is now, and what the agent said last, masked.
fn read_anew(
    stop: &StopContext<'_>,
    pending: &PendingBlock,
    story: &mut StopReport,
) -> (Session, Workspace, String) {
    let begun = Instant::now();
    loop {
        let (session, workspace, _) = read_session(stop, story);
        if let Some(said) = &stop.input.last_assistant_message {
            return (session, workspace, mask(said).text);
        }
        let said = mask(session.final_message.as_deref().unwrap_or_default()).text;
        let is_old = pending.was_said(&said);
        if !is_old || begun.elapsed() >= PATIENCE {
            // Words that were said before the block are no answer to it.
            return (session, workspace, if is_old { String::new() } else { said });
        }
        std::thread::sleep(POLL);
    }
}

/// The start of what the agent said.
fn excerpt(said: &str) -> String {
    crate::text::first_part(said.trim(), 300)
}

fn remember_disputes(stop: &StopContext<'_>, block: &str, told: &[(Held, Outcome)], said: &str) {
    let disputed: Vec<(String, Dispute)> = told
        .iter()
        .filter(|(_, outcome)| outcome.became == FindingOutcome::Disputed)
        .map(|(held, _)| {
            let sentence = excerpt(said);
            let dispute = Dispute { of: block.to_owned(), finding: held.number, sentence };
            (held.finding.grounds(), dispute)
        })
        .collect();
    if disputed.is_empty() {
        return;
    }
    let written = stop.state.update_session(stop.session, |session| session.disputed.extend(disputed));
    if let Err(error) = written {
        tracing::debug!(%error, "what was disputed can't be remembered");
    }
}
