//! Decisions come to the database once, whatever happens on the way, and no stop waits for it.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::machines::{Fleet, Machine};
use crate::postgres::free_port;
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

/// A line of the log.
fn line(id: &str) -> String {
    format!(
        "{{\"schema\":1,\"id\":\"{id}\",\"time\":\"2026-01-01T00:00:00Z\",\"session\":\"s\",\"decision\":\"allow\",\"cause\":\"clean\"}}\n"
    )
}

const LOG: &str = "state/decisions/2026-01.jsonl";

#[test]
fn a_fault_of_the_server_counted_as_one_of_the_lines_and_they_were_given_up() {
    let Some(fleet) = Fleet::new() else { return };
    let machine = fleet.machine("m1");
    machine.write(LOG, &(line("a") + &line("b") + &line("c")));
    let alter = |setting: &str| format!("ALTER DATABASE {} {setting}", fleet.name);
    let locked = |sql: &str| {
        let patience = punchlist::database::Patience::Each(Duration::from_secs(30));
        let mut database = punchlist::database::Database::connect(&fleet.url(), patience).expect("connected");
        database.batch(sql).expect("locked");
        database
    };
    for (fault, mended, why) in [
        ("SET default_transaction_read_only = on", "RESET default_transaction_read_only", "only reads"),
        ("SET lock_timeout = '50ms'", "RESET lock_timeout", "lock timeout"),
        ("SET statement_timeout = '50ms'", "RESET statement_timeout", "statement timeout"),
    ] {
        fleet.cluster.sql("postgres", &alter(fault));
        let lock = (!fault.contains("read_only")).then(|| locked("BEGIN; LOCK TABLE punchlist.decisions"));
        let told = machine.fails(&["fleet", "push"]);
        assert!(told.contains(why), "{told}");
        // It fails for a while already.
        let mut cursor: serde_json::Value =
            serde_json::from_str(&machine.read("state/fleet-cursor.json")).expect("JSON");
        cursor["failing_since_ms"] = 1.into();
        machine.write("state/fleet-cursor.json", &cursor.to_string());
        let told = machine.run(&["fleet", "doctor"]).stdout;
        assert!(told.contains("✗ spool    3 lines wait to be shipped") && told.contains(why), "{told}");
        drop(lock);
        fleet.cluster.sql("postgres", &alter(mended));
    }
    fleet.sql(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not today'; END $$;
         CREATE TRIGGER refuse BEFORE INSERT ON punchlist.decisions EXECUTE FUNCTION refuse()",
    );
    let told = machine.fails(&["fleet", "push"]);
    assert!(told.contains("not today"), "{told}");
    fleet.sql("DROP TRIGGER refuse ON punchlist.decisions");
    assert_eq!(machine.print(&["fleet", "push"]), "Shipped: 3 lines. Nothing is left.\n");
    assert_eq!(stored(&fleet), "3|3");
}

#[test]
fn a_line_that_can_never_be_stored_is_told_and_not_counted_as_shipped() {
    let Some(fleet) = Fleet::new() else { return };
    let machine = fleet.machine("m1");
    let strange = line("b").replace("\"s\"", "\"a\\u0000b\"");
    let newer = line("d").replace("\"schema\":1", "\"schema\":99");
    machine.write(LOG, &(line("a") + &strange + "torn {\n" + &newer + &line("c")));
    assert_eq!(
        machine.print(&["fleet", "push"]),
        "Shipped: 2 lines, 1 line was refused for what is in them, 2 lines are torn or of a newer punchlist. Nothing is \
         left.\n"
    );
    assert_eq!(stored(&fleet), "2|2");
}

#[test]
fn of_two_machines_that_made_the_same_id_one_lost_its_decision() {
    let Some(fleet) = Fleet::new() else { return };
    for (name, time) in [("m1", "00:00:00Z"), ("m2", "00:00:01Z")] {
        let machine = fleet.machine(name);
        machine.write(LOG, &line("a").replace("00:00:00Z", time));
        for _ in 0..2 {
            machine.print(&["fleet", "push"]);
            std::fs::remove_file(machine.path("state/fleet-cursor.json")).expect("a cursor");
        }
    }
    assert_eq!(fleet.sql("SELECT string_agg(machine, ',' ORDER BY at) FROM punchlist.decisions"), "m1,m2");
}

