//! The gate at the stops of a session: held with the next feature, let go with a reason, and everybody else left alone.

use serde_json::{Value, json};

use crate::feature_loop::machine::Machine;
use crate::test_machine::ProgramOutput;

const ALL: &[(&str, bool)] = &[("F1", true), ("F2", true), ("F3", true)];
const OPEN: &[(&str, bool)] = &[("F1", true), ("F2", false), ("F3", false)];

fn bound() -> Machine {
    let machine = Machine::begun();
    // There before the session: a change during it would be told.
    machine.write("home/.config/punchlist/config.toml", "[audit]\nenabled = false\n");
    machine.print(&["loop", "start", "--session", "s"]);
    machine
}

/// The reason of a hold.
#[track_caller]
fn held(ran: &ProgramOutput) -> String {
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let reply: Value = serde_json::from_str(&ran.stdout).expect("a reply");
    reply["reason"].as_str().expect("a reason").to_owned()
}

/// What the person is told when a stop goes through.
#[track_caller]
fn told(ran: &ProgramOutput) -> String {
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    let reply: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    reply["systemMessage"].as_str().unwrap_or_default().to_owned()
}

fn stop(machine: &Machine) -> ProgramOutput {
    machine.stop("s", &json!({}))
}

#[test]
fn the_bound_session_is_held_with_the_next_feature_until_all_pass_and_nobody_else_is() {
    let machine = bound();
    machine.write("project/src/a.rs", "1");
    let reason = held(&stop(&machine));
    assert!(reason.starts_with("Punchlist, feature loop: 1 of 3 features pass. This is iteration 1 of 10.\n\nNext feature: F2\nWhat F2 is\nIts steps:\n1. Try it\n"), "{reason}");
    assert!(
        machine
            .read("project/progress.txt")
            .starts_with("iteration: 1\nmax: 10\nstatus: IN_PROGRESS\npassing: 1 of 3\n")
    );
    let other = machine.stop("other", &json!({}));
    assert_eq!((other.code, other.stdout.as_str(), other.stderr.as_str()), (Some(0), "", ""));
    let subagent = machine.stop("s", &json!({ "hook_event_name": "SubagentStop", "agent_id": "a" }));
    assert_eq!((subagent.code, subagent.stdout.as_str()), (Some(0), ""));
    // It goes on though it was held already: that is what keeps it at work.
    machine.list(&[("F1", true), ("F2", true), ("F3", false)]);
    let reason = held(&machine.stop("s", &json!({ "stop_hook_active": true })));
    assert!(
        reason.contains("2 of 3 features pass. This is iteration 2 of 10.\n\nNext feature: F3\n"),
        "{reason}"
    );
    machine.list(ALL);
    assert_eq!(
        told(&stop(&machine)),
        "punchlist: feature loop COMPLETE: all 3 features pass, after 2 iterations"
    );
    assert!(machine.read("project/progress.txt").contains("\nstatus: COMPLETE\npassing: 3 of 3\n"));
    assert_eq!(told(&stop(&machine)), "", "it is over, and the session is free");
    let log = machine.print(&["log", "list", "--json"]);
    let causes: Vec<_> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a record")["cause"].clone())
        .collect();
    assert_eq!(causes[0], "feature-open");
    assert!(causes.contains(&json!("loop-over")), "{causes:?}");
}

#[test]
fn the_limit_lets_go_with_what_is_left() {
    let machine = bound();
    machine.print(&["loop", "start", "--session", "s", "--max", "2"]);
    for text in ["1", "2"] {
        machine.write("project/src/a.rs", text);
        held(&stop(&machine));
    }
    machine.write("project/src/a.rs", "three");
    assert_eq!(
        told(&stop(&machine)),
        "punchlist: feature loop REACHED_LIMIT, after 2 iterations: the limit of 2 iterations is reached; \
         2 features are still open; `punchlist loop start --max` sets it higher"
    );
    let progress = machine.read("project/progress.txt");
    assert!(
        progress.contains("status: REACHED_LIMIT\n") && progress.contains("\nleft: F2, F3\n"),
        "{progress}"
    );
    assert_eq!(
        machine.fails(&["loop", "start", "--session", "s"]),
        "punchlist: the limit of 2 iterations is reached; --max N sets it higher\n"
    );
}

