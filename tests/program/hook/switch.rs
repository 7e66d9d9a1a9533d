//! The person's switch, as the hook honours it, and the agent's hand on it.

use serde_json::{Value, json};

use crate::test_project::{Run, SESSION, TestProject};

#[track_caller]
fn is_off(project: &TestProject, run: &Run, detail: &str) {
    run.is_silent();
    run.logs("allow", "off");
    run.same(&run.record()["detail"], &json!(detail));
    run.same(&project.calls().len(), &0);
}

#[track_caller]
fn throw(project: &TestProject, args: &[&str]) {
    let run = project.run_args(args);
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
}

#[test]
fn a_project_that_is_off_is_let_through_until_it_is_on_again() {
    let project = TestProject::with_drift();
    throw(&project, &["off"]);
    let folder = project.path("work");
    is_off(&project, &project.run(), &format!("switched off by `punchlist off` for {}", folder.display()));
    throw(&project, &["on"]);
    project.run().holds();
}

#[test]
fn a_session_that_is_off_leaves_the_others_alone() {
    let mut project = TestProject::with_drift();
    throw(&project, &["off", "--session", SESSION]);
    is_off(&project, &project.run(), "switched off by `punchlist off` for this session");
    project.input["session_id"] = json!("another");
    project.run().holds();
}

#[test]
fn every_block_names_the_switch() {
    let reason = TestProject::with_drift().run().holds();
    let last = reason.lines().last();
    assert_eq!(last, Some("either lets you go. `punchlist off` is the person's, and reported if used."));
}

#[test]
fn an_agent_that_uses_it_is_let_go_and_reported_once() {
    let mut project = TestProject::with_drift();
    project.transcript.ran("cd /w && punchlist off >/dev/null 2>&1", "");
    project.says("All done: I created alpha.txt and notes/beta.txt.");
    throw(&project, &["off"]);
    let run = project.run();
    run.tells(
        "switched off by `punchlist off` for DIR/work; the agent did it itself (punchlist off). \
         `punchlist on` switches it on again",
    );
    run.logs("allow", "off");
    run.same(&run.record()["advisories"][0]["kind"], &json!("switched-off"));
    let again = project.run();
    again.is_silent();
    again.logs("allow", "off");
}

#[test]
fn an_agent_that_used_it_and_switched_it_on_again_is_reported_as_well() {
    let mut project = TestProject::without_drift();
    project.transcript.ran("punchlist off", "");
    project.transcript.ran("punchlist on", "");
    project.says("All done: I created alpha.txt and notes/beta.txt.");
    let run = project.run();
    run.tells("let go; worth knowing:\n- The agent itself switched punchlist off: punchlist off");
}

#[test]
fn a_broken_switch_is_on() {
    let project = TestProject::with_drift();
    throw(&project, &["off"]);
    std::fs::write(project.path("state/off.json"), "{\"projects\":").expect("broken");
    project.run().holds();
    assert_eq!(project.log().last().map(|record| record["cause"].clone()), Some(Value::from("findings")));
}

/// Has the transcript made, as it is before anything in it was done. Whether the file system tells when that was.
fn begin(project: &TestProject) -> bool {
    project.run_args(&["--version"]);
    let tells = project.path("transcript.jsonl").metadata().expect("there").created().is_ok();
    std::thread::sleep(std::time::Duration::from_millis(20));
    tells
}

/// A file that lets every stop through, by the agent's hand: told once for each change of it.
#[test]
fn an_agent_that_writes_it_into_the_config_is_let_go_and_reported_once() {
    let mut project = TestProject::with_drift();
    begin(&project);
    project.wrote(".claude/punchlist.toml", "[gates]\nenabled = false\n");
    project.says("All done: I created alpha.txt and notes/beta.txt.");
    let run = project.run();
    run.tells(
        "switched off by [gates] enabled = false; the agent did it itself (.claude/punchlist.toml: enabled = false). \
         Take it out of DIR/work/.claude/punchlist.toml to switch it on again",
    );
    run.logs("allow", "off");
    run.same(&run.record()["advisories"][0]["kind"], &json!("switched-off"));
    let again = project.run();
    again.is_silent();
    again.logs("allow", "off");
}

/// The other gates go on, and the person hears that this one does not.
#[test]
fn an_agent_that_switches_the_audit_off_alone_is_reported_as_well() {
    let mut project = TestProject::with_drift();
    begin(&project);
    project.wrote(".claude/punchlist.toml", "[audit]\nenabled = false\n");
    project.says("All done: I created alpha.txt and notes/beta.txt.");
    let told = |run: &Run| {
        run.same(&run.status.code(), &Some(0));
        run.check(run.stdout.contains("[audit] enabled = false"), "what");
        run.check(run.stdout.contains("the agent did it itself"), "and by whom");
    };
    told(&project.run());
    project.run().is_silent();
    let mut project = TestProject::with_drift();
    begin(&project);
    project.own_config("[[check]]\nname = \"there\"\nrun = \"true\"\n");
    project.wrote(".claude/punchlist.toml", "[audit]\nenabled = false\n");
    project.says("All done: I created alpha.txt and notes/beta.txt.");
    told(&project.run());
}

#[test]
fn an_agent_that_writes_it_into_the_settings_is_reported_where_the_client_follows() {
    let mut project = TestProject::with_drift();
    begin(&project);
    let line = "echo '{\"env\": {\"PUNCHLIST_OFF\": \"1\"}}' > .claude/settings.local.json";
    project.transcript.ran(line, "");
    project.file(".claude/settings.local.json", "{\"env\": {\"PUNCHLIST_OFF\": \"1\"}}\n");
    project.says("All done: I created alpha.txt and notes/beta.txt.");
    project.var("PUNCHLIST_OFF", "1");
    project.run().tells(&format!(
        "switched off by PUNCHLIST_OFF; the agent did it itself ({line}). Take it out of \
         DIR/work/.claude/settings.local.json to switch it on again"
    ));
    project.run().is_silent();
    // The client that does not follow until it is started anew has it audited.
    project.unset("PUNCHLIST_OFF");
    let reason = project.run().record()["advisories"][0]["kind"].clone();
    assert_eq!(reason, json!("switched-off"));
}

#[test]
fn what_the_person_wrote_or_what_was_there_before_is_nobodys_deed() {
    let mut project = TestProject::with_drift();
    project.project_config("[gates]\nenabled = false\n");
    std::thread::sleep(std::time::Duration::from_millis(20));
    let config = crate::test_project::text(&project.in_work(".claude/punchlist.toml"));
    project.transcript.wrote(&config, "[gates]\nenabled = false\n");
    if begin(&project) {
        is_off(&project, &project.run(), "switched off by [gates] enabled = false");
    }
    // Changed while the session runs, and not by it.
    let project = TestProject::with_drift();
    begin(&project);
    project.project_config("[gates]\nenabled = false\n");
    is_off(&project, &project.run(), "switched off by [gates] enabled = false");
}
