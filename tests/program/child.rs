//! The client ends its hooks by a signal, when the person goes on or the hook's time is up. What
//! the hook answers then is thrown away: it must go at once, take the auditor along, and hold
//! nobody.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::processes::{assert_is_gone, eventually};
use crate::test_project::TestProject;

/// Sends `signal` to a hook whose auditor hangs.
fn signalled(project: &TestProject, signal: Signal, name: &str) {
    project.client("ignore-sigterm\nhang");
    let running = project.start();
    assert!(eventually(|| !project.calls().is_empty()), "the auditor is at work");
    running.signal(signal);
    let sent = Instant::now();
    let run = project.finish(running);
    run.check(sent.elapsed() < Duration::from_secs(10), "it ends at once");
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
    if !run.stdout.is_empty() {
        let reply: Value = serde_json::from_str(&run.stdout).expect("a reply");
        run.check(reply["systemMessage"].is_string(), "the person is told");
        run.same(&reply.as_object().map(serde_json::Map::len), &Some(1));
    }
    run.same(&run.record()["decision"], &json!("allow"));
    run.logs_auditor("interrupted", Some(name));
    run.same(&project.blocks(), &0);
    project.assert_nobody_is_left();
    let left: Vec<_> = std::fs::read_dir(project.path("tmp")).expect("the folder").collect();
    run.check(left.is_empty(), "the auditor's folder is gone");
}

#[test]
fn sigterm_ends_the_hook_and_its_auditor() {
    signalled(&TestProject::with_a_wrong_greeting(), Signal::TERM, "SIGTERM");
}

#[test]
fn sigint_ends_the_hook_and_its_auditor() {
    signalled(&TestProject::with_a_wrong_greeting(), Signal::INT, "SIGINT");
}

#[test]
fn sighup_ends_the_hook_and_its_auditor() {
    signalled(&TestProject::with_a_wrong_greeting(), Signal::HUP, "SIGHUP");
}

/// Held back by nobody who would see it, a block would only use up the session's budget.
#[test]
fn a_hook_that_is_told_to_end_holds_nobody_even_for_what_the_disk_proves() {
    signalled(&TestProject::with_drift(), Signal::TERM, "SIGTERM");
}

#[test]
fn a_signal_while_the_client_tells_of_its_flags_ends_the_hook_too() {
    let mut project = TestProject::with_a_wrong_greeting();
    let client = project.shell_client("echo $$ > DIR/pid.new; mv DIR/pid.new DIR/pid; exec sleep 600");
    project.var("PUNCHLIST_CLAUDE", client);
    let running = project.start();
    assert!(eventually(|| project.path("pid").exists()), "the client is at work");
    running.signal(Signal::TERM);
    let run = project.finish(running);
    run.tells("this stop was not audited: ended by SIGTERM");
    run.logs("allow", "error");
    run.logs_auditor("interrupted", Some("SIGTERM"));
    assert_is_gone(project.pid_in("pid"));
}
