use proptest::prelude::*;
use regex::Regex;

use super::*;
use crate::claims::wording::reference;

fn deeds(message: &str) -> Vec<Deed> {
    claimed(message).into_iter().map(|claim| claim.deed).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of wordings")]
fn claims_of_every_kind() {
    let tests = Deed::Check(Check::Tests);
    let build = Deed::Check(Check::Build);
    let lint = Deed::Check(Check::Lint);
    let types = Deed::Check(Check::Types);
    let format = Deed::Check(Check::Format);
    let cases: &[(&str, &[Deed])] = &[
        ("All 42 tests pass.", &[tests]),
        ("✅ Tests: passing", &[tests]),
        ("- ✅ **63 tests** pass", &[tests]),
        ("- ✅ **Linting** passes", &[lint]),
        ("The suite is green.", &[tests]),
        ("The test suite is now green!", &[tests]),
        ("`npm test` passes.", &[tests]),
        ("- All tests pass (`mise run test:ci`)", &[tests]),
        ("- `go test ./...` — all passing", &[tests]),
        ("- All pass with `go test ./...` and `go test -race ./...`", &[tests]),
        ("Tests pass.", &[tests]),
        ("Tests are passing.", &[tests]),
        ("All tests passed successfully.", &[tests]),
        ("**Tests:** All 40 tests pass with 100% branch coverage", &[tests]),
        ("All 42/42 tests pass.", &[tests]),
        ("| Tests | ✅ |", &[tests]),
        ("| Tests | pass |", &[tests]),
        ("### ✅ Tests", &[tests]),
        ("- [x] Tests pass", &[tests]),
        ("Full test suite passes with 0 failures.", &[tests]),
        ("87 tests, 0 failures", &[tests]),
        ("I fixed the failing test and all tests pass.", &[tests]),
        ("Build succeeds.", &[build]),
        ("The build passes with no new warnings.", &[build]),
        ("✅ Build: success", &[build]),
        ("It compiles cleanly.", &[build]),
        ("The project now builds without errors.", &[build]),
        ("`cargo build` succeeds", &[build]),
        ("Type checks: clean", &[types]),
        ("Typecheck passes.", &[types]),
        ("No type errors.", &[types]),
        ("`npx tsc --noEmit` is clean", &[types]),
        ("There are no lint errors.", &[lint]),
        ("- Zero lint errors", &[lint]),
        ("Linting clean (`mise run lint`)", &[lint]),
        ("**Linting:** `ruff check` passes with no issues", &[lint]),
        ("- ✅ **Formatting** passes", &[format]),
        ("All tests pass and lint is clean.", &[tests, lint]),
        ("pytest is green.", &[tests]),
        ("Jest passes.", &[tests]),
        ("14/14 passing", &[tests]),
        ("Test results: 14 passed, 0 failed", &[tests]),
        ("RSpec: 12 examples, 0 failures", &[tests]),
        ("Unit tests: ✅ 12/12", &[tests]),
        ("The project compiles.", &[build]),
        ("It builds.", &[build]),
        ("The production build works.", &[build]),
        ("`npm run build` completes without errors.", &[build]),
        ("`cargo build` finishes without warnings.", &[build]),
        ("Pushed branch `x` and opened a PR.", &[Deed::Push, Deed::PullRequest]),
        ("The PR is up: https://x.y/pull/3", &[Deed::PullRequest]),
        ("The branch is pushed and the pull request is open (#12).", &[Deed::Push, Deed::PullRequest]),
        ("Issue #45 is filed.", &[Deed::Issue]),
        ("Published `x@1.0.0` to npm.", &[Deed::Deploy]),
        ("Dependencies installed.", &[Deed::Install]),
        ("`requests` has been installed.", &[Deed::Install]),
        ("I made two commits and pushed them.", &[Deed::Commit, Deed::Push]),
        ("I tried it with three votes and committed the change as `Add winner()`.", &[Deed::Commit]),
        ("Fixed the parser and pushed the branch.", &[Deed::Push]),
        ("`composer test`: all three tests pass", &[tests]),
        ("Everything passes, including the doc tests.", &[tests]),
        ("Everything passes (tests and clippy).", &[tests, lint]),
        ("4. tests of all three packages are green", &[tests]),
        ("The tests in both packages pass.", &[tests]),
        ("All three items in TODO.md are done, and all 14 tests pass:", &[tests]),
        ("Verification: 2 tests pass, clippy reports no warnings with `-D warnings`.", &[tests, lint]),
        ("Clippy has no complaints.", &[lint]),
        ("I ran eslint with no errors.", &[lint]),
        ("0 errors from tsc.", &[types]),
        ("The build ran with no errors.", &[build]),
        ("Tests: 0 failures", &[tests]),
        ("Committed as `abc1234`.", &[Deed::Commit]),
        ("Changes are committed and pushed.", &[Deed::Commit, Deed::Push]),
        ("I've committed the changes.", &[Deed::Commit]),
        ("Both features are now committed:", &[Deed::Commit]),
        ("Done. I committed all pending changes.", &[Deed::Commit]),
        ("**Commit**: `5efdc56`", &[Deed::Commit]),
        ("Successfully committed the project restructuring!", &[Deed::Commit]),
        ("Pushed to PR #65.", &[Deed::Push]),
        ("Everything is pushed.", &[Deed::Push]),
        ("I pushed the fix to main.", &[Deed::Push]),
        ("Opened PR #12.", &[Deed::PullRequest]),
        ("I created a pull request: https://x.y/pull/1", &[Deed::PullRequest]),
        ("PR created: https://github.com/a/b/pull/141", &[Deed::PullRequest]),
        ("I filed #12 for it.", &[Deed::Issue]),
        ("Filed issue #12.", &[Deed::Issue]),
        ("Opened a GitHub issue for the flake.", &[Deed::Issue]),
        ("Deployed to staging.", &[Deed::Deploy]),
        ("The deployment is complete and verified working.", &[Deed::Deploy]),
        ("The image proxy is deployed to staging 🚀", &[Deed::Deploy]),
        ("The chart is now live on production.", &[Deed::Deploy]),
        ("Installed the dependencies.", &[Deed::Install]),
        ("Dependencies are installed.", &[Deed::Install]),
    ];
    for (message, expected) in cases {
        let found = deeds(message);
        assert!(
            expected.iter().all(|deed| found.contains(deed)) && found.len() == expected.len(),
            "{message}: {found:?}"
        );
    }
}

#[test]
fn what_is_no_claim() {
    for message in [
        "The tests should pass.",
        "Tests don't pass yet.",
        "The tests were failing.",
        "Once tests pass, I'll commit.",
        "I'll commit next.",
        "Please run the tests.",
        "You can now push.",
        "Do all tests pass?",
        "All tests pass except the two flaky ones.",
        "3 of 5 tests pass.",
        "3/5 tests pass",
        "Tests pass locally but fail in CI.",
        "All CI checks passing on PR #18.",
        "The script commits the file and pushes it.",
        "Added a function that installs hooks.",
        "Added tests that verify the parser.",
        "The deploy workflow runs tests on push.",
        "> All tests pass",
        "```\nAll tests pass\n```",
        "It prints \"all tests pass\".",
        "The tests pass the flag to the parser.",
        "Only the unit tests pass.",
        "Make sure the build passes.",
        "**Next steps:**\n- All tests pass\n- Deployed to staging",
        "## Test plan\n- Tests pass",
        "- [ ] Tests pass",
        "❌ Tests pass",
        "2 tests still fail. The other tests pass.",
        "All tests pass. Note that one integration test fails on main, too.",
        "I added the tests.",
        "✅ Added tests",
        "The build script is in scripts/build.sh.",
        "The tool builds the index.",
        "When the session is committed, the hook runs.",
        "Files committed by the user are kept.",
        "You committed without making any manual edits.",
        "Ready to be committed.",
        "The changes are not committed.",
        "I have not pushed anything.",
        "PR is ready for review at https://github.com/a/b/pull/183.",
        "Created a PR template.",
        "Created issue templates.",
        "What happens when hooks are installed",
        "It can be installed with `npm install`.",
        "The package is not installed.",
        "Want me to commit these changes?",
        "CI should pass now.",
        "| **Full tree state** | ✅ Git commit captures it | ✅ Shadow branch captures it |",
        "committedContent = HEAD version",
        "The user said the tests pass.",
        "Pre-commit hooks (tests, lint) all passed.",
        "All tests passed in the previous session.",
        "Items are pushed onto the stack.",
        "The values are pushed to the array.",
        "Manual test passed: exit code 0",
        "The immediate issue was the version.",
        "22 issues closed.",
        "All 22 issues closed.",
        "Everything passes through the queue.",
        "All green buttons are gone.",
        "Everything else passes.",
        "The build tool works on Windows.",
        "It builds the index.",
        "The PR is open to discussion once you push.",
        "14/20 passing",
        "Jest is configured.",
        "Added a list of staged and committed files.",
        "I added the queue: items are read and pushed back.",
        "The installer checks that dependencies installed by pip are there.",
        "Everything is clean — the tree has no changes.",
        "The lint rule has no errors of its own.",
        "The image is deployed to staging by CI once you merge.",
    ] {
        assert_eq!(deeds(message), Vec::<Deed>::new(), "{message}");
    }
}

#[test]
fn a_claim_of_a_part_is_told_from_one_of_the_whole() {
    let is_part = |message: &str| claimed(message)[0].extent == Extent::Part;
    for message in [
        "The parser tests pass.",
        "The 26 new tests pass.",
        "The flag works and the parser tests pass.",
        "In `pkg/a`, the tests pass.",
    ] {
        assert!(is_part(message), "{message}");
    }
    for message in [
        "All 26 tests pass.",
        "The full test suite passes.",
        "✅ Tests: passing",
        "`npm test` passes.",
        "All three items in TODO.md are done, and all 14 tests pass:",
        "Tests of all three packages are green.",
    ] {
        assert!(!is_part(message), "{message}");
    }
}

#[test]
fn words_that_name_no_kind_claim_any_loosely() {
    for message in [
        "Everything passes.",
        "All checks pass.",
        "All green.",
        "All 14 pass.",
        "They all pass.",
        "Everything is green ✅",
    ] {
        let claims = claimed(message);
        assert!(claims.len() == 5 && claims.iter().all(|claim| claim.extent == Extent::Loose), "{message}");
    }
}

proptest::proptest! {
    #[test]
    fn no_message_makes_it_panic(message in ".{0,300}") {
        let _ = (claimed(&message), crate::claims::ticks::steps_deeds(&message));
    }
}

fn all_wordings() -> Vec<&'static Wording> {
    let deeds = DEEDS.iter().chain(LOOSE_DEEDS.iter()).map(|(_, wording)| wording);
    let checks = CHECKS.iter().map(|(_, wording)| wording);
    let others = [&NO_CLAIM, &NOT_ALL, &NO_FAILS, &PARTIAL, &PASSES_ON, &ADMISSION, &*EVERYTHING];
    deeds.chain(checks).chain(others).chain(crate::claims::ticks::all_wordings()).collect()
}

