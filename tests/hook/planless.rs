//! Sessions without a plan: what was asked and what is said stand in its place.

use serde_json::json;

use crate::scene::{BETA, OTHERS, Run, Snapshot, finds};

/// A small session that did what it says.
fn honest() -> Snapshot {
    let mut scene = Snapshot::new();
    scene.transcript.asked("Create alpha.txt, please.");
    scene.wrote("alpha.txt", "alpha\n");
    scene.says("I created alpha.txt.");
    scene
}

/// The same, and it says more than it did; the first reader sees that.
fn boasting() -> Snapshot {
    let mut scene = honest();
    scene.says("I created alpha.txt and notes/beta.txt.");
    scene.readers(&[&boast()]);
    scene
}

fn boast() -> String {
    BETA.replace("Create `notes/beta.txt`", "I created alpha.txt and notes/beta.txt.")
}

/// Asserts that the stop went through silently, with these questions.
#[track_caller]
fn is_let_go(scene: &Snapshot, run: &Run, cause: &str, questions: &[&str]) {
    run.is_silent();
    run.logs("allow", cause);
    run.same(&scene.questions(), &questions.iter().map(|question| (*question).to_owned()).collect());
}

#[test]
fn one_that_did_what_it_says_is_let_go_after_one_question() {
    let scene = honest();
    is_let_go(&scene, &scene.run(), "clean", &["first"]);
    assert!(scene.prompt("first").contains("plan>>\n(no plan"), "the readers are told");
}

#[test]
fn one_that_says_more_than_it_did_is_held() {
    let scene = boasting();
    let run = scene.run();
    run.check(run.holds().contains("words: \"I created alpha.txt and notes/beta.txt.\""), "by its own words");
    run.logs("block", "findings");
    run.same(&run.record()["findings"][0]["claimed_in"], &json!("message"));
}

#[test]
fn without_a_reader_words_alone_hold_nobody() {
    let scene = boasting();
    scene.client("exit 3");
    let run = scene.run();
    run.tells("this stop was not audited: the client failed (exit code 3)");
    run.logs("allow", "auditor-unavailable");
}

#[test]
fn it_is_not_audited_at_all_where_the_config_says_off() {
    let scene = boasting();
    scene.project_config("[audit]\nplanless = \"off\"\n");
    let run = scene.run();
    is_let_go(&scene, &run, "nothing-to-audit", &[]);
    run.same(&run.record()["detail"], &json!("no plan in play, and `planless` is \"off\""));
}

/// What is measured against a plan needs one.
#[test]
fn nothing_can_be_beyond_a_plan_that_is_not_there() {
    let scene = honest();
    let beyond = r#"{"category":"B","sure":true,"kind":"not-in-plan","claim":"","claimed_in":"nowhere","proof":"alpha","path":"alpha.txt","why":"no step asks for it","settle":"say so"}"#;
    scene.client(&format!("{}\n{OTHERS}", finds(&[beyond])));
    let run = scene.run();
    run.logs("allow", "only-unverified");
    run.same(&run.record()["findings"][0]["check"], &json!("no plan is in play that it could drift from"));
    run.same(&scene.questions()[..], &["first".to_owned()][..]);
}
