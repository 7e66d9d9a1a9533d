//! Checks for which a stop was held: whether they look again, whether they may hold once more, and
//! what the person is told when they pass or are let go. Pure.

use serde::{Deserialize, Serialize};

use super::{Passed, Ran, Verdict};
use crate::redact::mask;
use crate::text::counted;

/// A check for which a session was held, until it passes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hold {
    /// The newest decision that held for it.
    pub decision: String,
    /// How often it held in a row.
    pub count: u32,
    /// What it failed on.
    pub failed_on: Passed,
    /// How much work the session had done by then.
    pub work: usize,
    /// Whether the session was let go with it: then it does not run before there is work again.
    pub is_let_go: bool,
}

impl Hold {
    /// Whether anything was done since that may make it pass. Where nothing was, it fails as it
    /// did.
    pub fn has_changed(&self, now: &Passed, work: usize) -> bool {
        self.failed_on != *now || self.work != work
    }
}

/// What became of a check at a stop, as the log names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckOutcome {
    pub name: String,
    /// `passed`, `fixed` (it passes, after a hold), `failed`, `still-failing` (after a hold),
    /// `not-made` or `not-due`.
    pub outcome: &'static str,
}

/// The outcome of a check that ran.
pub fn outcome_of(ran: &Ran, was_held: bool) -> CheckOutcome {
    let outcome = match (&ran.verdict, was_held) {
        (Verdict::Passed, false) => "passed",
        (Verdict::Passed, true) => "fixed",
        (Verdict::Failed { .. }, false) => "failed",
        (Verdict::Failed { .. }, true) => "still-failing",
        (Verdict::CouldNotRun(_), _) => "not-made",
    };
    CheckOutcome { name: ran.name.clone(), outcome }
}

/// What the person is told of a check that held and passes now.
pub fn passes_now(name: &str) -> String {
    format!("the check \"{name}\" passes now")
}

/// What the person is told of a check that failed again, and holds no more.
pub fn still_fails(ran: &Ran, hold: &Hold) -> Option<String> {
    let Verdict::Failed { how, .. } = &ran.verdict else { return None };
    let times = counted(usize::try_from(hold.count).unwrap_or(usize::MAX), "hold", "holds");
    let (name, run) = (&ran.name, mask(&ran.run).text);
    Some(format!("the check \"{name}\" still fails after {times}, and the stop goes through: `{run}` {how}"))
}

/// What the person is told of a check that held, when nothing was done about it.
pub fn nothing_changed(name: &str, hold: &Hold) -> String {
    format!(
        "the check \"{name}\" still fails: the agent changed nothing after it was held for it (punchlist log show {})",
        hold.decision
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn other_files_or_more_work_are_a_reason_to_look_again() {
        let on = |text: &str| Passed(text.to_owned());
        let hold = Hold { failed_on: on("a"), work: 3, ..Hold::default() };
        assert!(!hold.has_changed(&on("a"), 3));
        assert!(hold.has_changed(&on("b"), 3) && hold.has_changed(&on("a"), 4));
    }

    #[test]
    fn what_still_fails_names_its_command_and_how_often_it_held() {
        let failed = Verdict::Failed { how: "ended with exit code 1".into(), output: String::new() };
        let ran = Ran { name: "test".into(), run: "make test".into(), verdict: failed, took: Duration::ZERO };
        let hold = Hold { count: 1, decision: "k3f9".into(), ..Hold::default() };
        assert_eq!(
            still_fails(&ran, &hold).as_deref(),
            Some(
                "the check \"test\" still fails after 1 hold, and the stop goes through: `make test` ended with exit code 1"
            )
        );
        assert_eq!(still_fails(&Ran { verdict: Verdict::Passed, ..ran }, &hold), None);
    }
}
