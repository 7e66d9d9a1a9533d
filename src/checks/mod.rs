//! Checks that a person set: which are due, by the files that the session touched and by what each
//! passed on last; how they ended, by exit code and output; and what the agent is told. Pure:
//! `gates::checks` runs them.

mod excerpt;
pub mod hold;
pub mod windows;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::child::{Ended, Ending};
use crate::config::CheckConfig;
use crate::globs;
use crate::ids::ContentId;
use crate::redact::mask;
use crate::text::counted;
use excerpt::excerpt;

/// Touched files by their names in the workspace, each with its length and the time of its last
/// change; `None` for one that is gone.
pub type Touched = BTreeMap<String, Option<(u64, u128)>>;

/// What a check passed on: a hash of its command and of the files that it cares about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Passed(pub String);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotDue {
    /// The session touched nothing that it cares about.
    NothingTouched,
    /// It passed, and nothing of that was touched since.
    PassedAlready,
    /// The session was let go with it, and has done nothing since.
    LetGo,
}

/// Returns what a check would pass on if it ran now, or why it is not due.
pub fn due(check: &CheckConfig, touched: &Touched, last: Option<&Passed>) -> Result<Passed, NotDue> {
    // A glob that could not be read was a fault of the config file already.
    let globs = globs::anywhere(&check.when).unwrap_or_default();
    let cares = |name: &str| check.when.is_empty() || globs.is_match(name);
    let mut name = ContentId::default();
    name.add(&check.run);
    let mut any = false;
    for (path, stamp) in touched.iter().filter(|(path, _)| cares(path)) {
        any = true;
        name.add(path);
        name.add(format!("{stamp:?}"));
    }
    let passed = Passed(name.finish());
    match (any, last) {
        (false, _) => Err(NotDue::NothingTouched),
        (true, Some(last)) if *last == passed => Err(NotDue::PassedAlready),
        (true, _) => Ok(passed),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    /// It failed: in words, and the part of its output that matters, masked.
    Failed {
        how: String,
        output: String,
    },
    CouldNotRun(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub name: String,
    pub run: String,
    pub verdict: Verdict,
    pub took: Duration,
}

/// The exit codes with which a shell says that there is no such program, or that it may not run it.
const NO_SUCH_PROGRAM: i32 = 127;
const NOT_A_PROGRAM: i32 = 126;

impl Ran {
    /// The verdict on a run. `allowed` is the time that it had, which may be less than its timeout.
    pub fn of(check: &CheckConfig, ended: &Ended, allowed: Duration) -> Self {
        let output = || {
            let mut all = String::from_utf8_lossy(&ended.stdout).into_owned();
            if !all.is_empty() && !all.ends_with('\n') {
                all.push('\n');
            }
            all.push_str(&String::from_utf8_lossy(&ended.stderr));
            excerpt(&mask(&all).text)
        };
        let failed = |how: String| Verdict::Failed { how, output: output() };
        let last_words = || output().lines().last().unwrap_or_default().trim().to_owned();
        let verdict = match &ended.how {
            Ending::Exited(0) => Verdict::Passed,
            Ending::Exited(NO_SUCH_PROGRAM) => {
                Verdict::CouldNotRun(format!("there is no such program ({})", last_words()))
            }
            Ending::Exited(NOT_A_PROGRAM) => {
                Verdict::CouldNotRun(format!("it may not be run ({})", last_words()))
            }
            Ending::Exited(code) => failed(format!("ended with exit code {code}")),
            Ending::Signaled(signal) => failed(format!("was ended by signal {signal}")),
            Ending::TimedOut if allowed < check.timeout => Verdict::CouldNotRun(format!(
                "it did not end within {}, which is all that the hook's own timeout leaves: `punchlist install` raises that",
                seconds(allowed)
            )),
            Ending::TimedOut => Verdict::CouldNotRun(format!(
                "it did not end within {}; `timeout` in its [[check]] says how long it may take",
                seconds(allowed)
            )),
            Ending::Flooded => Verdict::CouldNotRun("it prints without end".to_owned()),
            Ending::Interrupted(signal) => Verdict::CouldNotRun(format!("ended by {signal}")),
            Ending::Unwanted => Verdict::CouldNotRun("cancelled: a newer stop took over".to_owned()),
            Ending::NotStarted(error) => Verdict::CouldNotRun(format!("it could not be started: {error}")),
        };
        Self { name: check.name.clone(), run: check.run.clone(), verdict, took: ended.duration }
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs().max(1))
}

/// The reason of a block by the checks that failed; `closing` is how it ends.
pub fn reason(ran: &[Ran], closing: &str) -> Option<String> {
    let mut text = String::new();
    let mut count = 0;
    for ran in ran {
        let Verdict::Failed { how, output } = &ran.verdict else { continue };
        count += 1;
        text.push_str(&format!("\n{count}. {}: `{}` {how}", ran.name, mask(&ran.run).text));
        if output.is_empty() {
            text.push_str(", and printed nothing.\n");
        } else {
            text.push_str(":\n");
            output.lines().for_each(|line| text.push_str(&format!("   | {line}\n")));
        }
    }
    let checks = counted(count, "check that fails", "checks that fail");
    (count > 0).then(|| format!("punchlist holds this stop for {checks}:\n{text}\n{closing}"))
}

/// What the person is told of the checks that could not be run.
pub fn unchecked(ran: &[Ran]) -> Option<String> {
    let told: Vec<String> = ran
        .iter()
        .filter_map(|ran| match &ran.verdict {
            Verdict::CouldNotRun(why) => Some(format!("the check \"{}\" was not made: {why}", ran.name)),
            Verdict::Passed | Verdict::Failed { .. } => None,
        })
        .collect();
    (!told.is_empty()).then(|| told.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CHECK_TIMEOUT;
    use crate::testing::check;

    fn caring(when: &[&str]) -> CheckConfig {
        CheckConfig { when: when.iter().map(|glob| (*glob).to_owned()).collect(), ..check("cargo test") }
    }

    fn touched(files: &[(&str, u64)]) -> Touched {
        files.iter().map(|(name, bytes)| ((*name).to_owned(), Some((*bytes, 1)))).collect()
    }

    #[test]
    fn it_runs_only_if_something_that_it_cares_about_was_touched() {
        let rust = caring(&["src/**", "*.toml"]);
        assert_eq!(due(&rust, &touched(&[("README.md", 1)]), None), Err(NotDue::NothingTouched));
        assert_eq!(due(&caring(&[]), &Touched::new(), None), Err(NotDue::NothingTouched));
        for name in ["src/a.rs", "src/deep/b.rs", "Cargo.toml", "crates/x/Cargo.toml"] {
            assert!(due(&rust, &touched(&[(name, 1)]), None).is_ok(), "{name}");
        }
        assert!(due(&caring(&[]), &touched(&[("README.md", 1)]), None).is_ok());
    }

    #[test]
    fn it_runs_again_only_if_that_changed_since_it_passed() {
        let rust = caring(&["src/**"]);
        let passed = due(&rust, &touched(&[("src/a.rs", 1)]), None).expect("due");
        let again = |files: &[(&str, u64)]| due(&rust, &touched(files), Some(&passed));
        assert_eq!(again(&[("src/a.rs", 1), ("README.md", 7)]), Err(NotDue::PassedAlready));
        assert!(again(&[("src/a.rs", 2)]).is_ok());
        assert!(again(&[("src/a.rs", 1), ("src/b.rs", 1)]).is_ok());
        let gone: Touched = [("src/a.rs".to_owned(), None)].into();
        assert!(due(&rust, &gone, Some(&passed)).is_ok());
        let mut other = rust.clone();
        other.run = "cargo test --all".into();
        assert!(due(&other, &touched(&[("src/a.rs", 1)]), Some(&passed)).is_ok(), "another command");
    }

    fn ran(how: Ending, stdout: &str, stderr: &str) -> Ran {
        let ended = Ended {
            how,
            stdout: stdout.as_bytes().to_vec(),
            stderr: stderr.as_bytes().to_vec(),
            duration: Duration::from_secs(1),
        };
        Ran::of(&check("make test"), &ended, CHECK_TIMEOUT)
    }

    #[test]
    fn a_failure_names_the_command_its_exit_code_and_what_matters() {
        let failed = ran(Ending::Exited(2), "1 passed", "error: b is wrong\n");
        assert_eq!(
            reason(&[ran(Ending::Exited(0), "", ""), failed], "Fix it.").expect("a reason"),
            "punchlist holds this stop for 1 check that fails:\n\n\
             1. test: `make test` ended with exit code 2:\n   | 1 passed\n   | error: b is wrong\n\nFix it."
        );
        let silent = reason(&[ran(Ending::Exited(1), "", "")], "x").expect("a reason");
        assert!(
            silent.contains("1. test: `make test` ended with exit code 1, and printed nothing.\n"),
            "{silent}"
        );
    }

    #[test]
    fn what_passes_or_could_not_be_run_holds_nobody() {
        let missing = ran(Ending::Exited(127), "", "sh: 1: make: not found\n");
        let slow = ran(Ending::TimedOut, "half", "");
        let all = [ran(Ending::Exited(0), "fine", ""), missing, slow];
        assert_eq!(reason(&all, "x"), None);
        assert_eq!(
            unchecked(&all).expect("told"),
            "the check \"test\" was not made: there is no such program (sh: 1: make: not found); the check \"test\" was not \
             made: it did not end within 120 s; `timeout` in its [[check]] says how long it may take"
        );
        assert_eq!(unchecked(&all[..1]), None);
    }

    #[test]
    fn a_time_that_the_hook_cut_short_says_so() {
        let ended = Ended {
            how: Ending::TimedOut,
            stdout: Vec::new(),
            stderr: Vec::new(),
            duration: Duration::from_secs(9),
        };
        let ran = Ran::of(&check("make test"), &ended, Duration::from_secs(9));
        assert!(unchecked(&[ran]).expect("told").contains("`punchlist install` raises that"));
    }

    #[test]
    fn secrets_in_output_and_command_are_masked() {
        let secret =
            "sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
        let told =
            reason(&[ran(Ending::Exited(1), &format!("error: key {secret}"), "")], "x").expect("a reason");
        assert!(!told.contains(secret), "{told}");
    }
}
