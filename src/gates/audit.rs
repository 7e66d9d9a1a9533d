//! The audit gate: a stop in, an audit of its session, an outcome out. Here is when to audit, whom to ask and what to
//! remember; the audit itself is `crate::audit`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::sight::{self, SoFar};
use super::{Gate, Known, ReaderPair, StopContext, StopReport};
use crate::audit::AuditInput;
use crate::audit::outcome::{advised, could_not, outcome_of, with_disputed};
use crate::audit::reading::{self, Readers, Reading, Second, Setting};
use crate::audit::seen::scene_of;
use crate::config::{AuditConfig, Planless, SecondReader};
use crate::decision::{Cause, NEWER_STOP, Outcome};
use crate::evidence::{Evidence, JudgedUntil, Workspace};
use crate::finding::{Advisory, Finding, Status};
use crate::followup::{PendingBlock, past_disputes};
use crate::gates::staleness;
use crate::gates::staleness::Stamps;
use crate::log::{DecisionLog, artifacts, labels};
use crate::plan::Plan;
use crate::readers::prompt::PromptError;
use crate::readers::{Prompts, ReaderOutcome, Unavailable};
use crate::redact::mask;
use crate::session::Session;
use crate::state::{Dispute, LastAudit, SessionState};
use crate::timing;

/// Its name.
pub const AUDIT: &str = "audit";

/// The gate.
#[derive(Debug)]
pub struct AuditGate;

/// What is left to finish in after the readers' time: judging, counting, logging, answering.
const ROOM_TO_ANSWER: Duration = Duration::from_secs(5);

/// The name under which it is remembered that the person was told of a spent budget.
const BUDGET_TOLD: &str = "reader-budget";

impl Gate for AuditGate {
    fn name(&self) -> &'static str {
        AUDIT
    }

    fn check(
        &mut self,
        stop: &StopContext<'_>,
        story: &mut StopReport,
        readers: &mut ReaderPair<'_>,
    ) -> Outcome {
        let pass = |cause, detail: &str| Outcome::Pass { cause, detail: Some(detail.to_owned()) };
        let remembered = story.remembered.clone();
        let last = remembered.audits.get(stop.agent());
        let so_far = stop.claim.and_then(|_| SoFar::now(stop));
        let Known { session, workspace, plan } = story.take_known(stop);
        let work = Work::of(&session);
        if let Some((cause, nothing)) = nothing_to_audit(&session, plan.as_ref(), work, last) {
            return pass(cause, nothing);
        }
        if plan.is_none() && stop.config.audit.planless == Planless::Off {
            return pass(Cause::NothingToAudit, "no plan in play, and `planless` is \"off\"");
        }
        let prompts = prompts_of(stop, story);
        let rows = session.rows;
        let judged = last
            .filter(|last| last.was_clean)
            .map(|last| JudgedUntil { at: last.rows, files: last.files.clone() });
        let brief = story.phase(timing::EVIDENCE, |story| {
            let mut memory = stop.state.evidence(stop.session, stop.agent());
            let brief =
                AuditInput::new(session, plan, &workspace, prompts, &stop.config.audit, judged, &mut memory);
            stop.state.keep_evidence(stop.session, stop.agent(), memory, &mut story.chores);
            Arc::new(brief)
        });
        story.tell_evidence(&brief);
        let stamps = stop.claim.map(|_| sight::stamps(&workspace, &brief.evidence, &brief.facts));
        let log = DecisionLog::in_folder(stop.state.root());
        let is_upheld = |dispute: &Dispute| labels::is_upheld(&log, &dispute.of, dispute.finding);
        let is_disputed = |finding: &Finding| {
            remembered.disputed.get(&finding.grounds()).is_some_and(|dispute| !is_upheld(dispute))
        };
        let setting =
            Setting { workspace: &workspace, config: &stop.config.audit, is_disputed: &is_disputed };
        let reading = match ask(stop, &brief, story, readers, setting) {
            Ok(reading) => reading,
            Err(error) => return could_not(Cause::Error, &error.to_string()),
        };
        let was_superseded =
            reading.second.as_ref().is_some_and(|run| run.outcome == ReaderOutcome::Superseded);
        let answer = reading.first.outcome.clone();
        if was_superseded || answer == ReaderOutcome::Superseded {
            return pass(Cause::Superseded, NEWER_STOP);
        }
        let advisories = advisories(&brief, &reading);
        story.advisories.clone_from(&advisories);
        story.findings = reading.findings;
        let outcome = match weigh(stop, story, &brief, &answer, &workspace, stamps.as_ref(), &remembered) {
            Ok(outcome) => outcome,
            Err(moved) => return pass(Cause::MovedOn, &moved),
        };
        // An audit that could not be made is not one: the next stop tries again.
        let was_made = matches!(answer, ReaderOutcome::Answered(_));
        if was_made || outcome.wants_block() {
            // What could not be verified now can't be either at the next stop, on the same evidence: it was told once, and
            // is not worth another call.
            story.audited = Some(LastAudit {
                work: work.done,
                finished: work.finished,
                rows,
                was_clean: !outcome.wants_block(),
                files: brief.evidence.changed_files(),
                decided_ms: Timestamp::now().as_millisecond(),
            });
        }
        let outcome = told_once(outcome, &answer, &remembered, story);
        let new: Vec<&Advisory> =
            advisories.iter().filter(|a| !remembered.told.contains(&a.name())).collect();
        // In the background nobody is told: a client that does not wait throws a `systemMessage` away (2.1.325).
        if !outcome.wants_block() && stop.claim.is_none() {
            story.told.extend(new.iter().map(|advisory| advisory.name()));
        }
        let outcome = advised(outcome, &new);
        if stop.claim.is_some()
            && !matches!(outcome, Outcome::Pass { .. })
            && let Some(moved) = sight::moves_since(stop, so_far.as_ref()).into_iter().min()
        {
            story.audited = None;
            return pass(Cause::MovedOn, moved.words());
        }
        outcome
    }
}