#[test]
fn nothing_that_moved_for_three_iterations_lets_go_and_notes_alone_are_nothing() {
    let machine = bound();
    let reason = held(&stop(&machine));
    assert!(!reason.contains("Nothing has moved"), "nothing was handed out before: {reason}");
    machine.write("project/progress.txt", &(machine.read("project/progress.txt") + "\nI tried hard.\n"));
    let reason = held(&stop(&machine));
    assert!(reason.contains("\nNothing has moved since you were told last"), "{reason}");
    held(&stop(&machine));
    let message = told(&stop(&machine));
    assert!(
        message.starts_with(
            "punchlist: feature loop STALLED, after 3 iterations: nothing moved for 3 iterations"
        ),
        "{message}"
    );
    assert!(machine.read("project/progress.txt").ends_with("\nI tried hard.\n"));
    // A person who begins it again gives it new tries.
    machine.print(&["loop", "start", "--session", "s"]);
    held(&stop(&machine));
}

#[test]
fn a_full_context_is_handed_over_to_a_fresh_session() {
    let machine = bound();
    let answer = |tokens: u64| json!({ "type": "assistant", "message": { "model": "m", "usage": { "input_tokens": 10, "cache_read_input_tokens": tokens, "output_tokens": 5 } } });
    machine.write("s.jsonl", &format!("{}\n", answer(100_000)));
    machine.write("project/src/a.rs", "1");
    held(&stop(&machine));
    machine.write("s.jsonl", &format!("{}\n{}\n", answer(100_000), answer(166_000)));
    assert_eq!(
        told(&stop(&machine)),
        "punchlist: feature loop HANDED_OVER, after 1 iteration: the context is 83 % full; 2 features are still open, \
         for a fresh session: `punchlist loop start` there, or `punchlist loop run`"
    );
    assert_eq!(told(&stop(&machine)), "");
    machine.print(&["loop", "start", "--session", "fresh"]);
    held(&machine.stop("fresh", &json!({})));
    assert_eq!(told(&stop(&machine)), "", "the one before is free");
}

#[test]
fn features_that_are_taken_out_are_asked_for_until_a_person_drops_them() {
    let machine = bound();
    machine.list(&[("F1", true), ("F2", true)]);
    machine.write("project/progress.txt", "status: COMPLETE\n");
    let reason = held(&stop(&machine));
    assert!(reason.contains("progress.txt says COMPLETE, and that is not so yet"), "{reason}");
    assert!(reason.contains("so still open: F3. Put them back as they were"), "{reason}");
    machine.print(&["loop", "start", "--session", "s", "--as-is"]);
    assert!(told(&stop(&machine)).starts_with("punchlist: feature loop COMPLETE: all 2 features pass"));
}

#[test]
fn whoever_is_blocked_says_so_and_is_let_go() {
    let machine = bound();
    machine.write("project/progress.txt", "iteration: 0\nstatus: BLOCKED\nThere is no API key.\n");
    let message = told(&stop(&machine));
    assert!(
        message.contains("feature loop BLOCKED")
            && message.contains("BLOCKED: There is no API key.; 2 features"),
        "{message}"
    );
}

