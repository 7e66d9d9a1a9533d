//! `punchlist status` on a machine with something on it.

use crate::registry::machine::Machine;

#[test]
fn a_new_machine_has_nothing_and_nothing_is_made() {
    let machine = Machine::new();
    let screen = machine.print(&["status"]);
    assert!(screen.starts_with("Gates\n  gate   settings\n  audit  haiku\n\nSessions\n"), "{screen}");
    assert!(!machine.path("state").exists());
}

#[test]
fn workers_and_tasks_are_counted() {
    let machine = Machine::new();
    machine.print(&["worker", "register", "ann"]);
    for title in ["one", "two"] {
        machine.print(&["tasks", "add", title]);
    }
    machine.print(&["tasks", "claim", "--worker", "ann"]);
    let screen = machine.print(&["status"]);
    assert!(screen.contains("\nTasks\n  1 open · 1 accepted\n"), "{screen}");
    let ann = screen.lines().find(|line| line.starts_with("  ann ")).unwrap_or_default();
    let words: Vec<&str> = ann.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect();
    assert_eq!(
        words,
        ["ann", "alive", "0 s ago", "worker", "default", "shop", "took a task 0 s ago"],
        "{screen}"
    );
    let json = machine.json(&["status", "--json"]);
    assert_eq!(json["tasks"], serde_json::json!({ "open": 1, "accepted": 1 }));
    assert_eq!(json["workers"][0]["is_alive"], true);
    assert_eq!(json["gates"][0]["gate"], "audit");
}

#[test]
fn a_registry_that_can_not_be_read_is_told_among_the_rest() {
    let machine = Machine::new();
    std::fs::create_dir_all(machine.path("state")).expect("made");
    std::fs::write(machine.path("state/registry.sqlite"), "no database ".repeat(100)).expect("written");
    let screen = machine.print(&["status"]);
    assert!(screen.contains("\nTasks\n  DIR/state/registry.sqlite is damaged, or no registry"), "{screen}");
}
