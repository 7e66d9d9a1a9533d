//! The outcome of a block: for each finding, whether it was fixed, disputed or ignored by the
//! session's next stop. Pure but for `handed_over`: `hook::block_followup` reads the session, looks at
//! the disk and asks a reader.
//!
//! `handed_over` finds blocks in a transcript, `pending` is what the state keeps of a block until then, `settled` decides what disk and plan
//! settle by themselves, `question` asks a reader about the rest, `summary` tells the person. What
//! an agent disputed does not block again in its session.

pub mod handed_over;
pub mod pending;
pub mod question;
pub mod settled;
pub mod summary;

pub use pending::{PendingBlock, PendingFinding};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Status};
use crate::log::note::FindingOutcome;
use crate::paths::base_name;
use crate::text::normalise::{bare, names_file};
use question::{Reply, State};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    pub outcome: FindingOutcome,
    /// How that is known.
    pub why: String,
    /// Whether a reader says that the finding was never right; `None` if none was asked.
    pub was_wrong: Option<bool>,
}

/// Resolves a finding. What disk or plan settle is fixed, whatever is said about it; a reader
/// decides the rest. If none could be asked, a final message that names the finding is a dispute.
pub fn resolve(
    pending: &PendingFinding,
    settled: Option<String>,
    reply: Option<Reply>,
    message: &str,
    has_changed: bool,
) -> Resolution {
    use FindingOutcome::{Disputed, Fixed, Ignored};
    let was_wrong = reply.as_ref().map(|reply| settled.is_none() && reply.state == State::Wrong);
    let is_named = names(message, pending);
    let (outcome, why) = match (settled, reply) {
        (Some(how), _) => (Fixed, how),
        (None, Some(Reply { state: State::Fixed, why, .. })) => (Fixed, why),
        (None, Some(Reply { state: State::Wrong, why, .. })) => (Disputed, why),
        (None, Some(Reply { state: State::Stands, why, .. })) if is_named => (
            Disputed,
            format!("the final message mentions it, and a reader says that it still stands: {why}"),
        ),
        (None, Some(Reply { state: State::Stands, why, .. })) => (Ignored, format!("it still stands: {why}")),
        (None, None) if is_named => (Disputed, "the final message mentions it".to_owned()),
        (None, None) if has_changed => (Fixed, "its subject was changed since".to_owned()),
        (None, None) => {
            (Ignored, "nothing was done about it, and the final message does not name it".to_owned())
        }
    };
    Resolution { outcome, why, was_wrong }
}

/// Returns whether a text names a finding: by its file, or by the text that it quotes.
pub fn names(text: &str, pending: &PendingFinding) -> bool {
    /// Shorter quotes occur in many texts by accident.
    const LEAST: usize = 12;
    let finding = &pending.finding;
    let by_path = finding.path.as_deref().is_some_and(|path| names_file(text, base_name(path)));
    let claim = bare(&finding.claim);
    by_path || claim.len() >= LEAST && bare(text).contains(&claim)
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dispute {
    pub of: String,
    /// The number of the finding, from 1.
    pub finding: usize,
    /// The agent's words, masked.
    pub sentence: String,
}

/// Removes and returns the confirmed findings that were disputed before. A finding that a person
/// called right (`is_upheld`) blocks whatever the agent says.
pub fn set_aside(
    findings: &mut [Finding],
    fitting: &mut Vec<Finding>,
    disputed: &BTreeMap<String, Dispute>,
    is_upheld: impl Fn(&Dispute) -> bool,
) -> Vec<Finding> {
    let mut aside = Vec::new();
    if disputed.is_empty() {
        return aside;
    }
    for finding in findings.iter_mut().filter(|finding| finding.status == Status::Confirmed) {
        let grounds = finding.grounds();
        let Some(dispute) = disputed.get(&grounds).filter(|dispute| !is_upheld(dispute)) else { continue };
        fitting.retain(|other| other.status != Status::Confirmed || other.grounds() != grounds);
        finding.status = Status::CannotVerify;
        finding.check = format!("disputed in this session: \"{}\"", dispute.sentence);
        aside.push(finding.clone());
    }
    aside
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Category, Kind};
    use crate::testing::finding;

    fn held() -> PendingFinding {
        let finding = finding(Category::A, Kind::Missing, "Create `src/beta.rs`", Some("src/beta.rs"));
        PendingFinding { number: 1, finding, mark: None }
    }

    /// Returns the outcome, how it is known, and whether the finding was wrong.
    fn became(
        settled: Option<&str>,
        said: Option<State>,
        message: &str,
        has_moved: bool,
    ) -> (FindingOutcome, String, Option<bool>) {
        let reply = said.map(|state| Reply { number: 1, state, why: "the disk shows it".to_owned() });
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
        let disputed =
            format!("the final message mentions it, and a reader says that it still stands: {why}");
        let expected = (FindingOutcome::Disputed, disputed, Some(false));
        assert_eq!(became(None, Some(State::Stands), NAMES_IT, true), expected);
    }

    #[test]
    fn without_a_reader_a_message_that_names_it_is_a_dispute() {
        for has_moved in [false, true] {
            let expected = (FindingOutcome::Disputed, "the final message mentions it".to_owned(), None);
            assert_eq!(became(None, None, NAMES_IT, has_moved), expected);
        }
        let moved = "its subject was changed since".to_owned();
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

    fn beta() -> Finding {
        finding(Category::A, Kind::Missing, "Create `beta.txt`", Some("beta.txt"))
    }

    fn disputed() -> BTreeMap<String, Dispute> {
        let dispute = Dispute { of: "b".into(), finding: 1, sentence: "It is in lib.rs.".into() };
        BTreeMap::from([(beta().grounds(), dispute)])
    }

    #[test]
    fn what_was_disputed_is_set_aside_with_the_words_and_the_rest_holds() {
        let other = finding(Category::A, Kind::Missing, "Create `c.txt`", Some("c.txt"));
        let mut findings = vec![beta(), other.clone()];
        let mut fitting = findings.clone();
        let aside = set_aside(&mut findings, &mut fitting, &disputed(), |_| false);
        assert_eq!(fitting, [other]);
        assert_eq!((aside.len(), findings[0].status), (1, Status::CannotVerify));
        assert_eq!(findings[0].check, "disputed in this session: \"It is in lib.rs.\"");
    }

    #[test]
    fn what_a_person_called_right_holds_all_the_same() {
        let mut findings = vec![beta()];
        let mut fitting = findings.clone();
        assert_eq!(set_aside(&mut findings, &mut fitting, &disputed(), |dispute| dispute.of == "b"), []);
        assert_eq!(fitting, [beta()]);
    }

    #[test]
    fn grounds_are_the_same_in_other_words_only_where_a_file_is_missing() {
        let mut again = beta();
        again.claim = "beta.txt, as promised".into();
        assert_eq!(again.grounds(), beta().grounds());
        let lacks = |quote| finding(Category::A, Kind::WrongContent, quote, Some("a.rs")).grounds();
        assert_ne!(lacks("Add `parse`"), lacks("Add `print`"));
        assert_eq!(lacks("Add `parse`"), lacks("- Add **parse**"));
    }
}
