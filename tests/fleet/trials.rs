//! Trials of the queue under load and bad luck: many claimers, a server that is killed, clocks that
//! are wrong, workers that die, tables of the first version.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use punchlist::database::{Database, Patience, schema};
use punchlist::registry::{ClaimRequest, NewWorker, Registry, Status, TaskFilter};

use crate::machines::{Fleet, Machine};
use crate::postgres::{self, Cluster};
use crate::proxy::Proxy;
use crate::rights::pasted;

const URL: &str = "PUNCHLIST_TRIAL_URL";
const PROCESS: &str = "PUNCHLIST_TRIAL_PROCESS";
const THREADS: usize = 4;
const PROCESSES: usize = 8;

/// How many tasks a trial has: fewer than a whole one, unless the variable says so.
fn task_count() -> usize {
    if std::env::var("PUNCHLIST_FLEET").as_deref() == Ok("all") { 10_000 } else { 1_500 }
}

/// Opens a registry, for as long as it takes: the server may be down.
fn open(url: &str, state: &std::path::Path) -> Registry {
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        match Registry::open(state, Some(url)) {
            Ok(registry) => return registry,
            Err(error) if Instant::now() > end => panic!("{error}"),
            Err(_) => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// One claimer: claims and completes until nothing is left, and begins anew whenever the connection
/// is lost.
fn claim_all(url: &str, name: &str) {
    let state = tempfile::tempdir().expect("a folder");
    let mut registry = open(url, state.path());
    loop {
        let claimed = round(&mut registry, name);
        match claimed {
            Ok(true) => {}
            Ok(false) => return,
            Err(_) => {
                std::thread::sleep(Duration::from_millis(50));
                registry = open(url, state.path());
            }
        }
    }
}

/// Claims and completes a task; returns whether there was one.
fn round(registry: &mut Registry, name: &str) -> Result<bool, punchlist::registry::RegistryError> {
    let claimed = match registry.claim(name, ClaimRequest::default(), 600_000) {
        Err(punchlist::registry::RegistryError::NoWorker(_)) => {
            registry.register(&NewWorker { name: Some(name.to_owned()), ..NewWorker::default() })?;
            return Ok(true);
        }
        claimed => claimed?,
    };
    if let Some(task) = claimed {
        registry.set(name, task.id, Status::Completed, None)?;
        return Ok(true);
    }
    // What was claimed when the connection was lost is known to the server alone.
    let mine = TaskFilter {
        statuses: vec![Status::Accepted],
        assignee: Some(name.to_owned()),
        ..TaskFilter::default()
    };
    let left = registry.tasks(&mine)?;
    for task in &left {
        registry.set(name, task.id, Status::Completed, None)?;
    }
    Ok(!left.is_empty())
}

/// A process of claimers, run by the trials below.
#[test]
#[ignore = "a part of other tests, which run it in processes of its own"]
fn claimers() {
    let (Ok(url), Ok(process)) = (std::env::var(URL), std::env::var(PROCESS)) else { return };
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (url, process) = (&url, &process);
            scope.spawn(move || claim_all(url, &format!("c{process}-{thread}")));
        }
    });
}

fn start_claimers(url: &str) -> Vec<Child> {
    let own = std::env::current_exe().expect("this test");
    (0..PROCESSES)
        .map(|process| {
            let mut command = Command::new(&own);
            command.args(["--ignored", "--exact", "trials::claimers"]).stdout(Stdio::null());
            command.env(URL, url).env(PROCESS, process.to_string()).spawn().expect("it starts")
        })
        .collect()
}

fn add_tasks(cluster: &Cluster, name: &str, count: usize) {
    cluster.sql(
        name,
        &format!(
            "INSERT INTO punchlist.tasks (title, queue, status, created_ms, updated_ms)
             SELECT 'task ' || n, 'default', 'open', 0, 0 FROM generate_series(1, {count}) AS n"
        ),
    );
}

/// How many tasks stand where, and how many were completed or claimed other than once.
fn tally(cluster: &Cluster, name: &str) -> (String, String, String) {
    let sql = |sql: &str| cluster.sql(name, sql).trim_end().to_owned();
    let other_than_once = |what: &str| {
        sql(&format!(
            "SELECT count(*) FROM (SELECT t.id FROM punchlist.tasks t LEFT JOIN punchlist.events e ON e.task = t.id
             AND e.what = '{what}' GROUP BY t.id HAVING count(e.id) <> 1) AS x"
        ))
    };
    (
        sql("SELECT string_agg(DISTINCT status, ',') || ' ' || count(*) FROM punchlist.tasks"),
        other_than_once("claimed"),
        other_than_once("completed"),
    )
}

