//! What became of the block before this stop: reads session, plan and disk again as an audit does, and writes down of
//! each finding that held whether it was fixed, disputed or ignored. Must not hold anybody, ask anybody or print
//! anything; where nothing is pending it costs one failed open.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::known::{find_plan, read_session};
use super::{Stop, Story};
use crate::audit::looks::looks;
use crate::audit::{Brief, plan_places};
use crate::auditor::{Prompts, Verdict};
use crate::decision::Cause;
use crate::evidence::Workspace;
use crate::evidence::redact::mask;
use crate::log::note::{self, Became};
use crate::log::{DecisionLog, Note, OutcomeNote};
use crate::names::new_id;
use crate::outcomes::recheck::{Now, Standing, standing};
use crate::outcomes::{Fate, Held, PendingBlock, dispute, fate};
use crate::readings::Readings;
use crate::session::Session;
use crate::state::Dispute;
use crate::verify::verify;

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

/// Writes down what became of the block before this stop, if there is one. `told_by` is this stop's own record.
pub fn tell(stop: &Stop<'_>, told_by: &str, log: &DecisionLog) {
    let Some(pending) = stop.state.pending(stop.session, stop.agent()) else { return };
    let now = Timestamp::now();
    // The client runs a hook that is registered twice at the same time: the other one has held this very stop.
    // (A decision from the future is a clock that jumped back.)
    if (stop.started_ms + 1..=now.as_millisecond()).contains(&pending.decided_ms) {
        return;
    }
    if !stop.state.take_pending(stop.session, stop.agent()) {
        return;
    }
    let fates = fates(stop, &pending);
    let told = pending.findings.iter().zip(&fates);
    remember_disputes(stop, &pending.id, told.clone());
    let notes: Vec<Note> = told
        .map(|(held, fate)| Note::Outcome(outcome_note(stop, &pending.id, held, fate, told_by, now)))
        .collect();
    if let Err(error) = log.append_notes(&notes, now) {
        tracing::debug!(%error, "what became of a block can't be written");
        // Some later stop may be able to.
        let _ = stop.state.keep_pending(stop.session, stop.agent(), &pending);
    }
}

fn outcome_note(
    stop: &Stop<'_>,
    block: &str,
    held: &Held,
    fate: &Fate,
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
        outcome: fate.became,
        why: Some(fate.why.clone()),
        sentence: fate.sentence.clone(),
        told_by: Some(told_by.to_owned()),
    }
}

/// What became of each finding, in order.
fn fates(stop: &Stop<'_>, pending: &PendingBlock) -> Vec<Fate> {
    let mut story = Story::default();
    let (mut session, workspace, said) = read_anew(stop, pending, &mut story);
    let problem = story.transcript.take().and_then(|transcript| transcript.problem);
    let standings = if problem.is_some() {
        // A session of which nothing is known would settle everything.
        let unread = || Standing::CanNotTell("the transcript can't be read".to_owned());
        pending.findings.iter().map(|_| unread()).collect()
    } else {
        let _readings = Readings::begin_anew();
        let places = plan_places(&workspace, &stop.config.audit);
        let plan = find_plan(stop, &mut session, &workspace, &places, &mut story);
        let same_plan = plan.as_ref().is_some_and(|plan| plan.path == pending.plan);
        session.final_message.clone_from(&pending.message);
        let mut memory = stop.state.evidence(stop.session, stop.agent());
        let config = &stop.config.audit;
        let brief = Brief::new(session, plan, &workspace, Prompts::default(), config, &mut memory);
        let verdict = Verdict { findings: pending.findings.iter().map(Held::proposal).collect() };
        let looks = looks(&workspace, &verdict, &brief.evidence);
        let now = Now { evidence: &brief.evidence, facts: &brief.facts.findings, same_plan };
        let mut all = Vec::new();
        for ((held, proposal), look) in pending.findings.iter().zip(verdict.findings).zip(looks) {
            // One by one: what is said twice would become one finding.
            let alone = Verdict { findings: vec![proposal] };
            let judged = verify(&alone, &[look], now.evidence, Vec::new()).pop();
            all.push(judged.map_or_else(
                || Standing::CanNotTell("the verifier says nothing of it".to_owned()),
                |judged| standing(held, &judged, now),
            ));
        }
        all
    };
    let told = pending.findings.iter().zip(standings);
    told.map(|(held, standing)| {
        let disputed = dispute::sentence_on(held, &pending.findings, &said);
        fate(standing, disputed, dispute::takes_back(held, &said))
    })
    .collect()
}

/// Clients before 2.1.47 do not send the final message along, and write it down late: these bound how long we wait for
/// words that are not the ones of the block.
const PATIENCE: Duration = Duration::from_millis(600);
const POLL: Duration = Duration::from_millis(30);

/// The session as it is now, and what the agent said last, masked.
fn read_anew(stop: &Stop<'_>, pending: &PendingBlock, story: &mut Story) -> (Session, Workspace, String) {
    let begun = Instant::now();
    loop {
        let (session, workspace, _) = read_session(stop, story);
        if let Some(said) = &stop.input.last_assistant_message {
            return (session, workspace, mask(said).text);
        }
        let said = mask(session.final_message.as_deref().unwrap_or_default()).text;
        let is_old = pending.message.as_ref() == Some(&said);
        if !is_old || begun.elapsed() >= PATIENCE {
            // Words that were said before the block are no answer to it.
            return (session, workspace, if is_old { String::new() } else { said });
        }
        std::thread::sleep(POLL);
    }
}

fn remember_disputes<'a>(stop: &Stop<'_>, block: &str, told: impl Iterator<Item = (&'a Held, &'a Fate)>) {
    let disputed: Vec<(String, Dispute)> = told
        .filter(|(_, fate)| fate.became == Became::Disputed)
        .map(|(held, fate)| {
            let sentence = fate.sentence.clone().unwrap_or_default();
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
