//! The keep-alive gate: a worker stays at its queue while its time without work is not up, and is
//! let go with the reason then.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::test_project::{PUNCHLIST, SESSION, TestProject};

fn worker(config: &str) -> TestProject {
    let mut project = TestProject::new();
    project.own_config(&format!("[worker]\nkeep_alive = true\n{config}"));
    project.var("CLAUDE_CODE_SESSION_ID", SESSION);
    let run = project.run_args(&["worker", "register", "w1", "--kind", "builder"]);
    run.check(run.status.success(), "it is registered");
    project
}

#[test]
fn a_worker_is_told_the_minutes_that_are_left_and_what_to_run() {
    let mut project = worker("");
    let run = project.run();
    let reason = run.holds();
    assert!(reason.starts_with("You are worker w1, and keep working: "), "{reason}");
    assert!(reason.contains(" since you registered, 10 minutes are left.\n"), "{reason}");
    assert!(reason.contains(&format!("`{PUNCHLIST} tasks claim --worker w1 --wait 60s`")), "{reason}");
    run.logs("block", "keep-alive");
    run.same(&project.blocks(), &0);
    // The loop guard is not for it: the session polls on.
    project.input["stop_hook_active"] = json!(true);
    let run = project.run();
    run.holds();
    run.same(&project.blocks(), &0);
}

#[test]
fn what_it_has_in_hand_is_named() {
    let project = worker("");
    for args in [&["tasks", "add", "Mend the gate"][..], &["tasks", "claim"]] {
        let run = project.run_args(args);
        run.check(run.status.success(), "it went well");
    }
    let reason = project.run().holds();
    assert!(
        reason.contains("since you took a task, 10 minutes are left.\nYour tasks in hand, to be done first"),
        "{reason}"
    );
    assert!(reason.contains("\n- t1 (accepted): Mend the gate\n"), "{reason}");
}

#[test]
fn when_its_time_is_up_it_is_let_go_and_the_person_told_once() {
    let project = worker("idle = \"10m\"\n[worker.kinds.builder]\nidle = \"1s\"\n");
    sleep(Duration::from_millis(1_100));
    let run = project.run();
    let told: serde_json::Value = serde_json::from_str(&run.stdout).expect("a message");
    let message = told["systemMessage"].as_str().expect("a message");
    assert!(
        message.starts_with("punchlist: worker w1 may stop: ")
            && message.ends_with(" since it registered, and its limit is 1 s")
    );
    run.same(&run.status.code(), &Some(0));
    run.logs("allow", "worker-idle");
    project.run().is_silent();
}

#[test]
fn a_worker_that_does_not_look_at_its_queue_is_let_go_before_the_clients_own_limit() {
    let mut project = worker("");
    project.input["stop_hook_active"] = json!(true);
    for _ in 0..6 {
        project.run().holds();
    }
    project.run().tells("worker w1 may stop: it was told repeatedly to check its queue, and did not");
}

#[test]
fn nobody_else_is_kept() {
    let mut project = worker("");
    project.input["session_id"] = json!("another");
    let run = project.run();
    run.is_silent();
    run.same(&run.record()["gates"][0]["cause"], &json!("no-worker"));
    project.input["session_id"] = json!(SESSION);
    let run = project.run_args(&["worker", "leave"]);
    run.check(run.status.success(), "it left");
    project.run().is_silent();
}

#[test]
fn with_both_gates_there_is_one_reason_and_a_task_is_named_once() {
    let project = worker("[tasks]\nsource = \"registry\"\n");
    let run = project.run_args(&["tasks", "add", "Mend the gate", "--assign", "w1"]);
    run.check(run.status.success(), "it went well");
    let reason = project.run().holds();
    assert!(
        reason.starts_with("One of your tasks is not finished:\n- t1 (assigned): Mend the gate\n\n"),
        "{reason}"
    );
    assert!(reason.contains("\n\nYou are worker w1, and keep working: "), "{reason}");
    assert_eq!(reason.matches("Mend the gate").count(), 1, "{reason}");
    assert_eq!(project.blocks(), 1);
}

#[test]
fn a_session_that_is_taken_up_again_is_told_the_task_that_it_is_at() {
    let mut project = worker("[tasks]\nsource = \"registry\"\n");
    let run = project.run_args(&["tasks", "add", "Mend the gate", "--assign", "w1"]);
    run.check(run.status.success(), "it went well");
    project.input["hook_event_name"] = json!("SessionStart");
    project.input["source"] = json!("resume");
    let run = project.run();
    let reply: serde_json::Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let told = reply["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
    run.check(told.contains("t1 (assigned): Mend the gate"), "the task is told");
}
