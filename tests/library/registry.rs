//! What the registry promises of its file on one machine. What it promises of tasks and workers, on
//! both backends, is in `tests/fleet/registry.rs`.

use punchlist::registry::*;
use rusqlite::Connection;

const MINUTE: i64 = 60_000;
const NOW: i64 = 1_800_000_000_000;

fn registry() -> (tempfile::TempDir, Registry) {
    let folder = tempfile::tempdir().expect("a folder");
    let registry = Registry::open(folder.path(), None).expect("a registry");
    (folder, registry)
}

fn new(title: &str) -> NewTask {
    NewTask { title: title.into(), queue: DEFAULT_QUEUE.into(), ..NewTask::default() }
}

fn told_of(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = Registry::file(folder.path());
    std::fs::write(&path, bytes).expect("written");
    let fault = Registry::open(folder.path(), None).expect_err("a fault");
    assert!(std::fs::read(&path).expect("there") == bytes, "left as it is");
    fault.to_string().replace(&folder.path().display().to_string(), "DIR")
}

#[test]
fn a_file_that_is_no_registry_is_left_as_it_is() {
    assert_eq!(
        told_of(&b"# my notes, and no database at all\n".repeat(100)),
        "DIR/registry.sqlite is damaged, or no registry (file is not a database). It is left as it is: move it aside, \
         and a new one is begun with the next task"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let other = Connection::open(folder.path().join("other")).expect("a database");
    other.execute_batch("CREATE TABLE x (y)").expect("a table");
    drop(other);
    let bytes = std::fs::read(folder.path().join("other")).expect("there");
    assert!(told_of(&bytes).contains("no registry (it has tables of somebody else)"));
}

#[test]
fn a_file_that_is_damaged_in_the_middle_says_so() {
    let (folder, mut registry) = registry();
    for number in 0..200 {
        registry.add(&new(&format!("{number} {}", "x".repeat(200)))).expect("added");
    }
    drop(registry);
    let path = Registry::file(folder.path());
    let mut bytes = std::fs::read(&path).expect("there");
    let (from, to) = (4096 * 2, bytes.len());
    bytes[from..to].fill(0xaa);
    std::fs::write(&path, &bytes).expect("damaged");
    let fault = Registry::open(folder.path(), None)
        .and_then(|mut registry| registry.tasks(&TaskFilter::default()))
        .expect_err("a fault");
    assert!(matches!(fault, RegistryError::Damaged { .. }), "{fault}");
}

#[test]
fn a_newer_file_is_left_alone() {
    let (folder, registry) = registry();
    drop(registry);
    let file = Connection::open(Registry::file(folder.path())).expect("the file");
    file.pragma_update(None, "user_version", 9).expect("set");
    drop(file);
    let fault = Registry::open(folder.path(), None).expect_err("a fault").to_string();
    assert!(
        fault.ends_with("was written by a newer punchlist (format 9, this one knows 2): update punchlist"),
        "{fault}"
    );
}

#[cfg(unix)]
#[test]
fn folder_and_file_are_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("state");
    let mut registry = Registry::open(&state, None).expect("a registry");
    registry.add(&new("x")).expect("added");
    for (path, mode) in [(state.clone(), 0o700), (Registry::file(&state), 0o600)] {
        assert_eq!(std::fs::metadata(path).expect("there").permissions().mode() & 0o777, mode);
    }
}

#[test]
fn where_there_is_none_none_is_made_by_looking() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(Registry::open_if_there(folder.path(), None).expect("fine").is_none());
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);
}

#[test]
fn what_a_stop_has_written_is_there_for_the_next_whoever_that_is() {
    let (folder, mut registry) = registry();
    registry.set_clock(NOW);
    let ann = NewWorker { name: Some("ann".into()), session: Some("s".into()), ..NewWorker::default() };
    registry.register(&ann).expect("registered");
    drop(registry);
    for stop in 1..=3 {
        let opened = Registry::open_for_stop(folder.path(), None, Some("s"), None);
        let mut registry = opened.expect("fine").expect("there");
        registry.set_clock(NOW + stop * MINUTE);
        let seen = registry.record_stop("s", None).expect("fine").expect("ann");
        assert_eq!(seen.heartbeat_ms, NOW + stop * MINUTE);
    }
    let mut registry = Registry::open(folder.path(), None).expect("fine");
    assert_eq!(registry.worker("ann").expect("ann").heartbeat_ms, NOW + 3 * MINUTE);
}

/// A file of the first format, with a task in each of its states.
const FIRST: &str = include_str!("../../src/registry/sqlite/1.sql");

#[test]
fn a_file_of_the_first_format_keeps_what_is_in_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = Connection::open(Registry::file(folder.path())).expect("a database");
    file.execute_batch(FIRST).expect("the first tables");
    file.execute_batch(&format!(
        "INSERT INTO workers VALUES ('ann', 'worker', 'default', 's', '/shop', {NOW}, {NOW}, {NOW}, 'claimed');
         INSERT INTO tasks (title, queue, status, assignee, created_ms, claimed_ms, updated_ms, attempts) VALUES
         ('open', 'default', 'open', NULL, {NOW}, NULL, {NOW}, 0),
         ('taken', 'default', 'in_progress', 'ann', {NOW}, {NOW}, {NOW}, 1),
         ('done', 'default', 'completed', 'ann', {NOW}, {NOW}, {NOW}, 1);
         INSERT INTO events (task, at_ms, what) VALUES (1, {NOW}, 'added'), (2, {NOW}, 'added'), (3, {NOW}, 'added');
         PRAGMA user_version = 1;"
    ))
    .expect("rows");
    drop(file);
    let mut registry = Registry::open(folder.path(), None).expect("migrated");
    let all = registry.tasks(&TaskFilter::default()).expect("all");
    let all: Vec<_> = all.iter().map(|task| (task.title.as_str(), task.status, task.attempts)).collect();
    assert_eq!(
        all,
        [("open", Status::Open, 0), ("taken", Status::InProgress, 1), ("done", Status::Completed, 1)]
    );
    assert_eq!(registry.history(TaskId(2)).expect("lines").len(), 1);
    assert_eq!(registry.add(&new("next")).expect("added").id, TaskId(4));
    // Its lease runs from the worker's last sign of life.
    registry.set_clock(NOW + 29 * MINUTE);
    registry.expire().expect("swept");
    assert_eq!(registry.task(TaskId(2)).expect("there").status, Status::InProgress);
    registry.set_clock(NOW + 31 * MINUTE);
    registry.expire().expect("swept");
    assert_eq!(registry.task(TaskId(2)).expect("there").status, Status::Open);
}
