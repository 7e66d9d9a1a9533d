//! What became of a finding, for each way in which that can be known.

use super::*;
use crate::finding::{Category, Kind};
use crate::testing::finding;

fn held() -> PendingFinding {
    let finding = finding(Category::A, Kind::Missing, "Create `src/beta.rs`", Some("src/beta.rs"));
    PendingFinding { number: 1, finding, mark: None }
}

/// What it became, how that is known, and whether it was wrong.
fn became(
    settled: Option<&str>,
    said: Option<State>,
    message: &str,
    has_moved: bool,
) -> (FindingOutcome, String, Option<bool>) {
    let reply = said.map(|state| Reply { state, why: "the disk shows it".to_owned() });
    let Resolution { outcome, why, was_wrong } =
        resolve(&held(), settled.map(str::to_owned), reply, message, has_moved);
    (outcome, why, was_wrong)
}

const NAMES_IT: &str = "beta.rs is not needed.";

#[test]
fn what_disk_or_plan_settle_is_fixed_whatever_is_said_of_it() {
    for (said, message) in
        [(None, ""), (None, NAMES_IT), (Some(State::Stands), NAMES_IT), (Some(State::Wrong), "")]
    {
        let (became, why, was_wrong) = became(Some("it is there now"), said, message, false);
        assert_eq!((became, why.as_str()), (FindingOutcome::Fixed, "it is there now"));
        assert_eq!(was_wrong, said.map(|_| false));
    }
}

#[test]
fn a_reader_has_the_word_on_the_rest() {
    let why = "the disk shows it";
    for message in ["", NAMES_IT] {
        let fixed = (FindingOutcome::Fixed, why.to_owned(), Some(false));
        assert_eq!(became(None, Some(State::Fixed), message, false), fixed);
        let wrong = (FindingOutcome::Disputed, why.to_owned(), Some(true));
        assert_eq!(became(None, Some(State::Wrong), message, true), wrong);
    }
    let ignored = (FindingOutcome::Ignored, format!("it still stands: {why}"), Some(false));
    assert_eq!(became(None, Some(State::Stands), "Done.", true), ignored);
    let disputed = format!("the final message speaks of it, and a reader says that it still stands: {why}");
    let expected = (FindingOutcome::Disputed, disputed, Some(false));
    assert_eq!(became(None, Some(State::Stands), NAMES_IT, true), expected);
}

#[test]
fn without_a_reader_a_message_that_names_it_is_a_dispute() {
    for has_moved in [false, true] {
        let expected = (FindingOutcome::Disputed, "the final message speaks of it".to_owned(), None);
        assert_eq!(became(None, None, NAMES_IT, has_moved), expected);
    }
    let moved = "what it speaks of was changed since".to_owned();
    assert_eq!(became(None, None, "Done.", true), (FindingOutcome::Fixed, moved, None));
    let nothing = "nothing was done about it, and the final message does not name it".to_owned();
    assert_eq!(became(None, None, "Done.", false), (FindingOutcome::Ignored, nothing, None));
}

#[test]
fn a_finding_is_named_by_its_file_or_by_its_words() {
    for text in
        ["beta.rs", "see `src/beta.rs`.", "You say: create src/beta.rs", "- [x] **Create** src beta rs"]
    {
        assert!(names(text, &held()), "{text}");
    }
    for text in ["", "test_beta.rs is there", "beta.rs_old", "beta", "Create src"] {
        assert!(!names(text, &held()), "{text}");
    }
    let mut short = held();
    (short.finding.path, short.finding.claim) = (None, "Add docs".into());
    assert!(!names("I did not add docs.", &short), "so few letters stand in many a text");
    short.finding.claim = String::new();
    assert!(!names("", &short) && !names("anything", &short));
}
