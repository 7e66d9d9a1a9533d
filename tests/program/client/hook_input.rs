//! What can be wrong with what the hook is given: stdin, the transcript, the plan. Nothing of it
//! blocks, hangs or stays unsaid.

use std::process::Command;

use serde_json::{Value, json};

use crate::test_project::{BETA, Run, TestProject};

/// Asserts that stdin was refused with this one line, and that the log has it.
#[track_caller]
fn refused(run: &Run, line: &str) {
    run.answers(0, "", &format!("punchlist: {line}\n"));
    run.logs("allow", "bad-input");
    run.same(&run.record()["detail"], &json!(line));
}

/// Bytes of every value, in no order that means anything.
fn noise(length: u32) -> Vec<u8> {
    (0..length).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect()
}

const NOT_OURS: &str = "`punchlist hook` is run by Claude Code, see the README";

#[test]
fn an_empty_stdin_is_said_and_logged() {
    let project = TestProject::with_drift();
    let run = project.run_with_stdin(b"");
    run.check(run.stderr.contains("stdin is empty"), "it is said");
    let line = run.stderr.trim_start_matches("punchlist: ").trim_end().to_owned();
    refused(&run, &line);
    refused(&project.run_with_stdin(b" \n\t\n"), &line);
}

#[test]
fn broken_json_is_said_and_logged() {
    let run = TestProject::with_drift().run_with_stdin(b"{\"session_id\":");
    let why = "EOF while parsing a value at line 1 column 14";
    refused(&run, &format!("stdin is not the hook's JSON ({why}); {NOT_OURS}"));
}

#[test]
fn a_json_list_is_said_and_logged() {
    let run = TestProject::with_drift().run_with_stdin(b"[1, 2]");
    refused(&run, &format!("stdin is not the hook's JSON (it is JSON, but not an object); {NOT_OURS}"));
}

#[test]
fn binary_noise_on_stdin_is_said_and_logged() {
    let run = TestProject::with_drift().run_with_stdin(&noise(20_000));
    run.same(&(run.status.code(), run.stdout.as_str(), run.stderr.lines().count()), &(Some(0), "", 1));
    run.logs("allow", "bad-input");
}

#[test]
fn a_byte_on_stdin_that_is_not_utf8_does_not_hide_the_rest() {
    let project = TestProject::with_drift();
    let mut stdin = project.input.to_string().into_bytes();
    let at = stdin.windows(4).position(|part| part == b"done").expect("the message");
    stdin[at] = 0xff;
    let run = project.run_with_stdin(&stdin);
    run.holds();
    assert!(project.prompt("first").contains("All \u{fffd}one"), "{}", project.prompt("first"));
}

#[test]
fn an_object_with_nothing_that_we_know_is_a_stop_with_nothing_to_audit() {
    let project = TestProject::with_drift();
    let run = project.run_with_stdin(b"{\"new\":[1],\"stop_hook_active\":\"yes\",\"session_id\":7}");
    run.is_silent();
    run.logs("allow", "nothing-to-audit");
    run.same(&run.record()["transcript"]["problem"], &json!("the hook's input names no transcript"));
}

/// Asserts that the transcript could not be read, and that the stop goes through and the log says
/// so.
#[track_caller]
fn without_transcript(project: &TestProject, problem: &str) {
    let run = project.run();
    run.is_silent();
    run.logs("allow", "nothing-to-audit");
    let said = run.record()["transcript"]["problem"].as_str().map(|said| project.tidy(said));
    run.same(&said.as_deref(), &Some(problem));
}

#[test]
fn a_missing_transcript_is_logged() {
    let mut project = TestProject::with_drift();
    project.input["transcript_path"] = json!(project.path("none.jsonl"));
    without_transcript(&project, "DIR/none.jsonl: No such file or directory (os error 2)");
}

#[test]
fn a_folder_in_place_of_the_transcript_is_logged() {
    let project = TestProject::with_drift();
    std::fs::create_dir(project.path("transcript.jsonl")).expect("a folder");
    without_transcript(&project, "DIR/transcript.jsonl: not a regular file");
}

