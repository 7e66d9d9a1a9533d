//! When the hook steps aside before any work: every cause, in the documented order, and that nobody is asked.

use serde_json::{Value, json};

use crate::scene::{BETA, Run, Scene};
use crate::transcript::Transcript;

/// Asserts that the stop went through for this cause, with these words in the log and nobody asked.
#[track_caller]
fn stands_aside(scene: &Scene, run: &Run, cause: &str, detail: &str) {
    run.is_silent();
    run.logs("allow", cause);
    run.same(&run.record()["detail"], &json!(detail));
    run.same(&run.record()["auditor"], &Value::Null);
    run.same(&scene.calls().len(), &0);
}

#[test]
fn the_causes_come_in_the_documented_order() {
    let mut scene = Scene::with_drift();
    scene.own_config("[gates]\nmax_blocks = 0\n");
    scene.var("PUNCHLIST_INSIDE_AUDITOR", "1");
    scene.var("PUNCHLIST_OFF", "1");
    scene.input["stop_hook_active"] = json!(true);
    scene.input["permission_mode"] = json!("plan");
    scene.input["background_tasks"] =
        json!([{ "id": "b1", "type": "shell", "status": "running", "description": "the suite" }]);

    let aside = |scene: &Scene, cause, detail| stands_aside(scene, &scene.run(), cause, detail);
    aside(&scene, "inside-auditor", "the hook fired inside its own reader");
    scene.unset("PUNCHLIST_INSIDE_AUDITOR");
    aside(&scene, "off", "switched off by PUNCHLIST_OFF");
    scene.unset("PUNCHLIST_OFF");
    aside(&scene, "loop-guard", "the session was held already and goes on because of it");
    scene.input["stop_hook_active"] = json!(false);
    aside(&scene, "plan-mode", "the session is planning");
    scene.input["permission_mode"] = json!("default");
    aside(&scene, "background-work", "still running: the suite (shell)");
    scene.input["background_tasks"][0]["status"] = json!("completed");
    aside(&scene, "budget", "the session was held 0 times, of 0 at the most");
    scene.own_config("");
    scene.run().holds();
}

#[test]
fn it_can_be_switched_off_by_config() {
    let scene = Scene::with_drift();
    scene.project_config("[gates]\nenabled = false\n");
    stands_aside(&scene, &scene.run(), "off", "switched off by [gates] enabled = false");
}

#[test]
fn without_the_audit_and_with_no_other_gate_nobody_looks() {
    let scene = Scene::with_drift();
    scene.project_config("[audit]\nenabled = false\n");
    stands_aside(
        &scene,
        &scene.run(),
        "off",
        "switched off by [audit] enabled = false, and no other gate is set",
    );
}

#[test]
fn a_switch_that_says_no_is_not_on() {
    let mut scene = Scene::with_drift();
    scene.var("PUNCHLIST_OFF", "0");
    scene.run().holds();
}

#[test]
fn a_session_is_held_three_times_at_the_most_whatever_the_client_says_of_loops() {
    let mut scene = Scene::with_drift();
    for held in 1..=3 {
        scene.run().holds();
        assert_eq!(scene.blocks(), held);
        scene.works_on();
    }
    let asked = scene.calls().len();
    let run = scene.run();
    run.is_silent();
    run.logs("allow", "budget");
    run.same(&run.record()["detail"], &json!("the session was held 3 times, of 3 at the most"));
    run.same(&(run.log.len(), scene.blocks()), &(4, 3));
    run.check(scene.questions()[asked..].iter().all(|question| question == "settle"), "it is not audited");
}

#[test]
fn the_budget_can_be_set_and_is_each_sessions_own() {
    let mut scene = Scene::with_drift();
    scene.project_config("[gates]\nmax_blocks = 1\n");
    scene.run().holds();
    let run = scene.run();
    run.is_silent();
    run.logs("allow", "budget");
    scene.input["session_id"] = json!("another");
    scene.run().holds();
}

#[test]
fn a_chat_is_nothing_to_audit() {
    let mut scene = Scene::new();
    scene.transcript.asked("What is a punch list?");
    scene.says("What an inspector hands over at the end of a building job.");
    stands_aside(&scene, &scene.run(), "nothing-to-audit", "nothing was done yet");
}

