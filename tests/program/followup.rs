//! What became of a block: at the session's next stop the log says of each finding that held
//! whether it was fixed, disputed or ignored, and the person is told in one line. Whatever goes
//! wrong in that is told to nobody, and what was disputed is not held again.

use std::fs;

use serde_json::{Value, json};

use crate::test_project::{BETA, GREETING, OTHERS, Run, TestProject, finds};

/// The script's lines of [`OTHERS`] with another word on what held.
fn with_state(findings: &[&str], state: &str, why: &str) -> String {
    let others = OTHERS.lines().filter(|line| !line.starts_with("settle"));
    let others = others.collect::<Vec<_>>().join("\n");
    format!("{}\n{others}\nsettle states {state} {why}", finds(findings))
}

/// The next stop of a session that was held.
fn goes_on(project: &mut TestProject, words: &str) {
    project.says(words);
    project.input["stop_hook_active"] = json!(true);
}

/// A session that was held for `notes/beta.txt`.
fn held() -> (TestProject, String) {
    let project = TestProject::with_drift();
    let run = project.run();
    run.holds();
    let id = run.record()["id"].as_str().expect("an id").to_owned();
    (project, id)
}

/// Asserts that the person was told that the finding on `notes/beta.txt` was not fixed.
#[track_caller]
fn beta_is_told(run: &Run, outcome: &str, block: &str) {
    run.tells(&format!(
        "1 finding, {outcome}: [A] \"Create `notes/beta.txt`\": It is ticked, and notes/beta.txt does not \
         exist. (punchlist log show {block})"
    ));
}

/// What a reader says of a dispute by default.
const STILL_STANDS: &str = "disputed by the agent (a reader says that it still stands)";

fn pairs(all: &[(u64, &str)]) -> Vec<(u64, String)> {
    all.iter().map(|(number, outcome)| (*number, (*outcome).to_owned())).collect()
}

#[test]
fn what_is_written_after_the_block_is_fixed() {
    let (mut project, block) = held();
    run_is_pending(&project, true);
    project.wrote("notes/beta.txt", "beta\n");
    goes_on(&mut project, "Now notes/beta.txt is written as well.");
    let run = project.run();
    run.tells("1 finding, fixed");
    run.logs("allow", "loop-guard");
    let notes = project.notes();
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
    run_is_pending(&project, false);
    run.same(&note["was_wrong"], &Value::Null);
    // What the disk settles is nothing to ask about.
    run.same(&project.questions(), &["first", "second"].map(str::to_owned).to_vec());
}

fn run_is_pending(project: &TestProject, expected: bool) {
    assert_eq!(project.path("state/sessions/session-1.held").exists(), expected);
}

#[test]
fn a_step_that_is_unticked_is_fixed_in_the_plan() {
    let (mut project, _) = held();
    project.wrote("PLAN.md", "# Plan\n\n- [x] Create `alpha.txt`\n- [ ] Create `notes/beta.txt`\n");
    goes_on(&mut project, "I have opened the step again.");
    let run = project.run();
    run.tells("1 finding, fixed");
    run.same(&project.outcomes(), &pairs(&[(1, "fixed")]));
    run.same(&project.notes()[0]["why"], &json!("the step is no longer ticked"));
}

#[test]
fn what_is_disputed_is_kept_in_the_agents_words_and_not_held_again() {
    let (mut project, block) = held();
    goes_on(
        &mut project,
        "I checked. `notes/beta.txt` is left out on purpose: alpha.txt holds both. Nothing else changed.",
    );
    let run = project.run();
    beta_is_told(&run, STILL_STANDS, &block);
    run.same(&project.outcomes(), &pairs(&[(1, "disputed")]));
    let sentence =
        "I checked. `notes/beta.txt` is left out on purpose: alpha.txt holds both. Nothing else changed.";
    run.same(&project.notes()[0]["sentence"], &json!(sentence));

    // Further work, and the same claim on the same plan.
    project.input["stop_hook_active"] = json!(false);
    project.transcript.asked("Add a line to alpha.txt, please.");
    project.wrote("alpha.txt", "alpha\nmore\n");
    project.says("All done: I created alpha.txt and notes/beta.txt.");
    let run = project.run();
    run.tells(&format!(
        "disputed by the agent before, so not blocked again: [A] \"Create `notes/beta.txt`\" (disputed in this session: \"{sentence}\")"
    ));
    run.logs("allow", "only-unverified");
    let finding = &run.record()["findings"][0];
    run.same(&finding["status"], &json!("cannot-verify"));
    run.same(&project.blocks(), &1);

    // A person says that the finding was right: then it holds.
    let label = format!(
        r#"{{"kind":"label","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"{block}","finding":1,"label":"right"}}"#
    );
    append_to_log(&project, &label);
    project.wrote("alpha.txt", "alpha\nmore\nand more\n");
    project.says("All done: I created alpha.txt and notes/beta.txt.");
    project.run().holds();
}

