//! Decisions come to the database once, whatever happens on the way, and no stop waits for it.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::machines::{Fleet, Machine};
use crate::postgres::{PASSWORD, free_port};
use crate::proxy::Proxy;

fn stored(fleet: &Fleet) -> String {
    fleet.sql("SELECT count(*), count(DISTINCT id) FROM punchlist.decisions")
}

/// The number of decisions in the local log.
fn logged(machine: &Machine) -> usize {
    let files = std::fs::read_dir(machine.path("state/decisions")).expect("a log").flatten();
    files.map(|file| std::fs::read_to_string(file.path()).expect("text").lines().count()).sum()
}

#[test]
fn a_stop_ships_its_decision_and_what_is_shipped_twice_is_stored_once() {
    let Some(fleet) = Fleet::new() else { return };
    let machine = fleet.machine("m1");
    for session in ["s1", "s2", "s3"] {
        assert_eq!(machine.stop(session).stderr, "");
    }
    machine.print(&["fleet", "push"]);
    assert_eq!(stored(&fleet), "3|3");
    std::fs::remove_file(machine.path("state/fleet-cursor.json")).expect("a cursor");
    assert_eq!(machine.print(&["fleet", "push"]), "Shipped: 3 lines. Nothing is left.\n");
    assert_eq!(stored(&fleet), "3|3");
    assert_eq!(machine.print(&["fleet", "push"]), "Nothing was left to ship.\n");
    assert_eq!(
        fleet.sql("SELECT DISTINCT machine, project, record->>'project' FROM punchlist.decisions"),
        "m1|example.org/acme/shop|example.org/acme/shop"
    );
}

#[test]
fn a_log_that_was_cut_and_a_line_that_can_not_be_stored_keep_nothing_back() {
    let Some(fleet) = Fleet::new() else { return };
    let machine = fleet.machine("m1");
    let line = |id: &str| {
        format!(
            "{{\"schema\":1,\"id\":\"{id}\",\"time\":\"2026-01-01T00:00:00Z\",\"session\":\"a\\u0000b\",\"cause\":\"clean\"}}\n"
        )
    };
    let log = "state/decisions/2026-01.jsonl";
    machine.write(log, &format!("{}{}torn {{\n", line("a"), line("b")));
    machine.print(&["fleet", "push"]);
    // The oldest line is pruned, and another is written.
    machine.write(log, &format!("{}torn {{\n{}", line("b"), line("c")));
    let pushed = machine.print(&["fleet", "push"]);
    // A NUL in a session's name is what PostgreSQL has no place for.
    assert!(pushed.starts_with("Shipped: "), "{pushed}");
    machine.write(log, &format!("{}{}", line("b"), line("d").replace("\\u0000", "")));
    machine.print(&["fleet", "push"]);
    assert_eq!(
        fleet.sql("SELECT string_agg(id, ',' ORDER BY id) FROM punchlist.decisions WHERE id = 'd'"),
        "d"
    );
}

#[test]
fn a_database_that_is_down_slow_or_cut_off_costs_a_moment_and_loses_nothing() {
    let Some(fleet) = Fleet::new() else { return };
    let proxy = Proxy::to(fleet.cluster.port);
    let url = |port: u16| format!("postgres://postgres:{PASSWORD}@127.0.0.1:{port}/{}", fleet.name);
    let machine = Machine::new("m1", &url(proxy.port));
    let stop = |session: &str| {
        // Each tries anew.
        let _ = std::fs::remove_file(machine.path("state/fleet-cursor.json"));
        let begun = Instant::now();
        let output = machine.stop(session);
        assert_eq!((output.code, output.stdout.as_str(), output.stderr.as_str()), (Some(0), "", ""));
        begun.elapsed()
    };
    let quick = stop("up");
    let bound = quick + Duration::from_secs(5);
    proxy.delay(Duration::from_millis(500));
    assert!(stop("slow") < bound);
    proxy.delay(Duration::ZERO);
    proxy.swallow(true);
    assert!(stop("black hole") < bound);
    proxy.swallow(false);
    proxy.cut(true);
    assert!(stop("cut") < bound);
    proxy.cut(false);
    machine.configure("m1", &url(free_port()), "");
    assert!(stop("down") < bound);
    machine.configure("m1", &url(proxy.port), "");
    machine.print(&["fleet", "push"]);
    assert_eq!(stored(&fleet), "5|5");
    assert_eq!(logged(&machine), 5);
}