#[test]
fn thirty_two_claimers_in_eight_processes_do_each_task_exactly_once() {
    let Some(fleet) = Fleet::new() else { return };
    let count = task_count();
    add_tasks(fleet.cluster, &fleet.name, count);
    for mut child in start_claimers(&fleet.url()) {
        assert!(child.wait().expect("it ends").success());
    }
    let expected = (format!("completed {count}"), "0".to_owned(), "0".to_owned());
    assert_eq!(tally(fleet.cluster, &fleet.name), expected);
    let workers = "SELECT count(DISTINCT assignee) > 1 FROM punchlist.tasks";
    assert_eq!(fleet.sql(workers), "t", "more than one of them worked");
}

#[test]
fn claims_and_signs_of_life_of_one_worker_waited_for_each_other() {
    const WORKERS: usize = 4;
    const ROUNDS: usize = 60;
    /// So short that each sign of life renews what is in hand.
    const LEASE_MS: i64 = 2_000;
    let Some(fleet) = Fleet::new() else { return };
    add_tasks(fleet.cluster, &fleet.name, WORKERS * ROUNDS);
    let state = tempfile::tempdir().expect("a folder");
    let name = |worker: usize| format!("w{worker}");
    let mut registry = open(&fleet.url(), state.path());
    for worker in 0..WORKERS {
        let new = NewWorker { name: Some(name(worker)), ..NewWorker::default() };
        registry.register(&new).expect("registered");
    }
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            for claims in [true, false] {
                let (fleet, state, name) = (&fleet, &state, name(worker));
                scope.spawn(move || {
                    let mut registry = open(&fleet.url(), state.path());
                    for _ in 0..ROUNDS {
                        if claims {
                            let claimed = registry.claim(&name, ClaimRequest::default(), LEASE_MS);
                            claimed.expect("a claim");
                        } else {
                            registry.heartbeat(&name).expect("a sign of life");
                        }
                    }
                });
            }
        }
    });
    // The server counts them when a session ends, and now and then.
    std::thread::sleep(Duration::from_millis(1_500));
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(fleet.sql(deadlocks), "0");
}

#[test]
fn a_server_that_is_killed_and_comes_back_loses_no_task_and_does_none_twice() {
    let Some(cluster) = Cluster::start(&["max_connections=100"]) else { return };
    let (name, count) = (cluster.database(), task_count());
    add_tasks(&cluster, &name, count);
    let children = start_claimers(&cluster.url(&name));
    let done = || {
        let done = cluster.sql(&name, "SELECT count(*) FROM punchlist.tasks WHERE status = 'completed'");
        done.trim().parse::<usize>().expect("a number")
    };
    let end = Instant::now() + Duration::from_secs(60);
    while done() < count / 10 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(done() < count, "it is killed in the middle");
    cluster.kill();
    cluster.run_server();
    for mut child in children {
        assert!(child.wait().expect("it ends").success());
    }
    let expected = (format!("completed {count}"), "0".to_owned(), "0".to_owned());
    assert_eq!(tally(&cluster, &name), expected);
}

#[test]
fn behind_a_network_that_delays_drops_and_cuts_each_task_is_done_exactly_once() {
    let Some(fleet) = Fleet::new() else { return };
    let count = task_count() / 3;
    add_tasks(fleet.cluster, &fleet.name, count);
    let proxy = Proxy::to(fleet.cluster.port);
    let children = start_claimers(&fleet.url_at(proxy.port));
    let done = || {
        let done = fleet.sql("SELECT count(*) FROM punchlist.tasks WHERE status = 'completed'");
        done.parse::<usize>().expect("a number")
    };
    let moment = || std::thread::sleep(Duration::from_millis(250));
    let end = Instant::now() + Duration::from_secs(60);
    let mut cuts = 0;
    while done() < count && Instant::now() < end {
        proxy.delay(Duration::from_millis(30));
        moment();
        proxy.delay(Duration::ZERO);
        moment();
        // What was sent is lost, and nobody is told until the connection is cut.
        proxy.swallow(true);
        moment();
        proxy.cut(true);
        proxy.swallow(false);
        moment();
        proxy.cut(false);
        cuts += 1;
        // Enough of it; the rest is done in peace.
        if cuts == 4 {
            break;
        }
        moment();
    }
    assert!(cuts > 0, "it was cut in the middle");
    for mut child in children {
        assert!(child.wait().expect("it ends").success());
    }
    let expected = (format!("completed {count}"), "0".to_owned(), "0".to_owned());
    assert_eq!(tally(fleet.cluster, &fleet.name), expected);
}

