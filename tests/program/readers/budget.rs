//! What a session and a day may cost: beyond it nobody is asked, the person is told once, and the
//! log says why each time.

use serde_json::json;

use crate::test_project::{GREETING, Run, TestProject};

const SPENT: &str = "this session has used its one call of a model (`[auditor] max_calls_per_session`)";

/// Asserts that a stop was not audited for this reason, and that the log says so.
#[track_caller]
fn is_not_audited(project: &TestProject, run: &Run, why: &str, calls: usize) {
    run.logs("allow", "auditor-unavailable");
    run.same(&run.record()["detail"], &json!(format!("this stop was not audited: {why}")));
    run.logs_auditor("unavailable", Some(why));
    run.same(&(project.calls().len(), project.blocks()), &(calls, 0));
}

#[test]
fn after_its_last_call_a_session_is_not_audited_and_the_person_is_told_once() {
    let mut project = TestProject::without_drift();
    project.own_config("[auditor]\nmax_calls_per_session = 1\n");
    project.run().logs("allow", "clean");
    project.works_on();
    let run = project.run();
    run.tells(&format!("this stop was not audited: {SPENT}"));
    is_not_audited(&project, &run, SPENT, 1);
    project.works_on();
    let run = project.run();
    run.is_silent();
    is_not_audited(&project, &run, SPENT, 1);
    // Another session has calls of its own.
    project.input["session_id"] = json!("another");
    project.run().logs("allow", "clean");
    assert_eq!(project.calls().len(), 2);
}

#[test]
fn a_call_that_is_left_for_the_first_reader_alone_holds_nobody() {
    let project = TestProject::with_a_wrong_greeting();
    project.own_config("[auditor]\nmax_calls_per_session = 1\n");
    project.readers(&[GREETING]);
    let run = project.run();
    run.logs("allow", "only-unverified");
    let finding = &run.record()["findings"][0];
    run.same(&finding["check"], &json!(format!("the second reader gave no answer (unavailable: {SPENT})")));
    run.same(&(project.calls().len(), project.blocks()), &(1, 0));
}

#[test]
fn what_the_disk_proves_holds_when_nothing_is_left_to_spend() {
    let project = TestProject::with_drift();
    project.own_config("[auditor]\nmax_calls_per_session = 0\n");
    let run = project.run();
    run.holds();
    run.same(
        &(run.record()["auditor"]["outcome"].as_str(), project.calls().len()),
        &(Some("unavailable"), 0),
    );
}

/// A call of the scripted client costs 0.0012 dollars.
#[test]
fn the_money_of_a_day_is_for_all_sessions() {
    let mut project = TestProject::without_drift();
    project.own_config("[auditor]\nmax_cost_per_day = 0.001\n");
    project.run().logs("allow", "clean");
    project.input["session_id"] = json!("another");
    let run = project.run();
    let why = "today's 0.001 dollars are spent (`[auditor] max_cost_per_day`)";
    run.tells(&format!("this stop was not audited: {why}"));
    is_not_audited(&project, &run, why, 1);
}
