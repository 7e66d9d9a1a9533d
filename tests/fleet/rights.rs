//! The roles that docs/fleet.md has to be pasted are enough, and no more than that.

use crate::machines::{Fleet, Machine};
use crate::postgres::PASSWORD;

const PAGE: &str = include_str!("../../docs/fleet.md");

/// The SQL of the page, with names that only this test has: roles are the whole cluster's.
pub(crate) fn pasted(suffix: &str, number: usize) -> String {
    let sql = PAGE.split("```sql\n").nth(number).and_then(|rest| rest.split("```").next()).expect("SQL");
    let with_password = sql.replace(" LOGIN;", &format!(" LOGIN PASSWORD '{PASSWORD}';"));
    with_password
        .replace("punchlist_hook", &format!("punchlist_hook_{suffix}"))
        .replace("punchlist_reviewer", &format!("punchlist_reviewer_{suffix}"))
}

fn machine_as(fleet: &Fleet, role: &str) -> Machine {
    Machine::new(role, &fleet.url().replace("postgres:not", &format!("{role}:not")))
}

#[test]
fn a_hook_works_and_reads_nobodys_decisions_and_a_reviewer_reads_and_labels_and_claims_nothing() {
    let Some(fleet) = Fleet::new() else { return };
    fleet.sql(&pasted(&fleet.name, 1));
    let hook = machine_as(&fleet, &format!("punchlist_hook_{}", fleet.name));
    assert!(hook.print(&["fleet", "doctor"]).contains("a worker's: decisions, tasks and workers"));
    hook.print(&["worker", "register", "w1"]);
    hook.print(&["tasks", "add", "one"]);
    hook.print(&["tasks", "add", "two", "--after", "t1", "--retries", "1"]);
    for id in ["t1", "t2"] {
        hook.print(&["tasks", "claim", "--worker", "w1"]);
        hook.print(&["tasks", "complete", id, "--worker", "w1"]);
    }
    hook.print(&["tasks", "list", "--all"]);
    hook.print(&["worker", "leave", "w1"]);
    hook.stop("s1");
    hook.run(&["fleet", "push"]);
    assert_eq!(fleet.sql("SELECT count(*) FROM punchlist.decisions"), "1");
    let lacks = |told: &str| {
        told.contains("this role lacks a right (permission denied for table")
            && told.contains("docs/fleet.md")
    };
    for args in [
        &["log", "--fleet"][..],
        &["log", "report", "--fleet", "-o", "-"],
        &["log", "label", "last", "right", "--fleet"],
        &["status", "--fleet"],
    ] {
        let told = hook.fails(args);
        assert!(
            told.contains("run it as a reviewer, whose URL goes into PUNCHLIST_DATABASE_URL"),
            "{args:?}: {told}"
        );
    }
    let reviewer = machine_as(&fleet, &format!("punchlist_reviewer_{}", fleet.name));
    reviewer.print(&["log", "list", "--fleet"]);
    reviewer.print(&["log", "label", "last", "right", "--fleet"]);
    reviewer.print(&["tasks", "list", "--all"]);
    // A lease that is due is for a worker to end, and in nobody's way who only reads.
    fleet.sql(
        "INSERT INTO punchlist.tasks (title, queue, status, assignee, created_ms, updated_ms, attempts, lease_ms, lease_until_ms)
         VALUES ('due', 'default', 'accepted', 'w9', 1, 1, 1, 1, 2)",
    );
    for args in [
        &["tasks", "list", "--all-projects"][..],
        &["tasks", "show", "t3"],
        &["worker", "list"],
        &["status", "--fleet"],
    ] {
        reviewer.print(args);
    }
    assert!(hook.print(&["tasks", "list", "--all-projects"]).contains("due"));
    assert_eq!(fleet.sql("SELECT status FROM punchlist.tasks WHERE id = 3"), "open");
    let told = reviewer.fails(&["tasks", "add", "three"]);
    assert!(lacks(&told), "{told}");
}

/// A machine whose role has these rights and no others.
fn machine_with(fleet: &Fleet, what: &str, rights: &str) -> Machine {
    let role = format!("punchlist_{what}_{}", fleet.name);
    fleet.sql(&format!("CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'; {}", rights.replace("ROLE", &role)));
    machine_as(fleet, &role)
}

