//! The audit gate: whether a stop is audited, which readers are asked, and what is saved
//! afterwards. The audit itself is `crate::audit`.

use strum::EnumMessage as _;

use super::{CheckedGate, Gate, GateDetails, GateResult, SessionView, StopContext};
use crate::audit::outcome::{advised, could_not, outcome_of, with_disputed, with_message};
use crate::audit::reading::{self, Reading, Setting};
use crate::audit::record::{file_record, reader_record, snapshot_of};
use crate::audit::staleness::{Stamps, TranscriptMark, drop_stale, progress_since};
use crate::audit::{AuditInput, Work, nothing_to_audit};
use crate::config::{Planless, SecondReader};
use crate::decision::{Cause, NEWER_STOP, Outcome, OutcomeKind};
use crate::evidence::JudgedUntil;
use crate::finding::{Advisory, Finding};
use crate::followup::handed_over::blocks_in_transcript;
use crate::followup::{Dispute, PendingBlock, set_aside};
use crate::ids::ContentId;
use crate::log::record::{FileRecord, ReaderRecord};
use crate::log::{DecisionLog, artifacts};
use crate::readers::prompt::PromptError;
use crate::readers::{Prompts, ReaderOutcome, Readers, Unavailable};
use crate::redact::mask;
use crate::state::{LastAudit, StateChange};
use crate::timing;

pub const AUDIT: &str = "audit";

/// The notice that tells the person of a spent budget.
const BUDGET_TOLD: &str = "reader-budget";

#[derive(Debug)]
pub struct AuditGate;

#[derive(Debug, Default)]
pub struct AuditDetails {
    /// Every file, and how it is presented in the evidence.
    pub files: Vec<FileRecord>,
    pub masked: usize,
    pub prompt_bytes: usize,
    pub first: Option<ReaderRecord>,
    pub second: Option<ReaderRecord>,
    /// Every finding, refuted ones included.
    pub findings: Vec<Finding>,
    pub advisories: Vec<Advisory>,
    /// What the next stop has to know about this one if it is blocked.
    pub pending: Option<PendingBlock>,
}

impl Gate for AuditGate {
    fn name(&self) -> &'static str {
        AUDIT
    }

    fn check(&self, stop: &StopContext<'_>, _: &[CheckedGate], readers: &mut Readers<'_>) -> GateResult {
        // Before the transcript is read: whatever is added from now on is newer than what is
        // audited.
        let mark = stop.newest.and_then(|_| TranscriptMark::now(stop.input));
        let view = stop.view();
        if let Some((cause, why)) = nothing_to_judge(stop, view) {
            return Outcome::pass(cause, why).into();
        }
        let mut audit = Audit { stop, view, change: StateChange::default(), faults: Vec::new() };
        let mut details = AuditDetails::default();
        let mut outcome = audit.outcome(&mut details, readers);
        let mut if_held = Vec::new();
        let last = stop.saved().audits.get(stop.agent());
        let is_same = |last: &LastAudit| {
            Work { done: last.work, finished: last.finished } == Work::in_session(&view.session)
        };
        if last.is_some_and(|last| is_same(last) && was_not_handed_over(stop, view, last)) {
            if outcome.wants_block() {
                if_held.push(NOT_HANDED_OVER.to_owned());
            } else {
                outcome = with_message(outcome, NOT_HANDED_OVER);
            }
        }
        if stop.is_background()
            && !outcome.is_pass()
            && let Some(progress) = progress_since(mark.as_ref(), stop.input, stop.env, stop.started_ms)
        {
            audit.change.audit = None;
            outcome = Outcome::pass(Cause::MovedOn, progress.get_message().unwrap_or_default());
        }
        let details = GateDetails::Audit(Box::new(details));
        GateResult { change: audit.change, config_faults: audit.faults, if_held, details, ..outcome.into() }
    }
}

fn nothing_to_judge(stop: &StopContext<'_>, view: &SessionView) -> Option<(Cause, &'static str)> {
    if stop.input.is_foreign || view.session.is_foreign() {
        return Some((Cause::UnknownClient, "the hook's input or the transcript is not Claude Code's"));
    }
    let last = stop.saved().audits.get(stop.agent()).filter(|last| is_of_this_stop(stop, view, last));
    let last = last.map(|last| Work { done: last.work, finished: last.finished });
    nothing_to_audit(&view.session, view.plan.as_ref(), last).or_else(|| {
        let is_off = view.plan.is_none() && stop.config.audit.planless == Planless::Off;
        is_off.then_some((Cause::NothingToAudit, "no plan in play, and `planless` is \"off\""))
    })
}