fn append_to_log(project: &TestProject, line: &str) {
    let folder = project.path("state/decisions");
    let file = fs::read_dir(folder).expect("the log").next().expect("a file").expect("a file").path();
    let mut text = fs::read_to_string(&file).expect("text");
    text.push_str(&format!("{line}\n"));
    fs::write(file, text).expect("written");
}

#[test]
fn a_finding_that_was_never_right_is_disputed_and_counts_as_wrong() {
    let (mut project, block) = held();
    project.client(&with_state(&[], "wrong", "alpha.txt holds both, as the plan says."));
    goes_on(&mut project, "It is all in alpha.txt.");
    beta_is_told(&project.run(), "disputed by the agent (a reader agrees)", &block);
    assert_eq!(project.outcomes(), pairs(&[(1, "disputed")]));
    let note = &project.notes()[0];
    assert_eq!(
        (&note["was_wrong"], &note["why"]),
        (&json!(true), &json!("alpha.txt holds both, as the plan says."))
    );
}

/// Were the words of the block a dispute, repeating a claim would be a way past the gate.
#[test]
fn the_same_words_again_are_no_dispute() {
    let (mut project, _) = held();
    project.works_on();
    project.says("All done: I created alpha.txt and notes/beta.txt.");
    project.run().holds();
    assert_eq!(project.outcomes(), pairs(&[(1, "ignored")]));
}

/// An agent that repeated its claim and added a word was taken to have disputed the finding, and was
/// not blocked for it again.
#[test]
fn a_claim_that_was_repeated_with_a_word_more_passed_for_a_dispute() {
    let (mut project, block) = held();
    goes_on(&mut project, "All done: I created alpha.txt and notes/beta.txt. As I said before.");
    beta_is_told(&project.run(), "ignored by the agent", &block);
    assert_eq!(project.outcomes(), pairs(&[(1, "ignored")]));
}

/// The log and its figures knew of the two calls before a block, and not of the one after it.
#[test]
fn what_was_asked_about_a_block_cost_nothing_by_the_log() {
    let (mut project, block) = held();
    goes_on(&mut project, "notes/beta.txt is not needed.");
    project.run();
    let costs = || {
        let stats = project.run_args(&["log", "stats", "--json"]).stdout;
        let stats: Value = serde_json::from_str(&stats).expect("figures");
        (project.calls().len(), stats["days"][0]["cost_usd"].clone())
    };
    assert_eq!(costs(), (3, json!(0.0036)));
    assert_eq!(project.notes()[0]["usage"]["cost_usd"], json!(0.0012));
    let shown = project.run_args(&["log", "show", &block]).stdout;
    assert!(shown.contains("was right (asked for $0.0012)"), "{shown}");
}

#[test]
fn without_a_reader_a_final_message_that_names_the_finding_is_a_dispute() {
    let (mut project, block) = held();
    project.client("exit 3");
    goes_on(&mut project, "notes/beta.txt is not needed.");
    beta_is_told(&project.run(), "disputed by the agent", &block);
    assert_eq!(project.outcomes(), pairs(&[(1, "disputed")]));
    let note = &project.notes()[0];
    assert_eq!((&note["was_wrong"], &note["why"]), (&Value::Null, &json!("the final message mentions it")));
}

#[test]
fn what_nobody_speaks_of_is_ignored() {
    let (mut project, block) = held();
    goes_on(&mut project, "All done.");
    let run = project.run();
    beta_is_told(&run, "ignored by the agent", &block);
    run.same(&project.outcomes(), &pairs(&[(1, "ignored")]));
    run.same(&project.notes()[0]["why"], &json!("it still stands: It is still so."));
    run.same(&project.notes()[0]["was_wrong"], &json!(false));
    run.same(&project.questions(), &["first", "second", "settle"].map(str::to_owned).to_vec());
}

#[test]
fn each_finding_has_its_own_end() {
    let mut project = TestProject::new();
    project.transcript.asked("Make a plan in PLAN.md, then follow it.");
    project.wrote(
        "PLAN.md",
        "# Plan\n\n- [x] Create `to/a.txt`\n- [x] Create `to/b.txt`\n- [x] Create `to/c.txt`\n",
    );
    project.file("other.txt", "x\n");
    project.says("All steps of the plan are done.");
    project.run().holds();
    project.wrote("to/a.txt", "a\n");
    goes_on(&mut project, "Finding 1 is fixed. Finding 3 is wrong: c.txt is generated at the release.");
    let run = project.run();
    run.check(
        run.stdout.contains(
            "punchlist: 3 findings: 1 fixed, 1 disputed by the agent (a reader says that it still stands), 1 ignored by the agent: [A] ",
        ),
        "each is told",
    );
    assert_eq!(project.outcomes(), pairs(&[(1, "fixed"), (2, "ignored"), (3, "disputed")]));
}

