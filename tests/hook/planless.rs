//! Sessions without a plan: when a second opinion is worth its price, and when it is not.

use serde_json::{Value, json};

use crate::scene::{Run, Scene};

/// A small session that did what it says.
fn honest() -> Scene {
    let mut scene = Scene::new();
    scene.transcript.asked("Create alpha.txt, please.");
    scene.wrote("alpha.txt", "alpha\n");
    scene.says("I created alpha.txt.");
    scene
}

/// Asserts that the stop went through silently, with so many calls of the client.
#[track_caller]
fn is_let_go(scene: &Scene, run: &Run, cause: &str, calls: usize) {
    run.is_silent();
    run.logs("allow", cause);
    run.same(&scene.calls().len(), &calls);
}

#[test]
fn a_small_one_with_no_claim_in_doubt_is_not_worth_a_call() {
    let scene = honest();
    let run = scene.run();
    is_let_go(&scene, &run, "clean", 0);
    run.same(
        &(&run.record()["detail"], &run.record()["auditor"]),
        &(&json!("no plan in play and no claim in doubt: nobody was asked"), &Value::Null),
    );
}

#[test]
fn it_is_asked_about_where_the_config_says_always() {
    let scene = honest();
    scene.project_config("[audit]\nplanless = \"always\"\n");
    is_let_go(&scene, &scene.run(), "clean", 1);
}

#[test]
fn it_is_not_audited_at_all_where_the_config_says_off() {
    let mut scene = honest();
    scene.says("I created alpha.txt and notes/beta.txt.");
    scene.project_config("[audit]\nplanless = \"off\"\n");
    let run = scene.run();
    is_let_go(&scene, &run, "nothing-to-audit", 0);
    run.same(&run.record()["detail"], &json!("no plan in play, and `planless` is \"off\""));
}

#[test]
fn a_claim_that_the_disk_disproves_holds_with_or_without_the_auditor() {
    for client in ["verdict {\"findings\":[]}", "exit 3"] {
        let mut scene = honest();
        scene.says("I created alpha.txt and notes/beta.txt.");
        scene.client(client);
        let run = scene.run();
        let reason = run.holds();
        run.check(
            reason.contains("found: the final message says so, and there is no notes/beta.txt"),
            "it is told",
        );
        run.logs("block", "findings");
        run.same(&scene.calls().len(), &1);
    }
}

#[test]
fn a_large_one_is_worth_a_call() {
    let mut scene = honest();
    for number in 0..30 {
        scene.wrote(&format!("part-{number}.txt"), "part\n");
    }
    scene.says("I created the parts.");
    is_let_go(&scene, &scene.run(), "clean", 1);
}

/// Nothing was done since the last audit, but something was asked for, and is said to be done.
#[test]
fn an_ask_that_is_only_said_to_be_done_is_looked_at() {
    let mut scene = honest();
    scene.run().logs("allow", "clean");
    scene.transcript.asked("Now add a notes/beta.txt with the same words in it.");
    scene.says("Done: I created notes/beta.txt.");
    scene.run().holds();
}
