//! A session's start from the outside: what it is given, what it is not, and what begins anew.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::scene::{Run, Snapshot};

fn starting(source: &str) -> Snapshot {
    let mut scene = Snapshot::new();
    scene.input = json!({
        "session_id": crate::scene::SESSION,
        "transcript_path": scene.path("transcript.jsonl"),
        "cwd": scene.in_work(""),
        "hook_event_name": "SessionStart",
        "source": source,
    });
    scene
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

fn aged(scene: &Snapshot, name: &str, seconds: u64, text: &str) {
    scene.file(name, text);
    let file = fs::File::options().write(true).open(scene.in_work(name)).expect("the file");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - seconds)).expect("set");
}

#[test]
fn with_nothing_set_it_is_silent_and_leaves_nothing() {
    for source in ["startup", "resume", "clear", "compact"] {
        let scene = starting(source);
        let run = scene.run();
        run.is_silent();
        run.same(&run.log.len(), &0);
        assert!(!scene.path("state/sessions").exists(), "{source}");
    }
}

#[test]
fn it_is_given_mandates_and_the_newest_notes_first() {
    let scene = starting("startup");
    aged(&scene, "notes/old.md", 60, "old words\n");
    aged(&scene, "notes/new.md", 0, "new words\n");
    aged(&scene, "notes/.env", 0, "TOKEN=abc\n");
    aged(&scene, "notes/picture.md", 0, "a\0b");
    let key = format!("sk-ant-api03-{}", "a1B2c3D4e5".repeat(9));
    aged(&scene, "HANDOVER.md", 30, &format!("the key is {key}\n"));
    scene.project_config(
        "[memory]\nfiles = [\"notes/*\", \"HANDOVER.md\"]\nmandates = [\"Never force-push.\"]\n",
    );
    let run = scene.run();
    let text = given(&run);
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words:?} is not in it: {text}"));
    assert!(at("- Never force-push.") < at("notes/new.md, changed 2023-11-14 22:13 UTC\nnew words\n"));
    assert!(at("new words") < at("HANDOVER.md, changed") && at("HANDOVER.md, changed") < at("old words"));
    assert!(at("Not given: notes/.env (a file for secrets), notes/picture.md (no text).") > at("old words"));
    assert!(!text.contains(&key) && text.contains("[masked:"), "{text}");
    run.same(&run.log.len(), &0);
}

#[test]
fn it_is_the_same_for_every_start_and_stays_within_its_limits() {
    let scene = starting("startup");
    for number in 0..60 {
        aged(
            &scene,
            &format!("notes/{number:02}.md"),
            number,
            &"A line of notes that goes on.\n".repeat(400),
        );
    }
    scene.project_config("[memory]\nfiles = [\"notes/**\"]\nfile_lines = 7\n");
    let first = given(&scene.run());
    assert!(first.len() <= 9_000 && first.contains(" and ") && first.contains("(no room)"), "{first}");
    assert_eq!(first.matches("A line of notes").count() % 7, 0);
    let mut again = starting("resume");
    for name in ["PUNCHLIST_HOME", "HOME"] {
        again.var(name, scene.path("elsewhere"));
    }
    again.input["cwd"] = json!(scene.in_work(""));
    assert_eq!(given(&again.run()), first);
}

#[test]
fn a_project_leads_nobody_out_of_itself_and_the_person_goes_anywhere() {
    let scene = starting("startup");
    fs::write(scene.path("home/diary.md"), "my diary\n").expect("written");
    std::os::unix::fs::symlink(scene.path("home/diary.md"), scene.in_work("link.md")).expect("a link");
    scene.project_config("[memory]\nfiles = [\"link.md\"]\n");
    scene.run().is_silent();
    scene.project_config("[memory]\nfiles = [\"~/diary.md\"]\n");
    let run = scene.run();
    run.answers(
        0,
        "",
        "punchlist: DIR/work/.claude/punchlist.toml: memory.files with a path outside of the project counts only from \
         your own file, DIR/home/.config/punchlist/config.toml: a project may not choose what runs or is read (the \
         default is used)\n",
    );
    scene.project_config("");
    scene.own_config("[memory]\nfiles = [\"~/diary.md\"]\nmandates_file = \"DIR/home/diary.md\"\n");
    assert_eq!(given(&scene.run()).matches("my diary").count(), 2);
}

#[test]
fn switched_off_or_inside_an_auditor_nothing_is_given() {
    for (name, value) in [("PUNCHLIST_OFF", "1"), ("PUNCHLIST_INSIDE_AUDITOR", "1")] {
        let mut scene = starting("startup");
        scene.own_config("[memory]\nmandates = [\"Be kind.\"]\n");
        given(&scene.run());
        scene.var(name, value);
        scene.run().is_silent();
    }
    let scene = starting("startup");
    scene.own_config("[memory]\nmandates = [\"Be kind.\"]\n");
    scene.run_args(&["off"]);
    scene.run().is_silent();
}

/// Holds the session once; gives its scene.
fn held() -> Snapshot {
    let scene = Snapshot::with_drift();
    scene.run().holds();
    assert_eq!(scene.blocks(), 1);
    scene
}

#[test]
fn counts_begin_anew_at_a_start_but_not_in_the_midst_of_a_turn() {
    for (source, blocks) in [("startup", 0), ("resume", 0), ("clear", 0), ("compact", 1)] {
        let mut scene = held();
        let audits = scene.audits_remembered();
        scene.input["hook_event_name"] = json!("SessionStart");
        scene.input["source"] = json!(source);
        scene.run().is_silent();
        assert_eq!((scene.blocks(), scene.audits_remembered()), (blocks, audits), "{source}");
    }
}

#[test]
fn two_hooks_of_one_start_give_once_and_a_later_start_gives_again() {
    let mut scene = starting("startup");
    scene.own_config("[memory]\nmandates = [\"Be kind.\"]\n");
    scene.var("CLAUDE_PID", "7");
    let running = [scene.start(), scene.start()];
    let runs = running.map(|running| scene.finish(running));
    let mut lengths = runs.each_ref().map(|run| run.stdout.len());
    lengths.sort_unstable();
    assert!(lengths[0] == 0 && lengths[1] > 0, "{lengths:?}");
    // Another client takes the session up.
    scene.var("CLAUDE_PID", "8");
    given(&scene.run());
    scene.input["source"] = json!("compact");
    given(&scene.run());
}

#[test]
fn what_can_not_be_remembered_keeps_no_session_from_its_notes() {
    let mut scene = starting("startup");
    scene.own_config("[memory]\nmandates = [\"Be kind.\"]\n");
    fs::write(scene.path("state"), "a file").expect("written");
    scene.var("PUNCHLIST_HOME", scene.path("state"));
    let run = scene.run();
    run.same(&run.status.code(), &Some(0));
    run.check(run.stdout.contains("Be kind."), "it is given");
    run.check(
        run.stderr.starts_with("punchlist: what is counted of this session can't be written: DIR/state: "),
        "and told",
    );
}
