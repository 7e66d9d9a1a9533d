//! Everything that can become of the first reader, on a session that only a reader could fault:
//! what is decided, what the person is told, what the log says, that it ends in time, and that
//! nobody is left. The second one is in `second`.

use serde_json::{Value, json};

use crate::processes::assert_is_gone;
use crate::test_project::{GREETING, HELP, LONG, OLD_HELP, OTHERS, Run, TestProject, answer, finds};

/// The script's lines for an answer with one finding, which the second reader upholds.
fn one_finding() -> String {
    format!("{}\n{OTHERS}", finds(&[GREETING]))
}

/// A session that only a reader can fault, with this client.
fn asked(script: &str) -> (TestProject, Run) {
    let project = TestProject::with_a_wrong_greeting();
    project.client(script);
    let run = project.run();
    (project, run)
}

/// Asserts that the reader's finding holds the stop, and that nobody is left.
#[track_caller]
fn holds(project: &TestProject, run: &Run) {
    let reason = run.holds();
    run.check(
        reason.contains("\n   notes/beta.txt says something else\n"),
        "the reader's words are in the reason",
    );
    run.logs("block", "findings");
    run.logs_auditor("answered", None);
    let finding = &run.record()["findings"][0];
    run.same(
        &(&finding["category"], &finding["status"], &finding["source"]),
        &(&json!("A"), &json!("confirmed"), &json!("reader")),
    );
    project.assert_nobody_is_left();
}

/// Asserts that the stop goes through, that the person is told this, and that nobody is left.
#[track_caller]
fn passes(project: &TestProject, run: &Run, cause: &str, told: &str, (outcome, detail): (&str, &str)) {
    run.tells(&format!("this stop was not audited: {told}"));
    run.logs("allow", cause);
    let auditor = &run.record()["auditor"];
    let got = auditor["detail"].as_str().map(|detail| project.tidy(detail)).unwrap_or_default();
    run.same(&(auditor["outcome"].as_str(), got.as_str()), &(Some(outcome), detail));
    run.same(&(&run.record()["findings"], project.blocks()), &(&json!([]), 0));
    project.assert_nobody_is_left();
}

/// The same, for one that could not be asked or could not answer.
#[track_caller]
fn unavailable(script: &str, why: &str) -> TestProject {
    let (project, run) = asked(script);
    passes(&project, &run, "auditor-unavailable", why, ("unavailable", why));
    project
}

/// The same, for an answer that does not count.
#[track_caller]
fn unreadable(script: &str, why: &str) {
    let (project, run) = asked(script);
    let told = format!("the first reader's answer is not valid: {why}");
    passes(&project, &run, "auditor-unreadable", &told, ("unreadable", why));
}

/// The same, for one that takes too long; `timeout` is set to a second.
#[track_caller]
fn times_out(script: &str) -> (TestProject, Run) {
    let project = TestProject::with_a_wrong_greeting();
    project.own_config("[auditor]\ntimeout = \"1s\"\n");
    project.client(script);
    let run = project.run();
    run.tells("this stop was not audited: the first reader gave no answer in 1 s");
    run.logs("allow", "auditor-timeout");
    run.same(&run.record()["auditor"]["outcome"], &json!("timed-out"));
    run.check(run.wall.as_secs_f64() >= 0.9, "it has its time");
    project.assert_nobody_is_left();
    (project, run)
}

// ---- it answers

#[test]
fn an_answer_that_comes_at_once_counts() {
    let (project, run) = asked(&one_finding());
    holds(&project, &run);
    let auditor = &run.record()["auditor"];
    run.same(&(&auditor["model"], &auditor["backend"]), &(&json!("haiku"), &json!("claude")));
    run.same(&auditor["usage"]["input_tokens"], &json!(100));
    run.same(&auditor["usage"]["cost_usd"], &json!(0.0012));
}

#[test]
fn an_answer_that_comes_late_but_in_time_counts() {
    let (project, run) = asked(&format!("sleep 1500\n{}", one_finding()));
    holds(&project, &run);
    run.check(run.wall.as_secs_f64() >= 1.5, "it was waited for");
}

