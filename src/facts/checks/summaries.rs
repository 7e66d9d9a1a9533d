//! Takes what a check printed, says whether its summary tells of a failure or of a pass. Read where the exit code
//! is hidden (`pytest | tail`), and against it where it is not. Must not take a mention of a failure in some other
//! text for a summary: each wording is one runner's own.

use std::sync::LazyLock;

use regex::Regex;

use crate::claims::wording::Wording;
use crate::session::shell::Check;

use Check::{Build, Format, Lint, Tests, Types};

/// What a summary tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Told {
    /// A failure, in these words.
    Failure(String),
    /// A pass.
    Pass,
    /// Nothing.
    Nothing,
}

/// Summaries of a failure.
const FAILURES: &[(&[Check], &str)] = &[
    // pytest, jest, vitest, playwright
    (&[Tests], r"^=+ .*\b[1-9]\d* (?:failed|errors?)\b.*=+$"),
    (&[Tests], r"^[1-9]\d* (?:failed|errors?)(?:, \d+ \w+)* in [\d.]+"),
    (&[Tests], r"^(?:FAILED|ERROR) \S+(?:::\S+|\.py\b)"),
    (&[Tests], r"^\s*(?:Tests|Test Files|Test Suites):?\s+(?:.*\b)?[1-9]\d* failed"),
    (&[Tests], r"^\s*[1-9]\d* failed$"),
    // cargo, nextest
    (&[Tests], r"^test result: FAILED"),
    (&[Tests], r"^test \S+ \.\.\. FAILED"),
    (&[Tests], r"^\s*Summary \[.*\b[1-9]\d* failed"),
    (&[Tests, Build, Lint, Types], r"^error: could not compile"),
    (&[Tests, Build, Lint, Types], r"^error\[E\d+\]: "),
    // go
    (&[Tests], r"^--- FAIL: "),
    (&[Tests], r"^FAIL(?:\s|$)"),
    // mocha, node, bun, deno, tap
    (&[Tests], r"^\s*[1-9]\d* failing\b"),
    (&[Tests], r"^(?:#|ℹ) fail [1-9]"),
    (&[Tests], r"^\s*[1-9]\d* fail$"),
    (&[Tests], r"^FAILED \| \d+ passed"),
    // rspec, minitest, exunit, swift, xcode
    (&[Tests], r"\b\d+ (?:examples?|tests?), [1-9]\d* failures?"),
    (&[Tests], r"\b\d+ (?:runs|tests), \d+ assertions, (?:[1-9]\d* failures|\d+ failures, [1-9]\d* errors)"),
    (&[Tests], r"^Executed \d+ tests?, with [1-9]\d* failures?"),
    (&[Tests], r"\*\* TEST FAILED \*\*"),
    // maven, gradle, dotnet, phpunit, unittest, ctest, flutter
    (&[Tests], r"Tests run: \d+, (?:Failures: [1-9]|Failures: \d+, Errors: [1-9])"),
    (&[Tests], r"\b\d+ tests? completed, [1-9]\d* failed"),
    (&[Tests], r"^Failed!\s+- Failed:"),
    (&[Tests], r"^(?:FAILURES|ERRORS)!$"),
    (&[Tests], r"^FAILED \((?:failures|errors)="),
    (&[Tests], r"\b[1-9]\d* tests failed out of \d+"),
    (&[Tests], r"^\S*\s*.*Some tests failed\.$"),
    // builds
    (&[Tests, Build], r"\bBUILD FAIL(?:URE|ED)\b"),
    (&[Build], r"^(?:Failed to compile|Build failed|Build FAILED|error during build)"),
    (&[Build, Types], r"\berror TS\d+:"),
    (
        &[Build, Tests, Lint, Types, Format],
        r"^npm (?:ERR!|error) (?:code ELIFECYCLE|Lifecycle script|Missing script|errno [1-9])",
    ),
    (&[Build, Tests, Lint, Types, Format], r"^\s*ELIFECYCLE\b.*(?:failed|exit code [1-9])"),
    (&[Build, Tests, Lint, Types, Format], r"^error Command failed with exit code [1-9]"),
    (&[Build, Tests], r"^make(?:\[\d+\])?: \*\*\* .*Error [1-9]"),
    // linters and type checkers
    (&[Lint], r"✖ [1-9]\d* problems? \([1-9]"),
    (&[Lint], r"✖ [1-9]\d* problems?$"),
    (&[Lint], r"^Found [1-9]\d* errors?\.$"),
    (&[Lint], r"\b[1-9]\d* offenses? detected"),
    (&[Types], r"^Found [1-9]\d* errors? in "),
    (&[Types], r"^[1-9]\d* errors?, \d+ warnings?"),
    (&[Format], r"^\[warn\] Code style issues found"),
    (&[Format], r"\b[1-9]\d* files? would be reformatted"),
];

