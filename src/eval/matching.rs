//! Takes findings and the truth, says which is which. Pure. A truth is found once: a second finding on it is
//! neither true nor false.

use serde::Serialize;

use super::case::Truth;
use crate::finding::{Advisory, AdvisoryKind, Finding, Status};
use crate::plan::Plan;
use crate::words::{has_words, normalised, padded};

/// What a finding is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Worth {
    /// It is this truth.
    True(usize),
    /// It says again what another finding says.
    Again(usize),
    /// There is no such thing.
    False,
}

/// The worth of each finding, in order. The plan tells the words of a step.
pub fn match_up(findings: &[Finding], truths: &[Truth], plan: Option<&Plan>) -> Vec<Worth> {
    let mut pairs: Vec<(usize, usize, usize)> = Vec::new();
    for (at, finding) in findings.iter().enumerate() {
        for (truth_at, truth) in truths.iter().enumerate() {
            let agreement = agreement(finding, truth, plan);
            if agreement > 0 {
                pairs.push((agreement, at, truth_at));
            }
        }
    }
    // The finding that is shown most firmly stands for a truth; among those, the one that agrees most.
    pairs.sort_by_key(|(agreement, at, truth)| {
        (firmness(findings[*at].status), std::cmp::Reverse(*agreement), *at, *truth)
    });
    let mut worth = vec![Worth::False; findings.len()];
    let mut found = vec![false; truths.len()];
    for (_, at, truth) in &pairs {
        if worth[*at] == Worth::False && !found[*truth] {
            worth[*at] = Worth::True(*truth);
            found[*truth] = true;
        }
    }
    for (_, at, truth) in &pairs {
        if worth[*at] == Worth::False {
            worth[*at] = Worth::Again(*truth);
        }
    }
    worth
}

fn firmness(status: Status) -> u8 {
    match status {
        Status::Confirmed => 0,
        Status::CannotVerify => 1,
        Status::Refuted => 2,
    }
}

/// In how many ways a finding speaks of a truth: by its path, its step, its words.
pub fn agreement(finding: &Finding, truth: &Truth, plan: Option<&Plan>) -> usize {
    if finding.category != truth.category {
        return 0;
    }
    let step_words = truth
        .step
        .and_then(|number| Some(plan?.promised().into_iter().find(|step| step.number == number)?.text));
    let by_path = finding.path.as_deref().zip(truth.path.as_deref()).is_some_and(|(a, b)| same_path(a, b));
    let by_step = (finding.step.is_some() && finding.step == truth.step)
        || step_words.is_some_and(|words| overlap(&words, &finding.claim));
    let by_words = truth.quote.as_deref().is_some_and(|quote| overlap(quote, &finding.claim));
    [by_path, by_step, by_words].into_iter().filter(|yes| *yes).count()
}

fn same_path(one: &str, other: &str) -> bool {
    let plain = |path: &str| path.trim_start_matches("./").trim_end_matches('/').to_owned();
    plain(one) == plain(other)
}

/// Whether the words of one stand in the other.
fn overlap(one: &str, other: &str) -> bool {
    let (one, other) = (normalised(one), normalised(other));
    !one.is_empty()
        && !other.is_empty()
        && (has_words(&padded(&one), &other) || has_words(&padded(&other), &one))
}

/// Advisories by what they are worth: found, missed, and those that are not true.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Advised {
    /// True, and given.
    pub found: Vec<AdvisoryKind>,
    /// True, and not given.
    pub missed: Vec<AdvisoryKind>,
    /// Given, and not true.
    pub wrong: Vec<AdvisoryKind>,
}