#[test]
fn a_worker_that_is_killed_with_a_task_in_hand_gives_it_back_when_its_lease_is_over() {
    let Some(fleet) = Fleet::new() else { return };
    let (one, other) = (fleet.machine("m1"), fleet.machine("m2"));
    for machine in [&one, &other] {
        machine.configure("m", &fleet.url(), "[worker]\nlease = \"3s\"\n");
    }
    one.print(&["worker", "register", "w1"]);
    other.print(&["worker", "register", "w2"]);
    let mut wait = one.command(&["worker", "wait", "w1", "--timeout", "50s"]);
    let mut waiting = wait.stdout(Stdio::piped()).spawn().expect("it starts");
    // It is told more than a pipe takes, and nobody reads it: it is there when it is killed.
    let mut add = other.command(&["tasks", "add", "x", "--body", "-"]);
    let mut add = add.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    add.stdin.take().expect("stdin").write_all("long ".repeat(50_000).as_bytes()).expect("read");
    assert!(add.wait().expect("it ends").success());
    let taken = "SELECT count(*) FROM punchlist.tasks WHERE assignee = 'w1' AND status = 'accepted'";
    let end = Instant::now() + Duration::from_secs(40);
    while fleet.sql(taken) != "1" && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(waiting.try_wait().expect("a process").is_none(), "it has the task, and runs");
    waiting.kill().expect("killed");
    waiting.wait().expect("it ends");
    let claim = || other.json(&["tasks", "claim", "--worker", "w2", "--json"]);
    assert!(claim()["task"].is_null(), "the lease runs on");
    std::thread::sleep(Duration::from_millis(3_300));
    let task = claim();
    assert_eq!((&task["task"]["id"], &task["task"]["attempts"]), (&"t1".into(), &2.into()));
    let told = one.fails(&["tasks", "complete", "t1", "--worker", "w1"]);
    assert_eq!(
        told,
        "punchlist: t1 is w2's (accepted), not w1's; `punchlist tasks claim` takes another one\n"
    );
}

#[test]
fn clocks_that_are_an_hour_apart_neither_steal_nor_starve() {
    let Some(fleet) = Fleet::new() else { return };
    let fake = which::which("faketime").ok();
    let Some(fake) = fake else {
        assert!(
            std::env::var("PUNCHLIST_POSTGRES").as_deref() != Ok("required"),
            "faketime is not installed"
        );
        eprintln!("SKIPPED: there is no faketime here");
        return;
    };
    let machine = fleet.machine("m1");
    let at = |clock: &str, args: &[&str]| -> serde_json::Value {
        let args = [&["-f", clock, crate::test_machine::PUNCHLIST], args, &["--json"]].concat();
        let mut command = machine.program(fake.to_str().expect("a path"), &machine.path("code/shop"), &args);
        serde_json::from_str(&machine.run_command(&mut command).printed()).expect("JSON")
    };
    at("+0", &["worker", "register", "true"]);
    at("+1h", &["worker", "register", "ahead"]);
    at("-1h", &["worker", "register", "behind"]);
    let now = jiff::Timestamp::now();
    for worker in at("+1h", &["worker", "list"])["workers"].as_array().expect("workers") {
        let heard: jiff::Timestamp = worker["heartbeat"].as_str().expect("a time").parse().expect("a time");
        assert!((now.as_second() - heard.as_second()).abs() < 600, "by the server's clock: {worker}");
        assert_eq!(worker["is_alive"], true, "{worker}");
    }
    at("-1h", &["tasks", "add", "x"]);
    assert_eq!(at("+0", &["tasks", "claim", "--worker", "true"])["task"]["id"], "t1");
    // The lease is half an hour, and by the clock of the first its time is long over.
    assert!(at("+1h", &["tasks", "claim", "--worker", "ahead"])["task"].is_null(), "nothing is stolen");
    at("-1h", &["tasks", "add", "y"]);
    assert_eq!(
        at("-1h", &["tasks", "claim", "--worker", "behind"])["task"]["id"],
        "t2",
        "and nobody starves"
    );
    assert_eq!(at("+1h", &["tasks", "complete", "t2", "--worker", "behind"])["task"]["status"], "completed");
}

