//! One claim after the other through one connection, workers who wait, and stops of workers: what
//! the server is asked, and what not.

use std::process::Stdio;
use std::time::{Duration, Instant};

use punchlist::database::{Database, Patience};
use punchlist::registry::{ClaimRequest, NewTask, NewWorker, Registry, TaskId};

use crate::machines::{Fleet, Machine};
use crate::proxy::Proxy;

const LEASE_MS: i64 = 1_800_000;

fn open(fleet: &Fleet, state: &tempfile::TempDir) -> Registry {
    Registry::open(state.path(), Some(&fleet.url())).expect("a registry")
}

fn new(title: &str, assignee: Option<&str>) -> NewTask {
    let assignee = assignee.map(str::to_owned);
    NewTask { title: title.into(), queue: "default".into(), assignee, ..NewTask::default() }
}

fn claimed(registry: &mut Registry) -> Result<Option<String>, String> {
    let claimed = registry.claim("ann", ClaimRequest::default(), LEASE_MS);
    claimed.map(|task| task.map(|task| task.title)).map_err(|error| error.to_string())
}

/// Who claims, with `count` tasks and a claim made a moment ago.
fn after_a_claim(fleet: &Fleet, state: &tempfile::TempDir, count: usize) -> (Registry, Registry) {
    let (mut registry, mut other) = (open(fleet, state), open(fleet, state));
    for number in 1..=count {
        other.add(&new(&format!("task {number}"), None)).expect("added");
    }
    let ann = NewWorker { name: Some("ann".into()), ..NewWorker::default() };
    registry.register(&ann).expect("registered");
    assert_eq!(claimed(&mut registry), Ok(Some("task 1".into())));
    (registry, other)
}

#[test]
fn what_was_assigned_meanwhile_came_after_what_was_open() {
    let Some(fleet) = Fleet::new() else { return };
    let state = tempfile::tempdir().expect("a folder");
    let (mut registry, mut other) = after_a_claim(&fleet, &state, 3);
    other.add(&new("for ann", Some("ann"))).expect("added");
    for title in ["for ann", "task 2", "task 3"] {
        assert_eq!(claimed(&mut registry), Ok(Some(title.into())));
    }
}

#[test]
fn a_worker_who_left_or_whose_tables_changed_meanwhile_was_given_a_task() {
    let Some(fleet) = Fleet::new() else { return };
    let state = tempfile::tempdir().expect("a folder");
    let (mut registry, mut other) = after_a_claim(&fleet, &state, 2);
    fleet.sql("UPDATE punchlist.schema SET version = version + 1");
    let told = claimed(&mut registry).expect_err("a newer version");
    assert!(told.contains("tables of a newer punchlist"), "{told}");
    fleet.sql("UPDATE punchlist.schema SET version = version - 1");
    other.leave("ann").expect("left");
    let told = claimed(&mut registry).expect_err("no such worker");
    assert!(told.starts_with("no worker ann"), "{told}");
    let left = other.task(TaskId(2)).expect("there");
    assert_eq!((left.assignee, left.attempts), (None, 0));
}

#[test]
fn what_a_worker_did_between_two_claims_is_written_down() {
    let Some(fleet) = Fleet::new() else { return };
    let state = tempfile::tempdir().expect("a folder");
    let (mut registry, mut other) = after_a_claim(&fleet, &state, 2);
    registry.set("ann", TaskId(1), punchlist::registry::Status::Completed, None).expect("completed");
    assert_eq!(claimed(&mut registry), Ok(Some("task 2".into())));
    assert_eq!(other.worker("ann").expect("ann").activity, punchlist::registry::Activity::Claimed);
}

/// As behind a pooler that gives each transaction another server.
#[test]
fn a_statement_that_the_server_does_not_know_any_more_is_run_as_it_is() {
    let Some(fleet) = Fleet::new() else { return };
    let connect =
        || Database::connect(&fleet.url(), Patience::Each(Duration::from_secs(30))).expect("connected");
    let ask = |database: &mut Database| {
        let rows = database.repeated_rows("SELECT $1 + 1", &[1_i64.into()]).expect("an answer");
        assert_eq!(rows[0].number(0), Some(2));
    };
    let count = |database: &mut Database| {
        let prepared = "SELECT count(*) FROM pg_prepared_statements";
        database.batch(prepared).expect("a count")[0][0].clone()
    };
    let mut database = connect();
    for expected in ["0", "0", "1", "1"] {
        ask(&mut database);
        assert_eq!(count(&mut database).as_deref(), Some(expected));
    }
    database.batch("DEALLOCATE ALL").expect("forgotten");
    for _ in 0..3 {
        ask(&mut database);
        assert_eq!(count(&mut database).as_deref(), Some("0"));
    }
    // Another client of the same server has taken the names.
    let mut database = connect();
    let taken: Vec<_> = (0..2_000).map(|number| format!("PREPARE s{number} AS SELECT 7")).collect();
    database.batch(&taken.join(";")).expect("prepared");
    for _ in 0..5 {
        ask(&mut database);
    }
}

#[test]
fn a_task_of_another_queue_woke_everybody() {
    let Some(fleet) = Fleet::new() else { return };
    let proxy = Proxy::to(fleet.cluster.port);
    let url = fleet.url_at(proxy.port);
    let (one, other) = (Machine::new("m1", &url), fleet.machine("m2"));
    one.print(&["worker", "register", "w1", "--queue", "ours"]);
    let mut wait = one.command(&["worker", "wait", "w1", "--timeout", "50s", "--json"]);
    let waiting = wait.stdout(Stdio::piped()).spawn().expect("it starts");
    let (mut before, mut quiet) = (proxy.messages(), Instant::now());
    // It has said all that it has to say, and waits.
    while quiet.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(50));
        if proxy.messages() != before {
            (before, quiet) = (proxy.messages(), Instant::now());
        }
    }
    other.print(&["tasks", "add", "theirs", "--queue", "theirs"]);
    other.print(&["tasks", "add", "bob's", "--queue", "theirs", "--assign", "bob"]);
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(proxy.messages(), before, "it asked for a task of another queue");
    other.print(&["tasks", "assign", "t1", "w1"]);
    let output = one.tidy(&waiting.wait_with_output().expect("it ends"));
    let task: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!((&task["task"]["id"], &task["task"]["title"]), (&"t1".into(), &"theirs".into()));
}

#[test]
fn both_gates_of_a_worker_waited_for_a_database_that_does_not_answer() {
    let Some(fleet) = Fleet::new() else { return };
    let proxy = Proxy::to(fleet.cluster.port);
    let url = fleet.url_at(proxy.port);
    let machine = Machine::new("m1", &url);
    machine.configure("m1", &url, "[tasks]\nsource = \"registry\"\n[worker]\nkeep_alive = true\n");
    machine.print(&["worker", "register", "w1", "--session", "s1"]);
    machine.print(&["tasks", "add", "x", "--assign", "w1"]);
    let held = machine.stop("s1");
    assert!(held.code == Some(2) && held.stderr.contains("t1"), "{held:?}");
    proxy.swallow(true);
    // What ships decisions tries once, and leaves it for a while.
    machine.stop("s2");
    let before = proxy.messages();
    let output = machine.stop("s1");
    assert_eq!(proxy.messages() - before, 1, "the first of them tries to connect");
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(output.stdout.matches("did not answer in time").count(), 2, "{output:?}");
}
