//! Two hooks of one stop at the same time, as the client runs them when the hook is registered
//! twice: one of them decides, the other waits for that and lets go, and the block is counted once.

use serde_json::json;

use crate::processes::eventually;
use crate::test_project::{Running, TestProject};

/// A client that answers only when the test says so: no clock is needed to have both hooks at work.
fn gated(project: &mut TestProject) {
    let client = project
        .shell_client("[ \"$1\" = --help ] || while [ ! -e DIR/go ]; do sleep 0.02; done\nexec FAKE \"$@\"");
    project.var("PUNCHLIST_CLAUDE", client);
}

#[test]
fn two_hooks_of_one_stop_ask_once_and_hold_once() {
    let mut project = TestProject::with_drift();
    gated(&mut project);
    let running = std::cell::RefCell::new(vec![project.start(), project.start()]);
    assert!(eventually(|| project.path("state/clients.json").exists()), "one of them is at work");
    std::thread::sleep(std::time::Duration::from_millis(200));
    let has_ended = running.borrow_mut().iter_mut().any(Running::has_ended);
    assert!(!has_ended, "the other one waits for what it decides");
    std::fs::write(project.path("go"), "").expect("the sign");
    let runs: Vec<_> = running.into_inner().into_iter().map(|running| project.finish(running)).collect();
    let mut codes: Vec<_> = runs.iter().map(|run| run.status.code()).collect();
    codes.sort_unstable();
    runs[1].same(&codes, &vec![Some(0), Some(2)]);
    let let_go = runs.iter().find(|run| run.status.code() == Some(0)).expect("one was let go");
    let_go.is_silent();
    runs[1].same(&(project.blocks(), project.calls().len()), &(1, 2));
    let mut causes: Vec<_> = project.log().iter().map(|record| record["cause"].to_string()).collect();
    causes.sort_unstable();
    runs[1].same(&causes, &vec!["\"findings\"".to_owned(), "\"unchanged\"".to_owned()]);
    // The one that was let go is no next stop of the session: what becomes of the block is not
    // known yet.
    runs[1].same(&project.outcomes(), &Vec::new());
    assert!(project.path("state/sessions/session-1.held").exists());
    project.assert_nobody_is_left();
}

#[test]
fn a_hook_of_another_session_does_not_wait() {
    let mut project = TestProject::with_drift();
    gated(&mut project);
    let first = project.start();
    // It has its place and is about to ask, and then waits for the sign.
    assert!(eventually(|| project.path("state/clients.json").exists()));
    project.input["session_id"] = json!("another");
    project.var("PUNCHLIST_CLAUDE", crate::test_project::FAKE);
    project.run().holds();
    std::fs::write(project.path("go"), "").expect("the sign");
    project.finish(first).holds();
    assert_eq!(project.calls().len(), 4);
}