#[test]
fn fixed_counts_before_disputed() {
    let (mut project, _) = held();
    project.wrote("notes/beta.txt", "beta\n");
    goes_on(&mut project, "The finding is wrong: notes/beta.txt already exists.");
    project.run().tells("1 finding, fixed");
    assert_eq!(project.outcomes(), pairs(&[(1, "fixed")]));
    assert!(project.path("state/sessions/session-1.json").exists());
}

#[test]
fn what_only_a_reader_can_tell_is_asked_of_one() {
    let mut project = TestProject::with_a_wrong_greeting();
    project.client(&with_state(&[GREETING], "fixed", "It says good evening now."));
    project.run().holds();
    project.wrote("notes/beta.txt", "good evening\n");
    goes_on(&mut project, "It greets now.");
    let run = project.run();
    run.tells("1 finding, fixed");
    run.same(&project.outcomes(), &pairs(&[(1, "fixed")]));
    run.same(&project.notes()[0]["why"], &json!("It says good evening now."));
    let prompt = project.prompt("settle");
    run.check(prompt.contains("good evening\n<<"), "the disk as it is now is shown");
    run.check(prompt.contains("\"why\":\"notes/beta.txt says something else\""), "and what held");
}

#[test]
fn a_stop_that_is_no_loop_guard_settles_it_too() {
    let (mut project, _) = held();
    project.wrote("notes/beta.txt", "beta\n");
    project.transcript.asked("And now?");
    project.says("Now notes/beta.txt is written as well.");
    let run = project.run();
    run.tells("1 finding, fixed");
    run.logs("allow", "clean");
    run.same(&project.outcomes(), &pairs(&[(1, "fixed")]));
}

#[test]
fn a_stop_with_work_under_way_leaves_it_open() {
    let (mut project, _) = held();
    project.input["background_tasks"] =
        json!([{"id": "1", "type": "shell", "status": "running", "description": "x"}]);
    let run = project.run();
    run.logs("allow", "background-work");
    run.same(&project.outcomes(), &pairs(&[]));
    run_is_pending(&project, true);
}

#[test]
fn it_is_told_once() {
    let (mut project, block) = held();
    goes_on(&mut project, "All done.");
    beta_is_told(&project.run(), "ignored by the agent", &block);
    project.run().is_silent();
    assert_eq!(project.outcomes().len(), 1);
}

#[test]
fn a_subagents_block_is_its_own() {
    let (mut project, _) = held();
    // Another agent's stop tells nothing of the main agent's block.
    project.input["hook_event_name"] = json!("SubagentStop");
    project.input["agent_id"] = json!("a1");
    project.input["agent_transcript_path"] = project.input["transcript_path"].clone();
    goes_on(&mut project, "All done.");
    project.run().is_silent();
    assert_eq!(project.outcomes(), pairs(&[]));
    run_is_pending(&project, true);
}

#[test]
fn a_subagent_that_was_held_is_followed_by_itself() {
    let mut project = TestProject::with_drift();
    project.input["hook_event_name"] = json!("SubagentStop");
    project.input["agent_id"] = json!("a1");
    project.input["agent_transcript_path"] = project.input["transcript_path"].clone();
    // The plan is not its promise; its own words are.
    project.readers(&[&BETA.replace("Create `notes/beta.txt`", "I created alpha.txt and notes/beta.txt.")]);
    let run = project.run();
    run.holds();
    run.check(project.path("state/sessions/session-1.a1.held").exists(), "its own");
    project.wrote("notes/beta.txt", "beta\n");
    goes_on(&mut project, "Now notes/beta.txt is written.");
    project.run().tells("1 finding, fixed");
    assert_eq!(project.outcomes(), pairs(&[(1, "fixed")]));
}

#[test]
fn a_claim_that_is_taken_back_is_fixed_where_a_reader_says_so() {
    let mut project = TestProject::new();
    project.transcript.asked("Write alpha.txt and notes/beta.txt.");
    project.wrote("alpha.txt", "alpha\n");
    project.says("Done: I created alpha.txt and notes/beta.txt.");
    let claim = BETA.replace("Create `notes/beta.txt`", "I created alpha.txt and notes/beta.txt.");
    project.client(&with_state(&[&claim], "fixed", "The claim is taken back."));
    project.run().holds();
    goes_on(&mut project, "I was too quick: notes/beta.txt was not created.");
    project.run().tells("1 finding, fixed");
    assert_eq!(project.outcomes(), pairs(&[(1, "fixed")]));
    assert_eq!(project.notes()[0]["why"], json!("The claim is taken back."));
}