/// What the person should know, by the program and by the first reader.
fn advisories(brief: &AuditInput, reading: &Reading) -> Vec<Advisory> {
    brief.advisories.iter().chain(&reading.advisories).cloned().collect()
}

/// A spent budget is one line to the person; from then on the log alone has it.
fn told_once(
    outcome: Outcome,
    answer: &ReaderOutcome,
    remembered: &SessionState,
    story: &mut StopReport,
) -> Outcome {
    if !matches!(answer, ReaderOutcome::Unavailable(Unavailable::BudgetSpent(_))) {
        return outcome;
    }
    match outcome {
        Outcome::CouldNotCheck { cause, message } if remembered.told.contains(BUDGET_TOLD) => {
            Outcome::Pass { cause, detail: Some(message) }
        }
        outcome => {
            story.told.push(BUDGET_TOLD.to_owned());
            outcome
        }
    }
}

/// Asks the readers, within what is left of the hook's time.
fn ask(
    stop: &StopContext<'_>,
    brief: &Arc<AuditInput>,
    story: &mut StopReport,
    readers: &mut ReaderPair<'_>,
    setting: Setting<'_>,
) -> Result<Reading, PromptError> {
    let (shown, fault) = story.phase(timing::PROMPT, |_| brief.shown())?;
    story.config_faults.extend(fault.map(|fault| fault.to_string()));
    let prompt = Arc::new(shown.first(brief.prompts())?);
    story.prompt_bytes = prompt.bytes();
    let (root, id) = (stop.state.root().to_path_buf(), stop.id.to_owned());
    let (asked, evidence) = (Arc::clone(&prompt), Arc::clone(brief));
    // The reader takes longer than to write down what it is asked.
    story
        .chores
        .run(move || artifacts::write_prompt(&root, &id, &asked.whole(), &scene_of(&evidence.evidence)));
    let deadline = stop.deadline.checked_sub(ROOM_TO_ANSWER).unwrap_or_else(Instant::now);
    let (first_model, backend) = (readers.first.model().to_owned(), readers.first.backend());
    let second_model = match &stop.config.auditor.second_reader {
        SecondReader::Model(model) => model.clone(),
        SecondReader::Same | SecondReader::Off => first_model.clone(),
    };
    let second = match (&stop.config.auditor.second_reader, &mut readers.second) {
        (SecondReader::Off, _) => Second::Off,
        (_, Some(second)) => Second::Other(&mut **second),
        (_, None) => Second::Same,
    };
    let timeout = stop.config.auditor.timeout;
    let whom = Readers { first: &mut *readers.first, second, timeout, deadline };
    let reading = reading::read(brief, &shown, &prompt, whom, setting)?;
    story.tell_reader(&reading.first, backend, &first_model);
    story.reply = Some(mask(&reading.first.raw_reply).text);
    if let Some(run) = &reading.second {
        story.tell_second_reader(run, backend, &second_model);
        story.second_reply = Some(mask(&run.raw_reply).text);
        story.second_prompt = reading.second_prompt.as_ref().map(|prompt| {
            prompt.text.get(shown.evidence.len()..).unwrap_or_default().trim_start().to_owned()
        });
    }
    Ok(reading)
}

