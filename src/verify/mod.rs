//! Takes the auditor's verdict, the evidence and what the disk shows of the paths it names; gives findings.
//! Pure. A proposal is a witness's word: it is confirmed only if its quotes are real and nothing on disk or
//! in the session contradicts it. What can't be shown becomes `cannot-verify`, what is contradicted is
//! refuted, each with the reason kept.

mod quotes;
mod rules;

use crate::auditor::{Proposal, Verdict};
use crate::evidence::{Evidence, FileState};
use crate::finding::{Finding, Source, Status};
use crate::words::normalised;

/// What the disk shows of one proposal: looked up by the workspace, so that judging needs no disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The path's name in the workspace; as proposed where it is outside.
    pub name: String,
    /// What stands there.
    pub state: FileState,
    /// Whether it holds the proposal's needle; `None` when that can't be told.
    pub holds_needle: Option<bool>,
}

/// Judges every proposal, and puts the result beside the facts: one thing said twice becomes one finding.
/// `looks` are in the order of the verdict's findings; `None` for a proposal that names no path.
pub fn verify(
    verdict: &Verdict,
    looks: &[Option<Look>],
    evidence: &Evidence,
    facts: Vec<Finding>,
) -> Vec<Finding> {
    let mut findings = facts;
    for (at, proposal) in verdict.findings.iter().enumerate() {
        let look = looks.get(at).and_then(Option::as_ref);
        let judged = rules::judge(proposal, look, evidence);
        let finding = finding_of(proposal, look, judged);
        match findings.iter_mut().find(|known| same(known, &finding)) {
            Some(known) => {
                if known.source == Source::Facts {
                    known.source = Source::Both;
                }
            }
            None => findings.push(finding),
        }
    }
    findings
}

/// What the verifier makes of a proposal, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judged {
    status: Status,
    reason: String,
}

impl Judged {
    fn confirmed(reason: impl Into<String>) -> Self {
        Self { status: Status::Confirmed, reason: reason.into() }
    }

    fn cannot_verify(reason: impl Into<String>) -> Self {
        Self { status: Status::CannotVerify, reason: reason.into() }
    }

    fn refuted(reason: impl Into<String>) -> Self {
        Self { status: Status::Refuted, reason: reason.into() }
    }
}

/// How much of the auditor's own words is passed on: they become a prompt of the agent.
const WORDS_CAP: usize = 400;

fn finding_of(proposal: &Proposal, look: Option<&Look>, judged: Judged) -> Finding {
    let short =
        |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(WORDS_CAP).collect();
    Finding {
        category: proposal.category,
        status: judged.status,
        source: Source::Auditor,
        problem: proposal.problem,
        quote: short(&proposal.quote),
        path: look.map(|look| look.name.clone()).filter(|name| !name.is_empty()),
        why: short(&proposal.why),
        settle: short(&proposal.settle),
        verifier: judged.reason,
        step: None,
        evidence: Vec::new(),
    }
}

/// Whether two findings say the same thing: the same kind of drift on the same file, or on the same words.
fn same(one: &Finding, other: &Finding) -> bool {
    let words = |finding: &Finding| normalised(&finding.quote);
    one.category == other.category
        && match (&one.path, &other.path) {
            (Some(one), Some(other)) => one == other,
            _ => !one.quote.is_empty() && words(one) == words(other),
        }
}

#[cfg(test)]
mod tests;
