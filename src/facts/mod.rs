//! What the disk, git or an exit code proves: evidence in, findings out, one file a rule. Pure.
//!
//! They go to the first reader as numbered candidates that it may dispute; with no reader they are
//! all that can block a stop. Must not read prose: a rule that needs a list of words of any
//! language is not a fact.

mod failed;
mod missing;
mod ticked;
mod undone;

use crate::evidence::Evidence;
use crate::finding::{Category, ClaimedIn, Finding, Kind, Source, Status};

/// A longer list is of no use to anybody.
const MOST: usize = 12;

/// Returns everything that is proven.
pub fn facts(evidence: &Evidence) -> Vec<Finding> {
    let ticked = ticked::ticked(evidence);
    let mut findings = missing::findings(evidence, &ticked);
    findings.extend(failed::findings(evidence, &ticked));
    findings.extend(undone::findings(evidence, &ticked));
    findings.truncate(MOST);
    findings
}

/// Whether a fact may depend on a file: something that was ticked names one.
pub fn need_files(evidence: &Evidence) -> bool {
    ticked::ticked(evidence).iter().any(|item| item.paths.len() == 1)
}

/// Something that this session ticked: a claim by a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TickedItem {
    text: String,
    place: ClaimedIn,
    /// The plan's step.
    step: Option<usize>,
    /// The paths that it names, written as paths.
    paths: Vec<String>,
}

/// Returns a finding about a ticked item.
fn fact(
    ticked: &TickedItem,
    kind: Kind,
    path: Option<&str>,
    proof: &str,
    why: String,
    settle: &str,
) -> Finding {
    Finding {
        category: Category::A,
        status: Status::Confirmed,
        source: Source::Facts,
        kind,
        claim: ticked.text.clone(),
        claimed_in: ticked.place,
        proof: proof.to_owned(),
        path: path.map(str::to_owned),
        why,
        settle: settle.to_owned(),
        check: "disk and session show it".to_owned(),
        second: None,
        step: ticked.step,
    }
}

#[cfg(test)]
mod tests;
