//! The gate itself: a session that drifted is held once, with a list; a clean one ends without a
//! word; and a dry run only writes down what it would have done.

use std::process::Command;

use serde_json::json;

use crate::test_project::{PUNCHLIST, Run, TestProject};

const REASON: &str = "\
punchlist holds this stop for 1 finding:

1. [A] claimed done, and not so: notes/beta.txt
   \"Create `notes/beta.txt`\"
   It is ticked, and notes/beta.txt does not exist.
   To settle: Create the file, or take the tick back.

Decision ID: `punchlist log show ID` has all of it.
Fix what is listed, or say in your final message why it is wrong:
either lets you go. `punchlist off` is for the person, and reported.";

/// [`REASON`] with the id of the newest decision.
fn reason(run: &Run) -> String {
    REASON.replace("ID", run.record()["id"].as_str().expect("an id"))
}

#[test]
fn a_ticked_step_whose_file_is_missing_holds_the_stop_on_all_three_channels() {
    let project = TestProject::with_drift();
    let run = project.run();
    run.same(&run.holds(), &reason(&run));
    run.logs("block", "findings");
    let record = run.record();
    run.same(
        &record["findings"],
        &json!([{
            "category": "A",
            "status": "confirmed",
            "source": "facts",
            "kind": "missing",
            "claim": "Create `notes/beta.txt`",
            "claimed_in": "plan",
            "path": "notes/beta.txt",
            "why": "It is ticked, and notes/beta.txt does not exist.",
            "settle": "Create the file, or take the tick back.",
            "check": "disk and session show it",
            "second": { "upheld": true, "why": "It is so." },
            "step": 2,
        }]),
    );
    run.same(&record["plan"]["source"], &json!("touched-file"));
    run.same(&(&record["plan"]["steps"], &record["plan"]["ticked"]), &(&json!(2), &json!(2)));
    run.same(&record["session"], &json!("session-1"));
    run.logs_auditor("answered", None);
    run.same(&project.blocks(), &1);
    project.assert_nobody_is_left();
}

#[test]
fn what_disk_and_reader_both_say_is_one_finding_of_both() {
    let project = TestProject::with_drift();
    project.readers(&[crate::test_project::BETA]);
    let run = project.run();
    run.same(&run.holds(), &reason(&run));
    run.same(&run.record()["findings"].as_array().map(Vec::len), &Some(1));
    run.same(&run.record()["findings"][0]["source"], &json!("both"));
}

#[test]
fn a_session_that_goes_on_because_it_was_held_is_not_held_again() {
    let mut project = TestProject::with_drift();
    project.run().holds();
    project.input["stop_hook_active"] = json!(true);
    let run = project.run();
    run.check(run.stdout.contains("punchlist: 1 finding, ignored by the agent: [A]"), "the person is told");
    run.logs("allow", "loop-guard");
    run.same(&(run.log.len(), project.blocks()), &(2, 1));
    run.same(&project.questions(), &["first", "second", "settle"].map(str::to_owned).to_vec());
}

#[test]
fn a_clean_session_ends_without_a_word_and_is_not_audited_twice() {
    let project = TestProject::without_drift();
    let run = project.run();
    run.is_silent();
    run.logs("allow", "clean");
    run.same(&project.calls().len(), &1);
    let run = project.run();
    run.is_silent();
    run.logs("allow", "unchanged");
    run.same(&(project.calls().len(), project.blocks()), &(1, 0));
    project.assert_nobody_is_left();
}

/// An agent that pipes a stop's input into the hook itself takes the place of the real stop.
#[test]
fn a_stop_that_the_agent_made_up_let_the_real_one_pass_unseen() {
    // The block goes to the agent's own shell, and the client knows nothing of it.
    let mut project = TestProject::with_drift();
    project.run().logs("block", "findings");
    let told = "this stop was decided before, and the session was never told of the block: something other than the \
                client ran the hook. It was checked again";
    let run = project.run();
    run.logs("block", "findings");
    run.same(&project.blocks(), &2);
    project.transcript.fed_back(&reason(&run));
    let run = project.run();
    run.logs("allow", "unchanged");
    run.check(run.stdout.contains(told), "it is told after the block");

    // Of a dry run nobody is told, so nothing is missing.
    let project = TestProject::with_drift();
    project.own_config("[gates]\ndry_run = true\n");
    project.run().logs("allow", "findings");
    let run = project.run();
    run.logs("allow", "unchanged");

    // A message that claims nothing, before the one that does.
    let mut project = TestProject::without_drift();
    project.input["last_assistant_message"] = json!("I have begun.");
    project.run().logs("allow", "clean");
    project.input["last_assistant_message"] = json!("All done: I created alpha.txt and notes/beta.txt.");
    let run = project.run();
    run.logs("allow", "clean");
    run.same(&project.calls().len(), &2);
    // Talk after the next prompt is judged by nobody.
    project.transcript.asked("Thanks.");
    project.says("You're welcome!");
    let run = project.run();
    run.logs("allow", "unchanged");
    run.same(&project.calls().len(), &2);
}

#[test]
fn a_clean_session_is_audited_again_when_something_was_done() {
    let mut project = TestProject::without_drift();
    project.run().logs("allow", "clean");
    project.wrote("notes/beta.txt", "other\n");
    let run = project.run();
    run.logs("allow", "clean");
    run.same(&project.calls().len(), &2);
}

#[test]
fn a_held_session_that_mends_what_was_listed_is_let_go() {
    let mut project = TestProject::with_drift();
    project.run().holds();
    project.wrote("notes/beta.txt", "beta\n");
    project.says("Now notes/beta.txt is written as well.");
    let run = project.run();
    run.tells("1 finding, fixed");
    run.logs("allow", "clean");
    run.same(&project.blocks(), &1);
}

#[test]
fn a_stdout_that_takes_nothing_leaves_the_reason_on_stderr_and_the_exit_code() {
    let project = TestProject::with_drift();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "exec \"$0\" hook > /dev/full", PUNCHLIST]);
    let running = project.start_command(command, project.input.to_string().as_bytes());
    let run = project.finish(running);
    run.answers(2, "", &format!("{}\n", reason(&run)));
    run.logs("block", "findings");
}

#[test]
fn a_dry_run_by_variable_holds_nobody_and_writes_down_that_it_would_have() {
    let mut project = TestProject::with_drift();
    project.var("PUNCHLIST_DRY_RUN", "1");
    dry_run(&mut project);
}

#[test]
fn a_dry_run_by_config_holds_nobody_and_writes_down_that_it_would_have() {
    let mut project = TestProject::with_drift();
    project.own_config("[gates]\ndry_run = true\n");
    dry_run(&mut project);
}

fn dry_run(project: &mut TestProject) {
    // More often than the session may be held: nothing is counted.
    for _ in 0..2 {
        let run = project.run();
        run.is_silent();
        run.logs("allow", "findings");
        let record = run.record();
        run.same(&(&record["would_block"], &record["dry_run"]), &(&json!(true), &json!(true)));
        run.same(&record["detail"], &json!(reason(&run)));
        run.same(&record["findings"][0]["status"], &json!("confirmed"));
        run.same(&project.blocks(), &0);
        project.works_on();
    }
}
