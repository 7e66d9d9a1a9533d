//! What became of a block: at the session's next stop the log says of each finding that held whether it was
//! fixed, disputed or ignored. The loop guard stays silent whatever goes wrong in that, and what was
//! disputed is not held again.

use std::fs;

use serde_json::{Value, json};

use crate::test_project::{BETA, GREETING, OTHERS, TestProject, finds};

/// The script's lines of [`OTHERS`] with another word on what held.
fn with_state(findings: &[&str], state: &str, why: &str) -> String {
    let others = OTHERS.lines().filter(|line| !line.starts_with("settle"));
    let others = others.collect::<Vec<_>>().join("\n");
    format!("{}\n{others}\nsettle states {state} {why}", finds(findings))
}

/// The next stop of a session that was held.
fn goes_on(test: &mut TestProject, words: &str) {
    test.says(words);
    test.input["stop_hook_active"] = json!(true);
}

/// A session that was held for `notes/beta.txt`.
fn held() -> (TestProject, String) {
    let test = TestProject::with_drift();
    let run = test.run();
    run.holds();
    let id = run.record()["id"].as_str().expect("an id").to_owned();
    (test, id)
}

fn pairs(all: &[(u64, &str)]) -> Vec<(u64, String)> {
    all.iter().map(|(number, outcome)| (*number, (*outcome).to_owned())).collect()
}

#[test]
fn what_is_written_after_the_block_is_fixed() {
    let (mut test, block) = held();
    run_is_pending(&test, true);
    test.wrote("notes/beta.txt", "beta\n");
    goes_on(&mut test, "Now notes/beta.txt is written as well.");
    let run = test.run();
    run.is_silent();
    run.logs("allow", "loop-guard");
    let notes = test.notes();
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
    run_is_pending(&test, false);
    run.same(&note["was_wrong"], &Value::Null);
    // What the disk settles is nothing to ask about.
    run.same(&test.questions(), &["first", "second"].map(str::to_owned).to_vec());
}

fn run_is_pending(test: &TestProject, expected: bool) {
    assert_eq!(test.path("state/sessions/session-1.held").exists(), expected);
}

#[test]
fn a_step_that_is_unticked_is_fixed_in_the_plan() {
    let (mut test, _) = held();
    test.wrote("PLAN.md", "# Plan\n\n- [x] Create `alpha.txt`\n- [ ] Create `notes/beta.txt`\n");
    goes_on(&mut test, "I have opened the step again.");
    let run = test.run();
    run.is_silent();
    run.same(&test.outcomes(), &pairs(&[(1, "fixed")]));
    run.same(&test.notes()[0]["why"], &json!("the step is no longer ticked"));
}

#[test]
fn what_is_disputed_is_kept_in_the_agents_words_and_not_held_again() {
    let (mut test, block) = held();
    goes_on(
        &mut test,
        "I checked. `notes/beta.txt` is left out on purpose: alpha.txt holds both. Nothing else changed.",
    );
    let run = test.run();
    run.is_silent();
    run.same(&test.outcomes(), &pairs(&[(1, "disputed")]));
    let sentence =
        "I checked. `notes/beta.txt` is left out on purpose: alpha.txt holds both. Nothing else changed.";
    run.same(&test.notes()[0]["sentence"], &json!(sentence));

    // Further work, and the same claim on the same plan.
    test.input["stop_hook_active"] = json!(false);
    test.transcript.asked("Add a line to alpha.txt, please.");
    test.wrote("alpha.txt", "alpha\nmore\n");
    test.says("All done: I created alpha.txt and notes/beta.txt.");
    let run = test.run();
    run.tells(&format!(
        "let go; disputed by the agent before, and not held again: [A] \"Create `notes/beta.txt`\" (disputed in this session: \"{sentence}\")"
    ));
    run.logs("allow", "only-unverified");
    let finding = &run.record()["findings"][0];
    run.same(&finding["status"], &json!("cannot-verify"));
    run.same(&test.blocks(), &1);

    // A person says that the finding was right: then it holds.
    let label = format!(
        r#"{{"kind":"label","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"{block}","finding":1,"label":"right"}}"#
    );
    append_to_log(&test, &label);
    test.wrote("alpha.txt", "alpha\nmore\nand more\n");
    test.says("All done: I created alpha.txt and notes/beta.txt.");
    test.run().holds();
}

