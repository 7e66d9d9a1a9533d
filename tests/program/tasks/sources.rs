//! The pending-tasks gate: tasks that are a session's and not over hold its stop, with their names;
//! nobody else's stop is held for them, and what can't be looked at holds nobody.

use serde_json::json;

use crate::test_project::{PUNCHLIST, SESSION, TestProject};

/// A session that is worker w1, with the registry as the source.
fn at_work() -> TestProject {
    let mut project = TestProject::new();
    project.own_config("[tasks]\nsource = \"registry\"\n");
    project.var("CLAUDE_CODE_SESSION_ID", SESSION);
    project.run_args(&["worker", "register", "w1"]).answers(
        0,
        "You are worker w1, of kind worker, in the queue default.\n`punchlist tasks claim` gives you the next task, `punchlist \
         worker leave` ends it.\n",
        "",
    );
    project
}

fn done(project: &TestProject, args: &[&str]) {
    let run = project.run_args(args);
    run.check(run.status.success(), "it went well");
}

#[test]
fn tasks_in_hand_hold_the_stop_with_their_names_until_they_are_done() {
    let project = at_work();
    for title in ["Mend the gate", "Paint it"] {
        done(&project, &["tasks", "add", title]);
    }
    done(&project, &["tasks", "claim"]);
    done(&project, &["tasks", "start", "t1"]);
    done(&project, &["tasks", "assign", "t2", "w1"]);
    let run = project.run();
    let program = crate::test_project::PUNCHLIST;
    run.same(
        &run.holds(),
        &format!(
            "2 of your tasks are not finished:\n- t1 (in_progress): Mend the gate\n- t2 (assigned): Paint it\n\nFinish them, and \
             report each: `{program} tasks complete ID --worker w1`. Give up what you can't do (`{program} tasks fail ID --worker w1 \
             --note WHY`), or give it back (`{program} tasks release ID --worker w1`). `{program} tasks show ID` shows a task in full."
        ),
    );
    run.logs("block", "pending-tasks");
    let gates = &run.record()["gates"];
    run.same(&(&gates[0]["gate"], &gates[0]["outcome"]), &(&json!("pending-tasks"), &json!("hold")));
    run.same(&gates[1]["gate"], &json!("audit"));
    run.same(&project.blocks(), &1);
    done(&project, &["tasks", "complete", "t1"]);
    done(&project, &["tasks", "fail", "t2", "--note", "no paint"]);
    let run = project.run();
    run.is_silent();
    run.same(&run.record()["gates"][0]["cause"], &json!("no-tasks"));
}

#[test]
fn a_secret_in_a_title_is_masked_in_the_reason_and_the_log() {
    let project = at_work();
    let secret = concat!("ghp_", "0123456789abcdefghijABCDEFGHIJ012345");
    done(&project, &["tasks", "add", &format!("Use {secret}")]);
    done(&project, &["tasks", "claim"]);
    done(&project, &["tasks", "start", "t1"]);
    let run = project.run();
    let reason = run.holds();
    run.check(reason.contains("t1 (in_progress): Use "), "the task is named");
    run.check(!reason.contains(secret) && !run.record().to_string().contains(secret), "the secret is not");
}

#[test]
fn the_loop_guard_and_the_limit_let_go() {
    let mut project = at_work();
    project.own_config("[tasks]\nsource = \"registry\"\nmax_holds = 2\n");
    done(&project, &["tasks", "add", "Mend the gate", "--assign", "w1"]);
    project.run().holds();
    project.input["stop_hook_active"] = json!(true);
    let run = project.run();
    run.is_silent();
    run.logs("allow", "loop-guard");
    project.input["stop_hook_active"] = json!(false);
    project.run().holds();
    let run = project.run();
    run.is_silent();
    let told = &run.record()["gates"][0];
    run.same(&told["detail"], &json!("the session was blocked for its tasks 2 times; the limit is 2"));
}

#[test]
fn a_session_that_is_no_worker_is_never_held_for_tasks() {
    let mut project = at_work();
    done(&project, &["tasks", "add", "Mend the gate", "--assign", "w1"]);
    project.input["session_id"] = json!("another");
    project.run().is_silent();
    // Not even with the name of the worker that another session is.
    project.var("PUNCHLIST_WORKER", "w1");
    project.run().is_silent();
    project.input["session_id"] = json!(SESSION);
    project.run().holds();
}

#[test]
fn where_the_client_does_not_tell_its_session_a_variable_binds_the_worker() {
    let mut project = TestProject::new();
    project.own_config("[tasks]\nsource = \"registry\"\n");
    project.var("PUNCHLIST_WORKER", "ann");
    done(&project, &["worker", "register"]);
    done(&project, &["tasks", "add", "Mend the gate", "--assign", "ann"]);
    let reason = project.run().holds();
    assert!(reason.contains("tasks complete ID --worker ann`"), "{reason}");
    project.input["session_id"] = json!("a session that it started");
    project.run().is_silent();
}

#[test]
fn a_subagent_is_not_held_for_the_sessions_tasks() {
    let mut project = at_work();
    done(&project, &["tasks", "add", "Mend the gate", "--assign", "w1"]);
    project.input["hook_event_name"] = json!("SubagentStop");
    project.input["agent_id"] = json!("a1");
    project.run().is_silent();
}