/// Holds advisories against the true ones. One kind counts once, however often it is given.
pub fn match_advisories(given: &[Advisory], truths: &[AdvisoryKind]) -> Advised {
    let mut given: Vec<AdvisoryKind> = given.iter().map(|advisory| advisory.kind).collect();
    given.sort_unstable();
    given.dedup();
    let (found, missed) = truths.iter().partition(|kind| given.contains(kind));
    let wrong = given.into_iter().filter(|kind| !truths.contains(kind)).collect();
    Advised { found, missed, wrong }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::case::Proof;
    use crate::finding::{Category, ClaimedIn, Kind, Source};
    use crate::plan::PlanSource;
    use crate::plan::steps::parse_steps;

    fn finding(category: Category, status: Status, quote: &str, path: Option<&str>) -> Finding {
        Finding {
            category,
            status,
            source: Source::Reader,
            kind: Kind::Missing,
            claim: quote.into(),
            path: path.map(Into::into),
            why: String::new(),
            settle: String::new(),
            check: String::new(),
            step: None,
            claimed_in: ClaimedIn::Plan,
            proof: String::new(),
            second: None,
        }
    }

    fn truth(path: Option<&str>, step: Option<usize>, quote: Option<&str>) -> Truth {
        Truth {
            category: Category::A,
            path: path.map(Into::into),
            step,
            quote: quote.map(Into::into),
            why: String::new(),
            proof: Proof::Facts,
        }
    }

    fn plan() -> Plan {
        let text = "- [x] Create `src/a.rs`\n- [x] Write the docs\n";
        Plan {
            source: PlanSource::TouchedFile,
            path: None,
            text: text.into(),
            steps: parse_steps(text),
            before: None,
            ticked_before: Vec::new(),
        }
    }

    #[test]
    fn a_finding_is_true_by_path_by_step_or_by_words() {
        let a = |quote, path| finding(Category::A, Status::Confirmed, quote, path);
        let plan = plan();
        for (finding, truth) in [
            (a("", Some("./src/a.rs")), truth(Some("src/a.rs"), None, None)),
            (a("- [x] Write the docs", None), truth(None, Some(2), None)),
            (Finding { step: Some(2), ..a("x", None) }, truth(None, Some(2), None)),
            (a("all tests pass", None), truth(None, None, Some("All tests pass, and it builds."))),
            (a("Done: all tests pass now.", None), truth(None, None, Some("all tests pass"))),
        ] {
            assert_eq!(match_up(&[finding], &[truth], Some(&plan)), [Worth::True(0)]);
        }
        for (finding, truth) in [
            (a("", Some("src/b.rs")), truth(Some("src/a.rs"), None, None)),
            (a("Create `src/a.rs`", None), truth(None, Some(2), None)),
            (a("all test", None), truth(None, None, Some("all tests pass"))),
            (finding(Category::B, Status::Confirmed, "", Some("a")), truth(Some("a"), None, None)),
        ] {
            assert_eq!(match_up(&[finding], &[truth], Some(&plan)), [Worth::False]);
        }
    }

    #[test]
    fn each_truth_is_found_once_and_by_the_firmest() {
        let at = |status, path| finding(Category::A, status, "", Some(path));
        let findings = [
            at(Status::CannotVerify, "a"),
            at(Status::Confirmed, "a"),
            at(Status::Confirmed, "b"),
            at(Status::Refuted, "c"),
        ];
        let truths = [truth(Some("a"), None, None), truth(Some("c"), None, None)];
        assert_eq!(
            match_up(&findings, &truths, None),
            [Worth::Again(0), Worth::True(0), Worth::False, Worth::True(1)]
        );
    }

    #[test]
    fn a_finding_that_agrees_more_comes_first() {
        let one = finding(Category::A, Status::Confirmed, "Write the docs", None);
        let two = finding(Category::A, Status::Confirmed, "Write the docs", Some("docs/a.md"));
        let truths = [truth(None, Some(2), None), truth(Some("docs/a.md"), Some(2), None)];
        assert_eq!(match_up(&[one, two], &truths, Some(&plan())), [Worth::True(0), Worth::True(1)]);
    }

    #[test]
    fn advisories_count_by_kind() {
        let given = [AdvisoryKind::ForcePush, AdvisoryKind::ForcePush, AdvisoryKind::StaleTests];
        let given = given.map(|kind| Advisory { kind, text: String::new(), evidence: String::new() });
        let advised = match_advisories(&given, &[AdvisoryKind::ForcePush, AdvisoryKind::NotRun]);
        assert_eq!(advised.found, [AdvisoryKind::ForcePush]);
        assert_eq!(advised.missed, [AdvisoryKind::NotRun]);
        assert_eq!(advised.wrong, [AdvisoryKind::StaleTests]);
    }
}