#[test]
fn a_plan_with_which_nothing_was_done_is_nothing_to_audit() {
    let mut scene = Scene::new();
    scene.file("PLAN.md", "- [ ] Create `alpha.txt`\n");
    scene.transcript.asked("Have a look at PLAN.md.");
    scene.says("It has one step. Shall I begin?");
    stands_aside(&scene, &scene.run(), "nothing-to-audit", "nothing was done yet");
}

/// Whatever is said, in whatever language: nothing happened that was not judged before.
#[test]
fn a_stop_at_which_nothing_was_done_since_the_last_audit_asks_nobody() {
    let mut scene = Scene::with_drift();
    scene.run().holds();
    scene.transcript.asked("Thanks, notes/beta.txt can wait.");
    scene.says("You're welcome!");
    let run = scene.run();
    run.is_silent();
    run.logs("allow", "unchanged");
    run.same(&run.record()["detail"], &json!("nothing was done since the last audit"));
    // One question about the block before it, and none about this stop.
    run.same(&scene.questions(), &["first", "second", "settle"].map(str::to_owned).to_vec());
    scene.transcript.asked("Et maintenant ?");
    scene.says("Tout est fait : notes/beta.txt est là.");
    let run = scene.run();
    run.is_silent();
    run.logs("allow", "unchanged");
    run.same(&(scene.calls().len(), scene.blocks()), &(3, 1));
}

#[test]
fn other_events_are_none_of_our_business_and_not_logged() {
    let mut scene = Scene::with_drift();
    for event in ["PreToolUse", "SessionStart", "Whatever"] {
        scene.input["hook_event_name"] = json!(event);
        let run = scene.run();
        run.is_silent();
        run.same(&(run.log.len(), scene.calls().len()), &(0, 0));
    }
}

/// The client writes a new file's first rows while it makes the folder: those that follow can be faster. 2.1.42 does not
/// send the last words along, so they are what the transcript says.
#[test]
fn a_subagents_last_words_count_though_they_stand_before_its_errand() {
    for in_front in [1, 2] {
        let mut scene = Scene::with_drift();
        let own = scene.path("agent-a1.jsonl");
        let text = scene.transcript.text();
        let mut rows: Vec<&str> = text.split_inclusive('\n').collect();
        rows.rotate_right(in_front);
        std::fs::write(&own, rows.concat()).expect("the agent's transcript");
        scene.input["hook_event_name"] = json!("SubagentStop");
        scene.input["agent_id"] = json!("a1");
        scene.input["agent_transcript_path"] = json!(own);
        scene.input["last_assistant_message"] = Value::Null;
        let claim = BETA.replace("Create `notes/beta.txt`", "I created alpha.txt and notes/beta.txt.");
        scene.readers(&[&claim]);
        let run = scene.run();
        run.holds();
        run.same(&run.record()["findings"][0]["source"], &json!("reader"));
    }
}

/// The whole plan is not a subagent's promise, so what it is held for is what it claims itself.
#[test]
fn a_subagents_stop_is_audited_by_its_own_transcript_and_without_the_plan() {
    let mut scene = Scene::with_drift();
    let own = scene.path("agent-a1.jsonl");
    std::fs::write(&own, scene.transcript.text()).expect("the agent's transcript");
    // The session itself only chatted: were its transcript read, there would be nothing to audit.
    scene.transcript = Transcript::default();
    scene.transcript.asked("Hello.");
    scene.transcript.said("Hello!");
    scene.input["hook_event_name"] = json!("SubagentStop");
    scene.input["agent_id"] = json!("a1");
    scene.input["agent_transcript_path"] = json!(own);
    // A SubagentStop lists the agent that is stopping as still running.
    scene.input["background_tasks"] =
        json!([{ "id": "a1", "type": "agent", "status": "running", "description": "me" }]);
    let claim = BETA.replace("Create `notes/beta.txt`", "I created alpha.txt and notes/beta.txt.");
    scene.readers(&[&claim]);
    let run = scene.run();
    run.holds();
    let record = run.record();
    run.same(&(&record["event"], &record["agent"]), &(&json!("SubagentStop"), &json!("a1")));
    run.same(&record["plan"], &Value::Null);
    run.same(&record["findings"][0]["source"], &json!("reader"));
    run.same(&scene.blocks(), &1);
}
