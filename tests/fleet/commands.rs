//! The commands of a fleet, as they are shown in the docs and typed by people: two machines and one
//! database.

use std::io::Read;
use std::time::{Duration, Instant};

use punchlist::database::schema::VERSION;
use serde_json::Value;

use crate::machines::{Fleet, Machine};
use crate::postgres::{self, PASSWORD};
use crate::proxy::Proxy;

/// Every command that docs and help show and that needs the database. `tests/program/docs.rs` looks
/// here.
const SHOWN: [&str; 11] = [
    "punchlist fleet migrate",
    "punchlist fleet doctor",
    "punchlist fleet doctor --json",
    "punchlist fleet push",
    "punchlist log --fleet",
    "punchlist log --fleet --machine build-7",
    "punchlist log stats --fleet --since 7d",
    "punchlist log report --fleet -o report.html",
    "punchlist log label last wrong --fleet",
    "punchlist status --fleet",
    "punchlist log show last --fleet",
];

#[test]
fn every_command_that_is_shown_does_what_it_should() {
    let Some(fleet) = Fleet::new() else { return };
    let machine = fleet.machine("build-7");
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
    assert_eq!(migrate(), format!("SERVER has its tables now (version {VERSION}).\n"));
    assert_eq!(migrate(), format!("SERVER is up to date (version {VERSION}).\n"));
    machine.print(&["worker", "register", "w1"]);
    machine.print(&["tasks", "add", "one"]);
    let claim = ["tasks", "claim", "--worker", "w1"];
    let untouched = || {
        let task = "SELECT status, attempts, assignee, lease_until_ms FROM punchlist.tasks";
        assert_eq!(
            cluster.sql(&name, task),
            "open|0||\n",
            "it was claimed before the versions were compared"
        );
    };
    let set_version =
        |version| cluster.sql(&name, &format!("UPDATE punchlist.schema SET version = {version}"));
    let (newer, older) = (VERSION + 1, VERSION - 1);
    set_version(newer);
    let newer = format!(
        "SERVER has tables of a newer punchlist (version {newer}, this one knows {VERSION}): update punchlist here\n"
    );
    for args in [&["tasks"][..], &claim, &["log", "--fleet"], &["fleet", "push"], &["fleet", "migrate"]] {
        assert_eq!(told(args), format!("punchlist: {newer}"), "{args:?}");
    }
    untouched();
    set_version(older);
    for args in [&["tasks"][..], &claim, &["log", "--fleet"]] {
        assert_eq!(
            told(args),
            format!(
                "punchlist: SERVER has tables of an older punchlist (version {older}, this one needs {VERSION}): run \
                 `punchlist fleet migrate` as the database's owner\n"
            ),
            "{args:?}"
        );
    }
    untouched();
    set_version(VERSION);
    assert_eq!(machine.print(&["fleet", "push"]), "Shipped: 1 line. Nothing is left.\n");
}

#[test]
fn a_database_that_can_not_keep_every_text_had_lines_given_up() {
    let Some(cluster) = postgres::shared() else { return };
    let name = cluster.empty_database();
    let latin = format!("{name}_latin");
    cluster
        .sql("postgres", &format!("CREATE DATABASE {latin} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"));
    let machine = Machine::new("m1", &cluster.url(&latin));
    let told = machine.fails(&["fleet", "migrate"]);
    assert!(
        told.ends_with(" keeps texts as LATIN1: create the database anew, with ENCODING 'UTF8'\n"),
        "{told}"
    );
    let told = machine.run(&["fleet", "doctor"]).stdout;
    assert!(
        told.contains(", which keeps texts as LATIN1") && told.contains("with ENCODING 'UTF8'"),
        "{told}"
    );
}

#[test]
fn a_missing_password_and_a_missing_database_were_told_as_something_else() {
    let Some(fleet) = Fleet::new() else { return };
    let nameless = fleet.url().replace(&format!(":{PASSWORD}@"), "@");
    for (url, why) in [
        (nameless, "the fleet's database is named wrongly: password missing"),
        (fleet.url() + "x", "has no such database: create it there, with ENCODING 'UTF8'"),
        (fleet.url().replace(PASSWORD, "other"), "password authentication failed"),
    ] {
        let machine = Machine::new("m1", &url);
        let told = machine.fails(&["tasks"]);
        assert!(told.contains(why) && !told.contains("other"), "{told}");
    }
}

