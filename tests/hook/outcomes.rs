//! What became of a block: at the session's next stop the log says of each finding that held whether it was
//! fixed, disputed or ignored. The loop guard stays silent whatever goes wrong in that, and what was
//! disputed is not held again.

use std::fs;

use serde_json::{Value, json};

use crate::scene::{BETA, GREETING, OTHERS, Snapshot, finds};

/// The script's lines of [`OTHERS`] with another word on what held.
fn with_state(findings: &[&str], state: &str, why: &str) -> String {
    let others = OTHERS.lines().filter(|line| !line.starts_with("settle"));
    let others = others.collect::<Vec<_>>().join("\n");
    format!("{}\n{others}\nsettle states {state} {why}", finds(findings))
}

/// The next stop of a session that was held.
fn goes_on(scene: &mut Snapshot, words: &str) {
    scene.says(words);
    scene.input["stop_hook_active"] = json!(true);
}

/// A session that was held for `notes/beta.txt`.
fn held() -> (Snapshot, String) {
    let scene = Snapshot::with_drift();
    let run = scene.run();
    run.holds();
    let id = run.record()["id"].as_str().expect("an id").to_owned();
    (scene, id)
}

fn pairs(all: &[(u64, &str)]) -> Vec<(u64, String)> {
    all.iter().map(|(number, outcome)| (*number, (*outcome).to_owned())).collect()
}

#[test]
fn what_is_written_after_the_block_is_fixed() {
    let (mut scene, block) = held();
    run_is_pending(&scene, true);
    scene.wrote("notes/beta.txt", "beta\n");
    goes_on(&mut scene, "Now notes/beta.txt is written as well.");
    let run = scene.run();
    run.is_silent();
    run.logs("allow", "loop-guard");
    let notes = scene.notes();
    run.same(&notes.len(), &1);
    let note = &notes[0];
    run.same(
        &json!([note["kind"], note["of"], note["finding"], note["outcome"], note["why"], note["told_by"]]),
        &json!(["outcome", block, 1, "fixed", "notes/beta.txt is there now", run.record()["id"]]),
    );
    run.same(
        &(&note["session"], &note["schema"], note.get("sentence")),
        &(&json!("session-1"), &json!(2), None),
    );
    run_is_pending(&scene, false);
    run.same(&note["was_wrong"], &Value::Null);
    // What the disk settles is nothing to ask about.
    run.same(&scene.questions(), &["first", "second"].map(str::to_owned).to_vec());
}

fn run_is_pending(scene: &Snapshot, expected: bool) {
    assert_eq!(scene.path("state/sessions/session-1.held").exists(), expected);
}

#[test]
fn a_step_that_is_unticked_is_fixed_in_the_plan() {
    let (mut scene, _) = held();
    scene.wrote("PLAN.md", "# Plan\n\n- [x] Create `alpha.txt`\n- [ ] Create `notes/beta.txt`\n");
    goes_on(&mut scene, "I have opened the step again.");
    let run = scene.run();
    run.is_silent();
    run.same(&scene.outcomes(), &pairs(&[(1, "fixed")]));
    run.same(&scene.notes()[0]["why"], &json!("the step is no longer ticked"));
}

#[test]
fn what_is_disputed_is_kept_in_the_agents_words_and_not_held_again() {
    let (mut scene, block) = held();
    goes_on(
        &mut scene,
        "I checked. `notes/beta.txt` is left out on purpose: alpha.txt holds both. Nothing else changed.",
    );
    let run = scene.run();
    run.is_silent();
    run.same(&scene.outcomes(), &pairs(&[(1, "disputed")]));
    let sentence =
        "I checked. `notes/beta.txt` is left out on purpose: alpha.txt holds both. Nothing else changed.";
    run.same(&scene.notes()[0]["sentence"], &json!(sentence));

    // Further work, and the same claim on the same plan.
    scene.input["stop_hook_active"] = json!(false);
    scene.transcript.asked("Add a line to alpha.txt, please.");
    scene.wrote("alpha.txt", "alpha\nmore\n");
    scene.says("All done: I created alpha.txt and notes/beta.txt.");
    let run = scene.run();
    run.tells(&format!(
        "let go; disputed by the agent before, and not held again: [A] \"Create `notes/beta.txt`\" (disputed in this session: \"{sentence}\")"
    ));
    run.logs("allow", "only-unverified");
    let finding = &run.record()["findings"][0];
    run.same(&finding["status"], &json!("cannot-verify"));
    run.same(&scene.blocks(), &1);

    // A person says that the finding was right: then it holds.
    let label = format!(
        r#"{{"kind":"label","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"{block}","finding":1,"label":"right"}}"#
    );
    append_to_log(&scene, &label);
    scene.wrote("alpha.txt", "alpha\nmore\nand more\n");
    scene.says("All done: I created alpha.txt and notes/beta.txt.");
    scene.run().holds();
}

