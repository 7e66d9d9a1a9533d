//! A session's start from the outside: what it is given, what it is not, and what begins anew.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::test_project::{Run, TestProject};

fn starting(source: &str) -> TestProject {
    let mut project = TestProject::new();
    project.input = json!({
        "session_id": crate::test_project::SESSION,
        "transcript_path": project.path("transcript.jsonl"),
        "cwd": project.in_work(""),
        "hook_event_name": "SessionStart",
        "source": source,
    });
    project
}

/// What the agent is given; asserts that nothing else is said.
#[track_caller]
fn given(run: &Run) -> String {
    let reply: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let told = &reply["hookSpecificOutput"];
    let text = told["additionalContext"].as_str().unwrap_or_default().to_owned();
    let expected =
        json!({ "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": text } });
    run.answers(0, &expected.to_string(), "");
    run.check(!text.is_empty(), "something is given");
    text
}

fn aged(project: &TestProject, name: &str, seconds: u64, text: &str) {
    project.file(name, text);
    let file = fs::File::options().write(true).open(project.in_work(name)).expect("the file");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - seconds)).expect("set");
}

#[test]
fn with_nothing_set_it_is_silent_and_leaves_only_what_a_stop_compares() {
    for source in ["startup", "resume", "clear", "compact"] {
        let project = starting(source);
        let run = project.run();
        run.is_silent();
        run.same(&run.log.len(), &0);
        let kept = project.texts_below("state");
        let is_compared =
            |(_, text): &(String, String)| text.contains(r#""surroundings":{"#) || text.is_empty();
        assert!(kept.iter().all(is_compared), "{source}: {kept:?}");
        assert_eq!(kept.is_empty(), source == "compact", "{source}: {kept:?}");
    }
}

#[test]
fn it_is_given_mandates_and_the_newest_notes_first() {
    let project = starting("startup");
    aged(&project, "notes/old.md", 60, "old words\n");
    aged(&project, "notes/new.md", 0, "new words\n");
    aged(&project, "notes/.env", 0, "TOKEN=abc\n");
    aged(&project, "notes/picture.md", 0, "a\0b");
    let key = format!("sk-ant-api03-{}", "a1B2c3D4e5".repeat(9));
    aged(&project, "HANDOVER.md", 30, &format!("the key is {key}\n"));
    project
        .own_config("[memory]\nfiles = [\"notes/*\", \"HANDOVER.md\"]\nmandates = [\"Never force-push.\"]\n");
    let run = project.run();
    let text = given(&run);
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words:?} is not in it: {text}"));
    assert!(at("- Never force-push.") < at("notes/new.md, changed 2023-11-14 22:13 UTC\nnew words\n"));
    assert!(at("new words") < at("HANDOVER.md, changed") && at("HANDOVER.md, changed") < at("old words"));
    assert!(at("Left out: notes/.env (a file for secrets), notes/picture.md (no text).") > at("old words"));
    assert!(!text.contains(&key) && text.contains("[masked:"), "{text}");
    run.same(&run.log.len(), &0);
}

#[test]
fn it_is_the_same_for_every_start_and_stays_within_its_limits() {
    let project = starting("startup");
    for number in 0..60 {
        aged(
            &project,
            &format!("notes/{number:02}.md"),
            number,
            &"A line of notes that goes on.\n".repeat(400),
        );
    }
    project.project_config("[memory]\nfiles = [\"notes/**\"]\n");
    project.own_config("[memory]\nfile_lines = 7\n");
    let first = given(&project.run());
    assert!(first.len() <= 9_000 && first.contains(" and ") && first.contains("(no room)"), "{first}");
    assert_eq!(first.matches("A line of notes").count() % 7, 0);
    let mut again = starting("resume");
    again.var("PUNCHLIST_HOME", project.path("elsewhere"));
    again.var("HOME", project.path("home"));
    again.input["cwd"] = json!(project.in_work(""));
    assert_eq!(given(&again.run()), first);
}

#[test]
fn a_project_leads_nobody_out_of_itself_and_the_person_goes_anywhere() {
    let project = starting("startup");
    fs::write(project.path("home/diary.md"), "my diary\n").expect("written");
    std::os::unix::fs::symlink(project.path("home/diary.md"), project.in_work("link.md")).expect("a link");
    project.project_config("[memory]\nfiles = [\"link.md\"]\n");
    project.run().is_silent();
    project.project_config("[memory]\nfiles = [\"~/diary.md\"]\n");
    let run = project.run();
    run.answers(
        0,
        "",
        "punchlist: DIR/work/.claude/punchlist.toml: memory.files outside of the project counts only from your own \
         file, DIR/home/.config/punchlist/config.toml (the default is used)\n",
    );
    project.project_config("");
    project.own_config("[memory]\nfiles = [\"~/diary.md\"]\nmandates_file = \"DIR/home/diary.md\"\n");
    assert_eq!(given(&project.run()).matches("my diary").count(), 2);
}

#[test]
fn switched_off_or_inside_an_auditor_nothing_is_given() {
    for (name, value) in [("PUNCHLIST_OFF", "1"), ("PUNCHLIST_INSIDE_AUDITOR", "1")] {
        let mut project = starting("startup");
        project.own_config("[memory]\nmandates = [\"Be kind.\"]\n");
        given(&project.run());
        project.var(name, value);
        project.run().is_silent();
    }
    let project = starting("startup");
    project.own_config("[memory]\nmandates = [\"Be kind.\"]\n");
    project.run_args(&["off"]);
    project.run().is_silent();
}

/// Holds the session once; gives its test.
fn held() -> TestProject {
    let project = TestProject::with_drift();
    project.run().holds();
    assert_eq!(project.blocks(), 1);
    project
}

#[test]
fn counts_begin_anew_at_a_start_but_not_in_the_midst_of_a_turn() {
    for (source, blocks) in [("startup", 0), ("resume", 0), ("clear", 0), ("compact", 1)] {
        let mut project = held();
        let audits = project.audits_remembered();
        project.input["hook_event_name"] = json!("SessionStart");
        project.input["source"] = json!(source);
        project.run().is_silent();
        assert_eq!((project.blocks(), project.audits_remembered()), (blocks, audits), "{source}");
    }
}

#[test]
fn two_hooks_of_one_start_give_once_and_a_later_start_gives_again() {
    let mut project = starting("startup");
    project.own_config("[memory]\nmandates = [\"Be kind.\"]\n");
    project.var("CLAUDE_PID", "7");
    let running = [project.start(), project.start()];
    let runs = running.map(|running| project.finish(running));
    let mut lengths = runs.each_ref().map(|run| run.stdout.len());
    lengths.sort_unstable();
    assert!(lengths[0] == 0 && lengths[1] > 0, "{lengths:?}");
    // Another client takes the session up.
    project.var("CLAUDE_PID", "8");
    given(&project.run());
    project.input["source"] = json!("compact");
    given(&project.run());
}

#[test]
fn what_can_not_be_remembered_keeps_no_session_from_its_notes() {
    let mut project = starting("startup");
    project.own_config("[memory]\nmandates = [\"Be kind.\"]\n");
    fs::create_dir(project.path("state")).expect("a folder");
    fs::write(project.path("state/sessions"), "a file").expect("written");
    project.var("PUNCHLIST_HOME", project.path("state"));
    let run = project.run();
    run.same(&run.status.code(), &Some(0));
    run.check(run.stdout.contains("Be kind."), "it is given");
    let told = "punchlist: this session's counters can't be written: DIR/state/sessions/session-1.lock: ";
    run.check(run.stderr.starts_with(told), "and told");
}