#[test]
fn a_role_that_fits_nobody_was_all_fine() {
    let Some(fleet) = Fleet::new() else { return };
    let doctor = |machine: &Machine, code: i32| {
        let diagnosis = machine.run(&["fleet", "doctor"]);
        assert_eq!(diagnosis.code, Some(code), "{}", diagnosis.stdout);
        // Lines are wrapped.
        diagnosis.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let bare = machine_with(
        &fleet,
        "bare",
        "GRANT USAGE ON SCHEMA punchlist TO ROLE; GRANT SELECT ON punchlist.schema TO ROLE",
    );
    bare.stop("s1");
    let told = doctor(&bare, 1);
    assert!(told.contains("not a worker's: this role lacks INSERT on decisions, INSERT on notes"), "{told}");
    assert!(told.contains("this role can't ship them") && !told.contains("All fine"), "{told}");
    let half = machine_with(
        &fleet,
        "half",
        "GRANT USAGE ON SCHEMA punchlist TO ROLE; GRANT SELECT ON ALL TABLES IN SCHEMA punchlist TO ROLE",
    );
    let told = doctor(&half, 1);
    assert!(told.contains("not a reviewer's: this role lacks INSERT on notes"), "{told}");
    fleet.sql(&pasted(&fleet.name, 1));
    let reviewer = machine_as(&fleet, &format!("punchlist_reviewer_{}", fleet.name));
    let told = doctor(&reviewer, 0);
    assert!(told.contains("a reviewer's: it reads everything and labels"), "{told}");
    assert!(doctor(&fleet.machine("owner"), 0).contains("a worker's: decisions, tasks and workers"));
}

#[test]
fn the_rights_were_fine_where_claims_are_forbidden() {
    let Some(fleet) = Fleet::new() else { return };
    fleet.sql("REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA punchlist FROM PUBLIC");
    fleet.sql(&pasted(&fleet.name, 1));
    let role = format!("punchlist_hook_{}", fleet.name);
    let hook = machine_as(&fleet, &role);
    hook.print(&["worker", "register", "w1"]);
    hook.print(&["tasks", "add", "one"]);
    assert!(hook.print(&["tasks", "claim", "--worker", "w1"]).starts_with("t1  one\n"), "as it is pasted");
    fleet.sql(&format!("REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA punchlist FROM {role}"));
    assert!(hook.fails(&["tasks", "claim", "--worker", "w1"]).contains("this role lacks a right"));
    let diagnosis = hook.run(&["fleet", "doctor"]);
    assert_eq!(diagnosis.code, Some(1));
    assert!(diagnosis.stdout.contains("lacks EXECUTE on punchlist.claim"), "{}", diagnosis.stdout);
}

#[test]
fn a_hook_that_migrates_was_told_to_paste_the_rights() {
    let Some(fleet) = Fleet::new() else { return };
    fleet.sql(&pasted(&fleet.name, 1));
    let role = format!("punchlist_hook_{}", fleet.name);
    let empty = fleet.cluster.empty_database();
    let machines = [
        machine_as(&fleet, &role),
        Machine::new(&role, &fleet.cluster.url(&empty).replace("postgres:not", &format!("{role}:not"))),
    ];
    fleet.sql("UPDATE punchlist.schema SET version = version - 1");
    for machine in machines {
        let told = machine.fails(&["fleet", "migrate"]);
        assert!(told.contains("run it as the database's owner") && !told.contains("pasted"), "{told}");
    }
}

#[test]
fn decisions_that_are_parted_by_month_are_stored_once_and_read_as_before_and_old_ones_go() {
    let Some(fleet) = Fleet::new() else { return };
    fleet.sql(&pasted(&fleet.name, 1));
    let hook = machine_as(&fleet, &format!("punchlist_hook_{}", fleet.name));
    hook.stop("s1");
    hook.run(&["fleet", "push"]);
    fleet.sql(&pasted(&fleet.name, 2));
    hook.stop("s2");
    std::fs::remove_file(hook.path("state/fleet-cursor.json")).expect("a cursor");
    hook.print(&["fleet", "push"]);
    let line = r#"{"schema":1,"id":"old","time":"2024-01-01T00:00:00Z","decision":"allow","cause":"clean"}"#;
    hook.write("state/decisions/2099-01.jsonl", &format!("{line}\n"));
    hook.print(&["fleet", "push"]);
    let next = "INSERT INTO punchlist.decisions (id, at, machine, decision, cause, record)
                SELECT 'next', date_trunc('month', now()) + interval '1 month 1 day', machine, decision, cause, record
                FROM punchlist.decisions WHERE id = 'old'";
    fleet.sql(next);
    let counts = "SELECT count(*), count(DISTINCT id), count(DISTINCT tableoid) FROM punchlist.decisions";
    assert_eq!(fleet.sql(counts), "4|4|2", "the month that comes has a table of its own");
    let reviewer = machine_as(&fleet, &format!("punchlist_reviewer_{}", fleet.name));
    let list = reviewer.print(&["log", "list", "--fleet", "--json"]);
    assert_eq!(list.lines().filter(|line| line.contains("\"session\": \"s")).count(), 2, "{list}");
    fleet.sql(&pasted(&fleet.name, 3));
    assert_eq!(
        fleet.sql("SELECT string_agg(id, ',') FROM punchlist.decisions WHERE id IN ('old', 'next')"),
        "next"
    );
}
