//! A: a command that is called failed.

use super::*;

#[test]
fn a_command_is_judged_by_its_last_run() {
    let proposal = proposal(Category::A, Problem::FailedCommand, "The tests pass", "", "cargo test");
    let case = || no_plan().says("The tests pass now.");
    case()
        .ran("cargo test --all", CommandEnd::Failed(Some(101)))
        .confirms(&proposal, "the command ended with exit code 101 when it was run last");
    case()
        .ran("cargo test", CommandEnd::Failed(Some(101)))
        .ran("cargo test", CommandEnd::Succeeded)
        .refutes(&proposal, "the command succeeded when it was run last");
    case().doubts(&proposal, "no such command in the session");
    case()
        .ran("cargo test", CommandEnd::Background)
        .doubts(&proposal, "how the command ended is not recorded");
}

#[test]
fn a_failure_that_was_made_good_or_is_none_is_not_confirmed() {
    let failed = CommandEnd::Failed(Some(1));
    let claim = |needle: &str| proposal(Category::A, Problem::FailedCommand, "All tests pass.", "", needle);
    no_plan()
        .says("All tests pass.")
        .ran("npm test", failed)
        .ran("npx vitest run", CommandEnd::Succeeded)
        .doubts(&claim("npm test"), "another check of that kind succeeded after it");
    no_plan()
        .says("All tests pass.")
        .ran("npm test", failed)
        .ran("npm run build", CommandEnd::Succeeded)
        .confirms(&claim("npm test"), "the command ended with exit code 1 when it was run last");
    no_plan().says("All tests pass.").ran("grep -rn old_name src", failed).doubts(
        &claim("grep -rn old_name src"),
        "the command only looks: that it found nothing is no failure",
    );
    no_plan()
        .says("All tests pass.")
        .ran("npm run tools", CommandEnd::Succeeded)
        .ran("ls", failed)
        .refutes(&claim("npm run tools"), "the command succeeded when it was run last");
}

#[test]
fn a_failure_that_nobody_claims_to_be_a_success_is_part_of_the_work() {
    let failed = CommandEnd::Failed(Some(1));
    let claim = |quote: &str, needle: &str| proposal(Category::A, Problem::FailedCommand, quote, "", needle);
    let unclaimed = "the words do not claim that this command succeeded";
    plan(TWO)
        .says("All done. The tests pass.")
        .ran("mkdir build", failed)
        .doubts(&claim("All done. The tests pass.", "mkdir build"), unclaimed);
    plan(TWO)
        .says("All done.")
        .ran("npm test", failed)
        .doubts(&claim("Create `beta.txt`", "npm test"), unclaimed);
    plan("- [x] Run `npm run seed`\n").says("All done.").ran("npm run seed", failed).confirms(
        &claim("Run `npm run seed`", "npm run seed"),
        "the command ended with exit code 1 when it was run last",
    );
    plan("- [x] Push with `git push origin main`\n")
        .says("All done.")
        .ran("git push origin main", failed)
        .ran("git push -u origin main", CommandEnd::Succeeded)
        .doubts(
            &claim("Push with `git push origin main`", "git push origin main"),
            "the same program succeeded after it",
        );
    no_plan()
        .says("All tests pass.")
        .ran("npm test", failed)
        .ran("ssh ci 'npm test'", CommandEnd::Succeeded)
        .doubts(
            &claim("All tests pass.", "npm test"),
            "remote: a check of that kind succeeded on another machine after it",
        );
}

#[test]
fn a_run_that_cannot_fail_neither_refutes_nor_makes_good() {
    let claim = proposal(Category::A, Problem::FailedCommand, "All tests pass.", "", "pytest");
    let case = || no_plan().says("All tests pass.");
    case()
        .ran("pytest", CommandEnd::Failed(Some(1)))
        .ran("pytest || true", CommandEnd::Succeeded)
        .confirms(&claim, "the command ended with exit code 1 when it was run last");
    case()
        .ran("pytest -q; echo done", CommandEnd::Succeeded)
        .doubts(&claim, "it was run in a way in which it can't fail");
    case()
        .ran("pytest -q | tail -3", CommandEnd::Succeeded)
        .refutes(&claim, "the command succeeded when it was run last");
}

#[test]
fn what_is_said_of_the_rest_claims_nothing_of_this() {
    no_plan()
        .says("test_dst still fails, as you know. Everything else is green.")
        .ran("pytest -q", CommandEnd::Failed(Some(1)))
        .doubts(
            &proposal(Category::A, Problem::FailedCommand, "Everything else is green", "", "pytest -q"),
            "the words do not claim that this command succeeded",
        );
}
