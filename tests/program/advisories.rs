//! What the person should know: told in a line, once, and never a reason to hold; unless the config
//! makes it one.

use serde_json::{Value, json};

use crate::test_project::{Run, TestProject};

/// A session that pushes with force, which nobody asked for.
fn forced() -> TestProject {
    let mut project = TestProject::new();
    project.transcript.asked("Create alpha.txt and push it, please.");
    project.wrote("alpha.txt", "alpha\n");
    project.transcript.ran("git add -A && git commit -m alpha", "1 file changed");
    project.transcript.ran("git push --force origin main", "forced update");
    project.says("I created alpha.txt.");
    project
}

/// What the person is told.
fn told(run: &Run) -> String {
    let reply: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    reply["systemMessage"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_force_push_that_nobody_asked_for_is_told_once_and_holds_nobody() {
    let mut project = forced();
    let run = project.run();
    run.logs("allow", "clean");
    let message = told(&run);
    run.check(
        message.starts_with("punchlist: worth knowing:\n- ")
            && message.ends_with(": git push --force origin main"),
        "it is a list, and the command is named",
    );
    run.same(&run.record()["advisories"][0]["kind"], &json!("force-push"));
    // The same session goes on: it is known by now.
    project.wrote("notes/beta.txt", "beta\n");
    project.says("I created notes/beta.txt.");
    let run = project.run();
    run.logs("allow", "clean");
    run.is_silent();
    run.same(&run.record()["advisories"][0]["kind"], &json!("force-push"));
}

#[test]
fn advisories_are_in_the_list_and_the_figures_and_can_be_asked_for() {
    let project = forced();
    project.run();
    let lines = |kind: &str| {
        let run = project.run_args(&["log", "--advisory", kind]);
        run.same(&run.status.code(), &Some(0));
        run.stdout
    };
    let listed = lines("force-push,hard-reset");
    assert!(listed.contains("clean") && listed.contains(" 1! "), "{listed}");
    assert!(listed.contains("session-"), "which session: {listed}");
    assert_eq!(lines("hard-reset"), "");
    let stats = project.run_args(&["log", "stats", "--json"]);
    let stats: Value = serde_json::from_str(&stats.stdout).expect("figures");
    assert_eq!(stats["advisories"], json!([{ "name": "force-push", "count": 1 }]));
    assert_eq!(stats["gates"], json!([{ "name": "audit", "looked": 1, "held": 0, "could_not_check": 0 }]));
}

#[test]
fn the_words_never_force_push_silence_nothing() {
    let mut project = forced();
    project.transcript.asked("Thanks. And never force-push.");
    project.says("Good.");
    let run = project.run();
    run.check(told(&run).contains("git push --force origin main"), "the command is named");
}

const UNRUN: &str = r#"{"category":"A","sure":true,"kind":"not-run","claim":"All tests pass.","claimed_in":"message","proof":"","path":"","why":"No test was run in this session.","settle":"Run the tests."}"#;

/// A session that says that its tests pass, and never ran them; the first reader sees that.
fn untested() -> TestProject {
    let mut project = TestProject::new();
    project.transcript.asked("Write a.py with a test, please.");
    project.wrote("a.py", "def a():\n    return 1\n");
    project.wrote("test_a.py", "from a import a\n\ndef test_a():\n    assert a() == 1\n");
    project.says("I wrote a.py and test_a.py. All tests pass.");
    project.readers(&[UNRUN]);
    project
}

#[test]
fn tests_that_never_ran_are_told_and_no_second_reader_is_asked_for_that() {
    let project = untested();
    let run = project.run();
    run.logs("allow", "clean");
    run.same(&run.record()["advisories"][0]["kind"], &json!("not-run"));
    run.same(&project.questions(), &vec!["first".to_owned()]);
    run.check(told(&run).contains("All tests pass"), "the claim is named");
}

#[test]
fn they_hold_the_stop_where_the_config_says_so() {
    let project = untested();
    project.project_config("[audit]\nunrun_checks = \"block\"\n");
    let run = project.run();
    let reason = run.holds();
    run.check(reason.contains("All tests pass"), "the claim is named");
    run.logs("block", "findings");
}
