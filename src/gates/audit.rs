//! The audit gate: a stop in, an audit of its session, an outcome out. Here is when to audit, whom to ask and
//! what to remember; the audit itself is `crate::audit`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::moved::Stamps;
use super::sight::{self, SoFar};
use super::{Gate, Known, Stop, Story, moved};
use crate::audit::Brief;
use crate::audit::fingerprint::fingerprint;
use crate::audit::outcome::{advised, could_not, outcome_of, with_disputed};
use crate::audit::seen::scene_of;
use crate::auditor::prompt::PromptError;
use crate::auditor::{Auditor, AuditorOutcome, Prompts};
use crate::claims;
use crate::config::{AuditConfig, Planless};
use crate::decision::{Cause, NEWER_STOP, Outcome};
use crate::evidence::redact::mask;
use crate::evidence::{Evidence, Workspace};
use crate::finding::{Advisory, Finding, Status};
use crate::log::{DecisionLog, keepsakes, labels};
use crate::outcomes::{PendingBlock, grounds};
use crate::phases;
use crate::plan::Plan;
use crate::session::Session;
use crate::state::{Dispute, LastAudit, SessionState};

/// Its name.
pub const AUDIT: &str = "audit";

/// The gate.
pub struct AuditGate<'a> {
    /// Who is asked.
    pub auditor: &'a mut dyn Auditor,
}

/// What is left to finish in after the auditor's time: judging, counting, logging, answering.
const ROOM_TO_ANSWER: Duration = Duration::from_secs(5);

impl Gate for AuditGate<'_> {
    fn name(&self) -> &'static str {
        AUDIT
    }

    fn check(&mut self, stop: &Stop<'_>, story: &mut Story) -> Outcome {
        let pass = |cause, detail: &str| Outcome::Pass { cause, detail: Some(detail.to_owned()) };
        let remembered = story.remembered.clone();
        let last = remembered.audits.get(stop.agent());
        let so_far = stop.claim.and_then(|_| SoFar::now(stop));
        let Known { session, workspace, plan, readings } = story.take_known(stop);
        let work = session.work_done();
        if let Some(nothing) = nothing_to_audit(&session, plan.as_ref(), work, last) {
            // The process is about to end: to give thousands of texts back one by one takes as long as to read them.
            std::mem::forget(session);
            return pass(Cause::NothingToAudit, nothing);
        }
        if plan.is_none() && stop.config.audit.planless == Planless::Off {
            return pass(Cause::NothingToAudit, "no plan in play, and `planless` is \"off\"");
        }
        let prompts = prompts_of(stop, story);
        let brief = story.phase(phases::EVIDENCE, |story| {
            let mut memory = stop.state.evidence(stop.session, stop.agent());
            let brief = Brief::new(session, plan, &workspace, prompts, &stop.config.audit, &mut memory);
            stop.state.keep_evidence(stop.session, stop.agent(), memory, &mut story.chores);
            stop.state.keep_readings(stop.session, stop.agent(), readings, &mut story.chores);
            Arc::new(brief)
        });
        story.tell_evidence(&brief);
        let name = fingerprint(&brief.evidence);
        if last.is_some_and(|last| last.clean.as_ref() == Some(&name)) {
            return pass(Cause::Unchanged, "the same evidence as at the last clean audit");
        }
        let stamps = stop.claim.map(|_| sight::stamps(&workspace, &brief.evidence, &brief.facts.findings));

        let answer = if brief.wants_auditor(&stop.config.audit) {
            match self.second_opinion(stop, &brief, story) {
                Ok(answer) => answer,
                Err(error) => return could_not(Cause::Error, &error.to_string()),
            }
        } else {
            AuditorOutcome::NotAsked
        };
        if answer == AuditorOutcome::Superseded {
            return pass(Cause::Superseded, NEWER_STOP);
        }
        let outcome = match weigh(stop, story, &brief, &answer, &workspace, stamps.as_ref(), &remembered) {
            Ok(outcome) => outcome,
            Err(moved) => return pass(Cause::MovedOn, &moved),
        };
        // An audit that could not be made is not one: the next stop tries again.
        let was_made = matches!(answer, AuditorOutcome::Answered(_) | AuditorOutcome::NotAsked);
        if was_made || outcome.wants_block() {
            // What could not be verified now can't be either at the next stop, on the same evidence: it was
            // told once, and is not worth another call.
            let clean = (!outcome.wants_block()).then_some(name);
            let decided_ms = Timestamp::now().as_millisecond();
            story.audited = Some(LastAudit { work, asks: brief.evidence.session.wants(), clean, decided_ms });
        }
        let new: Vec<&Advisory> =
            brief.facts.advisories.iter().filter(|a| !remembered.told.contains(&a.name())).collect();
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
        // To give all of it back piece by piece would be the last thing that this process does.
        std::mem::forget(brief);
        outcome
    }
}

