//! The person's switch, as the hook honours it, and every hand on it, on the counter and on the
//! settings that is not seen to be the person's: told by what is there at the stop, whatever
//! command did it.

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

/// Asserts that the person is told, in one line that ends with this, that the stop goes through,
/// and that this is told once. The time of day is left out.
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
    assert_eq!(last, Some("either lets you go. `punchlist off` is for the person, and reported."));
}

#[test]
fn an_agent_that_used_it_and_switched_it_on_again_is_reported_as_well() {
    let mut project = TestProject::without_drift();
    project.transcript.ran("punchlist off", "");
    project.transcript.ran("punchlist on", "");
    project.says("All done: I created alpha.txt and notes/beta.txt.");
    let run = project.run();
    run.tells("worth knowing:\n- The agent itself switched punchlist off: punchlist off");
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
        told_once(&project, &format!("{SWITCHED}from within it{AGAIN}"));
    }
    let project = begun();
    agent_runs(&project, &format!("{PUNCHLIST} off --session {SESSION}"));
    let words = SWITCHED.replace("for DIR/work", "for this session");
    told_once(&project, &format!("{words}from within it{AGAIN}"));
}

/// Nothing shows whose session it is; nor does anything show that a person typed it.
#[test]
fn a_switch_without_its_surroundings_was_taken_for_the_persons() {
    for line in ["PUNCHLIST off".to_owned(), "script -qec 'PUNCHLIST off' /dev/null".to_owned()] {
        let project = begun();
        agent_runs(&project, &format!("unset CLAUDECODE; {}", line.replace("PUNCHLIST", PUNCHLIST)));
        told_once(&project, &format!("{SWITCHED}, not from an open terminal{AGAIN}").replace(", , ", ",, "));
    }
}

/// A terminal that is open still at the stop: a person's own, or one that an agent opened and that
/// looks like it.
#[cfg(target_os = "linux")]
#[test]
fn what_is_typed_in_a_terminal_is_honoured_and_told_once() {
    for terminal in ["script", "setsid script"] {
        let project = begun();
        // The shell stays when the command is over, as a person's does.
        let line = format!(
            "unset CLAUDECODE; {terminal} -qec '{PUNCHLIST} off; touch done; sleep 20; true' /dev/null"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &line]);
        let shell = project.start_command(command, b"");
        while !project.in_work("done").exists() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let switched = SWITCHED.replace(" during this session, ", " from a terminal");
        told_once(&project, &format!("{switched}{AGAIN}"));
        let folder = project.path("work");
        is_off(
            &project,
            &project.run(),
            &format!("switched off by `punchlist off` for {}", folder.display()),
        );
        shell.signal(rustix::process::Signal::TERM);
    }
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

/// The time in a switch is what the clock said; the time of its file is the kernel's.
#[test]
fn a_switch_with_an_old_look_was_not_told_of() {
    let project = TestProject::with_drift();
    throw(&project, &["off"]);
    begin(&project);
    let file = project.path("state/off.json");
    let switch = fs::read(&file).expect("there");
    fs::write(&file, switch).expect("written");
    let older = "it is off by a switch from before this session, in a file that was changed during it, maybe for \
                 another project";
    told_once(&project, &format!("switched off by `punchlist off` for DIR/work; {older}{AGAIN}"));
}

/// Asserts that the counter is seen to be changed, that nothing is held for once, and that the
/// log's count holds again.
#[track_caller]
fn recounted(project: &TestProject, blocks: u64) {
    let run = project.run();
    let reply: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let said = reply["systemMessage"].as_str().unwrap_or_default();
    let start = "punchlist: this session's counters were changed by something other than punchlist (";
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
    // Another session's, whose blocks are spent.
    let mut project = begun();
    project.own_config("[gates]\nmax_blocks = 1\n");
    project.input["session_id"] = json!("other");
    project.run().holds();
    project.input["session_id"] = json!(crate::test_project::SESSION);
    fs::copy(project.path("state/sessions/other.json"), counter(&project)).expect("copied");
    recounted(&project, 0);
}

/// Counter and log, or all that punchlist knows: the transcript still has what the client said of
/// the block.
#[test]
fn a_block_of_which_every_trace_in_the_state_was_removed_was_not_counted() {
    for gone in [["sessions", "decisions"], [".", "."]] {
        let mut project = begun();
        let reason = project.run().holds();
        project.transcript.fed_back(&reason);
        for name in gone {
            let _ = fs::remove_dir_all(project.path("state").join(name));
        }
        recounted(&project, 1);
        project.run().holds();
        assert_eq!(project.blocks(), 2, "{gone:?}");
    }
}

