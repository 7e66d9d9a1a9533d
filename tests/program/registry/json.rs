//! What is printed for programs is what docs/registry.md says, field by field.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::registry::machine::Machine;

fn names(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                into.insert(name.clone());
                names(inner, into);
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| names(inner, into)),
        _ => {}
    }
}

#[test]
fn every_field_is_documented_and_every_documented_one_is_there() {
    let machine = Machine::new();
    let mut found = BTreeSet::new();
    let mut add = |value: &Value| {
        assert_eq!(value["schema"], 1, "{value}");
        names(value, &mut found);
    };
    let json = |args: &[&str]| machine.json(&[args, &["--json"]].concat());
    add(&json(&["worker", "register", "ann"]));
    add(&json(&["tasks", "add", "Mend the gate"]));
    add(&json(&["tasks", "claim", "--worker", "ann"]));
    add(&json(&["tasks", "claim", "--worker", "ann"]));
    add(&json(&["tasks", "start", "t1", "--worker", "ann"]));
    add(&json(&["tasks", "list"]));
    add(&json(&["tasks", "release", "t1", "--worker", "ann"]));
    add(&json(&["tasks", "assign", "t1", "ann"]));
    add(&json(&["tasks", "complete", "t1", "--worker", "ann"]));
    add(&json(&["tasks", "show", "t1"]));
    add(&json(&["tasks", "check"]));
    add(&json(&["worker", "heartbeat", "ann"]));
    add(&json(&["worker", "list"]));
    add(&json(&["status"]));
    add(&json(&["worker", "leave", "ann"]));
    // A task that stands so, not a field.
    found.remove("completed");
    let page = include_str!("../../../docs/registry.md");
    let cells = page.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1));
    let documented: BTreeSet<String> =
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect();
    // Those of the decisions are the log's, and there are none here; of sessions likewise.
    let elsewhere = ["blocks", "held_by", "id", "time", "session", "project", "decision", "cause"];
    let missing: Vec<_> = found.difference(&documented).collect();
    assert!(missing.is_empty(), "not in docs/registry.md: {missing:?}");
    let invented: Vec<_> =
        documented.difference(&found).filter(|name| !elsewhere.contains(&name.as_str())).collect();
    assert!(invented.is_empty(), "in docs/registry.md alone: {invented:?}");
}

#[test]
fn a_claim_without_a_task_is_null_and_no_error() {
    let machine = Machine::new();
    machine.print(&["worker", "register", "ann"]);
    let claimed = machine.json(&["tasks", "claim", "--worker", "ann", "--json"]);
    assert_eq!(claimed, serde_json::json!({ "schema": 1, "task": null }));
}
