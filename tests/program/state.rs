//! A state folder that can't be used, or in which somebody else has a hand: a guard that can't
//! count can't promise to let go, so nothing is held, and the person is told. Nobody is waited for
//! without end.

use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::process::Command;
use std::time::Duration;

use punchlist::client::hook_input::HookInput;
use punchlist::state::stop_name;
use serde_json::{Value, json};

use crate::test_project::{PUNCHLIST, Run, TestProject, text};

/// Asserts that nothing was held, that the person was told why, and that one line says that there
/// is no log.
#[track_caller]
fn could_not_count(run: &Run) {
    let reply: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    let said = reply["systemMessage"].as_str().unwrap_or_default();
    run.check(
        said.starts_with(
            "punchlist: would block, but the block counter can't be written (DIR/state/sessions/session-1.",
        ) && said.ends_with(')'),
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
    fs::write(project.path("state"), "a file").expect("a file");
    is_refused(&project, "it is no folder");
}

/// Asserts that the folder is not used: the person is told why in one line, no reader is asked, and
/// no command that needs the folder does anything.
#[track_caller]
fn is_refused(project: &TestProject, why: &str) {
    let why = format!("the state folder can't be used: DIR/state: {why}");
    let run = project.run();
    run.tells(&format!("{why}, so this stop was not checked"));
    run.same(&(project.calls().len(), run.log.len()), &(0, 0));
    let commands: [&[&str]; 9] = [
        &["log"],
        &["off"],
        &["on"],
        &["allow", "--revoke"],
        &["status"],
        &["tasks", "list"],
        &["worker", "list"],
        &["loop", "status"],
        &["install", "--dry-run"],
    ];
    for args in commands {
        project.run_args(args).answers(1, "", &format!("punchlist: {why}\n"));
    }
    let doctor = project.run_args(&["doctor", "--json"]);
    doctor.check(doctor.stdout.contains(&why), "the doctor says it");
}

#[test]
fn a_state_folder_that_may_not_be_written_holds_nobody() {
    let project = TestProject::with_drift();
    fs::create_dir(project.path("state")).expect("a folder");
    if rustix::process::geteuid().is_root() {
        // Root may write everywhere but to a file system that is mounted to be read only.
        on_small_disk(&project, "mount -o remount,ro \"$STATE\"", |run| could_not_count(run));
        return;
    }
    fs::set_permissions(project.path("state"), Permissions::from_mode(0o500)).expect("locked");
    could_not_count(&project.run());
    fs::set_permissions(project.path("state"), Permissions::from_mode(0o700)).expect("unlocked");
}

#[test]
fn a_full_disk_holds_nobody() {
    let project = TestProject::with_drift();
    fs::create_dir(project.path("state")).expect("a folder");
    let fill = "cat /dev/zero > \"$STATE/filler\" 2>/dev/null; true";
    on_small_disk(&project, fill, |run| could_not_count(run));
}

#[test]
fn what_is_known_of_clients_may_be_noise() {
    let project = TestProject::without_drift();
    fs::create_dir(project.path("state")).expect("a folder");
    fs::write(project.path("state/clients.json"), b"\xff[[[").expect("broken");
    let run = project.run();
    run.is_silent();
    run.logs("allow", "clean");
}

/// Runs the hook with a disk of 64 KiB as its state folder, after `prepare`. The disk is mounted
/// where only that one process sees it, so there is nothing to clean up; where that is not allowed,
/// the test is skipped and says so.
fn on_small_disk(project: &TestProject, prepare: &str, check: impl FnOnce(&Run)) {
    let script = format!(
        "mount -t tmpfs -o size=64k,mode=700 punchlist-test \"$STATE\" || exit 99\n{prepare}\nexec \"$0\" hook"
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

/// Gives a path of the test to another user; whether that could be done.
fn give_away(project: &TestProject, name: &str) -> bool {
    let given = chown(project.path(name), Some(65534), Some(65534)).is_ok();
    if !given {
        eprintln!("skipped: only root can give a file to somebody else");
    }
    given
}

#[test]
fn a_state_folder_of_another_user_was_believed() {
    let project = TestProject::with_drift();
    fs::create_dir(project.path("state")).expect("a folder");
    let off = json!({ "projects": { text(&project.path("work")): { "at_ms": 1 } } });
    fs::write(project.path("state/off.json"), off.to_string()).expect("written");
    if give_away(&project, "state") {
        is_refused(&project, "it belongs to another user (uid 65534)");
    }
}

#[test]
fn a_switch_of_another_user_was_believed() {
    let project = TestProject::with_drift();
    fs::create_dir(project.path("state")).expect("a folder");
    let off = json!({ "projects": { text(&project.path("work")): { "at_ms": 1 } } });
    fs::write(project.path("state/off.json"), off.to_string()).expect("written");
    if give_away(&project, "state/off.json") {
        project.run().holds();
    }
}

#[test]
fn a_state_folder_that_others_could_write_was_used_as_it_was() {
    let mut project = TestProject::with_drift();
    fs::create_dir(project.path("state")).expect("a folder");
    fs::set_permissions(project.path("state"), Permissions::from_mode(0o777)).expect("open to all");
    project.run().holds();
    let mode = fs::metadata(project.path("state")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    project.input["stop_hook_active"] = json!(true);
    let told = "other users could write to DIR/state until now";
    let run = project.run();
    run.check(run.stdout.contains(told), "a block has no room for it: told after it");
    let run = project.run();
    run.check(!run.stdout.contains(told), "once");
    fs::set_permissions(project.path("state"), Permissions::from_mode(0o1777)).expect("everybody's");
    let run = project.run();
    run.tells(
        "the state folder can't be used: DIR/state: it is a folder for everybody, so this stop was not checked",
    );
}

#[test]
fn a_link_in_place_of_the_state_folder_was_followed() {
    let project = TestProject::with_drift();
    fs::create_dir(project.path("elsewhere")).expect("a folder");
    symlink(project.path("elsewhere"), project.path("state")).expect("a link");
    is_refused(&project, "it is a link, which is not followed");
    assert_eq!(fs::read_dir(project.path("elsewhere")).expect("there").count(), 0);
}

/// A link from any file of the folder to one's own: nothing is truncated or appended to.
#[test]
fn ones_own_files_were_written_through_links() {
    let month = format!("decisions/{}.jsonl", punchlist::clock::now().strftime("%Y-%m"));
    let names =
        ["sessions/session-1.json", "sessions/session-1.lock", "sessions/session-1.stop", "tidied", &month];
    for name in names {
        let project = TestProject::with_drift();
        fs::write(project.path("own.txt"), "mine\n").expect("written");
        let link = project.path("state").join(name);
        fs::create_dir_all(link.parent().expect("a folder")).expect("made");
        symlink(project.path("own.txt"), &link).expect("a link");
        let run = project.run();
        run.check(matches!(run.status.code(), Some(0 | 2)), name);
        run.same(&fs::read_to_string(project.path("own.txt")).expect("there"), &"mine\n".to_owned());
    }
}

/// What a note names is killed and removed, and so is the note.
#[test]
fn a_folder_of_notes_that_is_a_link_or_somebody_elses_was_swept() {
    let project = TestProject::with_drift();
    for folder in ["state", "mine", "tmp/punchlist-auditor-x"] {
        fs::create_dir(project.path(folder)).expect("a folder");
    }
    let note = json!({ "folder": project.path("tmp/punchlist-auditor-x") }).to_string();
    fs::write(project.path("mine/note"), &note).expect("written");
    symlink(project.path("mine"), project.path("state/running")).expect("a link");
    project.run().holds();
    assert!(project.path("mine/note").exists(), "behind the link");
    fs::remove_file(project.path("state/running")).expect("the link");
    fs::create_dir(project.path("state/running")).expect("a folder");
    fs::write(project.path("state/running/note"), &note).expect("written");
    if give_away(&project, "state/running/note") {
        project.run();
        assert!(project.path("tmp/punchlist-auditor-x").exists(), "named by somebody else");
    }
}

#[test]
fn with_no_home_a_folder_of_somebody_elses_was_believed() {
    let user = rustix::process::geteuid().as_raw();
    if fs::metadata(format!("/run/user/{user}")).is_ok() {
        eprintln!("skipped: this user has a folder of the system's own");
        return;
    }
    let mut project = TestProject::with_drift();
    project.unset("HOME");
    project.unset("PUNCHLIST_HOME");
    let name = format!("tmp/punchlist-{user}");
    project.run().holds();
    let mode = fs::metadata(project.path(&name)).expect("made").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    if give_away(&project, &name) {
        let why = format!("DIR/{name}: it belongs to another user (uid 65534)");
        project.run().tells(&format!("the state folder can't be used: {why}, so this stop was not checked"));
    }
}

/// Far more than a bounded wait takes on a busy machine, and far less than for ever.
const BOUNDED: Duration = Duration::from_secs(25);

#[test]
fn a_pipe_in_the_place_of_a_file_was_waited_for() {
    let month = format!("decisions/{}.jsonl", punchlist::clock::now().strftime("%Y-%m"));
    let uncounted = ["sessions/session-1.lock", "sessions/session-1.json"];
    let others = ["sessions/session-1.stop", "off.json", "clients.json", "registry.sqlite", &month];
    for name in uncounted.iter().chain(&others) {
        let project = TestProject::with_drift();
        let pipe = project.path("state").join(name);
        fs::create_dir_all(pipe.parent().expect("a folder")).expect("made");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).expect("a pipe");
        let run = project.run();
        run.check(run.wall < BOUNDED, &format!("{name}: in time"));
        if uncounted.contains(name) {
            run.check(run.stdout.contains("systemMessage") && run.stdout.contains("session-1."), "told");
            run.same(&run.status.code(), &Some(0));
        } else {
            run.same(&run.status.code(), &Some(2));
        }
    }
}

#[test]
fn a_pipe_in_the_place_of_what_was_held_was_not_told_of() {
    let mut project = TestProject::with_drift();
    project.run().holds();
    let held = project.path("state/sessions/session-1.held");
    fs::remove_file(&held).expect("it was there");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, &held, mode).expect("a pipe");
    project.input["stop_hook_active"] = serde_json::json!(true);
    let told = "what became of the block before this stop can't be told (DIR/state/sessions/session-1.held";
    let run = project.run();
    run.check(run.stdout.contains(told), "told");
    let again = project.run();
    again.check(!again.stdout.contains(told), "once");
}

/// Locks a file of the state folder until it is dropped.
fn held(project: &TestProject, name: &str) -> File {
    let path = project.path("state").join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    let file = File::options().create(true).append(true).open(path).expect("opened");
    file.lock().expect("locked");
    file
}

#[test]
fn a_lock_that_another_process_held_was_waited_for() {
    let project = TestProject::with_drift();
    let counter = held(&project, "sessions/session-1.lock");
    let run = project.run();
    run.tells(
        "would block, but the block counter can't be written (DIR/state/sessions/session-1.lock: another process \
         has kept it locked for 3 s)",
    );
    run.logs("allow", "state-unusable");
    run.check(run.wall < BOUNDED, "in time");
    drop(counter);
    let month = format!("decisions/{}.jsonl", punchlist::clock::now().strftime("%Y-%m"));
    let log = held(&project, &month);
    let run = project.run();
    run.same(&run.status.code(), &Some(2));
    run.check(
        run.stderr.contains("the decision log can't be written: DIR/state/decisions/"),
        "told on stderr",
    );
    run.check(run.wall < BOUNDED, "in time");
    drop(log);
    let _switch = held(&project, "off.lock");
    let run = project.run_args(&["off"]);
    run.same(&run.status.code(), &Some(1));
    run.check(run.stderr.contains("another process has kept it locked"), "told");
}

/// Whoever holds the lock on a stop and is no hook of it does not keep the stop from being checked.
#[test]
fn a_held_lock_on_a_stop_switched_the_gate_off() {
    let project = TestProject::with_drift();
    let _held = held(&project, "sessions/session-1.stop");
    project.run().holds();
}

/// Whoever writes the name of a stop into its lock and holds it is taken for another hook that has
/// this stop, which was believed for good, and nobody was told.
#[test]
fn a_held_lock_with_the_name_of_the_stop_switched_the_gate_off_in_silence() {
    let project = TestProject::with_drift();
    let input = HookInput::parse(project.input.to_string().as_bytes()).expect("input");
    let mut held = held(&project, "sessions/session-1.stop");
    held.write_all(stop_name(&input).as_bytes()).expect("written");
    let command = |project: &TestProject| {
        project.finish(
            project.start_with(&["hook", "--hook-timeout", "8"], project.input.to_string().as_bytes()),
        )
    };
    let run = command(&project);
    run.tells("this stop was not checked: something holds the lock of its session");
    run.logs("allow", "state-unusable");
    // One that ends without a decision leaves the stop to whoever waits.
    let stop = project.start();
    std::thread::sleep(Duration::from_millis(300));
    drop(held);
    project.finish(stop).holds();
}

/// Runs the hook under a limit of the shell's.
fn limited(project: &TestProject, limit: &str) -> Run {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit {limit} || exit 99; exec \"$0\" hook"), PUNCHLIST]);
    project.finish(project.start_command(command, project.input.to_string().as_bytes()))
}