#[test]
fn a_check_that_failed_and_passes_now_is_fixed() {
    let mut project = TestProject::new();
    project.transcript.asked("Fix the parser.");
    project.wrote("src/parser.rs", "fn parse() {}\n");
    project.transcript.ran_in_vain("cargo test", "test result: FAILED. 1 passed; 1 failed");
    project.says("The parser is fixed and all tests pass.");
    project.readers(&[r#"{"category":"A","sure":true,"kind":"failed","claim":"all tests pass","claimed_in":"message","proof":"test result: FAILED. 1 passed; 1 failed","path":"","why":"the only run failed","settle":"make it pass"}"#]);
    project.run().holds();
    project.transcript.ran("cargo test", "test result: ok. 2 passed; 0 failed");
    goes_on(&mut project, "Now they do.");
    project.run().tells("1 finding, fixed");
    assert_eq!(project.outcomes(), pairs(&[(1, "fixed")]));
    assert_eq!(project.notes()[0]["why"], json!("`cargo test` succeeded since"));
    assert_eq!(project.questions(), ["first", "second"]);
}

#[test]
fn a_torn_or_missing_state_is_no_reason_to_speak() {
    for torn in ["", "{\"id\":\"x\",", "[]", "{\"findings\":[{\"number\":1}]}", "{}"] {
        let (mut project, _) = held();
        fs::write(project.path("state/sessions/session-1.held"), torn).expect("torn");
        goes_on(&mut project, "All done.");
        let run = project.run();
        run.is_silent();
        run.logs("allow", "loop-guard");
        run.same(&project.outcomes(), &pairs(&[]));
    }
    let (mut project, _) = held();
    fs::remove_file(project.path("state/sessions/session-1.held")).expect("gone");
    goes_on(&mut project, "All done.");
    project.run().is_silent();
}

#[test]
fn a_client_that_does_not_send_its_last_words_is_waited_for() {
    let (mut project, block) = held();
    project.input.as_object_mut().expect("an object").remove("last_assistant_message");
    project.input["stop_hook_active"] = json!(true);
    // The words of the block are the last in the transcript: they are no answer to it.
    let running = project.start();
    project.transcript.said("notes/beta.txt is not needed.");
    std::thread::sleep(std::time::Duration::from_millis(150));
    fs::write(project.path("transcript.jsonl"), project.transcript.text()).expect("written late");
    let run = project.finish(running);
    beta_is_told(&run, STILL_STANDS, &block);
    run.same(&project.outcomes(), &pairs(&[(1, "disputed")]));
}

#[test]
fn a_transcript_that_is_gone_settles_nothing() {
    let (mut project, block) = held();
    goes_on(&mut project, "I looked, and the finding is fine.");
    project.input["transcript_path"] = json!(project.path("gone.jsonl"));
    project.file("notes/beta.txt", "beta\n");
    let run = project.run();
    beta_is_told(&run, "ignored by the agent", &block);
    run.same(&project.outcomes(), &pairs(&[(1, "ignored")]));
    run.same(&project.questions(), &["first", "second"].map(str::to_owned).to_vec());
}

#[test]
fn a_log_that_can_not_be_written_keeps_it_for_later() {
    let (mut project, block) = held();
    let (log, aside) = (project.path("state/decisions"), project.path("state/aside"));
    fs::rename(&log, &aside).expect("moved");
    fs::write(&log, "no folder").expect("in the way");
    goes_on(&mut project, "All done.");
    let run = project.run();
    run.same(&(run.status.code(), run.stdout.as_str()), &(Some(0), ""));
    run.check(run.stderr.starts_with("punchlist: the decision log can't be written: "), "one line, as ever");
    run.same(&run.stderr.lines().count(), &1);
    run_is_pending(&project, true);
    fs::remove_file(&log).expect("out of the way");
    fs::rename(&aside, &log).expect("back");
    beta_is_told(&project.run(), "ignored by the agent", &block);
    assert_eq!(project.outcomes(), pairs(&[(1, "ignored")]));
    assert_eq!(project.notes()[0]["of"], json!(block));
}

#[test]
fn a_secret_in_the_agents_words_is_masked() {
    let (mut project, block) = held();
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    goes_on(&mut project, &format!("notes/beta.txt is not needed, the token {secret} is in the vault."));
    beta_is_told(&project.run(), STILL_STANDS, &block);
    assert_eq!(project.outcomes(), pairs(&[(1, "disputed")]));
    for (path, text) in project.texts_below("state") {
        assert!(!text.contains(secret), "{path}");
    }
}

#[test]
fn what_an_audit_looked_at_is_kept_beside_the_log() {
    let (project, block) = held();
    let text =
        fs::read_to_string(project.path(&format!("state/audits/{block}.scene.json"))).expect("a scene");
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
