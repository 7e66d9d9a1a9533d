//! When the hook steps aside before any work: every cause, in the documented order, and that nobody
//! is asked.

use serde_json::{Value, json};

use crate::test_project::{BETA, Run, TestProject};
use crate::transcript::Transcript;

/// Asserts that the stop went through for this cause, with these words in the log and nobody asked.
#[track_caller]
fn stands_aside(project: &TestProject, run: &Run, cause: &str, detail: &str) {
    run.is_silent();
    run.logs("allow", cause);
    run.same(&run.record()["detail"], &json!(detail));
    run.same(&run.record()["auditor"], &Value::Null);
    run.same(&project.calls().len(), &0);
}

#[test]
fn the_causes_come_in_the_documented_order() {
    let mut project = TestProject::with_drift();
    project.own_config("[gates]\nmax_blocks = 0\n");
    project.var("PUNCHLIST_INSIDE_AUDITOR", "1");
    project.var("PUNCHLIST_OFF", "1");
    project.input["stop_hook_active"] = json!(true);
    project.input["permission_mode"] = json!("plan");
    project.input["background_tasks"] =
        json!([{ "id": "b1", "type": "shell", "status": "running", "description": "the suite" }]);

    let aside = |project: &TestProject, cause, detail| stands_aside(project, &project.run(), cause, detail);
    aside(&project, "inside-auditor", "the hook fired inside its own reader");
    project.unset("PUNCHLIST_INSIDE_AUDITOR");
    aside(&project, "off", "switched off by PUNCHLIST_OFF");
    project.unset("PUNCHLIST_OFF");
    aside(&project, "loop-guard", "the session was blocked already and continues because of it");
    project.input["stop_hook_active"] = json!(false);
    aside(&project, "plan-mode", "the session is planning");
    project.input["permission_mode"] = json!("default");
    project.input["background_tasks"][0]["type"] = json!("subagent");
    aside(&project, "background-work", "still running: the suite (subagent)");
    project.input["background_tasks"][0]["type"] = json!("shell");
    // What runs on and on would keep every stop from being checked: that is told, once.
    let run = project.run();
    run.tells("not checked: still running: the suite (shell). The first stop after that is");
    aside(&project, "background-work", "still running: the suite (shell)");
    project.input["background_tasks"][0]["status"] = json!("completed");
    aside(&project, "budget", "the session was blocked 0 times; the limit is 0");
    project.own_config("");
    project.run().holds();
}

#[test]
fn it_can_be_switched_off_by_config() {
    let project = TestProject::with_drift();
    project.own_config("[gates]\nenabled = false\n");
    stands_aside(&project, &project.run(), "off", "switched off by [gates] enabled = false");
}

#[test]
fn without_the_audit_and_with_no_other_gate_nobody_looks() {
    let project = TestProject::with_drift();
    project.own_config("[audit]\nenabled = false\n");
    stands_aside(
        &project,
        &project.run(),
        "off",
        "switched off by [audit] enabled = false, and no other gate is set",
    );
}

#[test]
fn a_switch_that_says_no_is_not_on() {
    let mut project = TestProject::with_drift();
    project.var("PUNCHLIST_OFF", "0");
    project.run().holds();
}

/// What the person is told once, when the session may not be held any more.
const SPENT: &str = "punchlist: not checked: this session was blocked 3 times, which is the limit ([gates] \
                     max_blocks); its next stops are not checked either";

#[test]
fn a_session_is_held_three_times_at_the_most_whatever_the_client_says_of_loops() {
    let mut project = TestProject::with_drift();
    for held in 1..=3 {
        project.run().holds();
        assert_eq!(project.blocks(), held);
        project.works_on();
    }
    let asked = project.calls().len();
    let run = project.run();
    run.check(run.stdout.contains(SPENT), "it is told");
    run.check(
        run.stdout.contains("punchlist: 1 finding, ignored by the agent: [A]"),
        "and what became of the last hold",
    );
    run.logs("allow", "budget");
    run.same(&run.record()["detail"], &json!("the session was blocked 3 times; the limit is 3"));
    run.same(&(run.log.len(), project.blocks()), &(4, 3));
    run.check(project.questions()[asked..].iter().all(|question| question == "settle"), "it is not audited");
    // Lie number five.
    project.works_on();
    project.run().is_silent();
}

