//! What an agent disputed before in this session does not block again. Pure. Must not drop a finding: what is set
//! aside is told to the person and logged.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Status};

/// A finding that an agent disputed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dispute {
    /// The block's id.
    pub of: String,
    /// Which of its findings, counted from 1.
    pub finding: usize,
    /// The agent's words, masked.
    pub sentence: String,
}

/// Sets aside the confirmed findings that were disputed before, and returns them. What a person called right
/// (`is_upheld`) blocks whatever the agent says.
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