#[test]
fn the_variable_names_the_database_and_a_project_can_not() {
    let Some(fleet) = Fleet::new() else { return };
    let machine = fleet.machine("m1");
    machine.write("home/.config/punchlist/config.toml", "");
    machine.write("code/shop/.claude/punchlist.toml", &format!("[fleet]\ndatabase = \"{}\"\n", fleet.url()));
    let output = machine.run(&["tasks", "add", "here"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    machine.stop("s1");
    assert!(machine.run(&["fleet", "push"]).stderr.contains("none is set"));
    assert!(machine.path("state/registry.sqlite").exists());
    let counts = "SELECT (SELECT count(*) FROM punchlist.tasks), (SELECT count(*) FROM punchlist.decisions)";
    assert_eq!(fleet.sql(counts), "0|0", "a project's file does not count");
    for args in [&["tasks", "add", "there"][..], &["fleet", "push"]] {
        let mut command = machine.command(args);
        let output = machine.run_command(command.env("PUNCHLIST_DATABASE_URL", fleet.url()));
        assert_eq!(output.code, Some(0), "{}", output.stderr);
    }
    assert_eq!(fleet.sql(counts), "1|1");
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

/// Returns once a worker has looked, found nothing, and waits.
fn until_one_waits(sql: impl Fn(&str) -> String) {
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle'
                   AND application_name LIKE 'punchlist/%' AND query LIKE '%punchlist.claim%'
                   AND clock_timestamp() - state_change > interval '300 ms'";
    let end = Instant::now() + Duration::from_secs(40);
    while sql(waiting).trim() != "1" && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(50));
    }
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
    until_one_waits(|sql| fleet.sql(sql));
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
fn a_worker_that_waits_goes_on_when_the_server_is_started_anew() {
    let Some(cluster) = postgres::Cluster::start(&["fsync=off"]) else { return };
    let name = cluster.database();
    let machine = Machine::new("m1", &cluster.url(&name));
    machine.print(&["worker", "register", "w1"]);
    let mut waiting = machine.command(&["worker", "wait", "w1", "--timeout", "50s", "--json"]);
    let waiting = waiting.stdout(std::process::Stdio::piped()).spawn().expect("it starts");
    until_one_waits(|sql| cluster.sql(&name, sql));
    cluster.kill();
    // Longer than any single try to connect.
    std::thread::sleep(Duration::from_secs(12));
    cluster.run_server();
    until_one_waits(|sql| cluster.sql(&name, sql));
    machine.print(&["tasks", "add", "Mend the gate"]);
    let output = machine.tidy(&waiting.wait_with_output().expect("it ends"));
    assert_eq!(output.code, Some(0), "{output:?}");
    let task: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(task["task"]["id"], "t1");
}

#[test]
fn a_wait_that_began_while_the_server_was_away_ended_after_five_seconds() {
    let Some(cluster) = postgres::Cluster::start(&["fsync=off"]) else { return };
    let name = cluster.database();
    let machine = Machine::new("m1", &cluster.url(&name));
    for worker in ["w1", "w2"] {
        machine.print(&["worker", "register", worker]);
        machine.print(&["tasks", "add", "Mend the gate", "--assign", worker]);
    }
    cluster.kill();
    let begun = Instant::now();
    let told = machine.fails(&["worker", "wait", "w1", "--timeout", "1s"]);
    assert!(told.contains("can't be reached") && begun.elapsed() < Duration::from_secs(15), "{told}");
    let waiting = [
        &["worker", "wait", "w1", "--timeout", "50s", "--json"][..],
        &["tasks", "claim", "--worker", "w2", "--wait", "50s", "--json"],
    ]
    .map(|args| machine.command(args).stdout(std::process::Stdio::piped()).spawn().expect("it starts"));
    // Longer than a single try to connect.
    std::thread::sleep(Duration::from_secs(8));
    cluster.run_server();
    for (waiting, id) in waiting.into_iter().zip(["t1", "t2"]) {
        let output = machine.tidy(&waiting.wait_with_output().expect("it ends"));
        assert_eq!(output.code, Some(0), "{output:?}");
        let task: Value = serde_json::from_str(&output.stdout).expect("JSON");
        assert_eq!(task["task"]["id"], id);
    }
}

#[test]
fn a_claim_whose_answer_was_lost_left_its_worker_waiting_for_another_task() {
    let Some(fleet) = Fleet::new() else { return };
    let proxy = Proxy::to(fleet.cluster.port);
    let url = fleet.url_at(proxy.port);
    let (one, other) = (Machine::new("m1", &url), fleet.machine("m2"));
    one.print(&["worker", "register", "w1"]);
    other.print(&["tasks", "add", "An earlier one"]);
    one.print(&["tasks", "claim", "--worker", "w1"]);
    proxy.lose("Mend the gate");
    other.print(&["tasks", "add", "Mend the gate"]);
    let task = one.json(&["worker", "wait", "w1", "--timeout", "20s", "--json"]);
    assert_eq!((&task["task"]["id"], &task["task"]["attempts"]), (&"t2".into(), &1.into()));
}

#[test]
fn sessions_of_other_machines_were_none_and_one_decision_did_not_name_its_machine() {
    let Some(fleet) = Fleet::new() else { return };
    let (one, other) = (fleet.machine("m1"), fleet.machine("m2"));
    for (machine, session) in [(&one, "s1"), (&other, "s2"), (&other, "s3")] {
        machine.stop(session);
        machine.run(&["fleet", "push"]);
    }
    // The third was held, by a gate that is named, and by another.
    fleet.sql(
        r#"UPDATE punchlist.decisions SET decision = 'block', at = at + interval '1 second', record = record ||
           '{"decision": "block", "gates": [{"gate": "audit", "outcome": "hold"}, {"gate": "checks", "outcome": "pass"}]}'
           WHERE session = 's3';
           INSERT INTO punchlist.decisions (id, at, machine, session, decision, cause, record)
           SELECT 'old', now() - interval '2 days', 'm3', 's0', decision, cause, record
           FROM punchlist.decisions WHERE session = 's1'"#,
    );
    let viewer = fleet.machine("m9");
    let shown = viewer.json(&["status", "--fleet", "--json"]);
    let sessions: Vec<_> = shown["sessions"].as_array().expect("sessions").iter().collect();
    let named: Vec<_> = sessions.iter().map(|line| (&line["session"], &line["machine"])).collect();
    assert_eq!(named.len(), 3, "{named:?}");
    assert_eq!(named[0], (&"s3".into(), &"m2".into()));
    assert!(named.contains(&(&"s1".into(), &"m1".into())) && named.contains(&(&"s2".into(), &"m2".into())));
    assert_eq!(
        (&sessions[0]["blocks"], &sessions[0]["held_by"]),
        (&1.into(), &serde_json::json!({"audit": 1}))
    );
    let text = viewer.print(&["status", "--fleet"]);
    assert!(text.contains("machine") && text.contains("audit 1"), "{text}");
    assert!(!viewer.print(&["status"]).contains("m2"), "its own screen has its own sessions");
    let story = viewer.print(&["log", "show", "last", "--fleet"]);
    assert!(story.lines().any(|line| line.contains("machine") && line.ends_with("m2")), "{story}");
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
    let of_second = list(&one, &["--machine", "m2"]);
    assert_eq!((of_second.len(), &of_second[0]["session"]), (1, &"s2".into()));
    assert_eq!(list(&one, &["--project", "shop"]).len(), 2);
    let id = list(&one, &["--session", "s2"])[0]["id"].as_str().expect("an id").to_owned();
    let noted = one.run(&["log", "label", &id, "wrong", "--note", "it was right", "--fleet"]);
    assert_eq!(
        noted.stderr,
        "punchlist: the label is shared, and your note is not: [fleet] ship_evidence is off\n"
    );
    assert_eq!(fleet.sql("SELECT note->>'label', note->>'note' FROM punchlist.notes"), "wrong|");
    let seen = list(&other, &["--outcome", "wrong"]);
    assert_eq!(seen.len(), 1, "{seen:?}");
    // A machine whose clock is an hour ahead does not have the last word by that.
    fleet.sql("UPDATE punchlist.notes SET at = at + interval '1 hour'");
    other.configure("m2", &fleet.url(), "ship_evidence = true\n");
    other.print(&["log", "label", &id, "right", "--note", "it was wrong", "--fleet"]);
    assert_eq!(fleet.sql("SELECT count(*) FROM punchlist.notes WHERE note->>'note' = 'it was wrong'"), "1");
    assert_eq!(list(&one, &["--outcome", "wrong"]).len(), 0);
    assert_eq!(list(&one, &["--outcome", "right"]).len(), 1);
    assert!(other.print(&["status", "--fleet"]).contains("shop@m1"));
}
