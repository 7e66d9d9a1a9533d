//! The commands of a fleet, as they are shown in the docs and typed by people: two machines and one database.

use std::io::Read;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::machines::{Fleet, Machine};
use crate::postgres;

/// Every command that docs and help show and that needs the database. `tests/program/docs.rs` looks here.
const SHOWN: [&str; 10] = [
    "punchlist fleet migrate",
    "punchlist fleet doctor",
    "punchlist fleet doctor --json",
    "punchlist fleet push",
    "punchlist log --fleet",
    "punchlist log stats --fleet --since 7d",
    "punchlist log report --fleet -o report.html",
    "punchlist log label last wrong --fleet",
    "punchlist status --fleet",
    "punchlist log show last --fleet",
];

#[test]
fn every_command_that_is_shown_does_what_it_should() {
    let Some(fleet) = Fleet::new() else { return };
    let machine = fleet.machine("m1");
    machine.stop("s1");
    for command in SHOWN {
        let args: Vec<&str> = command.split(' ').skip(1).collect();
        machine.print(&args);
    }
    assert!(machine.path("code/shop/report.html").exists());
}

#[test]
fn tables_are_made_once_and_versions_that_do_not_fit_are_told() {
    let Some(cluster) = postgres::shared() else { return };
    let name = cluster.empty_database();
    let machine = Machine::new("m1", &cluster.url(&name));
    let server = format!("postgres://127.0.0.1:{}/{name}", cluster.port);
    let told = |args: &[&str]| machine.fails(args).replace(&server, "SERVER");
    assert_eq!(
        told(&["tasks"]),
        "punchlist: SERVER has no tables of punchlist: run `punchlist fleet migrate` as the database's owner\n"
    );
    assert!(machine.stop("s1").stderr.is_empty(), "a stop goes through without a word");
    let migrate = || machine.print(&["fleet", "migrate"]).replace(&server, "SERVER");
    assert_eq!(migrate(), "SERVER has its tables now (version 2).\n");
    assert_eq!(migrate(), "SERVER is up to date (version 2).\n");
    cluster.sql(&name, "UPDATE punchlist.schema SET version = 3");
    let newer =
        "SERVER has tables of a newer punchlist (version 3, this one knows 2): update punchlist here\n";
    for args in [&["tasks"][..], &["fleet", "push"], &["fleet", "migrate"]] {
        assert_eq!(told(args), format!("punchlist: {newer}"), "{args:?}");
    }
    cluster.sql(&name, "UPDATE punchlist.schema SET version = 1");
    assert_eq!(
        told(&["tasks"]),
        "punchlist: SERVER has tables of an older punchlist (version 1, this one needs 2): run `punchlist fleet migrate` \
         as the database's owner\n"
    );
    cluster.sql(&name, "UPDATE punchlist.schema SET version = 2");
    assert_eq!(machine.print(&["fleet", "push"]), "Shipped: 1 line. Nothing is left.\n");
}

#[test]
fn the_doctor_says_what_is_there_and_what_is_not() {
    let Some(fleet) = Fleet::new() else { return };
    let machine = fleet.machine("m1");
    machine.write(
        "state/decisions/2026-01.jsonl",
        "{\"schema\":1,\"id\":\"a\",\"time\":\"2026-01-01T00:00:00Z\"}\n",
    );
    let marks = |machine: &Machine| -> Vec<(String, String)> {
        let output = machine.run(&["fleet", "doctor", "--json"]);
        let diagnosis: Value = serde_json::from_str(&output.stdout).expect("JSON");
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let checks = diagnosis["checks"].as_array().expect("checks").iter();
        checks.map(|check| (text(&check["name"]), text(&check["mark"]))).collect()
    };
    let named = |expected: [(&str, &str); 5]| {
        expected.map(|(name, mark)| (name.to_owned(), mark.to_owned())).to_vec()
    };
    let fine =
        [("database", "fine"), ("tables", "fine"), ("rights", "fine"), ("clock", "fine"), ("spool", "note")];
    assert_eq!(marks(&machine), named(fine));
    machine.print(&["fleet", "push"]);
    let text = machine.print(&["fleet", "doctor"]);
    assert!(
        text.contains("all decisions of this machine are shipped") && text.ends_with("All fine.\n"),
        "{text}"
    );
    let dead = Machine::new("m2", &format!("postgres://x:y@127.0.0.1:{}/z", postgres::free_port()));
    assert_eq!(marks(&dead)[0], ("database".to_owned(), "fault".to_owned()));
}