#[test]
fn a_dry_run_says_in_the_log_what_it_would_have_done() {
    let project = at_work();
    project.own_config("[tasks]\nsource = \"registry\"\ndry_run = true\n");
    done(&project, &["tasks", "add", "Mend the gate", "--assign", "w1"]);
    let run = project.run();
    run.is_silent();
    let detail = "[tasks] dry_run: it would be blocked, for One of your tasks is not finished:\n- t1 (assigned): Mend the gate";
    run.same(&run.record()["gates"][0]["detail"], &json!(detail));
    run.same(&project.blocks(), &0);
}

#[test]
fn a_damaged_registry_holds_nobody_and_is_left_as_it_is() {
    let project = at_work();
    let file = project.path("state/registry.sqlite");
    let junk = b"no database at all, but long enough to be one: ".repeat(40);
    std::fs::write(&file, &junk).expect("written");
    for beside in ["state/registry.sqlite-wal", "state/registry.sqlite-shm"] {
        let _ = std::fs::remove_file(project.path(beside));
    }
    let run = project.run();
    run.tells(
        "the tasks could not be read, so they did not block this stop: DIR/state/registry.sqlite is damaged, or no registry (file is \
         not a database). It is left as it is: move it aside, and a new one is begun with the next task",
    );
    run.logs("allow", "tasks-unknown");
    assert!(std::fs::read(&file).expect("there") == junk);
}

#[test]
fn a_file_of_tasks_holds_whom_it_names() {
    let mut project = TestProject::new();
    project.project_config("[tasks]\nsource = \"file\"\nfile = \"tasks.json\"\n");
    project.run().is_silent();
    project.file(
        "tasks.json",
        r#"{"tasks":[{"id":"A-1","title":"Mend the gate","status":"in-progress","assignee":"ann"},
            {"id":"A-2","title":"Paint it","status":"done","assignee":"ann"}, {"id":"A-3","status":"assigned"}]}"#,
    );
    project.run().is_silent();
    project.var("PUNCHLIST_WORKER", "ann");
    let run = project.run();
    run.same(
        &run.holds().as_str(),
        &"One of your tasks is not finished:\n- A-1 (in_progress): Mend the gate\n\nFinish them, and set the status of each in tasks.json as \
          you go. If something can't be done, say so, and why.",
    );
    project.file("tasks.json", "{\"tasks\": [{\"id\":");
    project.run().tells(
        "the tasks could not be read, so they did not block this stop: DIR/work/tasks.json: not JSON: EOF while parsing a value at line 1 \
         column 17",
    );
}

#[test]
fn a_command_of_the_persons_own_tells_the_tasks_and_a_projects_is_not_run() {
    let mut project = TestProject::new();
    project.var("PUNCHLIST_WORKER", "ann");
    project.own_config("[tasks]\nsource = \"command\"\ncommand = \"cat 'DIR/mine.json'\"\n");
    std::fs::write(
        project.path("mine.json"),
        r#"[{"id":7,"name":"Mend it","state":"assigned","agent":"ann"}]"#,
    )
    .expect("written");
    let reason = project.run().holds();
    assert!(reason.starts_with("One of your tasks is not finished:\n- 7 (assigned): Mend it\n"), "{reason}");
    project.project_config("[tasks]\ncommand = \"touch 'DIR/evil'\"\nurl = \"http://evil.example\"\n");
    let run = project.run();
    run.check(run.stderr.contains("tasks.command counts only from your own file"), "it is said");
    run.check(run.stderr.contains("tasks.url counts only from your own file"), "it is said");
    assert!(!project.path("evil").exists());
}

#[test]
fn a_command_that_asks_punchlist_in_its_turn_is_held_by_nobody() {
    let mut project = TestProject::with_drift();
    project.var("PUNCHLIST_WORKER", "ann");
    let stop = project.input.to_string();
    std::fs::write(project.path("stop.json"), stop).expect("written");
    let again =
        format!("'{PUNCHLIST}' hook < 'DIR/stop.json' > 'DIR/answer'; echo $? >> 'DIR/answer'; echo '[]'");
    project.own_config(&format!("[tasks]\nsource = \"command\"\ncommand = \"{again}\"\n"));
    let run = project.run();
    run.same(&run.status.code(), &Some(2));
    let decided: Vec<_> = project.log().iter().map(|record| record["cause"].clone()).collect();
    assert_eq!(decided, [json!("findings"), json!("inside-auditor")]);
    let answer = std::fs::read_to_string(project.path("answer")).expect("an answer");
    assert_eq!(answer, "0\n", "the inner hook says nothing and lets go");
}

#[test]
fn check_says_what_a_stop_would_be_told_and_counts_nothing() {
    let project = at_work();
    project.run_args(&["tasks", "check"]).answers(0, "A stop would go through: no task is left\n", "");
    done(&project, &["tasks", "add", "Mend the gate", "--assign", "w1"]);
    let run = project.run_args(&["tasks", "check", "--json"]);
    run.same(&run.status.code(), &Some(1));
    let told: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    run.same(&told["outcome"], &json!("hold"));
    run.same(&told["tasks"], &json!([{"id": "t1", "title": "Mend the gate", "status": "assigned"}]));
    run.same(&project.blocks(), &0);
    project.own_config("[tasks]\nsource = \"command\"\ncommand = \"exit 7\"\n");
    let run = project.run_args(&["tasks", "check"]);
    run.same(&run.status.code(), &Some(2));
    run.check(run.stdout.ends_with("`exit 7` ended with exit code 7\n"), "it says why");
    project.own_config("");
    let run = project.run_args(&["tasks", "check"]);
    run.check(run.status.success() && run.stdout.starts_with("[tasks] source is \"off\""), "it is off");
}