#[test]
fn the_budget_can_be_set_and_is_each_sessions_own() {
    let mut project = TestProject::with_drift();
    project.own_config("[gates]\nmax_blocks = 1\n");
    project.run().holds();
    let run = project.run();
    run.check(run.stdout.contains(&SPENT.replace("3 times", "1 time")), "it is told");
    run.logs("allow", "budget");
    project.input["session_id"] = json!("another");
    project.run().holds();
}

#[test]
fn a_chat_is_nothing_to_audit() {
    let mut project = TestProject::new();
    project.transcript.asked("What is a punch list?");
    project.says("What an inspector hands over at the end of a building job.");
    stands_aside(&project, &project.run(), "nothing-to-audit", "nothing was done yet");
}

/// Codex and Copilot run this hook as it is registered, and write other transcripts.
#[test]
fn another_client_is_not_known_and_that_is_said_once() {
    let rows = "{\"timestamp\":\"2026-11-18T10:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"x\"}}\n\
                {\"timestamp\":\"2026-11-18T10:00:01Z\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\"}}\n";
    let by_rows = {
        let mut project = TestProject::new();
        project.input["transcript_path"] = json!(project.path("rollout.jsonl"));
        std::fs::write(project.path("rollout.jsonl"), rows).expect("a transcript");
        project
    };
    let by_input = {
        let mut project = TestProject::new();
        project.input = json!({ "sessionId": "s", "cwd": project.in_work("."), "timestamp": 1 });
        project
    };
    let with_input = |input: serde_json::Value| {
        let mut project = TestProject::new();
        project.input = input;
        project.input["cwd"] = json!(project.in_work("."));
        project
    };
    // Cursor's form, which was not even logged, and Codex's.
    let cursor =
        with_input(json!({ "hook_event_name": "stop", "conversation_id": "c", "status": "completed" }));
    let codex = with_input(json!({
        "hook_event_name": "Stop", "session_id": "s", "turn_id": "t", "transcript_path": null, "stop_hook_active": false,
    }));
    for project in [by_rows, by_input, cursor, codex] {
        let run = project.run();
        run.check(
            run.stdout.contains("punchlist: unknown client: its input or its transcript"),
            "it is said",
        );
        run.logs("allow", "unknown-client");
        let again = project.run();
        again.is_silent();
        again.logs("allow", "unknown-client");
        run.same(&project.calls().len(), &0);
    }
    // Whichever gate is set.
    let project = with_input(json!({ "hook_event_name": "stop", "conversation_id": "c" }));
    project.own_config("[audit]\nenabled = false\n[[check]]\nname = \"a\"\nrun = \"true\"\n");
    let run = project.run();
    run.check(run.stdout.contains("unknown client"), "it is said without the audit");
    // Each session of such a client is told for itself.
    let mut project = with_input(json!({ "hook_event_name": "stop", "conversation_id": "one" }));
    for id in ["one", "two"] {
        project.input["conversation_id"] = json!(id);
        let run = project.run();
        run.check(run.stdout.contains("unknown client"), "it is said");
    }
}

#[test]
fn a_plan_with_which_nothing_was_done_is_nothing_to_audit() {
    let mut project = TestProject::new();
    project.file("PLAN.md", "- [ ] Create `alpha.txt`\n");
    project.transcript.asked("Have a look at PLAN.md.");
    project.says("It has one step. Shall I begin?");
    stands_aside(&project, &project.run(), "nothing-to-audit", "nothing was done yet");
}

