//! How the findings of a past audit differ from those of today's rules on the same session. Pure.

use std::cmp::Reverse;

use serde::Serialize;

use crate::decision::Action;
use crate::finding::{Finding, Status};
use crate::text::normalise::normalised;

/// A past audit, judged again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReplayDiff {
    /// The decision's id.
    pub id: String,
    /// The version of punchlist that decided it.
    pub version_then: String,
    /// The version that judged it now.
    pub version_now: String,
    /// What was decided; a dry run counts as what it would have done.
    pub then: Action,
    /// What would be decided today.
    pub now: Action,
    /// What limits the comparison.
    pub cautions: Vec<String>,
    /// The files whose content changed since.
    pub changed: Vec<String>,
    /// The earlier findings, followed by the new ones.
    pub findings: Vec<FindingDiff>,
}

/// One finding, before and now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingDiff {
    /// Its number then; `None` if it is new.
    pub number: Option<usize>,
    /// What differs.
    pub difference: Difference,
    pub then: Option<Finding>,
    pub now: Option<Finding>,
}

/// How an earlier finding and today's differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// They are equal.
    Same,
    NowConfirmed,
    /// It can't be verified now.
    NowUnverified,
    NowRefuted,
    NowIgnored,
    /// It is no longer found.
    Gone,
    /// It was not found then.
    New,
}

impl Difference {
    pub fn label(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::NowConfirmed => "now confirmed",
            Self::NowUnverified => "now not verified",
            Self::NowRefuted => "now refuted",
            Self::NowIgnored => "now ignored by the config",
            Self::Gone => "no longer found",
            Self::New => "new",
        }
    }
}

/// Compares the earlier findings with today's.
pub fn compare(then: &[Finding], now: &[Finding]) -> Vec<FindingDiff> {
    let mut left: Vec<Finding> = now.to_vec();
    let mut compared = Vec::new();
    for (at, old) in then.iter().enumerate() {
        // The most similar first: one file may have several findings.
        let best = (0..left.len()).max_by_key(|&at| (similarity(old, &left[at]), Reverse(at)));
        let new = best.filter(|&at| similarity(old, &left[at]) > 0).map(|at| left.remove(at));
        let difference = match new.as_ref().map(|new| new.status) {
            None => Difference::Gone,
            Some(status) if status == old.status => Difference::Same,
            Some(Status::Confirmed) => Difference::NowConfirmed,
            Some(Status::CannotVerify) => Difference::NowUnverified,
            Some(Status::Refuted) => Difference::NowRefuted,
            Some(Status::Ignored) => Difference::NowIgnored,
        };
        compared.push(FindingDiff { number: Some(at + 1), difference, then: Some(old.clone()), now: new });
    }
    let new = |new| FindingDiff { number: None, difference: Difference::New, then: None, now: Some(new) };
    compared.extend(left.into_iter().map(new));
    compared
}

/// Returns how similar two findings are; 0 if they are different findings.
fn similarity(old: &Finding, new: &Finding) -> u32 {
    let same_words = normalised(&old.claim) == normalised(&new.claim);
    let same_path = old.path == new.path;
    if old.category != new.category || !(same_words || (same_path && old.path.is_some())) {
        return 0;
    }
    1 + u32::from(same_words) * 4 + u32::from(same_path) * 2 + u32::from(old.kind == new.kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Category, Kind};
    use crate::testing::finding;

    #[test]
    fn each_finding_is_compared_with_its_own() {
        let file = |quote: &str, path: &str, status| {
            let mut found = finding(Category::A, Kind::Missing, quote, Some(path));
            found.status = status;
            found
        };
        let then = [
            file("Create a", "a", Status::Confirmed),
            file("Create b", "b", Status::Confirmed),
            file("Add x to a", "a", Status::CannotVerify),
            file("Create c", "c", Status::Refuted),
        ];
        let now = [
            file("Add x to a", "a", Status::Confirmed),
            file("create A!", "a", Status::Confirmed),
            file("Create b", "b", Status::Refuted),
            file("Create d", "d", Status::Confirmed),
        ];
        let said: Vec<_> =
            compare(&then, &now).iter().map(|one| (one.number, one.difference.label())).collect();
        assert_eq!(
            said,
            [
                (Some(1), "same"),
                (Some(2), "now refuted"),
                (Some(3), "now confirmed"),
                (Some(4), "no longer found"),
                (None, "new")
            ]
        );
    }
}