fn append_to_log(scene: &Snapshot, line: &str) {
    let folder = scene.path("state/decisions");
    let file = fs::read_dir(folder).expect("the log").next().expect("a file").expect("a file").path();
    let mut text = fs::read_to_string(&file).expect("text");
    text.push_str(&format!("{line}\n"));
    fs::write(file, text).expect("written");
}

#[test]
fn a_finding_that_was_never_right_is_disputed_and_counts_as_wrong() {
    let (mut scene, _) = held();
    scene.client(&with_state(&[], "wrong", "alpha.txt holds both, as the plan says."));
    goes_on(&mut scene, "It is all in alpha.txt.");
    scene.run().is_silent();
    assert_eq!(scene.outcomes(), pairs(&[(1, "disputed")]));
    let note = &scene.notes()[0];
    assert_eq!(
        (&note["was_wrong"], &note["why"]),
        (&json!(true), &json!("alpha.txt holds both, as the plan says."))
    );
}

/// Were the words of the block a dispute, repeating a claim would be a way past the gate.
#[test]
fn the_same_words_again_are_no_dispute() {
    let (mut scene, _) = held();
    scene.works_on();
    scene.says("All done: I created alpha.txt and notes/beta.txt.");
    scene.run().holds();
    assert_eq!(scene.outcomes(), pairs(&[(1, "ignored")]));
}

#[test]
fn without_a_reader_a_final_message_that_names_the_finding_is_a_dispute() {
    let (mut scene, _) = held();
    scene.client("exit 3");
    goes_on(&mut scene, "notes/beta.txt is not needed.");
    scene.run().is_silent();
    assert_eq!(scene.outcomes(), pairs(&[(1, "disputed")]));
    let note = &scene.notes()[0];
    assert_eq!((&note["was_wrong"], &note["why"]), (&Value::Null, &json!("the final message speaks of it")));
}

#[test]
fn what_nobody_speaks_of_is_ignored() {
    let (mut scene, _) = held();
    goes_on(&mut scene, "All done.");
    let run = scene.run();
    run.is_silent();
    run.same(&scene.outcomes(), &pairs(&[(1, "ignored")]));
    run.same(&scene.notes()[0]["why"], &json!("it still stands: It is still so."));
    run.same(&scene.notes()[0]["was_wrong"], &json!(false));
    run.same(&scene.questions(), &["first", "second", "settle"].map(str::to_owned).to_vec());
}

#[test]
fn each_finding_has_its_own_end() {
    let mut scene = Snapshot::new();
    scene.transcript.asked("Make a plan in PLAN.md, then follow it.");
    scene.wrote(
        "PLAN.md",
        "# Plan\n\n- [x] Create `to/a.txt`\n- [x] Create `to/b.txt`\n- [x] Create `to/c.txt`\n",
    );
    scene.file("other.txt", "x\n");
    scene.says("All steps of the plan are done.");
    scene.run().holds();
    scene.wrote("to/a.txt", "a\n");
    goes_on(&mut scene, "Finding 1 is fixed. Finding 3 is wrong: c.txt is generated at the release.");
    scene.run().is_silent();
    assert_eq!(scene.outcomes(), pairs(&[(1, "fixed"), (2, "ignored"), (3, "disputed")]));
}

#[test]
fn fixed_counts_before_disputed() {
    let (mut scene, _) = held();
    scene.wrote("notes/beta.txt", "beta\n");
    goes_on(&mut scene, "The finding is wrong: notes/beta.txt already exists.");
    scene.run().is_silent();
    assert_eq!(scene.outcomes(), pairs(&[(1, "fixed")]));
    assert!(scene.path("state/sessions/session-1.json").exists());
}

#[test]
fn what_only_a_reader_can_tell_is_asked_of_one() {
    let mut scene = Snapshot::with_a_wrong_greeting();
    scene.client(&with_state(&[GREETING], "fixed", "It says good evening now."));
    scene.run().holds();
    scene.wrote("notes/beta.txt", "good evening\n");
    goes_on(&mut scene, "It greets now.");
    let run = scene.run();
    run.is_silent();
    run.same(&scene.outcomes(), &pairs(&[(1, "fixed")]));
    run.same(&scene.notes()[0]["why"], &json!("It says good evening now."));
    let prompt = scene.prompt("settle");
    run.check(prompt.contains("good evening\n<<"), "the disk as it is now is shown");
    run.check(prompt.contains("\"why\":\"notes/beta.txt says something else\""), "and what held");
}

