//! `punchlist statusline`, as the client runs it: one line, whatever it is given.

use std::process::Command;

use serde_json::json;

use crate::test_project::{PUNCHLIST, TestProject};

fn line(project: &TestProject, stdin: &str) -> String {
    let mut command = Command::new(PUNCHLIST);
    command.arg("statusline");
    let run = project.finish(project.start_command(command, stdin.as_bytes()));
    run.check(run.status.code() == Some(0) && run.stderr.is_empty(), "it never fails");
    run.stdout
}

fn input(project: &TestProject) -> String {
    let folder = &project.input["cwd"];
    json!({ "session_id": project.input["session_id"], "cwd": folder, "workspace": { "project_dir": folder } }).to_string()
}

#[test]
fn it_follows_the_session_from_stop_to_stop() {
    let mut project = TestProject::with_drift();
    assert_eq!(line(&project, &input(&project)), "punchlist: no stop yet\n");
    project.run().holds();
    assert_eq!(
        line(&project, &input(&project)),
        "punchlist: held (findings) · 1 finding open · 2 of 3 blocks left\n"
    );
    project.wrote("notes/beta.txt", "beta\n");
    project.says("You are right, now it is there.");
    project.input["stop_hook_active"] = true.into();
    project.run();
    assert_eq!(line(&project, &input(&project)), "punchlist: fixed · 2 of 3 blocks left\n");
    let of_another = json!({ "session_id": "another", "cwd": project.input["cwd"] }).to_string();
    assert_eq!(line(&project, &of_another), "punchlist: no stop yet\n");
    project.own_config("[gates]\nenabled = false\n");
    assert_eq!(line(&project, &input(&project)), "punchlist: off\n");
}

#[test]
fn whatever_it_is_given_it_is_one_line_and_exit_0() {
    let project = TestProject::without_drift();
    for stdin in ["", "{", "7", "{\"session_id\": 7}", "\u{1b}[31m"] {
        assert_eq!(line(&project, stdin), "punchlist: no session\n", "{stdin}");
    }
    project.own_config("[audit\n");
    assert_eq!(
        line(&project, "{\"session_id\": \"../../etc/passwd\\u001b[2J\"}"),
        "punchlist: no stop yet\n"
    );
}
