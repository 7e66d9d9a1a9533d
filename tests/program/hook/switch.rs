//! The person's switch, as the hook honours it, and the agent's hand on it.

use serde_json::{Value, json};

use crate::test_project::{Run, SESSION, TestProject};

#[track_caller]
fn is_off(test: &TestProject, run: &Run, detail: &str) {
    run.is_silent();
    run.logs("allow", "off");
    run.same(&run.record()["detail"], &json!(detail));
    run.same(&test.calls().len(), &0);
}

#[track_caller]
fn throw(test: &TestProject, args: &[&str]) {
    let run = test.run_args(args);
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
}

#[test]
fn a_project_that_is_off_is_let_through_until_it_is_on_again() {
    let test = TestProject::with_drift();
    throw(&test, &["off"]);
    let project = test.path("work");
    is_off(&test, &test.run(), &format!("switched off by `punchlist off` for {}", project.display()));
    throw(&test, &["on"]);
    test.run().holds();
}

#[test]
fn a_session_that_is_off_leaves_the_others_alone() {
    let mut test = TestProject::with_drift();
    throw(&test, &["off", "--session", SESSION]);
    is_off(&test, &test.run(), "switched off by `punchlist off` for this session");
    test.input["session_id"] = json!("another");
    test.run().holds();
}

#[test]
fn every_block_names_the_switch() {
    let reason = TestProject::with_drift().run().holds();
    let last = reason.lines().last();
    assert_eq!(
        last,
        Some(
            "The person can switch this gate off with `punchlist off` (logged and reported if the agent uses it)."
        )
    );
}

#[test]
fn an_agent_that_uses_it_is_let_go_and_reported_once() {
    let mut test = TestProject::with_drift();
    test.transcript.ran("cd /w && punchlist off >/dev/null 2>&1", "");
    test.says("All done: I created alpha.txt and notes/beta.txt.");
    throw(&test, &["off"]);
    let run = test.run();
    run.tells(
        "switched off by `punchlist off` for DIR/work; the agent did it itself (punchlist off >/dev/null 2>&1). \
         `punchlist on` switches it on again",
    );
    run.logs("allow", "off");
    run.same(&run.record()["advisories"][0]["kind"], &json!("switched-off"));
    let again = test.run();
    again.is_silent();
    again.logs("allow", "off");
}

#[test]
fn an_agent_that_used_it_and_switched_it_on_again_is_reported_as_well() {
    let mut test = TestProject::without_drift();
    test.transcript.ran("punchlist off", "");
    test.transcript.ran("punchlist on", "");
    test.says("All done: I created alpha.txt and notes/beta.txt.");
    let run = test.run();
    run.tells("let go; worth knowing: The agent itself switched punchlist off. (punchlist off)");
}

#[test]
fn a_broken_switch_is_on() {
    let test = TestProject::with_drift();
    throw(&test, &["off"]);
    std::fs::write(test.path("state/off.json"), "{\"projects\":").expect("broken");
    test.run().holds();
    assert_eq!(test.log().last().map(|record| record["cause"].clone()), Some(Value::from("findings")));
}

/// Has the transcript made, as it is before anything in it was done. Whether the file system tells when that was.
fn begin(test: &TestProject) -> bool {
    test.run_args(&["--version"]);
    let tells = test.path("transcript.jsonl").metadata().expect("there").created().is_ok();
    std::thread::sleep(std::time::Duration::from_millis(20));
    tells
}

/// A file that lets every stop through, by the agent's hand: told once for each change of it.
#[test]
fn an_agent_that_writes_it_into_the_config_is_let_go_and_reported_once() {
    let mut test = TestProject::with_drift();
    begin(&test);
    test.wrote(".claude/punchlist.toml", "[gates]\nenabled = false\n");
    test.says("All done: I created alpha.txt and notes/beta.txt.");
    let run = test.run();
    run.tells(
        "switched off by [gates] enabled = false; the agent did it itself (.claude/punchlist.toml: enabled = false). \
         Take it out of DIR/work/.claude/punchlist.toml to switch it on again",
    );
    run.logs("allow", "off");
    run.same(&run.record()["advisories"][0]["kind"], &json!("switched-off"));
    let again = test.run();
    again.is_silent();
    again.logs("allow", "off");
}

/// The other gates go on, and the person hears that this one does not.
#[test]
fn an_agent_that_switches_the_audit_off_alone_is_reported_as_well() {
    let mut test = TestProject::with_drift();
    begin(&test);
    test.wrote(".claude/punchlist.toml", "[audit]\nenabled = false\n");
    test.says("All done: I created alpha.txt and notes/beta.txt.");
    let told = |run: &Run| {
        run.same(&run.status.code(), &Some(0));
        run.check(run.stdout.contains("[audit] enabled = false"), "what");
        run.check(run.stdout.contains("the agent did it itself"), "and by whom");
    };
    told(&test.run());
    test.run().is_silent();
    let mut test = TestProject::with_drift();
    begin(&test);
    test.own_config("[[check]]\nname = \"there\"\nrun = \"true\"\n");
    test.wrote(".claude/punchlist.toml", "[audit]\nenabled = false\n");
    test.says("All done: I created alpha.txt and notes/beta.txt.");
    told(&test.run());
}

#[test]
fn an_agent_that_writes_it_into_the_settings_is_reported_where_the_client_follows() {
    let mut test = TestProject::with_drift();
    begin(&test);
    let line = "echo '{\"env\": {\"PUNCHLIST_OFF\": \"1\"}}' > .claude/settings.local.json";
    test.transcript.ran(line, "");
    test.file(".claude/settings.local.json", "{\"env\": {\"PUNCHLIST_OFF\": \"1\"}}\n");
    test.says("All done: I created alpha.txt and notes/beta.txt.");
    test.var("PUNCHLIST_OFF", "1");
    test.run().tells(&format!(
        "switched off by PUNCHLIST_OFF; the agent did it itself ({line}). Take it out of \
         DIR/work/.claude/settings.local.json to switch it on again"
    ));
    test.run().is_silent();
    // The client that does not follow until it is started anew has it audited.
    test.unset("PUNCHLIST_OFF");
    let reason = test.run().record()["advisories"][0]["kind"].clone();
    assert_eq!(reason, json!("switched-off"));
}

#[test]
fn what_the_person_wrote_or_what_was_there_before_is_nobodys_deed() {
    let mut test = TestProject::with_drift();
    test.project_config("[gates]\nenabled = false\n");
    std::thread::sleep(std::time::Duration::from_millis(20));
    let config = crate::test_project::text(&test.in_work(".claude/punchlist.toml"));
    test.transcript.wrote(&config, "[gates]\nenabled = false\n");
    if begin(&test) {
        is_off(&test, &test.run(), "switched off by [gates] enabled = false");
    }
    // Changed while the session runs, and not by it.
    let test = TestProject::with_drift();
    begin(&test);
    test.project_config("[gates]\nenabled = false\n");
    is_off(&test, &test.run(), "switched off by [gates] enabled = false");
}