#[test]
fn a_stop_that_is_no_loop_guard_settles_it_too() {
    let (mut scene, _) = held();
    scene.wrote("notes/beta.txt", "beta\n");
    scene.transcript.asked("And now?");
    scene.says("Now notes/beta.txt is written as well.");
    let run = scene.run();
    run.is_silent();
    run.logs("allow", "clean");
    run.same(&scene.outcomes(), &pairs(&[(1, "fixed")]));
}

#[test]
fn a_stop_with_work_under_way_leaves_it_open() {
    let (mut scene, _) = held();
    scene.input["background_tasks"] =
        json!([{"id": "1", "type": "shell", "status": "running", "description": "x"}]);
    let run = scene.run();
    run.logs("allow", "background-work");
    run.same(&scene.outcomes(), &pairs(&[]));
    run_is_pending(&scene, true);
}

#[test]
fn it_is_told_once() {
    let (mut scene, _) = held();
    goes_on(&mut scene, "All done.");
    scene.run().is_silent();
    scene.run().is_silent();
    assert_eq!(scene.outcomes().len(), 1);
}

#[test]
fn a_subagents_block_is_its_own() {
    let (mut scene, _) = held();
    // Another agent's stop tells nothing of the main agent's block.
    scene.input["hook_event_name"] = json!("SubagentStop");
    scene.input["agent_id"] = json!("a1");
    scene.input["agent_transcript_path"] = scene.input["transcript_path"].clone();
    goes_on(&mut scene, "All done.");
    scene.run().is_silent();
    assert_eq!(scene.outcomes(), pairs(&[]));
    run_is_pending(&scene, true);
}

#[test]
fn a_subagent_that_was_held_is_followed_by_itself() {
    let mut scene = Snapshot::with_drift();
    scene.input["hook_event_name"] = json!("SubagentStop");
    scene.input["agent_id"] = json!("a1");
    scene.input["agent_transcript_path"] = scene.input["transcript_path"].clone();
    // The plan is not its promise; its own words are.
    scene.readers(&[&BETA.replace("Create `notes/beta.txt`", "I created alpha.txt and notes/beta.txt.")]);
    let run = scene.run();
    run.holds();
    run.check(scene.path("state/sessions/session-1.a1.held").exists(), "its own");
    scene.wrote("notes/beta.txt", "beta\n");
    goes_on(&mut scene, "Now notes/beta.txt is written.");
    scene.run().is_silent();
    assert_eq!(scene.outcomes(), pairs(&[(1, "fixed")]));
}

#[test]
fn a_claim_that_is_taken_back_is_fixed_where_a_reader_says_so() {
    let mut scene = Snapshot::new();
    scene.transcript.asked("Write alpha.txt and notes/beta.txt.");
    scene.wrote("alpha.txt", "alpha\n");
    scene.says("Done: I created alpha.txt and notes/beta.txt.");
    let claim = BETA.replace("Create `notes/beta.txt`", "I created alpha.txt and notes/beta.txt.");
    scene.client(&with_state(&[&claim], "fixed", "The claim is taken back."));
    scene.run().holds();
    goes_on(&mut scene, "I was too quick: notes/beta.txt was not created.");
    scene.run().is_silent();
    assert_eq!(scene.outcomes(), pairs(&[(1, "fixed")]));
    assert_eq!(scene.notes()[0]["why"], json!("The claim is taken back."));
}