#[test]
fn an_answer_without_findings_lets_the_stop_go() {
    let (project, run) = asked(&finds(&[]));
    run.is_silent();
    run.logs("allow", "clean");
    run.logs_auditor("answered", None);
    project.assert_nobody_is_left();
}

#[test]
fn a_finding_that_the_disk_refutes_holds_nobody_and_nobody_is_asked_about_it() {
    let project = TestProject::with_a_wrong_greeting();
    project.readers(&[&GREETING.replace("wrong-content", "missing")]);
    let run = project.run();
    run.is_silent();
    run.logs("allow", "clean");
    let finding = &run.record()["findings"][0];
    run.same(
        &(&finding["status"], &finding["check"]),
        &(&json!("refuted"), &json!("notes/beta.txt is there, 13 bytes")),
    );
    run.same(&project.questions(), &vec!["first".to_owned()]);
}

#[test]
fn a_finding_that_can_not_be_shown_is_told_and_holds_nobody() {
    let invented =
        GREETING.replace("Say 'good evening' in `notes/beta.txt`", "Rewrite the scheduler in assembly");
    let (_, run) = asked(&finds(&[&invented]));
    run.logs("allow", "only-unverified");
    run.same(&run.record()["findings"][0]["status"], &json!("cannot-verify"));
    let reply: Value = serde_json::from_str(&run.stdout).expect("a reply");
    run.same(&reply.as_object().map(serde_json::Map::len), &Some(1));
    run.check(
        reply["systemMessage"].as_str().is_some_and(|said| said.contains("Rewrite the scheduler")),
        "the person is told",
    );
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
}

#[test]
fn a_client_without_a_schema_may_put_prose_around_its_one_answer() {
    let (project, run) = asked(&format!(
        "{OLD_HELP}first text-answer Here it is:\\n```json\\n{}\\n```\\nBye {{sic}}.\n\
             second text-answer ```json\\n{{\"findings\":[],\"candidates\":[],\"verdicts\":[{{\"number\":1,\"uphold\":true,\"why\":\"It is so.\"}}]}}\\n```",
        answer(&[GREETING])
    ));
    holds(&project, &run);
}

// ---- it leaves somebody behind

#[test]
fn a_grandchild_that_holds_the_pipes_is_not_waited_for_and_not_left() {
    let (project, run) = asked(&format!("grandchild-holds-pipes {LONG} DIR/pid\n{}", one_finding()));
    holds(&project, &run);
    assert_is_gone(project.pid_in("pid"));
}

#[test]
fn a_grandchild_in_a_session_of_its_own_is_not_waited_for_and_not_left() {
    let (project, run) = asked(&format!("grandchild-setsid {LONG} DIR/pid\n{}", one_finding()));
    holds(&project, &run);
    assert_is_gone(project.pid_in("pid"));
}

// ---- it takes too long

#[test]
fn a_client_that_hangs_is_ended_at_the_deadline() {
    times_out("hang");
}

#[test]
fn a_client_that_ignores_sigterm_is_ended_all_the_same() {
    times_out("ignore-sigterm\nhang");
}

#[test]
fn a_client_that_does_not_read_its_prompt_is_ended_at_the_deadline() {
    times_out("leave-stdin\nrecord DIR/calls\nhang");
}

#[test]
fn a_client_that_hangs_with_a_grandchild_is_ended_with_it() {
    let (project, _) = times_out(&format!("grandchild-holds-pipes {LONG} DIR/pid\nhang"));
    assert_is_gone(project.pid_in("pid"));
}

#[test]
fn half_an_answer_before_the_deadline_is_none() {
    times_out("stdout {\"type\":\"result\",\"is_error\":false,\nhang");
}

#[test]
fn a_whole_answer_from_a_client_that_does_not_end_is_none() {
    times_out(&format!("{}\nhang", one_finding()));
}

#[test]
fn a_client_whose_help_hangs_is_ended_at_the_deadline() {
    let mut project = TestProject::with_a_wrong_greeting();
    project.own_config("[auditor]\ntimeout = \"1s\"\n");
    let client = project.shell_client("echo $$ > DIR/pid; exec sleep 600");
    project.var("PUNCHLIST_CLAUDE", client);
    let run = project.run();
    run.tells("this stop was not audited: the first reader gave no answer in 1 s");
    run.logs("allow", "auditor-timeout");
    assert_is_gone(project.pid_in("pid"));
}

