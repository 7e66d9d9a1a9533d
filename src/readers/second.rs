//! The second reader: takes the findings that would hold a stop, gives the text that it is asked about, and with its answer
//! what it makes of each. Pure. What it does not speak of is not upheld.

use serde_json::json;

use super::{Answer, ReaderOutcome};
use crate::finding::{Finding, SecondOpinion, Source, Status};

/// The findings as the second reader is shown them: one JSON object a line, so that no word of theirs can pass for another
/// finding or for the end of the list.
pub fn listed(findings: &[&Finding]) -> String {
    let line = |(at, finding): (usize, &&Finding)| {
        let value = json!({
            "number": at + 1,
            "category": finding.category.name(),
            "kind": finding.kind.name(),
            "claim": finding.claim,
            "claimed_in": finding.claimed_in.name(),
            "proof": finding.proof,
            "path": finding.path.as_deref().unwrap_or_default(),
            "why": finding.why,
        });
        value.to_string()
    };
    findings.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// Puts the second reader's word to the findings that it was asked about, in the order in which they were listed. What it
/// upholds is confirmed; what it dismisses is refuted. Where it has no word on a finding that only a reader brought, that
/// finding can't be verified; what the program proved by itself stands without it.
pub fn apply(findings: &mut [&mut Finding], outcome: &ReaderOutcome) {
    let answer = match outcome {
        ReaderOutcome::Answered(json) => Answer::from_json(json).ok(),
        _ => None,
    };
    let (ending, why_not) = outcome.told();
    for (at, finding) in findings.iter_mut().enumerate() {
        let said = answer.iter().flat_map(|answer| &answer.verdicts).find(|verdict| verdict.number == at + 1);
        match said {
            Some(verdict) => {
                finding.second = Some(SecondOpinion { upheld: verdict.uphold, why: verdict.why.clone() });
                if !verdict.uphold {
                    finding.status = Status::Refuted;
                    finding.check = format!("the second reader dismisses it: {}", verdict.why);
                }
            }
            // What the program proved by itself stands without it, and so does a doubt.
            None if finding.source != Source::Reader || finding.status != Status::Confirmed => {}
            None => {
                finding.status = Status::CannotVerify;
                finding.check = match &why_not {
                    Some(why) => format!("the second reader gave no answer ({ending}: {why})"),
                    None if answer.is_some() => "the second reader did not speak of it".to_owned(),
                    None => "the second reader was not asked".to_owned(),
                };
            }
        }
    }
}