#[test]
fn a_check_that_failed_and_passes_now_is_fixed() {
    let mut scene = Snapshot::new();
    scene.transcript.asked("Fix the parser.");
    scene.wrote("src/parser.rs", "fn parse() {}\n");
    scene.transcript.ran_in_vain("cargo test", "test result: FAILED. 1 passed; 1 failed");
    scene.says("The parser is fixed and all tests pass.");
    scene.readers(&[r#"{"category":"A","sure":true,"kind":"failed","claim":"all tests pass","claimed_in":"message","proof":"test result: FAILED. 1 passed; 1 failed","path":"","why":"the only run failed","settle":"make it pass"}"#]);
    scene.run().holds();
    scene.transcript.ran("cargo test", "test result: ok. 2 passed; 0 failed");
    goes_on(&mut scene, "Now they do.");
    scene.run().is_silent();
    assert_eq!(scene.outcomes(), pairs(&[(1, "fixed")]));
    assert_eq!(scene.notes()[0]["why"], json!("`cargo test` succeeded since"));
    assert_eq!(scene.questions(), ["first", "second"]);
}

#[test]
fn a_torn_or_missing_state_is_no_reason_to_speak() {
    for torn in ["", "{\"id\":\"x\",", "[]", "{\"findings\":[{\"number\":1}]}", "{}"] {
        let (mut scene, _) = held();
        fs::write(scene.path("state/sessions/session-1.held"), torn).expect("torn");
        goes_on(&mut scene, "All done.");
        let run = scene.run();
        run.is_silent();
        run.logs("allow", "loop-guard");
        run.same(&scene.outcomes(), &pairs(&[]));
    }
    let (mut scene, _) = held();
    fs::remove_file(scene.path("state/sessions/session-1.held")).expect("gone");
    goes_on(&mut scene, "All done.");
    scene.run().is_silent();
}

#[test]
fn a_client_that_does_not_send_its_last_words_is_waited_for() {
    let (mut scene, _) = held();
    scene.input.as_object_mut().expect("an object").remove("last_assistant_message");
    scene.input["stop_hook_active"] = json!(true);
    // The words of the block are the last in the transcript: they are no answer to it.
    let running = scene.start();
    scene.transcript.said("notes/beta.txt is not needed.");
    std::thread::sleep(std::time::Duration::from_millis(150));
    fs::write(scene.path("transcript.jsonl"), scene.transcript.text()).expect("written late");
    let run = scene.finish(running);
    run.is_silent();
    run.same(&scene.outcomes(), &pairs(&[(1, "disputed")]));
}

#[test]
fn a_transcript_that_is_gone_settles_nothing() {
    let (mut scene, _) = held();
    goes_on(&mut scene, "I looked, and the finding is fine.");
    scene.input["transcript_path"] = json!(scene.path("gone.jsonl"));
    scene.file("notes/beta.txt", "beta\n");
    let run = scene.run();
    run.is_silent();
    run.same(&scene.outcomes(), &pairs(&[(1, "ignored")]));
    run.same(&scene.questions(), &["first", "second"].map(str::to_owned).to_vec());
}

#[test]
fn a_log_that_can_not_be_written_keeps_it_for_later() {
    let (mut scene, block) = held();
    let (log, aside) = (scene.path("state/decisions"), scene.path("state/aside"));
    fs::rename(&log, &aside).expect("moved");
    fs::write(&log, "no folder").expect("in the way");
    goes_on(&mut scene, "All done.");
    let run = scene.run();
    run.same(&(run.status.code(), run.stdout.as_str()), &(Some(0), ""));
    run.check(run.stderr.starts_with("punchlist: the decision log can't be written: "), "one line, as ever");
    run.same(&run.stderr.lines().count(), &1);
    run_is_pending(&scene, true);
    fs::remove_file(&log).expect("out of the way");
    fs::rename(&aside, &log).expect("back");
    scene.run().is_silent();
    assert_eq!(scene.outcomes(), pairs(&[(1, "ignored")]));
    assert_eq!(scene.notes()[0]["of"], json!(block));
}

#[test]
fn a_secret_in_the_agents_words_is_masked() {
    let (mut scene, _) = held();
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    goes_on(&mut scene, &format!("notes/beta.txt is not needed, the token {secret} is in the vault."));
    scene.run().is_silent();
    assert_eq!(scene.outcomes(), pairs(&[(1, "disputed")]));
    for (path, text) in scene.texts_below("state") {
        assert!(!text.contains(secret), "{path}");
    }
}

#[test]
fn what_an_audit_looked_at_is_kept_beside_the_log() {
    let (scene, block) = held();
    let text = fs::read_to_string(scene.path(&format!("state/audits/{block}.scene.json"))).expect("a scene");
    let seen: Value = serde_json::from_str(&text).expect("json");
    assert_eq!(seen["asks"], json!(["Make a plan in PLAN.md, then create alpha.txt and notes/beta.txt."]));
    assert_eq!(
        seen["steps"],
        json!([
            {"number": 1, "text": "Create `alpha.txt`", "state": "ticked"},
            {"number": 2, "text": "Create `notes/beta.txt`", "state": "ticked"},
        ])
    );
    assert_eq!(seen["final_message"], json!("All done: I created alpha.txt and notes/beta.txt."));
    assert!(seen["files"].as_array().is_some_and(|files| !files.is_empty()));
}
