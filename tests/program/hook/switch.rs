//! The person's switch, as the hook honours it, and every hand on it, on the counter and on the settings that is not
//! seen to be the person's: told by what is there at the stop, whatever command did it.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::test_project::{PUNCHLIST, Run, SESSION, TestProject, text};

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

/// Has the transcript made anew: the session begins now, and what is there was there before.
fn begin(project: &TestProject) {
    let pause = std::time::Duration::from_millis(30);
    let _ = fs::remove_file(project.path("transcript.jsonl"));
    std::thread::sleep(pause);
    project.run_args(&["--version"]);
    std::thread::sleep(pause);
}

/// Runs a shell's command as the client runs those of an agent.
#[track_caller]
fn agent_runs(project: &TestProject, line: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("export CLAUDECODE=1; {line}")]);
    let run = project.finish(project.start_command(command, b""));
    run.same(&run.status.code(), &Some(0));
}

/// Asserts that the person is told, in one line that ends with this, that the stop goes through, and that this is
/// told once. The time of day is left out.
#[track_caller]
fn told_once(project: &TestProject, words: &str) {
    let run = project.run();
    let reply: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let said = reply["systemMessage"].as_str().unwrap_or_default();
    let at = said.find(" at ").filter(|_| said.contains(" UTC"));
    let said = match (at, said.find(" UTC")) {
        (Some(from), Some(to)) => format!("{}{}", &said[..from], &said[to + 4..]),
        _ => said.to_owned(),
    };
    run.same(&(run.status.code(), said.as_str()), &(Some(0), format!("punchlist: {words}").as_str()));
    run.same(&run.record()["advisories"][0]["kind"], &json!("switched-off"));
    let again = project.run();
    again.check(!again.stdout.contains("during this session"), "once");
}

const SWITCHED: &str =
    "switched off by `punchlist off` for DIR/work; it was switched off during this session, ";
const AGAIN: &str = ". `punchlist on` switches it on again";

/// A session that began a moment ago, with a plan that the disk contradicts.
fn begun() -> TestProject {
    let project = TestProject::with_drift();
    begin(&project);
    project
}

#[test]
fn a_project_that_is_off_is_let_through_until_it_is_on_again() {
    let project = TestProject::with_drift();
    throw(&project, &["off"]);
    begin(&project);
    let folder = project.path("work");
    is_off(&project, &project.run(), &format!("switched off by `punchlist off` for {}", folder.display()));
    throw(&project, &["on"]);
    project.run().holds();
}