fn append_to_log(test: &TestProject, line: &str) {
    let folder = test.path("state/decisions");
    let file = fs::read_dir(folder).expect("the log").next().expect("a file").expect("a file").path();
    let mut text = fs::read_to_string(&file).expect("text");
    text.push_str(&format!("{line}\n"));
    fs::write(file, text).expect("written");
}

#[test]
fn a_finding_that_was_never_right_is_disputed_and_counts_as_wrong() {
    let (mut test, _) = held();
    test.client(&with_state(&[], "wrong", "alpha.txt holds both, as the plan says."));
    goes_on(&mut test, "It is all in alpha.txt.");
    test.run().is_silent();
    assert_eq!(test.outcomes(), pairs(&[(1, "disputed")]));
    let note = &test.notes()[0];
    assert_eq!(
        (&note["was_wrong"], &note["why"]),
        (&json!(true), &json!("alpha.txt holds both, as the plan says."))
    );
}

/// Were the words of the block a dispute, repeating a claim would be a way past the gate.
#[test]
fn the_same_words_again_are_no_dispute() {
    let (mut test, _) = held();
    test.works_on();
    test.says("All done: I created alpha.txt and notes/beta.txt.");
    test.run().holds();
    assert_eq!(test.outcomes(), pairs(&[(1, "ignored")]));
}

#[test]
fn without_a_reader_a_final_message_that_names_the_finding_is_a_dispute() {
    let (mut test, _) = held();
    test.client("exit 3");
    goes_on(&mut test, "notes/beta.txt is not needed.");
    test.run().is_silent();
    assert_eq!(test.outcomes(), pairs(&[(1, "disputed")]));
    let note = &test.notes()[0];
    assert_eq!((&note["was_wrong"], &note["why"]), (&Value::Null, &json!("the final message speaks of it")));
}

#[test]
fn what_nobody_speaks_of_is_ignored() {
    let (mut test, _) = held();
    goes_on(&mut test, "All done.");
    let run = test.run();
    run.is_silent();
    run.same(&test.outcomes(), &pairs(&[(1, "ignored")]));
    run.same(&test.notes()[0]["why"], &json!("it still stands: It is still so."));
    run.same(&test.notes()[0]["was_wrong"], &json!(false));
    run.same(&test.questions(), &["first", "second", "settle"].map(str::to_owned).to_vec());
}

#[test]
fn each_finding_has_its_own_end() {
    let mut test = TestProject::new();
    test.transcript.asked("Make a plan in PLAN.md, then follow it.");
    test.wrote(
        "PLAN.md",
        "# Plan\n\n- [x] Create `to/a.txt`\n- [x] Create `to/b.txt`\n- [x] Create `to/c.txt`\n",
    );
    test.file("other.txt", "x\n");
    test.says("All steps of the plan are done.");
    test.run().holds();
    test.wrote("to/a.txt", "a\n");
    goes_on(&mut test, "Finding 1 is fixed. Finding 3 is wrong: c.txt is generated at the release.");
    test.run().is_silent();
    assert_eq!(test.outcomes(), pairs(&[(1, "fixed"), (2, "ignored"), (3, "disputed")]));
}

#[test]
fn fixed_counts_before_disputed() {
    let (mut test, _) = held();
    test.wrote("notes/beta.txt", "beta\n");
    goes_on(&mut test, "The finding is wrong: notes/beta.txt already exists.");
    test.run().is_silent();
    assert_eq!(test.outcomes(), pairs(&[(1, "fixed")]));
    assert!(test.path("state/sessions/session-1.json").exists());
}

