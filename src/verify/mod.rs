//! Takes the auditor's verdict, the evidence and what the disk shows of the paths it names; gives findings.
//! Pure. A proposal is a witness's word: it is confirmed only if its quotes are real and nothing on disk or
//! in the session contradicts it. What can't be shown becomes `cannot-verify`, what is contradicted is
//! refuted, each with the reason kept: the log is how we learn how good the witness is.
//!
//! A rule's file for each category: `claimed` (A, with `files`, `content` and `commands` for its kinds of
//! proof), `unplanned` (B), `abandoned` (C), `tasks` (D), `asks`. They share `over` (who says that what is
//! done), `work` (what the session did), `elsewhere` (what can't be seen from here), and the comparing of
//! `quotes`, `names`, `forms` and `topics`. `merge` makes one finding of what was said twice.

mod abandoned;
mod asks;
mod case;
mod claimed;
mod commands;
mod content;
mod elsewhere;
mod files;
pub mod forms;
pub mod merge;
mod names;
mod over;
mod quotes;
mod reason;
mod shows;
mod tables;
mod tasks;
mod topics;
mod unplanned;
mod work;

use crate::auditor::{Proposal, Verdict};
use crate::evidence::{Evidence, FileState};
use crate::facts::ordinary::SCRATCH;
use crate::finding::{Category, Finding, Source, Status};

use case::Case;
pub use case::path_of;
pub use over::says_it_is_over;
pub use quotes::step_of as step_quoted;
pub use reason::{NO_PLAN, SETTLING};

/// What the disk shows of one proposal: looked up by the workspace, so that judging needs no disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The path's name in the workspace; as proposed where it is outside.
    pub name: String,
    /// What stands there.
    pub state: FileState,
    /// Whether it holds the proposal's needle; `None` when that can't be told.
    pub holds_needle: Option<bool>,
    /// A file that holds the needle in another form, or another file of the session that holds it; where that
    /// can't be told of one, that one.
    pub other_form: Option<String>,
    /// Where what the session wrote into a missing file stands now.
    pub lives_on: Option<String>,
}

impl Look {
    /// A look that shows what stands there and nothing else.
    pub fn new(name: impl Into<String>, state: FileState) -> Self {
        Self { name: name.into(), state, holds_needle: None, other_form: None, lives_on: None }
    }
}

/// Judges every proposal of an auditor that answered, and puts the result beside the facts: one thing said
/// twice becomes one finding. `looks` are in the order of the verdict's findings; `None` for a proposal that
/// names no path.
pub fn verify(
    verdict: &Verdict,
    looks: &[Option<Look>],
    evidence: &Evidence,
    facts: Vec<Finding>,
) -> Vec<Finding> {
    let proposed = verdict.findings.iter().enumerate().map(|(at, proposal)| {
        let case = Case::new(proposal, looks.get(at).and_then(Option::as_ref), evidence);
        finding_of(&case, judge(&case))
    });
    merge::merge(facts, proposed.collect())
}

/// What the verifier makes of a proposal, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Judged {
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

/// Judges one proposal: first by where it points, then by the rules of its category.
fn judge(case: &Case<'_>) -> Judged {
    let path = case.proposal.path.trim();
    // A workspace may itself stand in a temporary folder: what is inside of it counts.
    if !path.is_empty() && case.look.is_none_or(|look| look.state == FileState::Outside) {
        let is_scratch = SCRATCH.iter().any(|folder| path.starts_with(folder));
        return Judged::cannot_verify(if is_scratch {
            "scratch: a temporary folder is nobody's promise"
        } else {
            reason::OUTSIDE
        });
    }
    match case.proposal.category {
        Category::A => claimed::judge(case),
        Category::B => unplanned::judge(case),
        Category::C => abandoned::judge(case),
        Category::D => tasks::judge(case),
        Category::Ask => asks::judge(case),
    }
}

/// How much of the auditor's own words is passed on: they become a prompt of the agent.
const WORDS_CAP: usize = 400;

fn finding_of(case: &Case<'_>, judged: Judged) -> Finding {
    let short =
        |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(WORDS_CAP).collect();
    let proposal: &Proposal = case.proposal;
    // A finding may quote one step and name the file of another: the file counts.
    let promising = case.look.filter(|_| proposal.category == Category::A);
    let promising = promising.and_then(|look| files::promising_step(case, &look.name));
    Finding {
        category: proposal.category,
        status: judged.status,
        source: Source::Auditor,
        problem: proposal.problem,
        quote: short(&proposal.quote),
        path: case.look.map(|look| look.name.clone()).filter(|name| !name.is_empty()),
        why: short(&proposal.why),
        settle: short(&proposal.settle),
        verifier: judged.reason,
        step: case.step.or(promising).map(|step| step.number),
        evidence: shows::lines(case),
    }
}

#[cfg(test)]
mod tests;
