//! The audit gate: transcript, plan and disk in, a second opinion, its check, an outcome out. Here is the
//! order of things and nothing else; each part is a module of its own: those that only this gate needs below,
//! `fingerprint` (has anything changed?), `looks` (what the verifier has to see) and `reason` (the words).

pub mod fingerprint;
pub mod looks;
pub mod reason;

use std::time::{Duration, Instant};

use jiff::Timestamp;

use fingerprint::fingerprint;
use looks::looks;

use super::{Gate, Stop, Story};
use crate::auditor::prompt::{self, PromptError};
use crate::auditor::{Auditor, AuditorOutcome, Prompt, Prompts, Verdict};
use crate::config::{self, AuditConfig};
use crate::decision::{Cause, Outcome};
use crate::evidence::masking::{mask_plan, mask_session};
use crate::evidence::redact::mask;
use crate::evidence::shown::{self, Sections};
use crate::evidence::{self, Evidence, Workspace};
use crate::facts::{self, claims};
use crate::finding::{Finding, Status};
use crate::hook::Event;
use crate::names::random_fence;
use crate::plan::{self, Plan, PlanPlaces};
use crate::session::ledger::Role;
use crate::session::{Session, load};
use crate::state::LastAudit;
use crate::verify::verify;

/// The gate.
pub struct AuditGate<'a> {
    /// Who is asked.
    pub auditor: &'a mut dyn Auditor,
}

/// What is left to finish in after the auditor's time: judging, counting, logging, answering.
const ROOM_TO_ANSWER: Duration = Duration::from_secs(5);

impl Gate for AuditGate<'_> {
    fn check(&mut self, stop: &Stop<'_>, story: &mut Story) -> Outcome {
        let pass = |cause, detail: &str| Outcome::Pass { cause, detail: Some(detail.to_owned()) };
        story.lock = stop.state.lock_stop(stop.session, stop.agent());
        if story.lock.is_none() {
            return pass(Cause::Unchanged, "another hook has this stop in hand");
        }
        let remembered = stop.state.session(stop.session);
        let last = remembered.audits.get(stop.agent());
        // The client runs a hook that is registered twice at the same time: one of them has decided.
        // (A decision from the future is a clock that jumped back.)
        let now = Timestamp::now().as_millisecond();
        if last.is_some_and(|last| (stop.started_ms + 1..=now).contains(&last.decided_ms)) {
            return pass(Cause::Unchanged, "another hook has decided this stop");
        }

        let (mut session, workspace) = story.phase("read", |story| read_session(stop, story));
        let mut plan = story.phase("plan", |story| find_plan(stop, &session, &workspace, story));
        let work = session.work_done();
        if let Some(nothing) = nothing_to_audit(&session, plan.as_ref(), work, last) {
            return pass(Cause::NothingToAudit, nothing);
        }
        // From here on nothing has a secret that could be shown.
        story.masked =
            story.phase("mask", |_| mask_session(&mut session) + plan.as_mut().map_or(0, mask_plan));

        let prompts = prompts_of(stop, story);
        let max_bytes = stop.config.audit.max_prompt_bytes;
        let sections = shown::sections(&session, plan.as_ref(), max_bytes.saturating_sub(prompts.bytes()));
        let file_bytes = prompt::room_for_files(&prompts, &sections, max_bytes);
        let evidence = story.phase("evidence", |_| evidence::gather(session, plan, &workspace, file_bytes));
        story.tell_evidence(&evidence);
        let name = fingerprint(&evidence);
        if last.is_some_and(|last| last.clean.as_ref() == Some(&name)) {
            return pass(Cause::Unchanged, "the same evidence as at the last clean audit");
        }

        let facts = story.phase("facts", |_| facts::facts(&evidence));
        let written = match write_prompt(&prompts, &sections, &evidence, &facts, max_bytes, story) {
            Ok(written) => written,
            Err(error) => return could_not(Cause::Error, &error.to_string()),
        };
        story.prompt = Some(format!("{}\n\n{}", written.system, written.text));

        let deadline = stop.deadline.saturating_duration_since(Instant::now()).saturating_sub(ROOM_TO_ANSWER);
        let run = self.auditor.ask(&written, deadline.min(stop.config.auditor.timeout));
        story.tell_auditor(&run, self.auditor.backend(), self.auditor.model());
        story.reply = Some(mask(&run.raw_reply).text);

        let nothing = Verdict::default();
        let verdict = match &run.outcome {
            AuditorOutcome::Answered(verdict) => verdict,
            _ => &nothing,
        };
        story.findings =
            story.phase("verify", |_| verify(verdict, &looks(&workspace, verdict), &evidence, facts));
        let outcome = outcome_of(&run.outcome, &story.findings, &stop.config.audit, &prompts);
        // An audit that could not be made is not one: the next stop tries again.
        if matches!(run.outcome, AuditorOutcome::Answered(_)) || outcome.wants_block() {
            // What could not be verified now can't be either at the next stop, on the same evidence: it was
            // told once, and is not worth another call.
            let clean = (!outcome.wants_block()).then_some(name);
            story.audited = Some(LastAudit { work, clean, decided_ms: Timestamp::now().as_millisecond() });
        }
        outcome
    }
}

