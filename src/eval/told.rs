//! What a first reader is made to say of a case, and what the checks make of each finding by itself,
//! before any second reader has spoken. Takes a prepared case, gives values; asks nobody.

use std::collections::BTreeMap;

use super::layout::LaidOut;
use super::stored::FindingKey;
use crate::audit::reading::{Reading, asked_about, proposed};
use crate::eval::lying::{Invention, inventions};
use crate::finding::{Finding, Source, Status};
use crate::ids::ContentId;
use crate::past_sessions::audit::Prepared;
use crate::readers::checks::{UNSURE, step_of};
use crate::readers::prompt::SharedPrompt;
use crate::readers::{Answer, Proposal, ReaderOutcome, ReaderRun};

/// How many lies that pass the checks are told of one case.
const LIES_THAT_PASS: usize = 6;
/// How many that they stop: with the others no more than an answer may have.
const LIES_THAT_ARE_STOPPED: usize = 14;

/// Where a finding stands once the checks have seen it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// It may hold the stop, if the second reader upholds it.
    Through,
    /// The first reader is not sure of it, and the checks have no other objection.
    Unsure,
    /// It is told to the person, and never holds.
    Advice,
    /// The checks have stopped it.
    Stopped,
}

/// A proposal by itself, after the checks.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The finding that it became.
    pub finding: Finding,
    /// Where it stands.
    pub passed: Passed,
}

/// A run of a reader that has given this answer.
pub fn answered(answer: &Answer) -> ReaderRun {
    let json = serde_json::to_string(answer).unwrap_or_default();
    ReaderRun::not_asked(ReaderOutcome::Answered(json))
}

/// What an answer comes to before the second reader has spoken.
fn proposed_by(answer: &Answer, prepared: &Prepared, shown: &SharedPrompt) -> Reading {
    proposed(&prepared.brief, shown, answered(answer), prepared.setting())
}

/// What the checks make of one proposal.
pub fn checked(proposal: &Proposal, prepared: &Prepared, shown: &SharedPrompt) -> Checked {
    let answer = Answer { findings: vec![proposal.clone()], ..Answer::default() };
    let reading = proposed_by(&answer, prepared, shown);
    let passed = |finding: &Finding| match finding.status {
        Status::Confirmed => Passed::Through,
        Status::CannotVerify if finding.check == UNSURE => Passed::Unsure,
        Status::CannotVerify | Status::Refuted => Passed::Stopped,
    };
    if let Some(finding) = reading.findings.get(prepared.brief.facts.len()) {
        return Checked { passed: passed(finding), finding: finding.clone() };
    }
    // It says what a fact says already, or it became advice.
    let passed = if reading.advisories.is_empty() { Passed::Through } else { Passed::Advice };
    Checked { passed, finding: plain(proposal, prepared) }
}

/// A proposal as a finding that nobody has looked at.
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

/// The lies that are told of a case: some that the checks stop, and a few that they let through, of
/// as many kinds as can be. The second reader is asked about the latter, so that there must not be
/// too many of them.
pub fn lies(prepared: &Prepared, shown: &SharedPrompt) -> Vec<Invention> {
    let all = inventions(&prepared.brief.evidence);
    let stops = |lie: &Invention| checked(&lie.proposal, prepared, shown).passed == Passed::Stopped;
    let (stopped, passing): (Vec<_>, Vec<_>) = all.into_iter().partition(stops);
    let mut told = spread(passing, LIES_THAT_PASS);
    told.extend(spread(stopped, LIES_THAT_ARE_STOPPED));
    told
}

/// So many lies, the first of each kind before the second of any.
fn spread(lies: Vec<Invention>, most: usize) -> Vec<Invention> {
    let mut of_kind: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, Invention)> = Vec::new();
    for lie in lies {
        let rank = of_kind.entry(lie.kind).or_default();
        ranked.push((*rank, lie));
        *rank += 1;
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, lie)| lie).take(most).collect()
}

/// An answer of lies alone.
pub fn lying_answer(lies: &[Invention]) -> Answer {
    Answer { findings: lies.iter().map(|lie| lie.proposal.clone()).collect(), ..Answer::default() }
}

/// The findings that a second reader is asked about if these answers are given, each once, in an
/// order that does not tell which answer it is from.
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
            asked.entry(FindingKey::of(finding, laid_out)).or_insert_with(|| finding.clone());
        }
    }
    let mut asked: Vec<(FindingKey, Finding)> = asked.into_iter().collect();
    asked.sort_by_cached_key(|(key, _)| ContentId::of(format!("{key:?}")));
    asked.into_iter().map(|(_, finding)| finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Category, ClaimedIn, Kind};

    #[test]
    fn the_first_of_each_kind_is_told_before_the_second_of_any() {
        let lie = |kind, why: &str| Invention {
            kind,
            proposal: Proposal {
                category: Category::A,
                sure: true,
                kind: Kind::Other,
                claim: String::new(),
                claimed_in: ClaimedIn::Nowhere,
                proof: String::new(),
                path: String::new(),
                why: why.into(),
                settle: String::new(),
            },
        };
        let lies =
            vec![lie("one", "1"), lie("one", "2"), lie("two", "3"), lie("three", "4"), lie("three", "5")];
        let told: Vec<String> = spread(lies, 4).into_iter().map(|lie| lie.proposal.why).collect();
        assert_eq!(told, ["1", "3", "4", "2"]);
    }
}