#[test]
fn a_limit_on_the_size_of_files_killed_it() {
    let project = TestProject::with_drift();
    let run = limited(&project, "-f 0");
    run.same(&run.status.code(), &Some(0));
    run.check(run.stdout.contains("File too large"), "the error of the system is named");
    run.same(&leftovers(&project), &Vec::<String>::new());
}

#[test]
fn a_small_stack_killed_it() {
    let project = TestProject::with_drift();
    let run = limited(&project, "-s 128");
    run.same(&run.status.code(), &Some(2));
}

/// Below some 50 MB the system itself can't load the program, in this profile.
#[test]
fn a_limit_on_memory_killed_it() {
    for kilobytes in [128_000, 256_000] {
        let project = TestProject::with_drift();
        let run = limited(&project, &format!("-v {kilobytes}"));
        run.same(&run.status.code(), &Some(2));
    }
}

/// The signals' thread can't be started then: that was a panic, told as a fault of punchlist's own.
#[cfg(target_os = "linux")]
#[test]
fn a_thread_that_could_not_be_started_was_a_panic() {
    for kilobytes in [2_048, 3_072] {
        let project = TestProject::with_a_wrong_greeting();
        let run = limited(&project, &format!("-d {kilobytes}"));
        run.same(&run.status.code(), &Some(0));
        let said = format!("{}{}", run.stdout, run.stderr);
        run.check(!said.contains("a fault of punchlist itself"), "an error of the system");
        run.check(said.contains("this stop was not checked") || said.contains("os error"), "told");
    }
}

/// Temporary files in the state folder.
fn leftovers(project: &TestProject) -> Vec<String> {
    let names = project.texts_below("state").into_iter().map(|(name, _)| name);
    names.filter(|name| name.contains("/.tmp")).collect()
}
