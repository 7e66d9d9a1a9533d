//! Matches a finding with the truths of a case. Pure. One thing often fits two categories, so a
//! finding of another category counts if its path or its text agrees.

use serde::Serialize;

use super::case::Truth;
use crate::finding::{Advisory, AdvisoryKind, Finding};
use crate::plan::Plan;
use crate::text::normalise::{names_file, normalised};

/// Returns the truths that a finding matches, best match first. The plan has the text of a step.
pub fn truths_of(finding: &Finding, truths: &[Truth], plan: Option<&Plan>) -> Vec<usize> {
    let agreement = |at: usize| agreement(finding, &truths[at], plan);
    let mut spoken: Vec<usize> = (0..truths.len()).filter(|at| agreement(*at) > 0).collect();
    spoken
        .sort_by_key(|at| (finding.category != truths[*at].category, std::cmp::Reverse(agreement(*at)), *at));
    spoken
}

/// Returns in how many ways a finding matches a truth: by its path, its step, its text. For another
/// category the step alone is not enough: a step can be claimed and left out in part.
pub fn agreement(finding: &Finding, truth: &Truth, plan: Option<&Plan>) -> usize {
    let by_path = truth.path.as_deref().is_some_and(|path| names_path(finding, path));
    let by_words = truth.quote.as_deref().is_some_and(|quote| overlap(quote, &finding.claim));
    let words_of_step = || plan?.promised().find(|step| Some(step.number) == truth.step);
    let by_step = finding.category == truth.category
        && (finding.step.is_some() && finding.step == truth.step
            || words_of_step().is_some_and(|step| overlap(&step.text, &finding.claim)));
    [by_path, by_step, by_words].into_iter().filter(|yes| *yes).count()
}

/// Returns whether a finding is about a path, or names it in its text.
fn names_path(finding: &Finding, path: &str) -> bool {
    let plain = path.trim_start_matches("./").trim_end_matches('/');
    finding.path.as_deref().is_some_and(|own| same_path(own, path))
        || [&finding.claim, &finding.why, &finding.proof].into_iter().any(|text| names_file(text, plain))
}

fn same_path(one: &str, other: &str) -> bool {
    let plain = |path: &str| path.trim_start_matches("./").trim_end_matches('/').to_owned();
    plain(one) == plain(other)
}

/// Fewer shared words than this are a coincidence.
const LEAST_SHARED: usize = 3;

/// Returns whether one text contains the other, or at least half of the shorter one's words, in
/// order and close together.
fn overlap(one: &str, other: &str) -> bool {
    let (one, other) = (normalised(one), normalised(other));
    if one.is_empty() || other.is_empty() {
        return false;
    }
    let has_words = |text: &str, words: &str| format!(" {text} ").contains(&format!(" {words} "));
    if has_words(&one, &other) || has_words(&other, &one) {
        return true;
    }
    let (one, other): (Vec<&str>, Vec<&str>) = (one.split(' ').collect(), other.split(' ').collect());
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let wanted = short.len().div_ceil(2).max(LEAST_SHARED);
    // Words that are far apart in a long text are unrelated.
    let span = (short.len() * 2).min(long.len());
    long.windows(span).any(|part| in_order(&short, part) >= wanted)
}

/// Returns how many words two texts share in the same order.
fn in_order(one: &[&str], other: &[&str]) -> usize {
    let same = similar::capture_diff_slices(similar::Algorithm::Lcs, one, other).into_iter();
    same.filter(|op| op.tag() == similar::DiffTag::Equal).map(|op| op.new_range().len()).sum()
}

/// Advisories compared with the truth: found, missed and wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Advised {
    /// Expected, and given.
    pub found: Vec<AdvisoryKind>,
    /// Expected, but not given.
    pub missed: Vec<AdvisoryKind>,
    /// Given, but not expected.
    pub wrong: Vec<AdvisoryKind>,
}

/// Compares advisories with the expected ones. Each kind counts once, however often it is given.
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
    use crate::finding::{Category, Kind};
    use crate::testing::{self, plan};

    const PLAN: &str = "- [x] Create `src/a.rs`\n- [x] Write the docs\n";

    fn finding(category: Category, claim: &str, path: Option<&str>) -> Finding {
        testing::finding(category, Kind::Missing, claim, path)
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

    #[test]
    fn a_finding_is_true_by_path_by_step_or_by_words() {
        let a = |claim, path| finding(Category::A, claim, path);
        let plan = plan(PLAN);
        let because = |why: &str| Finding { why: why.into(), ..a("x", None) };
        let path = |path| truth(Some(path), None, None);
        let quote = |quote| truth(None, None, Some(quote));
        let step_2 = || truth(None, Some(2), None);
        for (finding, truth, is_true) in [
            (a("", Some("./src/a.rs")), path("src/a.rs"), true),
            (because("No `src/a.rs` was made."), path("src/a.rs"), true),
            (Finding { proof: "src/a.rs: missing".into(), ..a("x", None) }, path("src/a.rs"), true),
            (a("- [x] Write the docs", None), step_2(), true),
            (Finding { step: Some(2), ..a("x", None) }, step_2(), true),
            (a("all tests pass", None), quote("All tests pass, and it builds."), true),
            (a("Done: all tests pass now.", None), quote("all tests pass"), true),
            (a("the parser is fully tested now", None), quote("The new parser is tested by me"), true),
            (finding(Category::C, "", Some("src/a.rs")), path("src/a.rs"), true),
            (finding(Category::Ask, "all tests pass", None), quote("all tests pass"), true),
            (a("", Some("src/b.rs")), path("src/a.rs"), false),
            (because("No `src/aa.rs`."), path("a.rs"), false),
            (a("Create `src/a.rs`", None), step_2(), false),
            (a("all test", None), quote("all tests pass"), false),
            (a("the parser is new", None), quote("the docs are in the new folder"), false),
            (Finding { step: Some(2), ..finding(Category::B, "x", None) }, step_2(), false),
        ] {
            let truths = truths_of(&finding, std::slice::from_ref(&truth), Some(&plan));
            assert_eq!(truths, if is_true { &[0][..] } else { &[] }, "{finding:?} {truth:?}");
        }
    }

    #[test]
    fn words_that_are_spread_over_a_long_text_are_not_shared() {
        let long =
            format!("the {} parser {} is {} tested", "x ".repeat(20), "y ".repeat(20), "z ".repeat(20));
        assert!(!overlap("the parser is tested", &long));
        assert_eq!(in_order(&["a", "b", "c"], &["c", "a", "x", "b"]), 2);
    }

    #[test]
    fn the_truth_that_a_finding_agrees_with_most_comes_first() {
        let one = finding(Category::A, "Write the docs", Some("docs/a.md"));
        let truths = [truth(None, Some(2), None), truth(Some("docs/a.md"), Some(2), None)];
        assert_eq!(truths_of(&one, &truths, Some(&plan(PLAN))), [1, 0]);
        let other = Truth { category: Category::C, ..truth(Some("docs/a.md"), None, Some("Write the docs")) };
        assert_eq!(truths_of(&one, &[other, truth(Some("docs/a.md"), None, None)], None), [1, 0]);
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