#[test]
fn what_only_a_reader_can_tell_is_asked_of_one() {
    let mut test = TestProject::with_a_wrong_greeting();
    test.client(&with_state(&[GREETING], "fixed", "It says good evening now."));
    test.run().holds();
    test.wrote("notes/beta.txt", "good evening\n");
    goes_on(&mut test, "It greets now.");
    let run = test.run();
    run.is_silent();
    run.same(&test.outcomes(), &pairs(&[(1, "fixed")]));
    run.same(&test.notes()[0]["why"], &json!("It says good evening now."));
    let prompt = test.prompt("settle");
    run.check(prompt.contains("good evening\n<<"), "the disk as it is now is shown");
    run.check(prompt.contains("\"why\":\"notes/beta.txt says something else\""), "and what held");
}

#[test]
fn a_stop_that_is_no_loop_guard_settles_it_too() {
    let (mut test, _) = held();
    test.wrote("notes/beta.txt", "beta\n");
    test.transcript.asked("And now?");
    test.says("Now notes/beta.txt is written as well.");
    let run = test.run();
    run.is_silent();
    run.logs("allow", "clean");
    run.same(&test.outcomes(), &pairs(&[(1, "fixed")]));
}

#[test]
fn a_stop_with_work_under_way_leaves_it_open() {
    let (mut test, _) = held();
    test.input["background_tasks"] =
        json!([{"id": "1", "type": "shell", "status": "running", "description": "x"}]);
    let run = test.run();
    run.logs("allow", "background-work");
    run.same(&test.outcomes(), &pairs(&[]));
    run_is_pending(&test, true);
}

#[test]
fn it_is_told_once() {
    let (mut test, _) = held();
    goes_on(&mut test, "All done.");
    test.run().is_silent();
    test.run().is_silent();
    assert_eq!(test.outcomes().len(), 1);
}

#[test]
fn a_subagents_block_is_its_own() {
    let (mut test, _) = held();
    // Another agent's stop tells nothing of the main agent's block.
    test.input["hook_event_name"] = json!("SubagentStop");
    test.input["agent_id"] = json!("a1");
    test.input["agent_transcript_path"] = test.input["transcript_path"].clone();
    goes_on(&mut test, "All done.");
    test.run().is_silent();
    assert_eq!(test.outcomes(), pairs(&[]));
    run_is_pending(&test, true);
}

#[test]
fn a_subagent_that_was_held_is_followed_by_itself() {
    let mut test = TestProject::with_drift();
    test.input["hook_event_name"] = json!("SubagentStop");
    test.input["agent_id"] = json!("a1");
    test.input["agent_transcript_path"] = test.input["transcript_path"].clone();
    // The plan is not its promise; its own words are.
    test.readers(&[&BETA.replace("Create `notes/beta.txt`", "I created alpha.txt and notes/beta.txt.")]);
    let run = test.run();
    run.holds();
    run.check(test.path("state/sessions/session-1.a1.held").exists(), "its own");
    test.wrote("notes/beta.txt", "beta\n");
    goes_on(&mut test, "Now notes/beta.txt is written.");
    test.run().is_silent();
    assert_eq!(test.outcomes(), pairs(&[(1, "fixed")]));
}

#[test]
fn a_claim_that_is_taken_back_is_fixed_where_a_reader_says_so() {
    let mut test = TestProject::new();
    test.transcript.asked("Write alpha.txt and notes/beta.txt.");
    test.wrote("alpha.txt", "alpha\n");
    test.says("Done: I created alpha.txt and notes/beta.txt.");
    let claim = BETA.replace("Create `notes/beta.txt`", "I created alpha.txt and notes/beta.txt.");
    test.client(&with_state(&[&claim], "fixed", "The claim is taken back."));
    test.run().holds();
    goes_on(&mut test, "I was too quick: notes/beta.txt was not created.");
    test.run().is_silent();
    assert_eq!(test.outcomes(), pairs(&[(1, "fixed")]));
    assert_eq!(test.notes()[0]["why"], json!("The claim is taken back."));
}