#[test]
fn a_transcript_that_may_not_be_read_is_logged() {
    use std::os::unix::fs::PermissionsExt;
    if rustix::process::geteuid().is_root() {
        eprintln!("skipped: root may read every file");
        return;
    }
    let mut project = TestProject::with_drift();
    let path = project.path("locked.jsonl");
    std::fs::write(&path, project.transcript.text()).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("locked");
    project.input["transcript_path"] = json!(path);
    without_transcript(&project, "DIR/locked.jsonl: Permission denied (os error 13)");
}

/// Opening a pipe for reading waits for its writer, and there is none.
#[test]
fn a_pipe_in_place_of_the_transcript_is_not_waited_for() {
    let project = TestProject::with_drift();
    let made = Command::new("mkfifo").arg(project.path("transcript.jsonl")).status().expect("mkfifo");
    assert!(made.success());
    without_transcript(&project, "DIR/transcript.jsonl: not a regular file");
}

#[test]
fn a_transcript_of_noise_is_counted_and_passed_over() {
    let mut project = TestProject::new();
    std::fs::write(project.path("transcript.jsonl"), noise(200_000)).expect("a file");
    project.input["last_assistant_message"] = json!("All done.");
    let run = project.run();
    run.is_silent();
    run.logs("allow", "nothing-to-audit");
    let skipped = &run.record()["transcript"]["skipped"];
    run.check(skipped["unreadable"].as_u64().is_some_and(|lines| lines > 10), "lines are counted");
}

#[test]
fn noise_between_the_rows_does_not_hide_them() {
    let mut project = TestProject::with_drift();
    let mut bytes = Vec::new();
    for row in project.transcript.text().lines() {
        bytes.extend_from_slice(b"\xff\xfe noise\n{\"type\":\"us\n\0\0\0");
        bytes.extend_from_slice(row.as_bytes());
        bytes.push(b'\n');
    }
    let path = project.path("noisy.jsonl");
    std::fs::write(&path, bytes).expect("a file");
    project.input["transcript_path"] = json!(path);
    let run = project.run();
    run.holds();
    run.check(run.record()["transcript"]["skipped"]["unreadable"].as_u64() > Some(0), "lines are counted");
}

#[test]
fn a_plan_that_is_gone_is_no_plan() {
    let project = TestProject::with_drift();
    std::fs::remove_file(project.in_work("PLAN.md")).expect("removed");
    // What is claimed in words is held against the disk, all the same.
    let claim = BETA.replace("Create `notes/beta.txt`", "I created alpha.txt and notes/beta.txt.");
    project.readers(&[&claim]);
    let run = project.run();
    run.check(run.holds().contains("\n   \"I created alpha.txt and notes/beta.txt.\"\n"), "the claim is");
    run.same(&run.record()["plan"], &Value::Null);
    run.same(&run.record()["findings"][0]["claimed_in"], &json!("message"));
    assert!(project.prompt("first").contains("plan>>\n(no plan"));
}

#[test]
fn a_nul_in_the_plan_made_it_no_plan() {
    let mut project = TestProject::with_drift();
    project.wrote("PLAN.md", "# Plan\n\n- [x] Create `alpha.txt`\n- [x] Create `notes/beta.txt`\n\0\n");
    project.says("All done.");
    project.run().holds();
}

#[test]
fn a_pipe_in_place_of_the_plan_is_not_waited_for() {
    let project = TestProject::without_drift();
    std::fs::remove_file(project.in_work("PLAN.md")).expect("removed");
    let made = Command::new("mkfifo").arg(project.in_work("PLAN.md")).status().expect("mkfifo");
    assert!(made.success());
    let run = project.run();
    run.logs("allow", "clean");
    run.same(&run.record()["plan"], &Value::Null);
}

#[test]
fn a_workspace_that_is_gone_is_no_failure() {
    let mut project = TestProject::with_drift();
    project.input["cwd"] = json!(project.path("gone"));
    let run = project.run();
    run.same(&run.status.code(), &Some(0));
    run.same(&run.record()["decision"], &json!("allow"));
}
