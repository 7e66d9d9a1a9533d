//! A block whose outcome nobody knows yet: what has to be remembered until the session's next stop. Plain data, all of
//! it masked and bounded; what can't be read counts as never written.

use serde::{Deserialize, Serialize};

use crate::auditor::{Proposal, Verdict};
use crate::finding::{Finding, Problem};
use crate::plan::{Mark, Plan};
use crate::text::first_part;
use crate::verify::step_quoted;
use crate::words::normalised;

/// How much of the final message is kept: claims stand in it, and they have to be found again.
const MESSAGE_CAP: usize = 64 << 10;
/// So many findings are followed; a list of more is nobody's next step.
const MOST: usize = 40;

/// A block that was given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PendingBlock {
    /// Its id in the log.
    pub id: String,
    /// When it was decided, in milliseconds since 1970.
    pub decided_ms: i64,
    /// What the agent had said last.
    pub message: Option<String>,
    /// The plan in play: its path, or nothing where it had none.
    pub plan: Option<String>,
    /// What held it.
    pub findings: Vec<Held>,
}

/// One finding that held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Which of the decision's findings it is, counted from 1.
    pub number: usize,
    /// Which of those that the agent was shown, counted from 1.
    pub listed: usize,
    /// The finding.
    pub finding: Finding,
    /// The text that should be there, or the command that failed.
    #[serde(default)]
    pub needle: String,
    /// How the step that it quotes was marked; nothing where it quotes none.
    #[serde(default)]
    pub mark: Option<Mark>,
}

impl Held {
    /// The finding once more as the word of a witness, so that it can be judged again.
    pub fn proposal(&self) -> Proposal {
        let finding = &self.finding;
        Proposal {
            category: finding.category,
            problem: finding.problem,
            quote: finding.quote.clone(),
            path: finding.path.clone().unwrap_or_default(),
            needle: self.needle.clone(),
            why: finding.why.clone(),
            settle: finding.settle.clone(),
        }
    }
}

impl PendingBlock {
    /// What to remember of the findings that hold a stop, of which `holds` tells. The id and the time are known when
    /// the block is given.
    pub fn new(
        findings: &[Finding],
        holds: impl Fn(&Finding) -> bool,
        verdict: Option<&Verdict>,
        plan: Option<&Plan>,
        message: Option<&str>,
    ) -> Self {
        let holding = findings.iter().enumerate().filter(|(_, finding)| holds(finding)).enumerate();
        let findings = holding
            .take(MOST)
            .map(|(listed, (at, finding))| Held {
                number: at + 1,
                listed: listed + 1,
                needle: needle_of(finding, verdict),
                mark: plan.and_then(|plan| step_quoted(&finding.quote, plan)).map(|step| step.mark),
                finding: finding.clone(),
            })
            .collect();
        Self {
            findings,
            message: message.map(|message| first_part(message, MESSAGE_CAP)),
            plan: plan.and_then(|plan| plan.path.clone()),
            ..Self::default()
        }
    }
}

/// What a finding says is missing: the auditor's own word for it, or what the facts show in backticks.
fn needle_of(finding: &Finding, verdict: Option<&Verdict>) -> String {
    let is_meant = |proposal: &&Proposal| {
        proposal.category == finding.category
            && proposal.problem == finding.problem
            && !proposal.needle.trim().is_empty()
            && normalised(&proposal.quote).starts_with(&normalised(&finding.quote))
    };
    let proposed = verdict.and_then(|verdict| verdict.findings.iter().find(is_meant));
    if let Some(proposal) = proposed {
        return proposal.needle.clone();
    }
    let in_backticks = || finding.evidence.first()?.split('`').nth(1).map(|text| text.trim_end_matches('…'));
    match finding.problem {
        Problem::MissingContent | Problem::FailedCommand => in_backticks().unwrap_or_default().to_owned(),
        Problem::MissingFile | Problem::NoTrace | Problem::NotInPlan => String::new(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::finding::{Category, Source, Status};

    pub(crate) fn finding(category: Category, problem: Problem, quote: &str, path: Option<&str>) -> Finding {
        Finding {
            category,
            status: Status::Confirmed,
            source: Source::Facts,
            problem,
            quote: quote.into(),
            path: path.map(Into::into),
            why: "why".into(),
            settle: "settle".into(),
            verifier: "verifier".into(),
            step: None,
            evidence: Vec::new(),
        }
    }

    #[test]
    fn what_held_is_numbered_as_in_the_log_and_as_in_the_list() {
        let mut findings = vec![finding(Category::A, Problem::MissingFile, "Create `a.rs`", Some("a.rs")); 3];
        findings[0].status = Status::Refuted;
        findings[2].quote = "Nobody wrote this".into();
        let session = crate::session::Session::default();
        let plan = crate::plan::given(&session, std::path::Path::new("PLAN.md"), "- [x] Create `a.rs`\n");
        let holds = |finding: &Finding| finding.status == Status::Confirmed;
        let pending = PendingBlock::new(&findings, holds, None, Some(&plan), Some("Done."));
        let numbers: Vec<_> =
            pending.findings.iter().map(|held| (held.number, held.listed, held.mark)).collect();
        assert_eq!(numbers, [(2, 1, Some(Mark::Ticked)), (3, 2, None)]);
        assert_eq!((pending.message.as_deref(), pending.plan.as_deref()), (Some("Done."), Some("PLAN.md")));
    }

    #[test]
    fn what_is_missing_is_known_again() {
        let proposal = Held {
            number: 1,
            listed: 1,
            finding: finding(Category::A, Problem::MissingContent, "Add `parse` to `a.rs`", Some("a.rs")),
            needle: "fn parse".into(),
            mark: None,
        }
        .proposal();
        let mut found = finding(Category::A, Problem::MissingContent, "Add `parse` to `a.rs`", Some("a.rs"));
        let verdict = Verdict { findings: vec![proposal] };
        assert_eq!(needle_of(&found, Some(&verdict)), "fn parse");
        found.evidence = vec!["a.rs: no `parse`".into()];
        assert_eq!(needle_of(&found, None), "parse");
        let mut run = finding(Category::A, Problem::FailedCommand, "All tests pass", None);
        run.evidence = vec!["`cargo test --all …` ended with exit code 101".into()];
        assert_eq!(needle_of(&run, None), "cargo test --all ");
    }

    #[test]
    fn a_long_message_is_cut() {
        let kept = PendingBlock::new(&[], |_| true, None, None, Some(&"x".repeat(1 << 20)));
        assert!(kept.message.is_some_and(|message| message.len() < MESSAGE_CAP + 40));
    }
}