/// What a project's file asks for counts only when it was allowed, and that is told, whoever
/// allowed it.
#[test]
fn an_agent_that_allowed_what_the_project_asks_for_was_not_told_of() {
    let asks = || {
        let project = TestProject::without_drift();
        project.project_config("[gates]\nenabled = false\n");
        begin(&project);
        let left_aside = project.run();
        left_aside.logs("allow", "clean");
        project
    };
    let project = asks();
    agent_runs(&project, &format!("{PUNCHLIST} allow --yes"));
    let allowed = "what this project may do was changed during this session, by `punchlist allow`";
    told_once(&project, &format!("switched off by [gates] enabled = false; {allowed}"));

    // The file of another state folder, copied over and changed.
    let project = asks();
    project.run_args(&["allow", "--yes"]);
    let file = project.path("state/allowed.json");
    let theirs = fs::read_to_string(&file).expect("there");
    project.run_args(&["allow", "--revoke"]);
    project.run();
    fs::write(&file, theirs.split(",\"seal\"").next().unwrap_or_default().to_owned() + "}").expect("written");
    let run = project.run();
    run.logs("allow", "unchanged");
    let told = "DIR/state/allowed.json was written by hand during this session: nothing in it counts";
    run.check(run.stdout.contains(told), "told");
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
        "what DIR/work/.claude/settings.local.json says about punchlist was changed during this session";
    for settings in [
        r#"{"disableAllHooks":true}"#,
        r#"{"env":{"PUNCHLIST_WORKER":"another"}}"#,
        r#"{"hooks":{"Stop":[]}}"#,
    ] {
        let project = TestProject::without_drift();
        project.file(".claude/settings.local.json", registered);
        begin(&project);
        project.run().is_silent();
        project.file(".claude/settings.local.json", settings);
        told_once(&project, changed);
    }
}

/// The client hands hooks what the `env` of a clone's settings says.
#[test]
fn a_variable_of_the_projects_settings_switched_the_gate_off() {
    for (file, variable) in [
        ("settings.json", "PUNCHLIST_OFF"),
        ("settings.json", "PUNCHLIST_DRY_RUN"),
        ("settings.local.json", "PUNCHLIST_OFF"),
        ("settings.json", "PUNCHLIST_INSIDE_AUDITOR"),
    ] {
        let mut project = TestProject::with_drift();
        project.file(&format!(".claude/{file}"), &json!({ "env": { variable: "1" } }).to_string());
        begin(&project);
        project.var(variable, "1");
        project.readers(&[]);
        project.unset("PUNCHLIST_CLAUDE");
        project.own_config(&format!("[auditor]\nclient = {:?}\n", crate::test_project::FAKE));
        begin(&project);
        let held = project.run();
        held.logs("block", "findings");
        let reply: Value = serde_json::from_str(&held.stdout).unwrap_or_default();
        project.transcript.fed_back(reply["reason"].as_str().unwrap_or_default());
        let told = match variable {
            "PUNCHLIST_INSIDE_AUDITOR" => format!("counts only from your own file: env.{variable}"),
            _ => format!(
                "ignored, since a project may only make the gate stricter: env.{variable} = \"1\" \
                 (`punchlist allow` shows and allows it)"
            ),
        };
        let told = format!("punchlist: DIR/work/.claude/{file}: {told}");
        let run = project.run();
        let reply: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
        let said = reply["systemMessage"].as_str().unwrap_or_default();
        run.check(said.lines().any(|line| line.starts_with(&told)), &told);
    }
}