/// Summaries of a pass.
const PASSES: &[(&[Check], &str)] = &[
    (&[Tests], r"\b[1-9]\d* passed\b"),
    (&[Tests], r"^test result: ok\. "),
    (&[Tests, Build], r"^ok\s+\S+\s+(?:[\d.]+s|\(cached\))"),
    (&[Tests], r"^PASS$"),
    (&[Tests], r"^\s*[1-9]\d* passing\b"),
    (&[Tests], r"\b[1-9]\d* (?:examples?|tests?), 0 failures"),
    (&[Tests], r"\b[1-9]\d* (?:runs|tests), \d+ assertions, 0 failures, 0 errors"),
    (&[Tests], r"Tests run: [1-9]\d*, Failures: 0, Errors: 0"),
    (&[Tests, Build], r"\bBUILD SUCCESS(?:FUL)?\b"),
    (&[Tests], r"^OK(?: \(|$)"),
    (&[Tests], r"^Passed!\s+- "),
    (&[Tests], r"\*\* TEST SUCCEEDED \*\*"),
    (&[Tests], r"^100% tests passed"),
    (&[Tests], r"^\s*0 fail$"),
    (&[Tests], r"^(?:#|ℹ) fail 0$"),
    (&[Tests], r"All tests passed!?"),
    (&[Build, Lint, Types], r"^\s*Finished .*(?:profile|target)"),
    (&[Build], r"\b(?:built in \d|[Cc]ompiled successfully|Build succeeded)"),
    (&[Build], r"\*\* BUILD SUCCEEDED \*\*"),
    (&[Lint, Format], r"^All checks passed!"),
    (&[Lint], r"\bno offenses detected|^0 issues\."),
    (&[Lint, Format], r"^Checked \d+ files? in .*No fixes applied"),
    (&[Types], r"^Success: no issues found|^0 errors, |^Found 0 errors"),
    (
        &[Format],
        r"All matched files use Prettier|files? (?:already formatted|would be left unchanged|left unchanged)",
    ),
];

type Wordings = Vec<(&'static [Check], Wording)>;

fn wordings(table: &'static [(&'static [Check], &'static str)]) -> Wordings {
    table.iter().map(|(checks, wording)| (*checks, Wording::new(format!("(?m){wording}")))).collect()
}

static FAILED: LazyLock<Wordings> = LazyLock::new(|| wordings(FAILURES));
static PASSED: LazyLock<Wordings> = LazyLock::new(|| wordings(PASSES));

/// What the output of a run of that check tells.
pub(super) fn told(check: Check, output: &str) -> Told {
    let output = without_colours(output);
    let failed = FAILED
        .iter()
        .filter(|(checks, _)| checks.contains(&check))
        .find_map(|(_, wording)| wording.regex()?.find(&output));
    if let Some(found) = failed {
        let line = output[found.start()..].trim_start().lines().next().unwrap_or_default();
        return Told::Failure(line.trim_matches(['=', ' ']).chars().take(120).collect());
    }
    let passed = PASSED.iter().any(|(checks, wording)| checks.contains(&check) && wording.is_match(&output));
    if passed { Told::Pass } else { Told::Nothing }
}

static COLOURS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\x1b\[[0-9;]*[A-Za-z]|\r").ok());

fn without_colours(output: &str) -> String {
    COLOURS.as_ref().map_or_else(|| output.to_owned(), |colours| colours.replace_all(output, "").into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wording_is_a_pattern() {
        for (_, wording) in FAILED.iter().chain(PASSED.iter()) {
            assert!(wording.regex().is_some(), "{wording:?}");
        }
    }

    #[test]
    fn failures_are_seen() {
        for (check, output) in [
            (Tests, "=========== 1 failed, 5 passed in 0.12s ==========="),
            (Tests, "1 failed, 5 passed in 0.12s"),
            (Tests, "Tests:       1 failed, 5 passed, 6 total"),
            (Tests, " Test Files  1 failed (3)\n      Tests  1 failed | 5 passed (6)"),
            (Tests, "test result: FAILED. 1 passed; 1 failed;"),
            (Tests, "FAIL\tgithub.com/a/b\t0.1s\nFAIL"),
            (Tests, "--- FAIL: TestA (0.00s)"),
            (Tests, "  3 passing (5ms)\n  1 failing"),
            (Tests, "3 examples, 1 failure"),
            (Tests, "[INFO] BUILD FAILURE"),
            (Tests, "FAILURES!\nTests: 2, Assertions: 2, Failures: 1."),
            (Tests, "FAILED (failures=1)"),
            (Tests, "npm error Lifecycle script `test` failed with error:"),
            (Types, "src/a.ts(1,2): error TS2322: x"),
            (Lint, "✖ 3 problems (2 errors, 1 warning)"),
            (Build, "error: could not compile `a`"),
            (Tests, "\u{1b}[31m1 failed\u{1b}[0m, 2 passed in 1.0s"),
        ] {
            assert!(matches!(told(check, output), Told::Failure(_)), "{output}");
        }
    }

    #[test]
    fn passes_are_seen() {
        for (check, output) in [
            (Tests, "5 passed in 0.12s"),
            (Tests, "test result: ok. 5 passed; 0 failed;"),
            (Tests, "Tests:       5 passed, 5 total"),
            (Tests, "ok  \tgithub.com/a/b\t0.1s"),
            (Tests, "3 examples, 0 failures"),
            (Tests, "OK (3 tests, 4 assertions)"),
            (Build, "    Finished `dev` profile [unoptimized] target(s) in 0.1s"),
            (Lint, "All checks passed!"),
        ] {
            assert_eq!(told(check, output), Told::Pass, "{output}");
        }
    }

    #[test]
    fn other_words_tell_nothing() {
        for output in
            ["", "done", "handles 1 failed request", "tests for failed logins", "✖ 3 warnings", "0 failed"]
        {
            assert_eq!(told(Tests, output), Told::Nothing, "{output}");
        }
        assert_eq!(told(Lint, "✖ 3 problems (0 errors, 3 warnings)"), Told::Nothing);
        assert_eq!(told(Lint, "Found 3 errors (3 fixed, 0 remaining)."), Told::Nothing);
    }
}
