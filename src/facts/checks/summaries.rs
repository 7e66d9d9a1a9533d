//! Takes what a check printed, says whether its summary tells of a failure or of a pass. Read where the exit code
//! is hidden (`pytest | tail`), and against it where it is not. Must not take a mention of a failure in some other
//! text for a summary: each wording is one runner's own.

use std::borrow::Cow;
use std::sync::LazyLock;

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

/// One runner's words: which checks it is a runner of, what all of its matches hold one of, the wording.
type Row = (&'static [Check], &'static [&'static str], &'static str);

/// Summaries of a failure.
const FAILURES: &[Row] = &[
    // pytest, jest, vitest, playwright
    (&[Tests], &["failed", "error"], r"^=+ .*\b[1-9]\d* (?:failed|errors?)\b.*=+$"),
    (&[Tests], &["failed", "error"], r"^[1-9]\d* (?:failed|errors?)(?:, \d+ \w+)* in [\d.]+"),
    (&[Tests], &["FAILED ", "ERROR "], r"^(?:FAILED|ERROR) \S+(?:::\S+|\.py\b)"),
    (&[Tests], &[" failed"], r"^\s*(?:Tests|Test Files|Test Suites):?\s+(?:.*\b)?[1-9]\d* failed"),
    (&[Tests], &[" failed"], r"^\s*[1-9]\d* failed$"),
    // cargo, nextest
    (&[Tests], &["test result: FAILED"], r"^test result: FAILED"),
    (&[Tests], &[" ... FAILED"], r"^test \S+ \.\.\. FAILED"),
    (&[Tests], &["Summary ["], r"^\s*Summary \[.*\b[1-9]\d* failed"),
    (&[Tests, Build, Lint, Types], &["error: could not compile"], r"^error: could not compile"),
    (&[Tests, Build, Lint, Types], &["error[E"], r"^error\[E\d+\]: "),
    // go
    (&[Tests], &["--- FAIL: "], r"^--- FAIL: "),
    (&[Tests], &["FAIL"], r"^FAIL(?:\s|$)"),
    // mocha, node, bun, deno, tap
    (&[Tests], &[" failing"], r"^\s*[1-9]\d* failing\b"),
    (&[Tests], &[" fail "], r"^(?:#|ℹ) fail [1-9]"),
    (&[Tests], &[" fail"], r"^\s*[1-9]\d* fail$"),
    (&[Tests], &["FAILED | "], r"^FAILED \| \d+ passed"),
    // rspec, minitest, exunit, swift, xcode
    (&[Tests], &[" failure"], r"\b\d+ (?:examples?|tests?), [1-9]\d* failures?"),
    (
        &[Tests],
        &[" assertions, "],
        r"\b\d+ (?:runs|tests), \d+ assertions, (?:[1-9]\d* failures|\d+ failures, [1-9]\d* errors)",
    ),
    (&[Tests], &["Executed "], r"^Executed \d+ tests?, with [1-9]\d* failures?"),
    (&[Tests], &["** TEST FAILED **"], r"\*\* TEST FAILED \*\*"),
    // maven, gradle, dotnet, phpunit, unittest, ctest, flutter
    (&[Tests], &["Tests run: "], r"Tests run: \d+, (?:Failures: [1-9]|Failures: \d+, Errors: [1-9])"),
    (&[Tests], &[" completed, "], r"\b\d+ tests? completed, [1-9]\d* failed"),
    (&[Tests], &["Failed!"], r"^Failed!\s+- Failed:"),
    (&[Tests], &["FAILURES!", "ERRORS!"], r"^(?:FAILURES|ERRORS)!$"),
    (&[Tests], &["FAILED ("], r"^FAILED \((?:failures|errors)="),
    (&[Tests], &[" tests failed out of "], r"\b[1-9]\d* tests failed out of \d+"),
    (&[Tests], &["Some tests failed."], r"^\S*\s*.*Some tests failed\.$"),
    // builds
    (&[Tests, Build], &["BUILD FAIL"], r"\bBUILD FAIL(?:URE|ED)\b"),
    (
        &[Build],
        &["Failed to compile", "Build failed", "Build FAILED", "error during build"],
        r"^(?:Failed to compile|Build failed|Build FAILED|error during build)",
    ),
    (&[Build, Types], &["error TS"], r"\berror TS\d+:"),
    (
        &[Build, Tests, Lint, Types, Format],
        &["npm "],
        r"^npm (?:ERR!|error) (?:code ELIFECYCLE|Lifecycle script|Missing script|errno [1-9])",
    ),
    (&[Build, Tests, Lint, Types, Format], &["ELIFECYCLE"], r"^\s*ELIFECYCLE\b.*(?:failed|exit code [1-9])"),
    (
        &[Build, Tests, Lint, Types, Format],
        &["error Command failed"],
        r"^error Command failed with exit code [1-9]",
    ),
    (&[Build, Tests], &[": *** "], r"^make(?:\[\d+\])?: \*\*\* .*Error [1-9]"),
    // linters and type checkers
    (&[Lint], &["✖ "], r"✖ [1-9]\d* problems? \([1-9]"),
    (&[Lint], &["✖ "], r"✖ [1-9]\d* problems?$"),
    (&[Lint], &["Found "], r"^Found [1-9]\d* errors?\.$"),
    (&[Lint], &["detected"], r"\b[1-9]\d* offenses? detected"),
    (&[Types], &["Found "], r"^Found [1-9]\d* errors? in "),
    (&[Types], &[" warning"], r"^[1-9]\d* errors?, \d+ warnings?"),
    (&[Format], &["Code style issues found"], r"^\[warn\] Code style issues found"),
    (&[Format], &[" would be reformatted"], r"\b[1-9]\d* files? would be reformatted"),
];

/// Summaries of a pass.
const PASSES: &[Row] = &[
    (&[Tests], &[" passed"], r"\b[1-9]\d* passed\b"),
    (&[Tests], &["test result: ok. "], r"^test result: ok\. "),
    (&[Tests, Build], &["ok"], r"^ok\s+\S+\s+(?:[\d.]+s|\(cached\))"),
    (&[Tests], &["PASS"], r"^PASS$"),
    (&[Tests], &[" passing"], r"^\s*[1-9]\d* passing\b"),
    (&[Tests], &[", 0 failures"], r"\b[1-9]\d* (?:examples?|tests?), 0 failures"),
    (&[Tests], &[" assertions, "], r"\b[1-9]\d* (?:runs|tests), \d+ assertions, 0 failures, 0 errors"),
    (&[Tests], &["Tests run: "], r"Tests run: [1-9]\d*, Failures: 0, Errors: 0"),
    (&[Tests, Build], &["BUILD SUCCESS"], r"\bBUILD SUCCESS(?:FUL)?\b"),
    (&[Tests], &["OK"], r"^OK(?: \(|$)"),
    (&[Tests], &["Passed!"], r"^Passed!\s+- "),
    (&[Tests], &["** TEST SUCCEEDED **"], r"\*\* TEST SUCCEEDED \*\*"),
    (&[Tests], &["100% tests passed"], r"^100% tests passed"),
    (&[Tests], &["0 fail"], r"^\s*0 fail$"),
    (&[Tests], &[" fail 0"], r"^(?:#|ℹ) fail 0$"),
    (&[Tests], &["All tests passed"], r"All tests passed!?"),
    (&[Build, Lint, Types], &["Finished "], r"^\s*Finished .*(?:profile|target)"),
    (
        &[Build],
        &["built in ", "ompiled successfully", "Build succeeded"],
        r"\b(?:built in \d|[Cc]ompiled successfully|Build succeeded)",
    ),
    (&[Build], &["** BUILD SUCCEEDED **"], r"\*\* BUILD SUCCEEDED \*\*"),
    (&[Lint, Format], &["All checks passed!"], r"^All checks passed!"),
    (&[Lint], &["no offenses detected", "0 issues."], r"\bno offenses detected|^0 issues\."),
    (&[Lint, Format], &["Checked "], r"^Checked \d+ files? in .*No fixes applied"),
    (
        &[Types],
        &["Success: no issues found", "0 errors"],
        r"^Success: no issues found|^0 errors, |^Found 0 errors",
    ),
    (
        &[Format],
        &["All matched files use Prettier", "already formatted", "left unchanged"],
        r"All matched files use Prettier|files? (?:already formatted|would be left unchanged|left unchanged)",
    ),
];

type Wordings = Vec<(&'static [Check], Wording)>;

fn wordings(table: &'static [Row]) -> Wordings {
    let wording = |(checks, stems, wording): &Row| {
        (*checks, Wording::new(format!("(?m){wording}").into(), [*stems, &[]]))
    };
    table.iter().map(wording).collect()
}

static FAILED: LazyLock<Wordings> = LazyLock::new(|| wordings(FAILURES));
static PASSED: LazyLock<Wordings> = LazyLock::new(|| wordings(PASSES));

/// What the output of a run of that check tells.
pub(super) fn told(check: Check, output: &str) -> Told {
    let output = without_colours(output);
    let of_check = |(checks, _): &&(&[Check], Wording)| checks.contains(&check);
    let failed = FAILED.iter().filter(of_check).find_map(|(_, wording)| wording.find(&output));
    if let Some(found) = failed {
        let line = output[found.start..].trim_start().lines().next().unwrap_or_default();
        return Told::Failure(line.trim_matches(['=', ' ']).chars().take(120).collect());
    }
    let passed = PASSED.iter().filter(of_check).any(|(_, wording)| wording.is_match(&output));
    if passed { Told::Pass } else { Told::Nothing }
}

/// The text without what sets colours, and without returns to the start of a line.
fn without_colours(output: &str) -> Cow<'_, str> {
    if !output.contains(['\x1b', '\r']) {
        return Cow::Borrowed(output);
    }
    let mut plain = String::with_capacity(output.len());
    let mut rest = output;
    while let Some(at) = rest.find(['\x1b', '\r']) {
        plain.push_str(&rest[..at]);
        let length = if rest[at..].starts_with('\r') { 1 } else { colour_length(&rest[at..]) };
        // An escape of another kind stays.
        if length == 0 {
            plain.push('\x1b');
        }
        rest = &rest[at + length.max(1)..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// How long the colour is that a text starts with: `ESC [ 1 ; 31 m`.
fn colour_length(text: &str) -> usize {
    let Some(numbers) = text.strip_prefix("\x1b[") else { return 0 };
    let letters = numbers.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
    if letters.starts_with(|c: char| c.is_ascii_alphabetic()) { text.len() - letters.len() + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::*;
    use crate::claims::wording::reference;

    fn all() -> impl Iterator<Item = &'static Wording> {
        FAILED.iter().chain(PASSED.iter()).map(|(_, wording)| wording)
    }

    #[test]
    fn every_wording_is_a_pattern() {
        for wording in all() {
            assert!(wording.pattern().is_some(), "{wording:?}");
        }
    }

    /// What texts to compare with are made of.
    const PIECES: &[&str] = &[
        "=",
        "== ",
        " ",
        "\n",
        "\n",
        "1",
        "0",
        "12",
        " failed",
        " passed",
        " errors",
        ", ",
        " in 0.1s",
        "FAILED ",
        "ERROR ",
        "a.py",
        "a::b",
        "Tests",
        "Test Files",
        "Test Suites:",
        ":",
        "test result: ",
        "FAILED",
        "ok. ",
        "test a ... ",
        "Summary [ 1s]",
        "error",
        ": could not compile",
        "[E0308]: ",
        "--- FAIL: ",
        "FAIL",
        " failing",
        " passing",
        "# fail ",
        "ℹ fail ",
        " fail",
        " | ",
        " examples",
        " tests",
        " test",
        " failures",
        " failure",
        " runs, ",
        " assertions, ",
        "Executed ",
        ", with ",
        "** TEST FAILED **",
        "Tests run: ",
        "Failures: ",
        "Errors: ",
        " tests completed, ",
        "Failed!  - Failed:",
        "FAILURES!",
        "FAILED (failures=",
        " tests failed out of ",
        "Some tests failed.",
        "BUILD FAILURE",
        "BUILD SUCCESSFUL",
        "Build failed",
        "error TS12:",
        "npm ERR! ",
        "code ELIFECYCLE",
        "ELIFECYCLE",
        " exit code 1",
        "error Command failed with exit code 1",
        "make[1]: *** ",
        "Error 1",
        "✖ ",
        " problems",
        " (2",
        "Found ",
        " errors in ",
        ".",
        " offenses detected",
        " warnings",
        "[warn] Code style issues found",
        " files would be reformatted",
        "ok",
        "\t",
        "(cached)",
        "PASS",
        "OK",
        " (",
        "Passed! - ",
        "** TEST SUCCEEDED **",
        "100% tests passed",
        "All tests passed!",
        " Finished ",
        "profile",
        "built in 1",
        "Compiled successfully",
        "All checks passed!",
        "no offenses detected",
        "0 issues.",
        "Checked 3 files in ",
        "No fixes applied",
        "Success: no issues found",
        "All matched files use Prettier",
        "files left unchanged",
        "words",
    ];

    /// What runners print, and pieces of it.
    fn output() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(PIECES);
        prop::collection::vec(pieces, 0..14).prop_map(|pieces| pieces.concat())
    }

    static REFERENCES: LazyLock<Vec<Regex>> = LazyLock::new(|| all().map(reference).collect());

    proptest! {
        #[test]
        fn each_wording_finds_what_the_regex_crate_finds(output in output()) {
            for (ours, theirs) in all().zip(REFERENCES.iter()) {
                let found = theirs.find(&output).map(|found| found.range());
                prop_assert_eq!(ours.find(&output), found, "{}", theirs);
            }
        }

        #[test]
        fn colours_go_as_the_pattern_for_them_says(output in "[\\x1b\\[0-9;mKa\\r é]{0,30}") {
            let colours = Regex::new(r"\x1b\[[0-9;]*[A-Za-z]|\r").expect("a pattern");
            prop_assert_eq!(without_colours(&output), colours.replace_all(&output, ""));
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
