//! The checks' outcome for a single proposal, before any second reader is asked. Pure.

use std::collections::BTreeMap;

use super::layout::LaidOut;
use super::stored::FindingKey;
use crate::audit::reading::{Reading, asked_about, proposed};
use crate::finding::{Finding, Source, Status};
use crate::ids::ContentId;
use crate::past_sessions::audit::Prepared;
use crate::readers::prompt::SharedPrompt;
use crate::readers::proposal_checks::{UNSURE, step_of};
use crate::readers::{Answer, Proposal, ReaderOutcome, ReaderRun};

/// The checks' decision on a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOutcome {
    /// It may block, if the second reader upholds it.
    Through,
    /// The first reader is unsure of it, and the checks have no other objection.
    Unsure,
    /// It is advice for the person, and never blocks.
    Advice,
    Stopped,
}

/// A proposal by itself, after the checks.
#[derive(Debug, Clone)]
pub struct Checked {
    pub finding: Finding,
    pub outcome: CheckOutcome,
}

/// Returns the run of a reader that gave this answer.
pub fn answered(answer: &Answer) -> ReaderRun {
    let json = serde_json::to_string(answer).unwrap_or_default();
    ReaderRun::not_asked(ReaderOutcome::Answered(json))
}

/// Applies the checks to an answer.
fn proposed_by(answer: &Answer, prepared: &Prepared, shown: &SharedPrompt) -> Reading {
    proposed(&prepared.brief, shown, answered(answer), prepared.setting())
}

/// Applies the checks to one proposal by itself.
pub fn check_alone(proposal: &Proposal, prepared: &Prepared, shown: &SharedPrompt) -> Checked {
    let answer = Answer { findings: vec![proposal.clone()], ..Answer::default() };
    let reading = proposed_by(&answer, prepared, shown);
    let outcome = |finding: &Finding| match finding.status {
        Status::Confirmed => CheckOutcome::Through,
        Status::CannotVerify if finding.check == UNSURE => CheckOutcome::Unsure,
        Status::CannotVerify | Status::Refuted | Status::Ignored => CheckOutcome::Stopped,
    };
    if let Some(finding) = reading.findings.get(prepared.brief.facts.len()) {
        return Checked { outcome: outcome(finding), finding: finding.clone() };
    }
    // It repeats a fact, or it became advice.
    let outcome = if reading.advisories.is_empty() { CheckOutcome::Through } else { CheckOutcome::Advice };
    Checked { outcome, finding: plain(proposal, prepared) }
}

/// Returns a proposal as a finding, unchecked.
fn plain(proposal: &Proposal, prepared: &Prepared) -> Finding {
    Finding {
        category: proposal.category,
        status: Status::Confirmed,
        source: Source::Reader,
        kind: proposal.kind,
        claim: proposal.claim.clone(),
        claimed_in: proposal.claimed_in,
        proof: proposal.proof.clone(),
        path: Some(proposal.path.clone()).filter(|path| !path.trim().is_empty()),
        why: proposal.why.clone(),
        settle: proposal.settle.clone(),
        check: String::new(),
        second: None,
        step: step_of(&proposal.claim, prepared.brief.evidence.plan.as_ref()),
    }
}

/// Returns the findings that a second reader is asked about given these answers, each once, in an
/// order that does not reveal which answer it is from.
pub fn asked_of_second(
    answers: &[Answer],
    prepared: &Prepared,
    shown: &SharedPrompt,
    laid_out: &LaidOut,
) -> Vec<Finding> {
    let mut asked: BTreeMap<FindingKey, Finding> = BTreeMap::new();
    for answer in answers {
        let reading = proposed_by(answer, prepared, shown);
        for at in asked_about(&reading.findings, prepared.setting()) {
            let finding = &reading.findings[at];
            asked.entry(FindingKey::for_finding(finding, laid_out)).or_insert_with(|| finding.clone());
        }
    }
    let mut asked: Vec<(FindingKey, Finding)> = asked.into_iter().collect();
    asked.sort_by_cached_key(|(key, _)| ContentId::digest(format!("{key:?}")));
    asked.into_iter().map(|(_, finding)| finding).collect()
}
