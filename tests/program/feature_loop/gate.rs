//! The gate at the stops of a session: held with the next feature, let go with a reason, and
//! everybody else left alone.

use serde_json::{Value, json};

use crate::feature_loop::machine::Machine;
use crate::test_machine::ProgramOutput;

pub(super) const ALL: &[(&str, bool)] = &[("F1", true), ("F2", true), ("F3", true)];
const OPEN: &[(&str, bool)] = &[("F1", true), ("F2", false), ("F3", false)];

pub(super) fn bound() -> Machine {
    let machine = Machine::begun();
    // There before the session: a change during it would be told.
    machine.write("home/.config/punchlist/config.toml", "[audit]\nenabled = false\n");
    machine.print(&["loop", "start", "--session", "s"]);
    machine
}

/// The reason of a hold.
#[track_caller]
pub(super) fn held(ran: &ProgramOutput) -> String {
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let reply: Value = serde_json::from_str(&ran.stdout).expect("a reply");
    reply["reason"].as_str().expect("a reason").to_owned()
}

/// What the person is told when a stop goes through.
#[track_caller]
pub(super) fn told(ran: &ProgramOutput) -> String {
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    let reply: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    reply["systemMessage"].as_str().unwrap_or_default().to_owned()
}

pub(super) fn stop(machine: &Machine) -> ProgramOutput {
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
    machine.write("project/src/a.rs", "2");
    machine.list(&[("F1", true), ("F2", true), ("F3", false)]);
    let reason = held(&machine.stop("s", &json!({ "stop_hook_active": true })));
    assert!(
        reason.contains("2 of 3 features pass. This is iteration 2 of 10.\n\nNext feature: F3\n"),
        "{reason}"
    );
    machine.write("project/src/a.rs", "3");
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

/// `sed -i s/false/true/ feature_list.json` was COMPLETE.
#[test]
fn marks_with_no_work_behind_them_are_set_back_and_named() {
    let machine = bound();
    held(&stop(&machine));
    machine.list(ALL);
    let reason = held(&stop(&machine));
    let no_work = "no file changed and nothing was committed since it was handed out. Where it works already, add a test that shows it";
    assert!(
        reason.contains(&format!(
            "Set to pass in feature_list.json, and set back to open:\n- F2: {no_work}\n- F3: {no_work}\n"
        )),
        "{reason}"
    );
    assert!(reason.contains("1 of 3 features pass."), "{reason}");
    let list: Value = serde_json::from_str(&machine.read("project/feature_list.json")).expect("JSON");
    let marks: Vec<_> =
        list["features"].as_array().expect("a list").iter().map(|one| one["passes"].clone()).collect();
    assert_eq!(marks, [json!(true), json!(false), json!(false)]);
    // Nor does it help to begin the loop again.
    machine.list(ALL);
    machine.run_with(&["loop", "start"], &[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s")]).printed();
    assert!(held(&stop(&machine)).contains("set back to open:\n- F2"));
    // Nor to mark them by command, with or without a terminal, and not to say whose command it is.
    let inside = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s")];
    machine.run_with(&["loop", "pass", "F2", "F3"], &[("CLAUDECODE", "")]).printed();
    assert!(held(&stop(&machine)).contains("set back to open:\n- F2"));
    machine.typed("unset CLAUDECODE CLAUDE_CODE_SESSION_ID; punchlist loop pass F2 F3", &inside);
    assert!(held(&stop(&machine)).contains("set back to open:\n- F2"));
    // A person's word needs no work.
    assert_eq!(machine.typed("punchlist loop pass F2 F3", &[]), "F2, F3: passes; 3 of 3 pass now\n");
    assert!(told(&stop(&machine)).starts_with("punchlist: feature loop COMPLETE: all 3 features pass"));
}

/// `loop stop` and `loop init`, both run by the session, took every mark for looked into.
#[test]
fn a_session_that_begins_its_loop_anew_vouches_for_no_mark() {
    let inside = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s")];
    let machine = bound();
    held(&stop(&machine));
    machine.list(ALL);
    machine.run_with(&["loop", "stop"], &inside).printed();
    machine.run_with(&["loop", "init", "--max", "10"], &inside).printed();
    let reason = held(&stop(&machine));
    assert!(reason.contains("set back to open:\n- F2") && reason.contains("\n- F3"), "{reason}");
    // Nor with a list that lacks what is open.
    machine.list(&ALL[..1]);
    machine.run_with(&["loop", "stop"], &inside).printed();
    machine.run_with(&["loop", "init", "--max", "10"], &inside).printed();
    assert!(held(&stop(&machine)).contains("so still open: F2, F3"));
    // Once it is complete, another list is another matter.
    machine.list(OPEN);
    machine.typed("punchlist loop pass F2 F3", &[]);
    assert!(told(&stop(&machine)).contains("feature loop COMPLETE"));
    machine.write("project/feature_list.json", r#"[{"id":"G1","passes":true},{"id":"G2"}]"#);
    machine.run_with(&["loop", "init", "--max", "10"], &inside).printed();
    let reason = held(&stop(&machine));
    assert!(reason.contains("1 of 2 features pass") && !reason.contains("set back"), "{reason}");
}

/// An agent that ran `loop stop` was let go without a word.
#[test]
fn a_loop_that_the_session_halted_itself_is_told_once() {
    let machine = bound();
    held(&stop(&machine));
    machine.run_with(&["loop", "stop"], &[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s")]).printed();
    assert_eq!(told(&machine.stop("other", &json!({}))), "");
    assert_eq!(
        told(&stop(&machine)),
        "punchlist: feature loop PAUSED, after 1 iteration: halted by `punchlist loop stop`, which this session ran"
    );
    assert_eq!(told(&stop(&machine)), "");
}

/// `sed` on one feature and `git commit -am x` passed for work.
#[test]
fn a_commit_of_the_mark_alone_is_no_work() {
    let machine = bound();
    let commit = || {
        machine.git(&["add", "-A"]);
        machine.git(&["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "x"]);
    };
    commit();
    held(&stop(&machine));
    machine.list(&[("F1", true), ("F2", true), ("F3", false)]);
    commit();
    assert!(held(&stop(&machine)).contains("set back to open:\n- F2: no file changed"));
    machine.write("project/src/a.rs", "1");
    machine.list(&[("F1", true), ("F2", true), ("F3", false)]);
    commit();
    assert!(held(&stop(&machine)).contains("2 of 3 features pass"));
}

#[test]
fn several_that_are_set_at_once_are_judged_by_a_reader() {
    let judged = |script: &str| {
        let machine = bound();
        machine.write("project/src/a.rs", "1");
        machine.list(ALL);
        let stop = machine.stop_with_client("s", script);
        let stats: Value =
            serde_json::from_str(&machine.print(&["log", "stats", "--json"])).expect("figures");
        assert_eq!(stats["days"][0]["cost_usd"], json!(0.0012), "the call is in the log");
        stop
    };
    let verdicts = r#"features answer {"features":[{"number":1,"built":true,"why":"It is there."},{"number":2,"built":false,"why":"Nothing of it is there."}]}"#;
    let reason = held(&judged(verdicts));
    assert!(
        reason.contains("set back to open:\n- F3: a reader finds no work for it: Nothing of it is there.\n"),
        "{reason}"
    );
    assert!(reason.contains("2 of 3 features pass."), "{reason}");
    // What could not be judged is not wrong: the session may go, and the loop stays open.
    let message =
        told(&judged(r#"features answer {"features":[{"number":1,"built":true,"why":"It is there."}]}"#));
    let open = "punchlist: feature loop: all features are set to pass, and it stays open: ";
    let of_one = format!("{open}F3 was set to pass, and nobody could judge that: the reader did not");
    assert!(message.starts_with(&of_one), "{message}");
}

/// What no reader had judged was COMPLETE, with a line that said so.
#[test]
fn what_nobody_could_judge_stays_open_until_somebody_can() {
    let machine = bound();
    machine.write("project/src/a.rs", "1");
    machine.list(ALL);
    let message = told(&machine.stop_with_client("s", "exit 3"));
    let open = "punchlist: feature loop: all features are set to pass, and it stays open: F2, F3 were set to pass at \
                once, and nobody could judge that: no reader could judge them, ";
    let ways = ". A `verify` in the list would show it; `punchlist loop pass`, typed by you, takes your word";
    assert!(message.starts_with(open) && message.ends_with(ways), "{message}");
    assert_eq!(machine.status()["status"], "IN_PROGRESS");
    let built = r#"features answer {"features":[{"number":1,"built":true,"why":"It is there."},{"number":2,"built":true,"why":"It is there."}]}"#;
    let message = told(&machine.stop_with_client("s", built));
    assert!(message.starts_with("punchlist: feature loop COMPLETE: all 3 features pass"), "{message}");
}

/// A transcript of a session that ran one command at a time.
fn ran_at(line: &str, from: jiff::Timestamp, to: jiff::Timestamp) -> String {
    let call = json!({ "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": line } });
    let result = json!({ "type": "tool_result", "tool_use_id": "t1", "content": "" });
    let row = |kind: &str, time: jiff::Timestamp, content: &Value| json!({ "type": kind, "timestamp": time.to_string(), "message": { "role": kind, "content": [content] } });
    format!("{}\n{}\n", row("assistant", from, &call), row("user", to, &result))
}

/// A person's own save, or another session's, passed for the work behind a mark.
#[test]
fn work_of_somebody_else_is_no_work_of_this_session() {
    let machine = bound();
    let begun = jiff::Timestamp::now();
    held(&stop(&machine));
    std::thread::sleep(std::time::Duration::from_millis(30));
    machine.write("project/src/theirs.rs", "1");
    std::thread::sleep(std::time::Duration::from_millis(30));
    let sed = jiff::Timestamp::now();
    machine.list(&[("F1", true), ("F2", true), ("F3", false)]);
    let line = "sed -i s/false/true/ feature_list.json";
    machine.write("s.jsonl", &ran_at(line, sed, jiff::Timestamp::now()));
    let reason = held(&stop(&machine));
    let others = "set back to open:\n- F2: what changed since it was handed out was not changed by this session. \
                  Where it works already, add a test that shows it\n";
    assert!(reason.contains(others), "{reason}");
    // The same file counts where a command of the session wrote it.
    machine.write("project/src/theirs.rs", "2");
    machine.list(&[("F1", true), ("F2", true), ("F3", false)]);
    machine.write("s.jsonl", &ran_at("make", begun, jiff::Timestamp::now()));
    assert!(held(&stop(&machine)).contains("2 of 3 features pass"));
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
    machine.write("project/src/a.rs", "1");
    machine.list(&[("F1", true), ("F2", true)]);
    machine.write("project/progress.txt", "status: COMPLETE\n");
    let reason = held(&stop(&machine));
    assert!(reason.contains("progress.txt says COMPLETE, and that is not so yet"), "{reason}");
    assert!(reason.contains("so still open: F3. Put them back as they were"), "{reason}");
    machine.typed("punchlist loop start --session s --as-is", &[]);
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