/// Returns whether the last audit says something about this stop as well. An agent can run the hook
/// itself, with a final message of its own making, and before the stop: an audit of this turn counts
/// only for the message that it judged, and one that blocked only if the client handed that over.
/// What is said after a later prompt is talk.
fn is_of_this_stop(stop: &StopContext<'_>, view: &SessionView, last: &LastAudit) -> bool {
    let is_same_message = last.message == message_digest(view);
    has_asked_since(view, last) || is_same_message && !was_not_handed_over(stop, view, last)
}

fn has_asked_since(view: &SessionView, last: &LastAudit) -> bool {
    view.session.asks.iter().any(|ask| ask.at > last.rows)
}

/// Returns whether the last audit blocked this turn, and the transcript shows nothing of that.
fn was_not_handed_over(stop: &StopContext<'_>, view: &SessionView, last: &LastAudit) -> bool {
    // A dry run blocks nobody.
    let was_given = stop.saved().blocked_ms.get(stop.agent()).is_some_and(|at| *at >= last.decided_ms);
    if last.was_clean || !was_given || stop.input.stop_hook_active || has_asked_since(view, last) {
        return false;
    }
    let blocks = stop.input.own_transcript().map(|path| blocks_in_transcript(path, Some(last.decided_ms)));
    !blocks.is_some_and(|blocks| blocks.is_ok_and(|blocks| blocks > 0))
}

fn message_digest(view: &SessionView) -> String {
    ContentId::digest(view.session.final_message.as_deref().unwrap_or_default().trim())
}

/// What the person is told where a block of this turn never reached the agent.
const NOT_HANDED_OVER: &str = "this stop was decided before, and the session was never told of the block: something other \
                               than the client ran the hook. It was checked again";

struct Audit<'a> {
    stop: &'a StopContext<'a>,
    view: &'a SessionView,
    change: StateChange,
    faults: Vec<String>,
}

