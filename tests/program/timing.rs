//! Where the time goes: `PUNCHLIST_TRACE` ends with a table for a person, the log keeps the same
//! numbers, and the answer is the same as without.

use serde_json::{Value, json};

use crate::test_project::{Run, TestProject};

/// The table at the end of stderr: each row's name, milliseconds and share.
#[track_caller]
fn table(run: &Run) -> Vec<(String, f64, f64)> {
    let rows: Vec<Vec<&str>> = run.stderr.lines().map(|line| line.split_whitespace().collect()).collect();
    let head = rows.iter().position(|row| row[..] == ["phase", "ms", "share"]);
    run.check(head.is_some(), "there is a table");
    let number = |text: &str| text.trim_end_matches('%').parse().expect("a number");
    rows[head.expect("a table") + 1..]
        .iter()
        .map(|row| (row[0].to_owned(), number(row[1]), number(row[2])))
        .collect()
}

#[track_caller]
fn adds_up(run: &Run, rows: &[(String, f64, f64)]) {
    let (total, parts) = rows.split_last().expect("rows");
    run.same(&(total.0.as_str(), total.2), &("total", 100.0));
    let sum: f64 = parts.iter().map(|(_, ms, _)| ms).sum();
    // Each row is rounded to a thousandth.
    run.check((sum - total.1).abs() < 0.05, "the rows come to the total");
}

#[test]
fn a_trace_ends_with_the_time_of_every_phase() {
    let mut project = TestProject::with_drift();
    project.run().holds();
    project.works_on();
    project.var("PUNCHLIST_TRACE", "1");
    let run = project.run();
    run.same(&run.status.code(), &Some(2));
    let reply: Value = serde_json::from_str(&run.stdout).expect("nothing but the reply on stdout");
    run.same(&reply["decision"], &json!("block"));
    let rows = table(&run);
    let names: Vec<&str> = rows.iter().map(|(name, ..)| name.as_str()).collect();
    let mut expected = vec![
        "start", "input", "config", "state", "wait", "read", "plan", "evidence", "facts", "prompt",
        "auditor", "second-reader", "remember", "log", "rest", "total",
    ];
    run.same(&names, &expected);
    adds_up(&run, &rows);

    // The line of the log is written before its own time is known.
    expected.retain(|name| !["log", "rest"].contains(name));
    expected.sort_unstable();
    let logged = run.record()["phases_ms"].as_object().expect("phases");
    run.same(&logged.keys().map(String::as_str).collect::<Vec<_>>(), &expected);
    run.check(logged.values().all(Value::is_number), "numbers");
    let is_fine = logged.values().filter_map(Value::as_f64).any(|ms| ms.fract() != 0.0);
    run.check(is_fine, "finer than a millisecond");
}

#[test]
fn a_stop_that_is_let_go_at_once_has_few_phases_and_no_trace_unasked() {
    let mut project = TestProject::with_drift();
    project.input["stop_hook_active"] = json!(true);
    let run = project.run();
    run.is_silent();
    let names: Vec<_> = run.record()["phases_ms"].as_object().expect("phases").keys().cloned().collect();
    run.same(&names, &["config", "input", "remember", "state", "total"].map(String::from).to_vec());
    project.var("PUNCHLIST_TRACE", "1");
    let run = project.run();
    run.same(&(run.status.code(), run.stdout.as_str()), &(Some(0), ""));
    let rows = table(&run);
    let names: Vec<&str> = rows.iter().map(|(name, ..)| name.as_str()).collect();
    run.same(&names, &vec!["start", "input", "config", "state", "log", "rest", "total"]);
    adds_up(&run, &rows);
}