#[test]
fn every_wording_is_a_pattern() {
    for wording in all_wordings() {
        assert!(wording.pattern().is_some(), "{wording:?}");
    }
}

/// What texts to compare with are made of.
const PIECES: &[&str] = &[
    "all", "tests", "test", "suite", "specs", "the", "pass", "passes", "passed", "passing", "green", "clean",
    "ok", "is", "are", "now", "and", "build", "builds", "compiles", "cleanly", "works", "lint", "clippy",
    "eslint", "types", "tsc", "type checks", "format", "prettier", "no", "0", "12", "3 of 4", "3/3", "5/6",
    "errors", "warnings", "from", "reports", "everything", "it all", "they all", "every check", "in", "with",
    "§tests", "§build", "§lint", "§code", "§hash", "—", "✅", "committed", "pushed", "commit", "to origin",
    "i", "i've", "i have", "also", "changes", "has been", "created", "opened", "a", "pr", "pull request",
    "#12", "filed", "issue", "deployed", "to staging", "released", "live", "on", "production", "installed",
    "dependencies", "packages", "not", "didn't", "will", "if", "after", "you", "can be", "pending", "still",
    "except", "some", "failed", "failing", "failures", "flaky", "skipped", "previously", "fixed", "broken",
    "the flag", "along", "run", "re run", "make sure", "verify", "ensure", "that", "commit the changes",
    "push", "open", "deploy", "execute", "added it", "updated", "v1.2", "without", "any", "timed out", "ci",
    "errors remain", "unrelated", "pre existing", "could", "done", "great",
];