#[test]
fn a_session_that_is_off_leaves_the_others_alone() {
    let mut project = TestProject::with_drift();
    throw(&project, &["off", "--session", SESSION]);
    begin(&project);
    is_off(&project, &project.run(), "switched off by `punchlist off` for this session");
    project.input["session_id"] = json!("another");
    project.run().holds();
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
fn an_agent_that_used_it_and_switched_it_on_again_is_reported_as_well() {
    let mut project = TestProject::without_drift();
    project.transcript.ran("punchlist off", "");
    project.transcript.ran("punchlist on", "");
    project.says("All done: I created alpha.txt and notes/beta.txt.");
    let run = project.run();
    run.tells("let go; worth knowing: The agent itself switched punchlist off. (punchlist off)");
}

#[test]
fn a_broken_switch_is_on() {
    let project = TestProject::with_drift();
    throw(&project, &["off"]);
    std::fs::write(project.path("state/off.json"), "{\"projects\":").expect("broken");
    project.run().holds();
    assert_eq!(project.log().last().map(|record| record["cause"].clone()), Some(Value::from("findings")));
}

#[test]
fn an_agent_that_used_the_switch_was_not_told_of() {
    for line in [
        "\"$0\" off".to_owned(),
        // A copy under another name, a script, and a terminal of its own.
        "cp \"$0\" ./tool && ./tool off".to_owned(),
        "printf '#!/bin/sh\\nexec \"$1\" off\\n' > run.sh && sh run.sh \"$0\"".to_owned(),
        "script -qec \"'$0' off\" /dev/null".to_owned(),
    ] {
        let project = begun();
        agent_runs(&project, &line.replace("\"$0\"", PUNCHLIST).replace("'$0'", PUNCHLIST));
        told_once(&project, &format!("{SWITCHED}by the agent itself{AGAIN}"));
    }
    let project = begun();
    agent_runs(&project, &format!("{PUNCHLIST} off --session {SESSION}"));
    let words = SWITCHED.replace("for DIR/work", "for this session");
    told_once(&project, &format!("{words}by the agent itself{AGAIN}"));
}

/// Nothing shows whose session it is; nor does anything show that a person typed it.
#[test]
fn a_switch_without_its_surroundings_was_taken_for_the_persons() {
    for line in ["PUNCHLIST off".to_owned(), "script -qec 'PUNCHLIST off' /dev/null".to_owned()] {
        let project = begun();
        agent_runs(&project, &format!("unset CLAUDECODE; {}", line.replace("PUNCHLIST", PUNCHLIST)));
        told_once(
            &project,
            &format!("{SWITCHED} from no terminal that is open now{AGAIN}").replace(",  ", ", "),
        );
    }
}

/// The person's own terminal is open still at the stop.
#[cfg(target_os = "linux")]
#[test]
fn what_the_person_types_in_a_terminal_of_their_own_is_honoured_silently() {
    let project = begun();
    // The shell stays when the command is over, as a person's does.
    let line = format!("script -qec '{PUNCHLIST} off; touch done; sleep 20; true' /dev/null");
    let mut command = Command::new("sh");
    command.args(["-c", &line]);
    let shell = project.start_command(command, b"");
    while !project.in_work("done").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let folder = project.path("work");
    is_off(&project, &project.run(), &format!("switched off by `punchlist off` for {}", folder.display()));
    shell.signal(rustix::process::Signal::TERM);
}

#[test]
fn a_switch_that_was_written_by_hand_was_not_told_of() {
    let project = begun();
    project.run_args(&["on"]);
    fs::create_dir_all(project.path("state")).expect("a folder");
    let by_hand = json!({ "projects": { text(&project.path("work")): { "at_ms": 1, "at_terminal": true } } });
    fs::write(project.path("state/off.json"), by_hand.to_string()).expect("written");
    told_once(&project, &format!("{SWITCHED}by hand, in off.json{AGAIN}"));
}

/// Asserts that the counter is seen to be changed, that nothing is held for once, and that the log's count holds again.
#[track_caller]
fn recounted(project: &TestProject, blocks: u64) {
    let run = project.run();
    let reply: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let said = reply["systemMessage"].as_str().unwrap_or_default();
    let start = "punchlist: what is counted of this session was changed by something else than punchlist (";
    run.check(said.starts_with(start) && said.contains("This stop was not checked"), "it is told");
    run.logs("allow", "state-unusable");
    assert_eq!(project.blocks(), blocks);
}

#[test]
fn a_counter_that_was_written_by_hand_was_believed() {
    let counter = |project: &TestProject| project.path("state/sessions/session-1.json");
    for by_hand in [r#"{"blocks":3}"#, r#"{"blocks":0}"#, "{\"blocks\":", ""] {
        let project = begun();
        project.run().holds();
        fs::write(counter(&project), by_hand).expect("written");
        recounted(&project, 1);
        project.run().holds();
        assert_eq!(project.blocks(), 2, "{by_hand}");
    }
    let project = begun();
    project.run().holds();
    let lower = fs::read_to_string(counter(&project)).expect("there").replace("\"blocks\":1", "\"blocks\":0");
    fs::write(counter(&project), lower).expect("written");
    recounted(&project, 1);
    fs::remove_file(counter(&project)).expect("gone");
    recounted(&project, 1);
}

#[test]
fn a_config_that_changed_during_the_session_was_not_told_of() {
    let off = "[gates]\nenabled = false\n";
    let own = "DIR/home/.config/punchlist/config.toml was changed during this session";
    let project = begun();
    project.own_config(off);
    told_once(&project, &format!("switched off by [gates] enabled = false; {own}"));
    // After a stop at which it was as it had been.
    let project = TestProject::without_drift();
    project.own_config("[gates]\nmax_blocks = 2\n");
    begin(&project);
    project.run().is_silent();
    project.own_config(off);
    told_once(&project, &format!("switched off by [gates] enabled = false; {own}"));
    // The project's own, whatever it says and whatever counts of it.
    let project = TestProject::without_drift();
    begin(&project);
    project.run().is_silent();
    project.project_config("[plan]\n");
    let run = project.run();
    run.check(run.stdout.contains("DIR/work/.claude/punchlist.toml was changed during this session"), "told");
}

#[test]
fn settings_that_were_changed_during_the_session_were_not_told_of() {
    let registered = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"punchlist hook"}]}]}}"#;
    let changed =
        "what DIR/work/.claude/settings.local.json says of punchlist was changed during this session";
    for settings in [
        r#"{"disableAllHooks":true}"#,
        r#"{"env":{"PUNCHLIST_HOME":"/tmp/elsewhere"}}"#,
        r#"{"hooks":{"Stop":[]}}"#,
    ] {
        let project = TestProject::without_drift();
        project.file(".claude/settings.local.json", registered);
        begin(&project);
        project.run().is_silent();
        project.file(".claude/settings.local.json", settings);
        told_once(&project, changed);
    }
    let mut project = begun();
    project.file(".claude/settings.local.json", r#"{"env":{"PUNCHLIST_OFF":"1"}}"#);
    project.var("PUNCHLIST_OFF", "1");
    told_once(&project, &format!("switched off by PUNCHLIST_OFF; {changed}"));
}

/// A block has no room for it: the stop after that has.
#[test]
fn what_changed_before_a_block_is_told_after_it() {
    let project = begun();
    project.own_config("[gates]\nmax_blocks = 1\n");
    project.run().holds();
    told_once(&project, "DIR/home/.config/punchlist/config.toml was changed during this session");
}

#[test]
fn what_was_there_before_the_session_is_nobodys_deed() {
    let project = TestProject::with_drift();
    project.own_config("[gates]\nenabled = false\n");
    begin(&project);
    is_off(&project, &project.run(), "switched off by [gates] enabled = false");
    let mut project = begun();
    project.own_config("[gates]\nenabled = false\n");
    // The person takes the session up again, and knows what they changed meanwhile.
    project.input["hook_event_name"] = json!("SessionStart");
    project.input["source"] = json!("resume");
    project.run().answers(0, "", "");
    project.input["hook_event_name"] = json!("Stop");
    is_off(&project, &project.run(), "switched off by [gates] enabled = false");
}