/// Judges what the findings come to. An error where all that would have been told speaks of what has changed meanwhile, with
/// the names of it.
fn weigh(
    stop: &StopContext<'_>,
    story: &mut StopReport,
    brief: &AuditInput,
    answer: &ReaderOutcome,
    workspace: &Workspace,
    stamps: Option<&Stamps>,
    remembered: &SessionState,
) -> Result<Outcome, String> {
    let (mut fitting, moved) = match stamps {
        None => (story.findings.clone(), Vec::new()),
        Some(then) => {
            let changed = staleness::changed(then, &sight::again(workspace, then));
            let plan = brief.evidence.plan.as_ref().and_then(|plan| plan.path.as_deref());
            staleness::fitting(&mut story.findings, &changed, plan)
        }
    };
    let log = DecisionLog::in_folder(stop.state.root());
    let is_upheld = |dispute: &Dispute| labels::is_upheld(&log, &dispute.of, dispute.finding);
    let disputed =
        past_disputes::set_aside(&mut story.findings, &mut fitting, &remembered.disputed, is_upheld);
    let outcome = match outcome_of(answer, &fitting, &stop.config.audit, (&brief.prompts().reason, stop.id)) {
        Outcome::Pass { .. } if !moved.is_empty() && disputed.is_empty() => {
            return Err(format!("changed since it was looked at: {}", moved.join(", ")));
        }
        outcome => outcome,
    };
    let outcome = with_disputed(outcome, &disputed.iter().collect::<Vec<_>>());
    if outcome.wants_block() {
        story.pending = Some(pending(&story.findings, &brief.evidence, &stop.config.audit));
    }
    Ok(outcome)
}

/// What is to be known of the findings that hold a stop when the next one comes.
fn pending(findings: &[Finding], evidence: &Evidence, config: &AuditConfig) -> PendingBlock {
    let holds = |finding: &Finding| {
        finding.status == Status::Confirmed && config.block_on.contains(&finding.category)
    };
    PendingBlock::new(findings, holds, evidence)
}

/// How much a session has done that can be judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Files changed and commands that may have had effects.
    pub done: usize,
    /// Tasks that are finished.
    pub finished: usize,
}

impl Work {
    /// What a session has done so far.
    pub fn of(session: &Session) -> Self {
        let finished = session.todos.iter().filter(|todo| todo.status == "completed").count();
        Self { done: session.work_done(), finished }
    }
}

/// Why there is nothing to audit, if there is not: nothing was done since the last audit, and no task was finished. `last`
/// is what is remembered of that. No language is read for it.
pub fn nothing_to_audit(
    session: &Session,
    plan: Option<&Plan>,
    work: Work,
    last: Option<&LastAudit>,
) -> Option<(Cause, &'static str)> {
    let before = last.map(|last| Work { done: last.work, finished: last.finished }).unwrap_or_default();
    let goes_with_it = plan.is_some()
        || work.finished > 0
        || !session.asks.is_empty()
        || session.final_message.as_deref().is_some_and(|message| !message.trim().is_empty());
    match last {
        Some(_) if work == before => Some((Cause::Unchanged, "nothing was done since the last audit")),
        None if work == before => Some((Cause::NothingToAudit, "nothing was done yet")),
        _ if !goes_with_it => Some((Cause::NothingToAudit, "nothing was asked, planned or said")),
        _ => None,
    }
}

fn prompts_of(stop: &StopContext<'_>, story: &mut StopReport) -> Prompts {
    let Some(folder) = &stop.config.auditor.prompts else { return Prompts::default() };
    Prompts::with_overrides(folder).unwrap_or_else(|error| {
        story.config_faults.push(error.to_string());
        Prompts::default()
    })
}