#[test]
fn a_check_that_failed_and_passes_now_is_fixed() {
    let mut test = TestProject::new();
    test.transcript.asked("Fix the parser.");
    test.wrote("src/parser.rs", "fn parse() {}\n");
    test.transcript.ran_in_vain("cargo test", "test result: FAILED. 1 passed; 1 failed");
    test.says("The parser is fixed and all tests pass.");
    test.readers(&[r#"{"category":"A","sure":true,"kind":"failed","claim":"all tests pass","claimed_in":"message","proof":"test result: FAILED. 1 passed; 1 failed","path":"","why":"the only run failed","settle":"make it pass"}"#]);
    test.run().holds();
    test.transcript.ran("cargo test", "test result: ok. 2 passed; 0 failed");
    goes_on(&mut test, "Now they do.");
    test.run().is_silent();
    assert_eq!(test.outcomes(), pairs(&[(1, "fixed")]));
    assert_eq!(test.notes()[0]["why"], json!("`cargo test` succeeded since"));
    assert_eq!(test.questions(), ["first", "second"]);
}

#[test]
fn a_torn_or_missing_state_is_no_reason_to_speak() {
    for torn in ["", "{\"id\":\"x\",", "[]", "{\"findings\":[{\"number\":1}]}", "{}"] {
        let (mut test, _) = held();
        fs::write(test.path("state/sessions/session-1.held"), torn).expect("torn");
        goes_on(&mut test, "All done.");
        let run = test.run();
        run.is_silent();
        run.logs("allow", "loop-guard");
        run.same(&test.outcomes(), &pairs(&[]));
    }
    let (mut test, _) = held();
    fs::remove_file(test.path("state/sessions/session-1.held")).expect("gone");
    goes_on(&mut test, "All done.");
    test.run().is_silent();
}

#[test]
fn a_client_that_does_not_send_its_last_words_is_waited_for() {
    let (mut test, _) = held();
    test.input.as_object_mut().expect("an object").remove("last_assistant_message");
    test.input["stop_hook_active"] = json!(true);
    // The words of the block are the last in the transcript: they are no answer to it.
    let running = test.start();
    test.transcript.said("notes/beta.txt is not needed.");
    std::thread::sleep(std::time::Duration::from_millis(150));
    fs::write(test.path("transcript.jsonl"), test.transcript.text()).expect("written late");
    let run = test.finish(running);
    run.is_silent();
    run.same(&test.outcomes(), &pairs(&[(1, "disputed")]));
}

#[test]
fn a_transcript_that_is_gone_settles_nothing() {
    let (mut test, _) = held();
    goes_on(&mut test, "I looked, and the finding is fine.");
    test.input["transcript_path"] = json!(test.path("gone.jsonl"));
    test.file("notes/beta.txt", "beta\n");
    let run = test.run();
    run.is_silent();
    run.same(&test.outcomes(), &pairs(&[(1, "ignored")]));
    run.same(&test.questions(), &["first", "second"].map(str::to_owned).to_vec());
}

#[test]
fn a_log_that_can_not_be_written_keeps_it_for_later() {
    let (mut test, block) = held();
    let (log, aside) = (test.path("state/decisions"), test.path("state/aside"));
    fs::rename(&log, &aside).expect("moved");
    fs::write(&log, "no folder").expect("in the way");
    goes_on(&mut test, "All done.");
    let run = test.run();
    run.same(&(run.status.code(), run.stdout.as_str()), &(Some(0), ""));
    run.check(run.stderr.starts_with("punchlist: the decision log can't be written: "), "one line, as ever");
    run.same(&run.stderr.lines().count(), &1);
    run_is_pending(&test, true);
    fs::remove_file(&log).expect("out of the way");
    fs::rename(&aside, &log).expect("back");
    test.run().is_silent();
    assert_eq!(test.outcomes(), pairs(&[(1, "ignored")]));
    assert_eq!(test.notes()[0]["of"], json!(block));
}

#[test]
fn a_secret_in_the_agents_words_is_masked() {
    let (mut test, _) = held();
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    goes_on(&mut test, &format!("notes/beta.txt is not needed, the token {secret} is in the vault."));
    test.run().is_silent();
    assert_eq!(test.outcomes(), pairs(&[(1, "disputed")]));
    for (path, text) in test.texts_below("state") {
        assert!(!text.contains(secret), "{path}");
    }
}

#[test]
fn what_an_audit_looked_at_is_kept_beside_the_log() {
    let (test, block) = held();
    let text = fs::read_to_string(test.path(&format!("state/audits/{block}.test.json"))).expect("a test");
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