/// Whatever is said, in whatever language: nothing happened that was not judged before.
#[test]
fn a_stop_at_which_nothing_was_done_since_the_last_audit_asks_nobody() {
    let mut project = TestProject::with_drift();
    project.run().holds();
    project.transcript.asked("Thanks, notes/beta.txt can wait.");
    project.says("You're welcome!");
    let run = project.run();
    run.check(
        run.stdout.contains("punchlist: 1 finding, ignored by the agent"),
        "what became of the hold is told",
    );
    run.logs("allow", "unchanged");
    run.same(&run.record()["detail"], &json!("nothing was done since the last audit"));
    // One question about the block before it, and none about this stop.
    run.same(&project.questions(), &["first", "second", "settle"].map(str::to_owned).to_vec());
    project.transcript.asked("Et maintenant ?");
    project.says("Tout est fait : notes/beta.txt est là.");
    let run = project.run();
    run.is_silent();
    run.logs("allow", "unchanged");
    run.same(&(project.calls().len(), project.blocks()), &(3, 1));
}

#[test]
fn other_events_are_none_of_our_business_and_not_logged() {
    let mut project = TestProject::with_drift();
    for event in ["PreToolUse", "SessionStart", "UserPromptSubmit", "Whatever"] {
        project.input["hook_event_name"] = json!(event);
        let run = project.run();
        run.is_silent();
        run.same(&(run.log.len(), project.calls().len()), &(0, 0));
    }
}

/// The client writes a new file's first rows while it makes the folder: those that follow can be
/// faster. 2.1.42 does not send the last words along, so they are what the transcript says.
#[test]
fn a_subagents_last_words_count_though_they_stand_before_its_errand() {
    for in_front in [1, 2] {
        let mut project = TestProject::with_drift();
        let own = project.path("agent-a1.jsonl");
        let text = project.transcript.text();
        let mut rows: Vec<&str> = text.split_inclusive('\n').collect();
        rows.rotate_right(in_front);
        std::fs::write(&own, rows.concat()).expect("the agent's transcript");
        project.input["hook_event_name"] = json!("SubagentStop");
        project.input["agent_id"] = json!("a1");
        project.input["agent_transcript_path"] = json!(own);
        project.input["last_assistant_message"] = Value::Null;
        let claim = BETA.replace("Create `notes/beta.txt`", "I created alpha.txt and notes/beta.txt.");
        project.readers(&[&claim]);
        let run = project.run();
        run.holds();
        run.same(&run.record()["findings"][0]["source"], &json!("reader"));
    }
}

/// The whole plan is not a subagent's promise, so what it is held for is what it claims itself.
#[test]
fn a_subagents_stop_is_audited_by_its_own_transcript_and_without_the_plan() {
    let mut project = TestProject::with_drift();
    let own = project.path("agent-a1.jsonl");
    std::fs::write(&own, project.transcript.text()).expect("the agent's transcript");
    // The session itself only chatted: were its transcript read, there would be nothing to audit.
    project.transcript = Transcript::default();
    project.transcript.asked("Hello.");
    project.transcript.said("Hello!");
    project.input["hook_event_name"] = json!("SubagentStop");
    project.input["agent_id"] = json!("a1");
    project.input["agent_transcript_path"] = json!(own);
    // A SubagentStop lists the agent that is stopping as still running.
    project.input["background_tasks"] =
        json!([{ "id": "a1", "type": "agent", "status": "running", "description": "me" }]);
    let claim = BETA.replace("Create `notes/beta.txt`", "I created alpha.txt and notes/beta.txt.");
    project.readers(&[&claim]);
    let run = project.run();
    run.holds();
    let record = run.record();
    run.same(&(&record["event"], &record["agent"]), &(&json!("SubagentStop"), &json!("a1")));
    run.same(&record["plan"], &Value::Null);
    run.same(&record["findings"][0]["source"], &json!("reader"));
    run.same(&project.blocks(), &1);
}