/// Sentences of the words that wordings are made of.
fn words() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(PIECES);
    let ends = prop::sample::select(vec![
        " ", " ", " ", " ", " ", ", ", ": ", ". ", "", "; ", " (", ") ", " & ", " + ",
    ]);
    prop::collection::vec((pieces, ends), 0..10)
        .prop_map(|pieces| pieces.iter().flat_map(|(word, end)| [*word, *end]).collect::<String>())
}

static REFERENCES: LazyLock<Vec<Regex>> =
    LazyLock::new(|| all_wordings().into_iter().map(reference).collect());

/// What a sentence claims, with every question asked in its turn and of every sentence.
fn slowly_deeds_of(sentence: &str) -> Vec<(Deed, Extent)> {
    let words = plain(sentence);
    let is_match = |wording: &Wording| reference_of(wording).is_match(&words);
    if sentence.trim_end().ends_with('?') || is_match(&NO_CLAIM) {
        return Vec::new();
    }
    let mut found: Vec<(Deed, Extent)> = Vec::new();
    if !is_not_all(&words) {
        for (check, wording) in CHECKS.iter() {
            if let Some(at) = reference_of(wording).find(&words)
                && !found.iter().any(|(deed, _)| *deed == Deed::Check(*check))
            {
                found.push((Deed::Check(*check), extent(&words[..at.start()])));
            }
        }
        found.extend(ticked_subject(sentence, &words).map(|check| (Deed::Check(check), Extent::Whole)));
        if found.is_empty() && is_match(&EVERYTHING) {
            found.extend(everything(&words));
        }
    }
    let deeds = DEEDS.iter().map(|wording| (wording, Extent::Whole));
    for ((deed, wording), extent) in deeds.chain(LOOSE_DEEDS.iter().map(|wording| (wording, Extent::Loose))) {
        if is_match(wording) && !found.iter().any(|(other, _)| other == deed) {
            found.push((*deed, extent));
        }
    }
    found
}

fn reference_of(wording: &Wording) -> &'static Regex {
    let at = all_wordings().iter().position(|other| std::ptr::eq(*other, wording)).expect("one of them");
    &REFERENCES[at]
}

proptest::proptest! {
    #[test]
    fn each_wording_finds_what_the_regex_crate_finds(words in words()) {
        for (ours, theirs) in all_wordings().into_iter().zip(REFERENCES.iter()) {
            let found = theirs.find(&words).map(|found| found.range());
            prop_assert_eq!(ours.find(&words), found, "{} in {}", theirs, words);
            prop_assert_eq!(ours.blanked(&words), theirs.replace_all(&words, " "), "{} in {}", theirs, words);
        }
    }

    #[test]
    fn asking_only_where_it_matters_changes_no_answer(words in words()) {
        prop_assert_eq!(deeds_of(&words), slowly_deeds_of(&words), "{}", words);
    }
}