#[test]
fn two_machines_share_one_queue_and_the_one_that_waits_is_handed_a_task_at_once() {
    let Some(fleet) = Fleet::new() else { return };
    let (one, other) = (fleet.machine("m1"), fleet.machine("m2"));
    assert_eq!(one.json(&["worker", "register", "--json"])["worker"]["name"], "w1");
    let second = other.json(&["worker", "register", "--json"]);
    assert_eq!((&second["worker"]["name"], &second["worker"]["machine"]), (&"w2".into(), &"m2".into()));
    assert_eq!(second["worker"]["project"], "example.org/acme/shop", "the same on every machine");
    let mut waiting = other.command(&["worker", "wait", "w2", "--timeout", "50s", "--json"]);
    let mut waiting = waiting.stdout(std::process::Stdio::piped()).spawn().expect("it starts");
    // Not before it waits.
    let end = Instant::now() + Duration::from_secs(40);
    let listens =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    while fleet.sql(listens) != "1" && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(50));
    }
    let added = Instant::now();
    one.print(&["tasks", "add", "Mend the gate", "--retries", "1"]);
    let mut text = String::new();
    waiting.stdout.take().expect("stdout").read_to_string(&mut text).expect("text");
    assert!(waiting.wait().expect("it ends").success());
    assert!(added.elapsed() < Duration::from_secs(30), "it did not wait for its own look");
    let task: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&task["task"]["id"], &task["task"]["assignee"]), (&"t1".into(), &"w2".into()));
    assert_eq!(
        one.print(&["tasks", "claim", "--worker", "w1"]),
        "No open task in the queue default of this project.\n"
    );
    assert_eq!(other.print(&["tasks", "complete", "t1", "--worker", "w2"]), "Completed: t1 Mend the gate\n");
    assert_eq!(
        other.fails(&["tasks", "complete", "t1", "--worker", "w2"]),
        "punchlist: t1 is completed already, by w2; `punchlist tasks show t1` has its story\n"
    );
    assert!(!one.path("state/registry.sqlite").exists(), "no file stands beside the database");
}

#[test]
fn decisions_of_all_machines_are_one_log_and_a_label_counts_for_all() {
    let Some(fleet) = Fleet::new() else { return };
    let (one, other) = (fleet.machine("m1"), fleet.machine("m2"));
    one.stop("s1");
    other.stop("s2");
    for machine in [&one, &other] {
        machine.run(&["fleet", "push"]);
    }
    let list = |machine: &Machine, args: &[&str]| -> Vec<Value> {
        let text = machine.print(&[&["log", "list", "--fleet", "--json"], args].concat());
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let all = list(&one, &[]);
    let machines: Vec<_> = all.iter().map(|line| line["machine"].as_str().expect("a name")).collect();
    assert_eq!((all.len(), machines.contains(&"m1"), machines.contains(&"m2")), (2, true, true));
    assert_eq!(list(&one, &["--session", "s2"]).len(), 1);
    assert_eq!(list(&one, &["-n", "1"]).len(), 1);
    assert_eq!(list(&one, &["--project", "shop"]).len(), 2);
    let id = list(&one, &["--session", "s2"])[0]["id"].as_str().expect("an id").to_owned();
    one.print(&["log", "label", &id, "wrong", "--note", "it was right", "--fleet"]);
    let seen = list(&other, &["--outcome", "wrong"]);
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(other.print(&["status", "--fleet"]).contains("shop@m1"));
}