#[test]
fn the_hooks_own_timeout_bounds_the_auditor_too() {
    let project = TestProject::with_a_wrong_greeting();
    project.client("hang");
    // Five seconds of it are kept for the answer.
    let run = project.run_args(&["hook", "--hook-timeout", "6"]);
    run.logs("allow", "auditor-timeout");
    run.check(run.wall.as_secs_f64() < 6.0 + 10.0, "it ends about when it must");
    project.assert_nobody_is_left();
}

// ---- it says something else

#[test]
fn a_flood_is_cut_and_no_answer() {
    unreadable("flood 50000000", "it printed more than 4194304 bytes");
}

#[test]
fn garbage_is_no_answer() {
    unreadable("stdout Hello\\n there", "it did not print its result as JSON: Hello there");
}

#[test]
fn nothing_at_all_is_no_answer() {
    unreadable("exit 0", "it did not print its result as JSON: ");
}

#[test]
fn half_a_result_is_no_answer() {
    let half = r#"{"type":"result","is_error":false,"structured_output":{"find"#;
    unreadable(&format!("stdout {half}"), &format!("it did not print its result as JSON: {half}"));
}

#[test]
fn an_answer_that_does_not_fit_the_schema_is_none() {
    unreadable(
        r#"misfit {"findings":[],"candidates":[],"verdicts":[],"approved":true}"#,
        "unknown field `approved`, expected one of `findings`, `candidates`, `verdicts` at line 1 column 11",
    );
}

#[test]
fn with_a_schema_an_answer_in_prose_is_none() {
    unreadable(&format!("text-answer Here it is: {}", answer(&[GREETING])), "it has no structured answer");
}

#[test]
fn without_a_schema_two_answers_are_none() {
    unreadable(
        &format!("{OLD_HELP}text-answer Either {} or {}", answer(&[GREETING]), answer(&[])),
        "its text holds more than one answer",
    );
}

#[test]
fn without_a_schema_a_text_without_an_answer_is_none() {
    unreadable(&format!("{OLD_HELP}text-answer All good!"), "its text holds no JSON object");
}

// ---- it fails

#[test]
fn exit_code_1_is_a_failure_of_the_client() {
    unavailable("stderr boom\nexit 1", "the client failed (exit code 1: boom)");
}

#[test]
fn exit_code_3_is_a_failure_of_the_client() {
    unavailable("stderr boom\nexit 3", "the client failed (exit code 3: boom)");
}

#[test]
fn a_good_answer_with_a_bad_exit_code_is_none() {
    unavailable(&format!("{}\nexit 3", one_finding()), "the client failed (exit code 3)");
}

#[test]
fn a_client_that_is_killed_is_a_failure_of_the_client() {
    unavailable("crash-signal", "the client failed (it was ended by signal 9)");
}

#[test]
fn a_client_that_is_not_logged_in_is_said_to_be() {
    unavailable(
        "api-error Not logged in · Please run /login",
        "the client is not logged in where hooks run (Not logged in · Please run /login); \
         log in with `claude`, or set ANTHROPIC_API_KEY",
    );
}

#[test]
fn a_rate_limit_is_said_to_be_one() {
    unavailable(
        "api-error API Error: 429 slow down",
        "the model's service is limiting requests (API Error: 429 slow down)",
    );
}

#[test]
fn a_success_that_is_an_error_is_no_answer_however_good_it_looks() {
    let envelope = json!({
        "type": "result", "subtype": "success", "is_error": true, "result": "API Error: 529 Overloaded",
        "structured_output": serde_json::from_str::<Value>(&answer(&[GREETING])).expect("JSON"),
    });
    unavailable(
        &format!("stdout {}", envelope.to_string().replace('\\', "\\\\")),
        "the model's service failed (API Error: 529 Overloaded)",
    );
}

// ---- it is not there