#[test]
fn what_was_written_to_an_older_month_than_the_newest_was_never_shipped() {
    let Some(fleet) = Fleet::new() else { return };
    let machine = fleet.machine("m1");
    let file = |month: &str| format!("state/decisions/{month}.jsonl");
    // A clock that was ahead, and was set right.
    machine.write(&file("2026-03"), &line("ahead"));
    machine.print(&["fleet", "push"]);
    machine.write(&file("2026-01"), &line("a"));
    machine.print(&["fleet", "push"]);
    // The turn of a month: whoever took the time before it writes after it.
    machine.write(&file("2026-02"), &line("b"));
    machine.print(&["fleet", "push"]);
    machine.write(&file("2026-01"), &(line("a") + &line("late")));
    assert_eq!(machine.print(&["fleet", "push"]), "Shipped: 1 line. Nothing is left.\n");
    assert_eq!(stored(&fleet), "4|4");
    let told = machine.run(&["fleet", "doctor"]).stdout;
    assert!(told.contains("all decisions of this machine are shipped"), "{told}");
}

#[test]
fn stops_alone_ship_what_has_gathered_and_none_of_them_waits_for_all_of_it() {
    const LINES: usize = 1_500;
    /// Far more than a stop may take for it: others use this machine as well.
    const LONG: Duration = Duration::from_secs(3);
    let Some(fleet) = Fleet::new() else { return };
    let machine = Machine::new("m1", &fleet.socket_url());
    // With reasons that take long to be masked.
    let why = "the file src/a.rs is missing ".repeat(40);
    let finding = format!("\"findings\":[{{\"category\":\"A\",\"why\":\"{why}\"}}],\"cause\"");
    let long = |number| line(&format!("l{number}")).replace("\"cause\"", &finding);
    machine.write(LOG, &(0..LINES).map(long).collect::<String>());
    let (mut stops, mut slowest) = (0, Duration::ZERO);
    while stored(&fleet) != format!("{0}|{0}", LINES + stops) && stops < 200 {
        let begun = Instant::now();
        machine.answered_stop(&format!("s{stops}"));
        slowest = slowest.max(begun.elapsed());
        machine.settle();
        stops += 1;
    }
    eprintln!("{stops} stops shipped {LINES} lines; the slowest took {slowest:?}");
    assert_eq!(stored(&fleet), format!("{0}|{0}", LINES + stops));
    assert!(slowest < LONG, "{slowest:?}");
}

#[test]
fn a_database_that_is_down_slow_or_cut_off_costs_a_moment_and_loses_nothing() {
    let Some(fleet) = Fleet::new() else { return };
    let proxy = Proxy::to(fleet.cluster.port);
    let machine = Machine::new("m1", &fleet.url_at(proxy.port));
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
    machine.configure("m1", &fleet.url_at(free_port()), "");
    assert!(stop("down") < bound);
    machine.configure("m1", &fleet.url_at(proxy.port), "");
    machine.print(&["fleet", "push"]);
    assert_eq!(stored(&fleet), "5|5");
    assert_eq!(logged(&machine), 5);
}

#[test]
fn after_a_failure_stops_leave_the_database_alone_for_a_while() {
    let Some(fleet) = Fleet::new() else { return };
    let proxy = Proxy::to(fleet.cluster.port);
    proxy.swallow(true);
    let machine = Machine::new("m1", &fleet.url_at(proxy.port));
    machine.stop("s1");
    let messages = proxy.messages();
    // On a busy machine its time may be up before it has said a word.
    let cursor = machine.read("state/fleet-cursor.json");
    assert!(messages > 0 || cursor.contains("\"failed\":\""), "the first stop tried: {cursor}");
    machine.stop("s2");
    assert_eq!(proxy.messages(), messages, "the second did not");
    let told = machine.run(&["fleet", "doctor"]).stdout;
    assert!(told.contains("2 lines wait to be shipped"), "{told}");
}

/// Runs many stops at once, and returns how many ended well.
fn stops_at_once(machine: &Machine, round: &str, count: usize) -> usize {
    let fine = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for number in 0..count {
            let fine = &fine;
            scope.spawn(move || {
                let (mut command, input) = machine.hook(&format!("{round}-{number}"));
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
    let machine = Machine::new("m1", &fleet.url_at(proxy.port));
    assert_eq!(stops_at_once(&machine, "up", 200), 200, "up");
    proxy.delay(Duration::from_millis(500));
    assert_eq!(stops_at_once(&machine, "slow", 200), 200, "slow");
    proxy.delay(Duration::ZERO);
    machine.configure("m1", &fleet.url_at(free_port()), "");
    assert_eq!(stops_at_once(&machine, "down", 200), 200, "down");
    machine.configure("m1", &fleet.url_at(proxy.port), "");
    machine.print(&["fleet", "push"]);
    assert_eq!(stored(&fleet), "600|600");
}