impl Audit<'_> {
    /// Gathers the evidence, asks the readers and judges their findings.
    fn outcome(&mut self, details: &mut AuditDetails, readers: &mut Readers<'_>) -> Outcome {
        let Self { stop, view, .. } = *self;
        let input = self.gather();
        details.masked = input.masked;
        details.files = input.evidence.files.iter().map(file_record).collect();
        let stamps = stop.newest.map(|_| Stamps::take(&view.workspace, &input.evidence, &input.facts));
        let reading = match self.ask(&input, details, readers) {
            Ok(reading) => reading,
            Err(error) => return could_not(Cause::Error, &error.to_string()),
        };
        let answer = reading.first.outcome;
        let second = reading.second.map(|run| run.outcome);
        if [Some(&answer), second.as_ref()].contains(&Some(&ReaderOutcome::Superseded)) {
            return Outcome::pass(Cause::Superseded, NEWER_STOP);
        }
        details.findings = reading.findings;
        details.advisories = input.advisories.iter().chain(&reading.advisories).cloned().collect();
        let outcome = match self.judge(&input, &answer, stamps.as_ref(), details) {
            Ok(outcome) => outcome,
            Err(stale) => return Outcome::pass(Cause::MovedOn, stale),
        };
        // A failed audit does not count, so the next stop tries again. What could not be verified
        // now can't be verified at the next stop either, on the same evidence, and is not worth
        // another call.
        if matches!(answer, ReaderOutcome::Answered(_)) || outcome.wants_block() {
            let work = Work::in_session(&view.session);
            self.change.audit = Some(LastAudit {
                work: work.done,
                finished: work.finished,
                rows: view.session.rows,
                was_clean: !outcome.wants_block(),
                files: input.evidence.changed_files(),
                decided_ms: crate::clock::now().as_millisecond(),
                message: message_digest(view),
            });
        }
        let outcome = self.tell_of_budget_once(outcome, &answer);
        self.advise(outcome, &details.advisories)
    }

    fn gather(&mut self) -> AuditInput {
        let Self { stop, view, .. } = *self;
        let prompts = stop.config.auditor.prompts.as_ref().map(|folder| Prompts::with_overrides(folder));
        let prompts = prompts.unwrap_or_else(|| Ok(Prompts::default())).unwrap_or_else(|error| {
            self.faults.push(error.to_string());
            Prompts::default()
        });
        let last = stop.saved().audits.get(stop.agent()).filter(|last| last.was_clean);
        let judged = last.map(|last| JudgedUntil { at: last.rows, files: last.files.clone() });
        let input = stop.phases.time(timing::EVIDENCE, || {
            let mut cache = stop.state.evidence(stop.session, stop.agent());
            let (session, plan) = (view.session.clone(), view.plan.clone());
            let config = &stop.config.audit;
            let input = AuditInput::new(session, plan, &view.workspace, prompts, config, judged, &mut cache);
            stop.state.save_evidence(stop.session, stop.agent(), &cache);
            input
        });
        stop.phases.add(timing::FACTS, input.facts_took);
        input
    }

    /// Asks the readers, within the hook's remaining time.
    fn ask(
        &mut self,
        input: &AuditInput,
        details: &mut AuditDetails,
        readers: &mut Readers<'_>,
    ) -> Result<Reading, PromptError> {
        let Self { stop, view, .. } = *self;
        let config = &stop.config.auditor;
        let (shown, fault) = stop.phases.time(timing::PROMPT, || input.shown())?;
        self.faults.extend(fault.map(|fault| fault.to_string()));
        let prompt = shown.first(input.prompts())?;
        details.prompt_bytes = prompt.bytes();
        let root = stop.state.root();
        artifacts::write_prompt(root, stop.id, &prompt.whole(), &snapshot_of(&input.evidence));
        let backend = readers.first.backend();
        let first_model = readers.first.model().to_owned();
        let second_model = match &config.second_reader {
            SecondReader::Model(model) => model.clone(),
            SecondReader::Same | SecondReader::Off => first_model.clone(),
        };
        let is_disputed = |finding: &Finding| {
            let dispute = stop.saved().disputed.get(&finding.grounds());
            dispute.is_some_and(|dispute| !is_upheld(stop, dispute))
        };
        let setting =
            Setting { workspace: &view.workspace, config: &stop.config.audit, is_disputed: &is_disputed };
        let reading = reading::read(input, &shown, &prompt, readers, setting)?;
        stop.phases.add(timing::AUDITOR, reading.first.duration);
        details.first = Some(reader_record(&reading.first, backend, &first_model));
        artifacts::write_reply(root, stop.id, &mask(&reading.first.raw_reply).text);
        if let Some(run) = &reading.second {
            stop.phases.add(timing::SECOND_READER, run.duration);
            details.second = Some(reader_record(run, backend, &second_model));
            let task = reading
                .second_prompt
                .as_ref()
                .map(|prompt| prompt.text.get(shown.evidence.len()..).unwrap_or_default().trim_start());
            artifacts::write_second(root, stop.id, task.unwrap_or_default(), &mask(&run.raw_reply).text);
        }
        Ok(reading)
    }

    /// Returns the outcome of the findings. The error names files that have changed in the
    /// meantime, if nothing else is left to report.
    fn judge(
        &self,
        input: &AuditInput,
        answer: &ReaderOutcome,
        stamps: Option<&Stamps>,
        details: &mut AuditDetails,
    ) -> Result<Outcome, String> {
        let Self { stop, view, .. } = *self;
        let findings = &mut details.findings;
        let (mut current, stale) = match stamps {
            None => (findings.clone(), Vec::new()),
            Some(stamps) => {
                let plan = input.evidence.plan.as_ref().and_then(|plan| plan.path.as_deref());
                drop_stale(findings, &stamps.changed(&view.workspace), plan)
            }
        };
        let disputed =
            set_aside(findings, &mut current, &stop.saved().disputed, |dispute| is_upheld(stop, dispute));
        let config = &stop.config.audit;
        let outcome = outcome_of(answer, &current, config, (&input.prompts().reason, stop.id));
        if outcome.is_pass() && !stale.is_empty() && disputed.is_empty() {
            return Err(format!("changed since it was looked at: {}", stale.join(", ")));
        }
        let outcome = with_disputed(outcome, &disputed);
        if outcome.wants_block() {
            let blocks = |finding: &Finding| config.blocks_for(finding);
            details.pending = Some(PendingBlock::new(findings, blocks, &input.evidence));
        }
        Ok(outcome)
    }

    /// Tells the person of a spent budget once; after that it only goes to the log.
    fn tell_of_budget_once(&mut self, outcome: Outcome, answer: &ReaderOutcome) -> Outcome {
        if !matches!(answer, ReaderOutcome::Unavailable(Unavailable::BudgetSpent(_))) {
            return outcome;
        }
        if outcome.kind == OutcomeKind::CouldNotCheck && self.stop.saved().shown_notices.contains(BUDGET_TOLD)
        {
            return Outcome::pass(outcome.cause, outcome.words);
        }
        self.change.shown_notices.insert(BUDGET_TOLD.to_owned());
        outcome
    }

    /// Adds the advisories that the person was not shown before.
    fn advise(&mut self, outcome: Outcome, advisories: &[Advisory]) -> Outcome {
        let told = &self.stop.saved().shown_notices;
        let new: Vec<&Advisory> = advisories.iter().filter(|one| !told.contains(&one.name())).collect();
        // A background hook can tell nobody: a client that does not wait discards its
        // `systemMessage` (2.1.325).
        if !outcome.wants_block() && !self.stop.is_background() {
            self.change.shown_notices.extend(new.iter().map(|advisory| advisory.name()));
        }
        advised(outcome, &new)
    }
}

/// Returns whether a person called a finding right that the agent disputed.
fn is_upheld(stop: &StopContext<'_>, dispute: &Dispute) -> bool {
    DecisionLog::in_folder(stop.state.root()).is_upheld(&dispute.of, dispute.finding)
}
