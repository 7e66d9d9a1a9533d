//! The roles that docs/fleet.md has to be pasted are enough, and no more than that.

use crate::machines::{Fleet, Machine};
use crate::postgres::PASSWORD;

const PAGE: &str = include_str!("../../docs/fleet.md");

/// The SQL of the page, with names that only this test has: roles are the whole cluster's.
fn pasted(suffix: &str) -> String {
    let sql = PAGE.split("```sql\n").nth(1).and_then(|rest| rest.split("```").next()).expect("SQL");
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
    fleet.sql(&pasted(&fleet.name));
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
    let told = hook.fails(&["log", "--fleet"]);
    assert!(lacks(&told), "{told}");
    let reviewer = machine_as(&fleet, &format!("punchlist_reviewer_{}", fleet.name));
    reviewer.print(&["log", "list", "--fleet"]);
    reviewer.print(&["log", "label", "last", "right", "--fleet"]);
    reviewer.print(&["tasks", "list", "--all"]);
    let told = reviewer.fails(&["tasks", "add", "three"]);
    assert!(lacks(&told), "{told}");
}