/// What the client's parser takes and a strict one does not was no file at all, and the variable
/// counted.
#[test]
fn settings_that_only_the_client_could_read_switched_the_gate_off() {
    for (rest, variable) in [
        (r#","x":"\ud800""#, "PUNCHLIST_OFF"),
        (r#","x":1e999"#, "PUNCHLIST_OFF"),
        (r#","x":"\ud800""#, "PUNCHLIST_CLAUDE"),
    ] {
        let mut project = TestProject::with_drift();
        let value = if variable == "PUNCHLIST_OFF" { "1".to_owned() } else { "/bin/false".to_owned() };
        project.file(".claude/settings.json", &format!(r#"{{"env":{{"{variable}":"{value}"}}{rest}}}"#));
        begin(&project);
        project.readers(&[]);
        let fake = project.variables()["PUNCHLIST_CLAUDE"].clone();
        project.own_config(&format!("[auditor]\nclient = {fake:?}\n"));
        begin(&project);
        project.var(variable, value);
        if variable == "PUNCHLIST_OFF" {
            project.run().logs("block", "findings");
        } else {
            project.run().logs_auditor("answered", None);
        }
    }
}

#[test]
fn a_variable_of_the_projects_settings_counts_after_it_was_allowed_or_is_the_persons_too() {
    let settings = r#"{"env":{"PUNCHLIST_OFF":"1"}}"#;
    let off = || {
        let mut project = TestProject::with_drift();
        project.file(".claude/settings.json", settings);
        project.var("PUNCHLIST_OFF", "1");
        project
    };
    let project = off();
    let shown = project.run_args(&["allow", "--yes"]);
    let asks = "The project's settings of the client set variables that weaken the gate:\n  \
                env.PUNCHLIST_OFF = \"1\"\n";
    shown.check(shown.stdout.starts_with(asks), "what is allowed is shown");
    begin(&project);
    is_off(&project, &project.run(), "switched off by PUNCHLIST_OFF");
    let project = off();
    fs::create_dir_all(project.path("home/.claude")).expect("a folder");
    fs::write(project.path("home/.claude/settings.json"), settings).expect("written");
    begin(&project);
    is_off(&project, &project.run(), "switched off by PUNCHLIST_OFF");
    // Another value than the project's is the person's.
    let mut project = off();
    project.var("PUNCHLIST_OFF", "yes");
    begin(&project);
    project.run().logs("allow", "off");
}

#[test]
fn a_variable_of_the_projects_settings_moved_the_state_and_the_persons_config() {
    let mut project = TestProject::with_drift();
    let (state, config) = (text(&project.path("elsewhere")), text(&project.path("none")));
    let settings = json!({ "env": { "PUNCHLIST_HOME": state, "XDG_CONFIG_HOME": config } });
    project.file(".claude/settings.json", &settings.to_string());
    project.own_config("[audit]\nplanless = \"off\"\n[gates]\ndry_run = true\n");
    project.var("PUNCHLIST_HOME", state);
    project.var("XDG_CONFIG_HOME", config);
    let run = project.run();
    run.check(!project.path("elsewhere").exists(), "nothing is there");
    let month =
        fs::read_dir(project.path("home/.local/state/punchlist/decisions")).expect("where it always is");
    let record = month.filter_map(Result::ok).find_map(|file| fs::read_to_string(file.path()).ok());
    let counts = |record: &str| record.contains("\"dry_run\":true");
    run.check(record.as_deref().is_some_and(counts), "the person's own config counts");
    run.check(
        run.stdout.contains("counts only from your own file: env.PUNCHLIST_HOME, env.XDG_CONFIG_HOME"),
        "told",
    );
}

#[test]
fn a_variable_of_the_projects_settings_chose_the_client() {
    let mut project = TestProject::with_drift();
    let settings = json!({ "env": { "CLAUDE_CODE_EXECPATH": crate::test_project::FAKE } });
    project.file(".claude/settings.json", &settings.to_string());
    project.unset("PUNCHLIST_CLAUDE");
    project.var("CLAUDE_CODE_EXECPATH", crate::test_project::FAKE);
    let run = project.run();
    run.logs("block", "findings");
    run.check(project.calls().is_empty(), "it is not run");
    run.check(run.stderr.contains("env.CLAUDE_CODE_EXECPATH counts only from your own file"), "it is said");
}

/// A clone brings a home, too: with a config that switches the gate off, and settings that say the
/// same as the project's.
#[test]
fn a_home_of_the_project_was_taken_for_the_persons() {
    for (variable, files) in [
        ("HOME", [("fake/.config/punchlist/config.toml", "[gates]\nenabled = false\n")].as_slice()),
        ("CLAUDE_CONFIG_DIR", &[("fake/settings.json", r#"{"env":{"PUNCHLIST_OFF":"1"}}"#)]),
        ("HOME", &[("fake/.claude/settings.json", r#"{"env":{"PUNCHLIST_OFF":"1"}}"#)]),
    ] {
        let mut project = TestProject::with_drift();
        project.file(
            ".claude/settings.json",
            &json!({ "env": { variable: "fake", "PUNCHLIST_OFF": "1" } }).to_string(),
        );
        for (name, content) in files {
            project.file(name, content);
        }
        begin(&project);
        project.var(variable, "fake");
        project.var("PUNCHLIST_OFF", "1");
        let run = project.run();
        run.logs("block", "findings");
        run.check(
            run.stderr.contains(&format!("env.{variable} counts only from your own file")),
            "it is said",
        );
    }
}

/// A block has no room for it: the stop after that has.
#[test]
fn what_changed_before_a_block_is_told_after_it() {
    let mut project = begun();
    project.own_config("[gates]\nmax_blocks = 2\n");
    let reason = project.run().holds();
    project.transcript.fed_back(&reason);
    let run = project.run();
    let told = "punchlist: DIR/home/.config/punchlist/config.toml was changed during this session\n";
    let reply: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    run.check(reply["systemMessage"].as_str().is_some_and(|said| said.starts_with(told)), "told first");
    run.same(&run.record()["advisories"][0]["kind"], &json!("switched-off"));
    let again = project.run();
    again.check(!again.stdout.contains("during this session"), "once");
}

#[test]
fn what_was_there_before_the_session_is_nobodys_deed() {
    let project = TestProject::with_drift();
    project.own_config("[gates]\nenabled = false\n");
    begin(&project);
    is_off(&project, &project.run(), "switched off by [gates] enabled = false");
}

/// A start's input that the agent pipes into the hook itself must not make a change look old.
#[test]
fn a_start_that_the_agent_made_up_silenced_what_it_had_changed() {
    for stops_before in [0, 1] {
        let mut project = TestProject::without_drift();
        begin(&project);
        for _ in 0..stops_before {
            project.run().is_silent();
        }
        agent_runs(&project, &format!("{PUNCHLIST} off"));
        project.input["hook_event_name"] = json!("SessionStart");
        project.input["source"] = json!("resume");
        for _ in 0..2 {
            project.run().answers(0, "", "");
        }
        project.input["hook_event_name"] = json!("Stop");
        told_once(&project, &format!("{SWITCHED}from within it{AGAIN}"));
    }
}
