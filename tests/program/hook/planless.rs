//! Sessions without a plan: what was asked and what is said stand in its place.

use serde_json::json;

use crate::test_project::{BETA, OTHERS, Run, TestProject, finds};

/// A small session that did what it says.
fn honest() -> TestProject {
    let mut project = TestProject::new();
    project.transcript.asked("Create alpha.txt, please.");
    project.wrote("alpha.txt", "alpha\n");
    project.says("I created alpha.txt.");
    project
}

/// The same, and it says more than it did; the first reader sees that.
fn boasting() -> TestProject {
    let mut project = honest();
    project.says("I created alpha.txt and notes/beta.txt.");
    project.readers(&[&boast()]);
    project
}

fn boast() -> String {
    BETA.replace("Create `notes/beta.txt`", "I created alpha.txt and notes/beta.txt.")
}

/// Asserts that the stop went through silently, with these questions.
#[track_caller]
fn is_let_go(project: &TestProject, run: &Run, cause: &str, questions: &[&str]) {
    run.is_silent();
    run.logs("allow", cause);
    run.same(&project.questions(), &questions.iter().map(|question| (*question).to_owned()).collect());
}

#[test]
fn one_that_did_what_it_says_is_let_go_after_one_question() {
    let project = honest();
    is_let_go(&project, &project.run(), "clean", &["first"]);
    assert!(project.prompt("first").contains("plan>>\n(no plan"), "the readers are told");
}

#[test]
fn one_that_says_more_than_it_did_is_held() {
    let project = boasting();
    let run = project.run();
    run.check(run.holds().contains("   \"I created alpha.txt and notes/beta.txt.\""), "by its own words");
    run.logs("block", "findings");
    run.same(&run.record()["findings"][0]["claimed_in"], &json!("message"));
}

#[test]
fn without_a_reader_words_alone_hold_nobody() {
    let project = boasting();
    project.client("exit 3");
    let run = project.run();
    run.tells("this stop was not audited: the client failed (exit code 3)");
    run.logs("allow", "auditor-unavailable");
}

#[test]
fn it_is_not_audited_at_all_where_the_config_says_off() {
    let project = boasting();
    project.own_config("[audit]\nplanless = \"off\"\n");
    let run = project.run();
    is_let_go(&project, &run, "nothing-to-audit", &[]);
    run.same(&run.record()["detail"], &json!("no plan in play, and `planless` is \"off\""));
}

/// What is measured against a plan needs one.
#[test]
fn nothing_can_be_beyond_a_plan_that_is_not_there() {
    let project = honest();
    let beyond = r#"{"category":"B","sure":true,"kind":"not-in-plan","claim":"","claimed_in":"nowhere","proof":"alpha","path":"alpha.txt","why":"no step asks for it","settle":"say so"}"#;
    project.client(&format!("{}\n{OTHERS}", finds(&[beyond])));
    let run = project.run();
    run.logs("allow", "only-unverified");
    run.same(&run.record()["findings"][0]["check"], &json!("there is no plan to drift from"));
    run.same(&project.questions()[..], &["first".to_owned()][..]);
}
