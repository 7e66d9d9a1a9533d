//! A state folder that can't be used: a guard that can't count can't promise to let go, so nothing is held,
//! and the person is told.

use std::process::Command;

use serde_json::Value;

use crate::test_project::{PUNCHLIST, Run, TestProject, text};

/// Asserts that nothing was held, that the person was told why, and that one line says that there is no log.
#[track_caller]
fn could_not_count(run: &Run) {
    let reply: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let said = reply["systemMessage"].as_str().unwrap_or_default();
    run.check(
        said.starts_with("punchlist: this stop should be held, but the block can't be counted (DIR/state: ")
            && said.ends_with("), so it is not"),
        "the person is told",
    );
    run.same(&reply.as_object().map(serde_json::Map::len), &Some(1));
    run.same(&(run.status.code(), run.stderr.lines().count(), run.log.len()), &(Some(0), 1, 0));
    run.check(
        run.stderr.starts_with("punchlist: the decision log can't be written: "),
        "one line says that there is no log",
    );
}

#[test]
fn a_file_in_place_of_the_state_folder_holds_nobody() {
    let project = TestProject::with_drift();
    std::fs::write(project.path("state"), "a file").expect("a file");
    could_not_count(&project.run());
}

#[test]
fn a_state_folder_that_may_not_be_written_holds_nobody() {
    use std::os::unix::fs::PermissionsExt;
    let project = TestProject::with_drift();
    std::fs::create_dir(project.path("state")).expect("a folder");
    if rustix::process::geteuid().is_root() {
        // Root may write everywhere but to a file system that is mounted to be read only.
        on_small_disk(&project, "mount -o remount,ro \"$STATE\"", |run| could_not_count(run));
        return;
    }
    std::fs::set_permissions(project.path("state"), std::fs::Permissions::from_mode(0o500)).expect("locked");
    could_not_count(&project.run());
    std::fs::set_permissions(project.path("state"), std::fs::Permissions::from_mode(0o700))
        .expect("unlocked");
}

#[test]
fn a_full_disk_holds_nobody() {
    let project = TestProject::with_drift();
    std::fs::create_dir(project.path("state")).expect("a folder");
    let fill = "cat /dev/zero > \"$STATE/filler\" 2>/dev/null; true";
    on_small_disk(&project, fill, |run| could_not_count(run));
}

/// With a session that only has to be let go, an unusable folder is no word to the person.
#[test]
fn a_clean_session_is_let_go_where_nothing_can_be_remembered() {
    let project = TestProject::without_drift();
    std::fs::write(project.path("state"), "a file").expect("a file");
    let run = project.run();
    run.same(&(run.status.code(), run.stdout.as_str(), run.stderr.lines().count()), &(Some(0), "", 1));
    run.same(&project.calls().len(), &1);
}

#[test]
fn a_counter_that_can_not_be_read_starts_anew() {
    let project = TestProject::with_drift();
    project.run().holds();
    std::fs::write(project.path("state/sessions/session-1.json"), b"\xff{\"blocks\":").expect("broken");
    project.run().holds();
    assert_eq!(project.blocks(), 1);
}

#[test]
fn what_is_known_of_clients_may_be_noise() {
    let project = TestProject::without_drift();
    std::fs::create_dir(project.path("state")).expect("a folder");
    std::fs::write(project.path("state/clients.json"), b"\xff[[[").expect("broken");
    let run = project.run();
    run.is_silent();
    run.logs("allow", "clean");
}

/// Runs the hook with a disk of 64 KiB as its state folder, after `prepare`. The disk is mounted where only
/// that one process sees it, so there is nothing to clean up; where that is not allowed, the test is skipped
/// and says so.
fn on_small_disk(project: &TestProject, prepare: &str, check: impl FnOnce(&Run)) {
    let script = format!(
        "mount -t tmpfs -o size=64k punchlist-test \"$STATE\" || exit 99\n{prepare}\nexec \"$0\" hook"
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c"]);
    command.arg(format!("STATE='{}'\n{script}", text(&project.path("state")))).arg(PUNCHLIST);
    let running = project.start_command(command, project.input.to_string().as_bytes());
    let run = project.finish(running);
    if run.status.code() == Some(99) || run.stderr.starts_with("unshare:") {
        eprintln!("skipped: no file system can be mounted here: {}", run.stderr.trim());
        return;
    }
    check(&run);
}
