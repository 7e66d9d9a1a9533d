//! When the hook steps aside before any work: every cause, in the documented order, and that nobody is asked.

use serde_json::{Value, json};

use crate::test_project::{BETA, Run, TestProject};
use crate::transcript::Transcript;

/// Asserts that the stop went through for this cause, with these words in the log and nobody asked.
#[track_caller]
fn stands_aside(test: &TestProject, run: &Run, cause: &str, detail: &str) {
    run.is_silent();
    run.logs("allow", cause);
    run.same(&run.record()["detail"], &json!(detail));
    run.same(&run.record()["auditor"], &Value::Null);
    run.same(&test.calls().len(), &0);
}

#[test]
fn the_causes_come_in_the_documented_order() {
    let mut test = TestProject::with_drift();
    test.own_config("[gates]\nmax_blocks = 0\n");
    test.var("PUNCHLIST_INSIDE_AUDITOR", "1");
    test.var("PUNCHLIST_OFF", "1");
    test.input["stop_hook_active"] = json!(true);
    test.input["permission_mode"] = json!("plan");
    test.input["background_tasks"] =
        json!([{ "id": "b1", "type": "shell", "status": "running", "description": "the suite" }]);

    let aside = |test: &TestProject, cause, detail| stands_aside(test, &test.run(), cause, detail);
    aside(&test, "inside-auditor", "the hook fired inside its own reader");
    test.unset("PUNCHLIST_INSIDE_AUDITOR");
    aside(&test, "off", "switched off by PUNCHLIST_OFF");
    test.unset("PUNCHLIST_OFF");
    aside(&test, "loop-guard", "the session was held already and goes on because of it");
    test.input["stop_hook_active"] = json!(false);
    aside(&test, "plan-mode", "the session is planning");
    test.input["permission_mode"] = json!("default");
    aside(&test, "background-work", "still running: the suite (shell)");
    test.input["background_tasks"][0]["status"] = json!("completed");
    aside(&test, "budget", "the session was held 0 times, of 0 at the most");
    test.own_config("");
    test.run().holds();
}

#[test]
fn it_can_be_switched_off_by_config() {
    let test = TestProject::with_drift();
    test.project_config("[gates]\nenabled = false\n");
    stands_aside(&test, &test.run(), "off", "switched off by [gates] enabled = false");
}

#[test]
fn without_the_audit_and_with_no_other_gate_nobody_looks() {
    let test = TestProject::with_drift();
    test.project_config("[audit]\nenabled = false\n");
    stands_aside(
        &test,
        &test.run(),
        "off",
        "switched off by [audit] enabled = false, and no other gate is set",
    );
}

#[test]
fn a_switch_that_says_no_is_not_on() {
    let mut test = TestProject::with_drift();
    test.var("PUNCHLIST_OFF", "0");
    test.run().holds();
}

#[test]
fn a_session_is_held_three_times_at_the_most_whatever_the_client_says_of_loops() {
    let mut test = TestProject::with_drift();
    for held in 1..=3 {
        test.run().holds();
        assert_eq!(test.blocks(), held);
        test.works_on();
    }
    let asked = test.calls().len();
    let run = test.run();
    run.is_silent();
    run.logs("allow", "budget");
    run.same(&run.record()["detail"], &json!("the session was held 3 times, of 3 at the most"));
    run.same(&(run.log.len(), test.blocks()), &(4, 3));
    run.check(test.questions()[asked..].iter().all(|question| question == "settle"), "it is not audited");
}

#[test]
fn the_budget_can_be_set_and_is_each_sessions_own() {
    let mut test = TestProject::with_drift();
    test.project_config("[gates]\nmax_blocks = 1\n");
    test.run().holds();
    let run = test.run();
    run.is_silent();
    run.logs("allow", "budget");
    test.input["session_id"] = json!("another");
    test.run().holds();
}

#[test]
fn a_chat_is_nothing_to_audit() {
    let mut test = TestProject::new();
    test.transcript.asked("What is a punch list?");
    test.says("What an inspector hands over at the end of a building job.");
    stands_aside(&test, &test.run(), "nothing-to-audit", "nothing was done yet");
}

#[test]
fn a_plan_with_which_nothing_was_done_is_nothing_to_audit() {
    let mut test = TestProject::new();
    test.file("PLAN.md", "- [ ] Create `alpha.txt`\n");
    test.transcript.asked("Have a look at PLAN.md.");
    test.says("It has one step. Shall I begin?");
    stands_aside(&test, &test.run(), "nothing-to-audit", "nothing was done yet");
}

/// Whatever is said, in whatever language: nothing happened that was not judged before.
#[test]
fn a_stop_at_which_nothing_was_done_since_the_last_audit_asks_nobody() {
    let mut test = TestProject::with_drift();
    test.run().holds();
    test.transcript.asked("Thanks, notes/beta.txt can wait.");
    test.says("You're welcome!");
    let run = test.run();
    run.is_silent();
    run.logs("allow", "unchanged");
    run.same(&run.record()["detail"], &json!("nothing was done since the last audit"));
    // One question about the block before it, and none about this stop.
    run.same(&test.questions(), &["first", "second", "settle"].map(str::to_owned).to_vec());
    test.transcript.asked("Et maintenant ?");
    test.says("Tout est fait : notes/beta.txt est là.");
    let run = test.run();
    run.is_silent();
    run.logs("allow", "unchanged");
    run.same(&(test.calls().len(), test.blocks()), &(3, 1));
}

#[test]
fn other_events_are_none_of_our_business_and_not_logged() {
    let mut test = TestProject::with_drift();
    for event in ["PreToolUse", "SessionStart", "Whatever"] {
        test.input["hook_event_name"] = json!(event);
        let run = test.run();
        run.is_silent();
        run.same(&(run.log.len(), test.calls().len()), &(0, 0));
    }
}

/// The whole plan is not a subagent's promise, so what it is held for is what it claims itself.
#[test]
fn a_subagents_stop_is_audited_by_its_own_transcript_and_without_the_plan() {
    let mut test = TestProject::with_drift();
    let own = test.path("agent-a1.jsonl");
    std::fs::write(&own, test.transcript.text()).expect("the agent's transcript");
    // The session itself only chatted: were its transcript read, there would be nothing to audit.
    test.transcript = Transcript::default();
    test.transcript.asked("Hello.");
    test.transcript.said("Hello!");
    test.input["hook_event_name"] = json!("SubagentStop");
    test.input["agent_id"] = json!("a1");
    test.input["agent_transcript_path"] = json!(own);
    // A SubagentStop lists the agent that is stopping as still running.
    test.input["background_tasks"] =
        json!([{ "id": "a1", "type": "agent", "status": "running", "description": "me" }]);
    let claim = BETA.replace("Create `notes/beta.txt`", "I created alpha.txt and notes/beta.txt.");
    test.readers(&[&claim]);
    let run = test.run();
    run.holds();
    let record = run.record();
    run.same(&(&record["event"], &record["agent"]), &(&json!("SubagentStop"), &json!("a1")));
    run.same(&record["plan"], &Value::Null);
    run.same(&record["findings"][0]["source"], &json!("reader"));
    run.same(&test.blocks(), &1);
}
