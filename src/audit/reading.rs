//! The readers' part of an audit: the first proposes, the checks sort, and the second tries to
//! refute whatever would block. It is only asked if something would. Decides nothing but the status
//! of each finding.

use super::AuditInput;
use crate::config::{AuditConfig, UnrunChecks};
use crate::evidence::Workspace;
use crate::finding::{Advisory, AdvisoryKind, Category, Finding, Kind, SecondOpinion, Source, Status};
use crate::readers::prompt::{PromptError, SharedPrompt};
use crate::readers::proposal_checks::{PathOnDisk, UNSURE, check};
use crate::readers::{Answer, Prompt, Proposal, ReaderOutcome, ReaderRun, Readers, second};
use crate::text::normalise::bare;

#[derive(Debug)]
pub struct Reading {
    pub first: ReaderRun,
    pub second: Option<ReaderRun>,
    pub second_prompt: Option<Prompt>,
    /// Every finding, refuted ones included.
    pub findings: Vec<Finding>,
    /// What the first reader wants the person to know.
    pub advisories: Vec<Advisory>,
}

impl Reading {
    /// Returns what is found without asking a reader: what the disk proves by itself.
    pub fn without_readers(brief: &AuditInput, config: &AuditConfig, why: ReaderOutcome) -> Self {
        let mut findings = brief.facts.clone();
        config.ignore_in(&mut findings);
        Self {
            first: ReaderRun::not_asked(why),
            second: None,
            second_prompt: None,
            findings,
            advisories: Vec::new(),
        }
    }
}

/// What an audit needs to know beside its evidence.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    pub workspace: &'a Workspace,
    pub config: &'a AuditConfig,
    /// Whether a finding was disputed earlier in this session, in which case it is not asked about
    /// again.
    pub is_disputed: &'a dyn Fn(&Finding) -> bool,
}

/// Asks the first reader, checks its answer, and asks the second where something would block.
pub fn read(
    brief: &AuditInput,
    shown: &SharedPrompt,
    first_prompt: &Prompt,
    readers: &mut Readers<'_>,
    setting: Setting<'_>,
) -> Result<Reading, PromptError> {
    let mut reading = proposed(brief, shown, readers.ask(first_prompt), setting);
    let asked = asked_about(&reading.findings, setting);
    // Whatever kept the first from answering would keep the second from it too, for just as long.
    let has_answered = matches!(reading.first.outcome, ReaderOutcome::Answered(_));
    if asked.is_empty() || !has_answered {
        return Ok(reading);
    }
    let listed: Vec<&Finding> = asked.iter().map(|at| &reading.findings[*at]).collect();
    let prompt = shown.second(brief.prompts(), &second::list_findings(&listed))?;
    let Some(run) = readers.ask_second(&prompt) else { return Ok(reading) };
    let all = reading.findings.iter_mut().enumerate();
    let mut judged: Vec<&mut Finding> =
        all.filter(|(at, _)| asked.contains(at)).map(|(_, finding)| finding).collect();
    second::apply(&mut judged, &run.outcome);
    reading.findings = reading.findings.into_iter().map(Finding::bounded).collect();
    reading.second = Some(run);
    reading.second_prompt = Some(prompt);
    Ok(reading)
}

/// Returns the findings of the first reader's answer and the facts, before the second reader is
/// asked.
pub fn proposed(brief: &AuditInput, shown: &SharedPrompt, run: ReaderRun, setting: Setting<'_>) -> Reading {
    let answer = match &run.outcome {
        ReaderOutcome::Answered(json) => Answer::from_json(json).ok(),
        _ => None,
    };
    let Some(answer) = answer else {
        let outcome = run.outcome.clone();
        return Reading { first: run, ..Reading::without_readers(brief, setting.config, outcome) };
    };
    let mut findings = judged_facts(brief, &answer);
    let shown_bare = bare(&shown.evidence);
    let mut advisories = Vec::new();
    for proposal in answer.findings.into_iter().map(Proposal::bounded) {
        let look = look_at(setting.workspace, &proposal.path);
        let finding = check(&proposal, look.as_ref(), &brief.evidence, &shown_bare);
        let is_advice = finding.kind == Kind::NotRun
            && finding.category == Category::A
            && finding.status == Status::Confirmed
            && setting.config.unrun_checks == UnrunChecks::Advise;
        if is_advice {
            advisories.push(Advisory {
                kind: AdvisoryKind::NotRun,
                text: finding.why.clone(),
                evidence: finding.claim.clone(),
            });
            continue;
        }
        add(&mut findings, finding.bounded());
    }
    setting.config.ignore_in(&mut findings);
    Reading { first: run, second: None, second_prompt: None, findings, advisories }
}

/// Returns the facts with the first reader's opinion of each; a disputed fact is dropped.
fn judged_facts(brief: &AuditInput, answer: &Answer) -> Vec<Finding> {
    let with_opinion = |(at, fact): (usize, &Finding)| {
        let mut fact = fact.clone();
        match answer.candidates.iter().find(|opinion| opinion.number == at + 1) {
            Some(opinion) if opinion.agree => fact.source = Source::Both,
            Some(opinion) => {
                fact.status = Status::Refuted;
                fact.check = format!("the first reader disputes it: {}", opinion.why);
            }
            None => {}
        }
        fact.bounded()
    };
    brief.facts.iter().enumerate().map(with_opinion).collect()
}

/// Adds a finding, unless a fact says the same about its file.
fn add(findings: &mut Vec<Finding>, finding: Finding) {
    let same = findings.iter_mut().find(|known| {
        known.category == finding.category
            && (known.grounds() == finding.grounds()
                || known.source != Source::Reader
                    && known.path.is_some()
                    && known.path == finding.path
                    && known.kind == finding.kind)
    });
    match same {
        Some(known) if known.status == Status::Confirmed => {
            if finding.status == Status::Confirmed && known.source == Source::Facts {
                known.source = Source::Both;
            }
        }
        _ => findings.push(finding),
    }
}

pub fn look_at(workspace: &Workspace, path: &str) -> Option<PathOnDisk> {
    if path.trim().is_empty() {
        return None;
    }
    let place = workspace.locate(path);
    let name = place.as_ref().map_or_else(|| path.trim().to_owned(), |place| place.name.clone());
    Some(PathOnDisk { name, state: workspace.state(place.as_ref()) })
}

/// Returns the findings that the second reader is asked about: those that would block and, if there
/// are any, those the first reader was unsure of and the checks have no other objection to.
pub fn asked_about(findings: &[Finding], setting: Setting<'_>) -> Vec<usize> {
    let would_hold =
        |finding: &Finding| setting.config.blocks_for(finding) && !(setting.is_disputed)(finding);
    if !findings.iter().any(would_hold) {
        return Vec::new();
    }
    let is_unsure = |finding: &Finding| finding.status == Status::CannotVerify && finding.check == UNSURE;
    let asked = findings.iter().enumerate().filter(|(_, finding)| would_hold(finding) || is_unsure(finding));
    asked.map(|(at, _)| at).collect()
}

pub fn is_upheld(finding: &Finding) -> bool {
    matches!(finding.second, Some(SecondOpinion { upheld: true, .. }))
}
