//! What today's rules make of an audit of then: takes the findings of both, gives what differs. Pure.

use serde::Serialize;

use crate::decision::Action;
use crate::finding::{Finding, Status};
use crate::text::normalise::normalised;

/// An audit of then, judged once more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replayed {
    /// The decision's id.
    pub id: String,
    /// Which punchlist decided it.
    pub version_then: String,
    /// Which one judged it now.
    pub version_now: String,
    /// What was decided; a dry run counts as what it would have done.
    pub then: Action,
    /// What would be decided today.
    pub now: Action,
    /// What to keep in mind when reading this.
    pub cautions: Vec<String>,
    /// The files that are not as they were, by content.
    pub changed: Vec<String>,
    /// Each finding of then, and behind them what is new.
    pub findings: Vec<Compared>,
}

/// One finding, then and now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// Its number then; none where it is new.
    pub number: Option<usize>,
    /// What differs.
    pub difference: Difference,
    /// What was made of it then.
    pub then: Option<Finding>,
    /// What is made of it now.
    pub now: Option<Finding>,
}

/// How a finding of then and one of today differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// Not at all.
    Same,
    /// It is confirmed now.
    NowConfirmed,
    /// It can't be verified now.
    NowUnverified,
    /// It is refuted now.
    NowRefuted,
    /// Nobody brings it up any more.
    Gone,
    /// Nobody brought it up then.
    New,
}

impl Difference {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::NowConfirmed => "now confirmed",
            Self::NowUnverified => "now not verified",
            Self::NowRefuted => "now refuted",
            Self::Gone => "no longer found",
            Self::New => "new",
        }
    }
}

/// Compares the findings of then with those of today.
pub fn compare(then: &[Finding], now: &[Finding]) -> Vec<Compared> {
    let mut left: Vec<Option<&Finding>> = now.iter().map(Some).collect();
    let mut compared: Vec<Compared> = Vec::new();
    for (at, old) in then.iter().enumerate() {
        // The likest first: one file may have several findings.
        let likeness = |new: Option<&Finding>| new.map_or(0, |new| likeness(old, new));
        let best = (0..left.len()).max_by_key(|&at| (likeness(left[at]), std::cmp::Reverse(at)));
        let new = best.filter(|&at| likeness(left[at]) > 0).and_then(|at| left[at].take());
        let difference = match new {
            None => Difference::Gone,
            Some(new) if new.status == old.status => Difference::Same,
            Some(new) => match new.status {
                Status::Confirmed => Difference::NowConfirmed,
                Status::CannotVerify => Difference::NowUnverified,
                Status::Refuted => Difference::NowRefuted,
            },
        };
        compared.push(Compared {
            number: Some(at + 1),
            difference,
            then: Some(old.clone()),
            now: new.cloned(),
        });
    }
    let new = left.into_iter().flatten();
    compared.extend(new.map(|new| Compared {
        number: None,
        difference: Difference::New,
        then: None,
        now: Some(new.clone()),
    }));
    compared
}

/// How surely two findings are one; 0 if they are not.
fn likeness(old: &Finding, new: &Finding) -> u32 {
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
            compare(&then, &now).iter().map(|one| (one.number, one.difference.words())).collect();
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
