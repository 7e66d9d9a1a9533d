//! Follows up on the block before this stop: reads session, plan and disk again as an audit does,
//! asks a reader about what those do not settle, and records for each finding whether it was fixed,
//! disputed or ignored. Must not block or print anything; without a pending block it costs one
//! failed open.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::audit::AuditInput;
use crate::decision::Cause;
use crate::finding::Finding;
use crate::followup::question::{Reply, prompt, replies};
use crate::followup::settled::settled;
use crate::followup::summary::summary;
use crate::followup::{Dispute, PendingBlock, PendingFinding, Resolution, resolve};
use crate::gates::{SessionView, StopContext};
use crate::ids::new_id;
use crate::log::note::{self, FindingOutcome};
use crate::log::{DecisionLog, Note, OutcomeNote};
use crate::readers::{Prompts, ReaderOutcome, Readers};
use crate::redact::mask;
use crate::session::Command;
use crate::text::first_part;
use crate::timing::Phases;

/// Returns whether a stop with this cause follows up on the block before it. Not if the stop does
/// not concern us, or if work is still running.
pub fn applies_to(cause: Cause) -> bool {
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

#[derive(Debug, Default)]
pub struct FollowUp {
    /// The agent's disputes, by the grounds of each finding.
    pub disputed: BTreeMap<String, Dispute>,
    /// What the person is told.
    pub summary: Option<String>,
}

/// Records the outcome of the block before this stop, if there was one.
pub fn follow_up(stop: &StopContext<'_>, log: &DecisionLog, readers: &mut Readers<'_>) -> FollowUp {
    let pending = match stop.state.pending(stop.session, stop.agent()) {
        Ok(Some(pending)) => pending,
        Ok(None) => return FollowUp::default(),
        // Told once, where what is in its place can be removed.
        Err(error) => {
            let _ = stop.state.take_pending(stop.session, stop.agent());
            let words = format!("what became of the block before this stop can't be told ({error})");
            return FollowUp { summary: Some(words), ..FollowUp::default() };
        }
    };
    let now = crate::clock::now();
    // The client runs a hook that is registered twice at the same time, so the other one has
    // blocked this very stop. A decision from the future means that the clock jumped back.
    if (stop.started_ms.saturating_add(1)..=now.as_millisecond()).contains(&pending.decided_ms)
        || !stop.state.take_pending(stop.session, stop.agent())
    {
        return FollowUp::default();
    }
    let before = readers.budget.made.len();
    let (resolutions, message) = resolutions(stop, &pending, readers);
    let mut usage = readers.budget.since(before);
    let mut summary = summary(&pending, &resolutions);
    let (mut notes, mut disputed) = (Vec::new(), BTreeMap::new());
    for (pending_finding, resolution) in pending.findings.iter().zip(resolutions) {
        let PendingFinding { number, finding, .. } = pending_finding;
        let is_disputed = resolution.outcome == FindingOutcome::Disputed;
        let sentence = is_disputed.then(|| first_part(message.trim(), 300));
        if let Some(sentence) = sentence.clone() {
            disputed
                .insert(finding.grounds(), Dispute { of: pending.id.clone(), finding: *number, sentence });
        }
        notes.push(Note::Outcome(OutcomeNote {
            schema: note::SCHEMA,
            id: new_id(),
            time: format!("{now:.3}"),
            session: stop.input.session_id.clone(),
            project: Some(stop.project.display().to_string()),
            of: pending.id.clone(),
            finding: *number,
            category: Some(finding.category),
            outcome: resolution.outcome,
            why: Some(resolution.why),
            sentence,
            was_wrong: resolution.was_wrong,
            told_by: Some(stop.id.to_owned()),
            usage: usage.take(),
        }));
    }
    if let Err(error) = log.append_notes(&notes, now) {
        tracing::debug!(%error, "the outcome of a block could not be written");
        // A later stop may be able to, and will report it.
        if stop.state.save_pending(stop.session, stop.agent(), &pending).is_ok() {
            summary = None;
        }
    }
    FollowUp { disputed, summary }
}

/// Returns the outcome of each finding, in order, and the final message, masked.
fn resolutions(
    stop: &StopContext<'_>,
    pending: &PendingBlock,
    readers: &mut Readers<'_>,
) -> (Vec<Resolution>, String) {
    let (view, message) = read_again(stop, pending);
    if view.transcript.problem.is_some() {
        // With an unread session everything would look settled.
        let unread = |finding| resolve(finding, None, None, &message, false);
        return (pending.findings.iter().map(unread).collect(), message);
    }
    let SessionView { mut session, workspace, plan, .. } = view;
    session.final_message = Some(message.clone());
    let mut cache = stop.state.evidence(stop.session, stop.agent());
    let config = &stop.config.audit;
    let input = AuditInput::new(session, plan, &workspace, Prompts::default(), config, None, &mut cache);
    let settled: Vec<Option<String>> = pending
        .findings
        .iter()
        .map(|pending_finding| {
            let place = pending_finding.finding.path.as_deref().and_then(|path| workspace.locate(path));
            let state = workspace.state(place.as_ref());
            settled(pending_finding, Some(&state), &input.evidence, pending.rows)
        })
        .collect();
    let open = pending.findings.iter().zip(&settled).filter(|(_, settled)| settled.is_none());
    let open: Vec<&Finding> = open.map(|(pending_finding, _)| &pending_finding.finding).collect();
    let mut replies = ask(&input, &open, readers).into_iter();
    // What was said before the block does not answer it.
    let answer = pending.answer_in(&message);
    let resolutions = pending.findings.iter().zip(settled).map(|(pending_finding, settled)| {
        let reply = if settled.is_none() { replies.next().flatten() } else { None };
        let has_changed = has_changed(&pending_finding.finding, &input, pending.rows);
        resolve(pending_finding, settled, reply, &answer, has_changed)
    });
    (resolutions.collect(), message)
}

/// Asks a reader about findings. Returns its reply on each, in order; empty if none could be asked.
fn ask(input: &AuditInput, findings: &[&Finding], readers: &mut Readers<'_>) -> Vec<Option<Reply>> {
    if findings.is_empty() {
        return Vec::new();
    }
    let Ok((shown, _)) = input.shown() else { return Vec::new() };
    let Ok(prompt) = prompt(&shown, findings) else { return Vec::new() };
    match readers.ask_second(&prompt).map(|run| run.outcome) {
        Some(ReaderOutcome::Answered(json)) => replies(&json, findings.len()),
        _ => Vec::new(),
    }
}

/// Returns whether the session has worked on the subject of a finding since the block.
fn has_changed(finding: &Finding, input: &AuditInput, since: usize) -> bool {
    let session = &input.evidence.session;
    let mut touches = session.done_touches().filter(|touch| touch.at > since);
    if let Some(path) = finding.path.as_deref() {
        return touches.any(|touch| touch.path == path || touch.path.ends_with(&format!("/{path}")));
    }
    let mut runs = session.commands.iter().filter(|command| command.at > since);
    touches.next().is_some() || runs.any(Command::may_have_effects)
}

/// Clients before 2.1.47 do not send the final message along, and write it late: these limit how
/// long we wait for a message other than the blocked one.
const PATIENCE: Duration = Duration::from_millis(600);
const POLL: Duration = Duration::from_millis(30);

/// Returns the session as it is now, and its final message, masked.
fn read_again(stop: &StopContext<'_>, pending: &PendingBlock) -> (SessionView, String) {
    let begun = Instant::now();
    loop {
        // Not timed: this stop is already in the log.
        let view = SessionView::read(stop, &Phases::default());
        if let Some(message) = &stop.input.last_assistant_message {
            return (view, mask(message).text);
        }
        let message = mask(view.session.final_message.as_deref().unwrap_or_default()).text;
        let is_old = pending.was_said(&message);
        if !is_old || begun.elapsed() >= PATIENCE {
            return (view, if is_old { String::new() } else { message });
        }
        std::thread::sleep(POLL);
    }
}
