//! `punchlist status` on a machine with something on it.

use crate::desk::Desk;

#[test]
fn a_new_machine_has_nothing_and_nothing_is_made() {
    let desk = Desk::new();
    let screen = desk.print(&["status"]);
    assert!(
        screen.starts_with("Gates\n  gate   goes by\n  audit  haiku, the session waits\n\nSessions\n"),
        "{screen}"
    );
    assert!(!desk.path("state").exists());
}

#[test]
fn workers_and_tasks_are_counted() {
    let desk = Desk::new();
    desk.print(&["worker", "register", "ann"]);
    for title in ["one", "two"] {
        desk.print(&["tasks", "add", title]);
    }
    desk.print(&["tasks", "claim", "--worker", "ann"]);
    let screen = desk.print(&["status"]);
    assert!(screen.contains("\nTasks\n  1 open · 1 accepted\n"), "{screen}");
    let ann = screen.lines().find(|line| line.starts_with("  ann ")).unwrap_or_default();
    let words: Vec<&str> = ann.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect();
    assert_eq!(
        words,
        ["ann", "alive", "0 s ago", "worker", "default", "shop", "took a task 0 s ago"],
        "{screen}"
    );
    let json = desk.json(&["status", "--json"]);
    assert_eq!(json["tasks"], serde_json::json!({ "open": 1, "accepted": 1 }));
    assert_eq!(json["workers"][0]["is_alive"], true);
    assert_eq!(json["gates"][0]["gate"], "audit");
}

#[test]
fn a_registry_that_can_not_be_read_is_told_among_the_rest() {
    let desk = Desk::new();
    std::fs::create_dir_all(desk.path("state")).expect("made");
    std::fs::write(desk.path("state/registry.sqlite"), "no database ".repeat(100)).expect("written");
    let screen = desk.print(&["status"]);
    assert!(screen.contains("\nTasks\n  DIR/state/registry.sqlite is damaged, or no registry"), "{screen}");
}