impl AuditGate<'_> {
    /// Asks the auditor, within what is left of the hook's time.
    fn second_opinion(
        &mut self,
        stop: &Stop<'_>,
        brief: &Arc<Brief>,
        story: &mut Story,
    ) -> Result<AuditorOutcome, PromptError> {
        let (written, fault) = story.phase(phases::PROMPT, |_| brief.prompt())?;
        story.config_faults.extend(fault.map(|fault| fault.to_string()));
        let prompt = Arc::new(written);
        story.prompt_bytes = prompt.bytes();
        let left = stop.deadline.saturating_duration_since(Instant::now()).saturating_sub(ROOM_TO_ANSWER);
        let (root, id) = (stop.state.root().to_path_buf(), stop.id.to_owned());
        let (asked, brief) = (Arc::clone(&prompt), Arc::clone(brief));
        // The auditor takes longer than to write down what it is asked.
        story.chores.run(move || {
            keepsakes::keep_asked(&root, &id, &asked.whole(), &scene_of(&brief.evidence));
            // Given back by nobody, as below.
            std::mem::forget(brief);
        });
        let run = self.auditor.ask(&prompt, left.min(stop.config.auditor.timeout));
        story.tell_auditor(&run, self.auditor.backend(), self.auditor.model());
        story.reply = Some(mask(&run.raw_reply).text);
        Ok(run.outcome)
    }
}

/// Judges what facts and auditor say, and what that comes to. An error where all that would have been told speaks of
/// what has changed meanwhile, with the names of it.
fn weigh(
    stop: &Stop<'_>,
    story: &mut Story,
    brief: &Brief,
    answer: &AuditorOutcome,
    workspace: &Workspace,
    stamps: Option<&Stamps>,
    remembered: &SessionState,
) -> Result<Outcome, String> {
    story.findings = story.phase(phases::VERIFY, |_| brief.findings(answer, workspace));
    if *answer == AuditorOutcome::NotAsked && !story.findings.is_empty() {
        story.scene = Some(scene_of(&brief.evidence));
    }
    let (mut fitting, moved) = match stamps {
        None => (story.findings.clone(), Vec::new()),
        Some(then) => {
            let changed = moved::changed(then, &sight::again(workspace, then));
            let plan = brief.evidence.plan.as_ref().and_then(|plan| plan.path.as_deref());
            moved::fitting(&mut story.findings, &changed, plan)
        }
    };
    let log = DecisionLog::in_folder(stop.state.root());
    let is_upheld = |dispute: &Dispute| labels::is_upheld(&log, &dispute.of, dispute.finding);
    let disputed = grounds::set_aside(&mut story.findings, &mut fitting, &remembered.disputed, is_upheld);
    let outcome = match outcome_of(answer, &fitting, &stop.config.audit, (&brief.prompts().reason, stop.id)) {
        Outcome::Pass { cause, detail: None } if *answer == AuditorOutcome::NotAsked => {
            let detail = "no plan in play and no claim in doubt: nobody was asked".to_owned();
            Outcome::Pass { cause, detail: Some(detail) }
        }
        Outcome::Pass { .. } if !moved.is_empty() && disputed.is_empty() => {
            return Err(format!("changed since it was looked at: {}", moved.join(", ")));
        }
        outcome => outcome,
    };
    let outcome = with_disputed(outcome, &disputed.iter().collect::<Vec<_>>());
    if outcome.wants_block() {
        story.pending = Some(pending(&story.findings, answer, &brief.evidence, &stop.config.audit));
    }
    Ok(outcome)
}

/// What is to be known of the findings that hold a stop when the next one comes.
fn pending(
    findings: &[Finding],
    answer: &AuditorOutcome,
    evidence: &Evidence,
    config: &AuditConfig,
) -> PendingBlock {
    let holds = |finding: &Finding| {
        finding.status == Status::Confirmed && config.block_on.contains(&finding.category)
    };
    let verdict = match answer {
        AuditorOutcome::Answered(verdict) => Some(verdict),
        _ => None,
    };
    let message = evidence.session.final_message.as_deref();
    PendingBlock::new(findings, holds, verdict, evidence.plan.as_ref(), message)
}

/// Why there is nothing to audit, if there is not. `last` is what is remembered of the session's last audit.
pub fn nothing_to_audit(
    session: &Session,
    plan: Option<&Plan>,
    work: usize,
    last: Option<&LastAudit>,
) -> Option<&'static str> {
    let worked_since = last.map_or(work > 0, |last| work != last.work);
    let asked_since = last.is_some_and(|last| session.wants() > last.asks);
    let claims =
        session.final_message.as_deref().is_some_and(|message| !claims::sentences(message).is_empty());
    match plan {
        // What was asked since, and is said to be done with no work at all, is worth a look.
        None if !(worked_since || (asked_since && claims)) => {
            Some("no plan in play, and no work since the last audit")
        }
        Some(_) if work == 0 && !claims => Some("a plan, but nothing was done or claimed yet"),
        // "Thanks!", "You're welcome": whoever was held, told or found clean is not asked again for it.
        Some(_) if last.is_some() && !worked_since && !claims && session.is_chatting() => {
            Some("only small talk since the last audit")
        }
        _ => None,
    }
}

fn prompts_of(stop: &Stop<'_>, story: &mut Story) -> Prompts {
    let Some(folder) = &stop.config.auditor.prompts else { return Prompts::default() };
    Prompts::with_overrides(folder).unwrap_or_else(|error| {
        story.config_faults.push(error.to_string());
        Prompts::default()
    })
}