#[test]
fn files_that_can_not_be_read_hold_nobody_and_stay_as_they_are() {
    let machine = bound();
    machine.write("project/feature_list.json", "[{\"id\": \"F1\",");
    let message = told(&stop(&machine));
    assert!(
        message.starts_with("punchlist: feature loop: feature_list.json can't be read: it is not JSON: EOF"),
        "{message}"
    );
    assert_eq!(machine.read("project/feature_list.json"), "[{\"id\": \"F1\",");
    std::fs::remove_file(machine.path("project/feature_list.json")).expect("gone");
    assert_eq!(
        told(&stop(&machine)),
        "punchlist: feature loop: feature_list.json can't be read: it is not there"
    );
    assert_eq!((&machine.status()["iteration"], &machine.status()["session"]), (&json!(0), &json!("s")));
    machine.list(OPEN);
    held(&stop(&machine));
}

#[test]
fn an_older_client_is_known_by_what_it_printed() {
    let machine = Machine::new();
    machine.list(OPEN);
    let said = machine.run_with(&["loop", "init"], &[("CLAUDECODE", "1")]).printed();
    let word = said.trim_end().rsplit(' ').next().expect("a word").to_owned();
    assert!(said.contains("Bound to the session that prints this word, from its next stop on: "), "{said}");
    machine.write("other.jsonl", "{\"type\":\"user\"}\n");
    assert_eq!(told(&machine.stop("other", &json!({}))), "");
    machine
        .write("s.jsonl", &format!("{}\n", json!({ "type": "user", "toolUseResult": { "stdout": said } })));
    machine.write("project/src/a.rs", "1");
    held(&stop(&machine));
    assert_eq!(machine.status()["session"], "s");
    machine.write("other.jsonl", &format!("{word}\n"));
    assert_eq!(told(&machine.stop("other", &json!({}))), "", "the word counts once");
}

#[test]
fn a_dry_run_changes_nothing() {
    let machine = bound();
    machine
        .write("home/.config/punchlist/config.toml", "[gates]\ndry_run = true\n[audit]\nenabled = false\n");
    let before = machine.read("project/progress.txt");
    assert_eq!(told(&stop(&machine)), "");
    assert_eq!(
        (machine.read("project/progress.txt"), machine.status()["iteration"].clone()),
        (before, json!(0))
    );
}

#[test]
fn a_clock_that_was_set_back_changes_nothing() {
    let machine = bound();
    held(&stop(&machine));
    // Whatever was remembered is from the future now.
    let mut files =
        std::fs::read_dir(machine.path("state/loops")).expect("loops").flatten().map(|entry| entry.path());
    let file = files.find(|path| path.extension().is_some_and(|end| end == "json")).expect("one");
    let mut kept: Value = serde_json::from_slice(&std::fs::read(&file).expect("read")).expect("JSON");
    (kept["moved_ms"], kept["begun_ms"]) = (json!(9_999_999_999_999_i64), json!(9_999_999_999_999_i64));
    std::fs::write(&file, kept.to_string()).expect("written");
    machine.write("project/src/a.rs", "1");
    let reason = held(&stop(&machine));
    assert!(reason.contains("This is iteration 2 of 10"), "{reason}");
    assert!(machine.print(&["loop"]).contains("moved"), "and it can be shown");
}

#[test]
fn a_session_that_uses_no_tool_is_let_go_before_the_clients_own_limit() {
    let machine = bound();
    machine
        .write("home/.config/punchlist/config.toml", "[audit]\nenabled = false\n[loop]\nstall_after = 99\n");
    machine.print(&["loop", "start", "--session", "s", "--max", "90"]);
    let row =
        "{\"type\":\"user\",\"isMeta\":true,\"message\":{\"content\":\"Stop hook feedback:\\ngo on\"}}\n";
    for times in 0..6 {
        machine.write("s.jsonl", &row.repeat(times));
        held(&machine.stop("s", &json!({ "stop_hook_active": times > 0 })));
    }
    machine.write("s.jsonl", &row.repeat(6));
    assert_eq!(
        told(&machine.stop("s", &json!({ "stop_hook_active": true }))),
        "punchlist: feature loop STALLED, after 6 iterations: the session was held 6 times in a row and used no tool"
    );
}