#[test]
fn a_client_that_is_not_there_is_said_to_be_missing() {
    let mut project = TestProject::with_a_wrong_greeting();
    project.var("PUNCHLIST_CLAUDE", "/nowhere/claude");
    let run = project.run();
    let why = "no `claude` program was found (looked at /nowhere/claude); \
               PUNCHLIST_CLAUDE or `[auditor] client` can name it";
    passes(&project, &run, "auditor-unavailable", why, ("unavailable", why));
    run.same(&project.calls().len(), &0);
}

#[test]
fn a_client_that_is_not_executable_is_said_to_be_missing() {
    let mut project = TestProject::with_a_wrong_greeting();
    let client = project.path("claude");
    std::fs::write(&client, "#!/bin/sh\n").expect("a file");
    project.var("PUNCHLIST_CLAUDE", &client);
    let run = project.run();
    let why = "no `claude` program was found (looked at DIR/claude); \
               PUNCHLIST_CLAUDE or `[auditor] client` can name it";
    passes(&project, &run, "auditor-unavailable", why, ("unavailable", why));
}

#[test]
fn a_client_that_can_not_be_started_is_said_to_be_so() {
    use std::os::unix::fs::PermissionsExt;
    let mut project = TestProject::with_a_wrong_greeting();
    let client = project.path("claude");
    std::fs::write(&client, [0xff; 64]).expect("a file");
    std::fs::set_permissions(&client, std::fs::Permissions::from_mode(0o755)).expect("executable");
    project.var("PUNCHLIST_CLAUDE", &client);
    let run = project.run();
    let why = "DIR/claude could not be started: Exec format error (os error 8)";
    passes(&project, &run, "auditor-unavailable", why, ("unavailable", why));
}

// ---- it is of another version

#[test]
fn a_flag_that_the_client_refuses_is_left_out_and_remembered() {
    let mut project = TestProject::with_a_wrong_greeting();
    // `on-call` makes the fake count its calls; none is the ninety-ninth.
    project.client(&format!("{HELP}on-call 99 exit 3\nrefuse-flag --effort\n{}", one_finding()));
    let calls = project.path("script.calls");
    let count = || std::fs::read(&calls).map_or(0, |calls| calls.len());
    let run = project.run();
    holds(&project, &run);
    // Its help, the call that it refuses, and the two readers.
    run.same(&count(), &4);
    project.wrote("alpha.txt", "more\n");
    let run = project.run();
    holds(&project, &run);
    run.same(&count(), &7);
    for call in project.calls() {
        run.check(call["argv"].as_array().is_some_and(|argv| !argv.contains(&json!("--effort"))), "left out");
    }
    run.check(!run.record()["auditor"]["flags"].to_string().contains("--effort"), "not in the log");
    let known =
        std::fs::read_to_string(project.path("state/clients.json")).expect("what is known of clients");
    run.check(known.contains("--json-schema") && !known.contains("--effort"), &known);
}

#[test]
fn a_client_that_refuses_everything_is_given_up() {
    let refused = HELP.trim_end().trim_start_matches("help").replace(" --", "\nrefuse-flag --");
    let project = TestProject::with_a_wrong_greeting();
    project.client(&format!("{HELP}{refused}\n{}", one_finding()));
    let run = project.run();
    run.logs("allow", "auditor-unavailable");
    run.same(&run.status.code(), &Some(0));
    run.same(&project.blocks(), &0);
}

// ---- and what is proven without it

#[test]
fn what_the_disk_proves_holds_when_the_auditor_hangs() {
    let project = TestProject::with_drift();
    project.own_config("[auditor]\ntimeout = \"1s\"\n");
    project.client("hang");
    let run = project.run();
    run.holds();
    run.logs("block", "findings");
    run.same(&run.record()["auditor"]["outcome"], &json!("timed-out"));
    run.same(&run.record()["findings"][0]["source"], &json!("facts"));
    project.assert_nobody_is_left();
}

#[test]
fn what_the_disk_proves_holds_when_there_is_no_client() {
    let mut project = TestProject::with_drift();
    project.var("PUNCHLIST_CLAUDE", "/nowhere/claude");
    let run = project.run();
    run.holds();
    run.logs("block", "findings");
    run.same(&run.record()["auditor"]["outcome"], &json!("unavailable"));
}