#[test]
fn tables_of_the_first_version_are_migrated_with_what_is_in_them() {
    let Some(cluster) = postgres::shared() else { return };
    let name = cluster.empty_database();
    let url = cluster.url(&name);
    let patience = Patience::Each(Duration::from_secs(30));
    let mut database = Database::connect(&url, patience).expect("connected");
    let first = schema::migrate(&mut database, Some(1)).expect("the first tables");
    assert_eq!((first.from, first.to), (0, 1));
    cluster.sql(
        &name,
        "INSERT INTO punchlist.tasks (title, queue, status, assignee, created_ms, updated_ms, lease_ms, lease_until_ms) VALUES
         ('open', 'default', 'open', NULL, 1, 1, NULL, NULL),
         ('taken', 'default', 'accepted', 'ann', 1, 1, 1800000, 99999999999999)",
    );
    cluster.sql(
        &name,
        "INSERT INTO punchlist.events (task, at_ms, what) VALUES (1, 1, 'added'), (2, 1, 'added')",
    );
    cluster.sql(&name, "INSERT INTO punchlist.workers VALUES ('ann', 'worker', 'default', 's', NULL, NULL, 1, 1, 1, 'claimed')");
    // A hook has its rights already, and decisions are parted by month.
    let rights = pasted(&name, 1).replace("punchlist.prerequisites, ", "");
    let rights: Vec<_> = rights.lines().filter(|line| !line.contains("FUNCTION")).collect();
    cluster.sql(&name, &rights.join("\n"));
    let decision = "INSERT INTO punchlist.decisions (id, at, machine, decision, cause, record) VALUES ('d', now(), 'm', 'allow', 'clean', '{}')";
    cluster.sql(&name, decision);
    // The key of the first tables has no time in it.
    let unkeyed = "ALTER TABLE punchlist.decisions_before DROP CONSTRAINT decisions_pkey;\nCREATE TABLE";
    cluster.sql(&name, &pasted(&name, 2).replacen("CREATE TABLE", unkeyed, 1));
    let machine = Machine::new("m1", &url);
    let told = machine.fails(&["tasks", "claim", "--worker", "ann"]);
    assert!(told.contains("tables of an older punchlist (version 1, this one needs"), "{told}");
    let told = machine.print(&["fleet", "migrate"]);
    assert!(told.ends_with(&format!(" was brought from version 1 to {}.\n", schema::VERSION)), "{told}");
    let keys = "SELECT string_agg(conname || ' ' || pg_get_constraintdef(oid), ', ') FROM pg_constraint WHERE conrelid = 'punchlist.events'::regclass";
    assert_eq!(cluster.sql(&name, keys), "events_pkey PRIMARY KEY (task, id)\n");
    let indexes = "SELECT count(*) FROM pg_index WHERE indrelid = 'punchlist.events'::regclass";
    assert_eq!(cluster.sql(&name, indexes), "1\n");
    assert_eq!(cluster.sql(&name, "SELECT count(*) FROM punchlist.events"), "2\n");
    assert_eq!(cluster.sql(&name, "SELECT count(*) FROM punchlist.decisions"), "1\n");
    let hook = url.replace("postgres:not", &format!("punchlist_hook_{name}:not"));
    Machine::new("m2", &hook).print(&["tasks", "start", "t2", "--worker", "ann"]);
    let tasks = machine.json(&["tasks", "list", "--all-projects", "--json"]);
    let tasks: Vec<_> =
        tasks["tasks"].as_array().expect("tasks").iter().map(|task| task["status"].clone()).collect();
    assert_eq!(tasks, ["open", "in_progress"]);
    assert_eq!(
        machine.json(&["tasks", "show", "t2", "--json"])["task"]["history"].as_array().expect("lines").len(),
        2
    );
    machine.print(&["tasks", "complete", "t2", "--worker", "ann"]);
}

#[test]
fn a_waiting_worker_asks_a_handful_of_times_a_minute() {
    let Some(fleet) = Fleet::new() else { return };
    let proxy = Proxy::to(fleet.cluster.port);
    let url = fleet.url_at(proxy.port);
    let machine = Machine::new("m1", &url);
    machine.print(&["worker", "register", "w1"]);
    let before = proxy.messages();
    machine.print(&["worker", "wait", "w1", "--timeout", "5s"]);
    let sent = proxy.messages() - before;
    eprintln!("a wait of five seconds sends {sent} messages, the ones that connect among them");
    assert!(sent < 16, "{sent}");
}