fn read_session(stop: &Stop<'_>, story: &mut Story) -> (Session, Workspace) {
    let role = match stop.input.event {
        Event::SubagentStop => Role::Subagent,
        Event::Stop | Event::Other(_) => Role::Main,
    };
    let loaded = load::load(stop.input.own_transcript(), role, stop.input.last_assistant_message.as_deref());
    story.tell_transcript(&loaded);
    let cwd = stop.input.cwd.clone().unwrap_or_else(|| stop.project.to_path_buf());
    let folders = config::client::plan_folders(stop.env, stop.project);
    let workspace = Workspace::new(stop.project, &cwd, stop.env.home(), &folders);
    (loaded.session, workspace)
}

fn find_plan(stop: &Stop<'_>, session: &Session, workspace: &Workspace, story: &mut Story) -> Option<Plan> {
    // A subagent is asked for a part: the rest of the plan is not its promise.
    if stop.input.event == Event::SubagentStop {
        return None;
    }
    let places = PlanPlaces {
        root: workspace.root().to_path_buf(),
        folders: workspace.plan_folders().to_vec(),
        globs: config::plan_globs(&stop.config.audit.plan).unwrap_or_default(),
    };
    let plan = plan::find(session, &places, &|path| workspace.plan_text(path));
    if let Some(plan) = &plan {
        story.tell_plan(plan);
    }
    plan
}

fn nothing_to_audit(
    session: &Session,
    plan: Option<&Plan>,
    work: usize,
    last: Option<&LastAudit>,
) -> Option<&'static str> {
    let worked_since = last.map_or(work > 0, |last| work != last.work);
    let claims =
        session.final_message.as_deref().is_some_and(|message| !claims::sentences(message).is_empty());
    match plan {
        None if !worked_since => Some("no plan in play, and no work since the last audit"),
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

/// The prompt. A template of the person's own that can't be filled in gives way to the built-in one.
fn write_prompt(
    prompts: &Prompts,
    sections: &Sections,
    evidence: &Evidence,
    facts: &[Finding],
    max_bytes: usize,
    story: &mut Story,
) -> Result<Prompt, PromptError> {
    let fence = random_fence();
    let write = |prompts: &Prompts| prompt::write(prompts, sections, evidence, facts, &fence, max_bytes);
    write(prompts).or_else(|error| {
        story.config_faults.push(error.to_string());
        write(&Prompts::default())
    })
}

/// An audit that could not be made. Why may be the client's words, which nobody has masked yet.
fn could_not(cause: Cause, why: &str) -> Outcome {
    Outcome::CouldNotCheck { cause, message: format!("this stop was not audited: {}", mask(why).text) }
}

/// What the findings and the auditor's ending come to. Confirmed facts hold even where no auditor was to be
/// had; everything else needs its word.
fn outcome_of(
    auditor: &AuditorOutcome,
    findings: &[Finding],
    config: &AuditConfig,
    prompts: &Prompts,
) -> Outcome {
    let with = |status: Status| findings.iter().filter(move |finding| finding.status == status);
    let (holding, idle): (Vec<&Finding>, Vec<&Finding>) =
        with(Status::Confirmed).partition(|finding| config.block_on.contains(&finding.category));
    let unverified: Vec<&Finding> = with(Status::CannotVerify).chain(idle).collect();
    // Whoever tells us to end throws our answer away: a block would be counted and never seen.
    let is_heard = !matches!(auditor, AuditorOutcome::Interrupted(_));
    if !holding.is_empty() && is_heard {
        let reason = reason::reason(&prompts.reason, &holding, &unverified);
        return Outcome::Hold { cause: Cause::Findings, reason };
    }
    match auditor {
        AuditorOutcome::Answered(_) if unverified.is_empty() => {
            Outcome::Pass { cause: Cause::Clean, detail: None }
        }
        AuditorOutcome::Answered(_) => Outcome::Advise {
            cause: Cause::OnlyUnverified,
            message: format!("let go, with what could not be verified: {}", reason::one_line(&unverified)),
        },
        AuditorOutcome::TimedOut(after) => could_not(
            Cause::AuditorTimeout,
            &format!("the auditor gave no answer in {:.0} s", after.as_secs_f64()),
        ),
        AuditorOutcome::Unavailable(why) => could_not(Cause::AuditorUnavailable, &why.to_string()),
        AuditorOutcome::Unreadable(why) => {
            could_not(Cause::AuditorUnreadable, &format!("the auditor's answer does not count: {why}"))
        }
        AuditorOutcome::Interrupted(signal) => could_not(Cause::Error, &format!("ended by {signal}")),
    }
}