#[test]
fn after_a_failure_stops_leave_the_database_alone_for_a_while() {
    let Some(fleet) = Fleet::new() else { return };
    let proxy = Proxy::to(fleet.cluster.port);
    proxy.swallow(true);
    let url = format!("postgres://postgres:{PASSWORD}@127.0.0.1:{}/{}", proxy.port, fleet.name);
    let machine = Machine::new("m1", &url);
    machine.stop("s1");
    let messages = proxy.messages();
    assert!(messages > 0, "the first stop tried");
    machine.stop("s2");
    assert_eq!(proxy.messages(), messages, "the second did not");
    let told = machine.run(&["fleet", "doctor"]).stdout;
    assert!(told.contains("2 lines wait to be shipped"), "{told}");
}

/// Runs many stops at once, and returns how many ended well.
fn stops_at_once(machine: &Machine, count: usize) -> usize {
    let fine = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for number in 0..count {
            let fine = &fine;
            scope.spawn(move || {
                let (mut command, input) = machine.hook(&format!("s{number}"));
                let mut child = command.spawn().expect("it starts");
                child.stdin.take().expect("stdin").write_all(input.as_bytes()).expect("read");
                let output = child.wait_with_output().expect("it ends");
                let is_fine =
                    output.status.code() == Some(0) && output.stdout.is_empty() && output.stderr.is_empty();
                fine.fetch_add(usize::from(is_fine), Ordering::SeqCst);
            });
        }
    });
    fine.into_inner()
}

#[test]
fn two_hundred_hooks_at_once_with_the_database_up_slow_and_down() {
    let Some(fleet) = Fleet::new() else { return };
    let proxy = Proxy::to(fleet.cluster.port);
    let url = |port: u16| format!("postgres://postgres:{PASSWORD}@127.0.0.1:{port}/{}", fleet.name);
    let machine = Machine::new("m1", &url(proxy.port));
    assert_eq!(stops_at_once(&machine, 200), 200, "up");
    proxy.delay(Duration::from_millis(500));
    assert_eq!(stops_at_once(&machine, 200), 200, "slow");
    proxy.delay(Duration::ZERO);
    machine.configure("m1", &url(free_port()), "");
    assert_eq!(stops_at_once(&machine, 200), 200, "down");
    machine.configure("m1", &url(proxy.port), "");
    machine.print(&["fleet", "push"]);
    assert_eq!(stored(&fleet), "600|600");
}

#[test]
fn prompts_contents_and_peoples_words_stay_on_the_machine_unless_they_are_to_go() {
    let Some(fleet) = Fleet::new() else { return };
    let machine = fleet.machine("m1");
    let line = r#"{"schema":1,"id":"ID","time":"2026-01-01T00:00:00Z","project":"/home/ann/shop","decision":"block","cause":"findings",
        "detail":"PRIVATE","config_error":"PRIVATE","findings":[{"category":"A","claim":"PRIVATE","proof":"PRIVATE","settle":"PRIVATE","path":"src/a.rs",
        "why":"a.rs is missing"}],"gates":[{"gate":"checks","outcome":"hold","detail":"PRIVATE"}],"unknown":"PRIVATE"}"#;
    let line = line.replace('\n', " ");
    machine.write("state/decisions/2026-01.jsonl", &format!("{}\n", line.replace("ID", "a")));
    machine.print(&["fleet", "push"]);
    let all = fleet.sql("SELECT record FROM punchlist.decisions");
    assert!(!all.contains("PRIVATE") && all.contains("a.rs is missing") && all.contains("src/a.rs"), "{all}");
    machine.configure("m1", &fleet.url(), "ship_evidence = true\n");
    machine.write("state/decisions/2026-02.jsonl", &format!("{}\n", line.replace("ID", "b")));
    machine.print(&["fleet", "push"]);
    let shared = fleet.sql("SELECT record FROM punchlist.decisions WHERE id = 'b'");
    assert!(shared.contains("PRIVATE") && !shared.contains("unknown"), "{shared}");
}
