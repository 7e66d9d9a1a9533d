//! What the disk, git or an exit code proves with no reading of prose: evidence in, findings out, one file a rule. Pure.
//!
//! They go to the first reader as numbered candidates that it may dispute; where no reader is to be had, they are all that
//! can hold a stop. A rule that needs a list of words of any language is not a fact.

mod failed;
mod missing;
mod ticked;
mod undone;

use crate::evidence::Evidence;
use crate::finding::{Category, ClaimedIn, Finding, Kind, Source, Status};

/// More than this is no list that anybody works off.
const MOST: usize = 12;

/// Everything that is proven.
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

/// A claim by a mark: something that this session ticked.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ticked {
    /// Its words.
    text: String,
    /// Where it stands.
    place: ClaimedIn,
    /// The plan's step.
    step: Option<usize>,
    /// The paths that it names, written as paths.
    paths: Vec<String>,
}

/// A fact on something that was ticked.
fn fact(ticked: &Ticked, kind: Kind, path: Option<&str>, proof: &str, why: String, settle: &str) -> Finding {
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
