//! The hook ended from outside at any moment: `SIGKILL` at random points, `SIGTERM` at every system
//! call. Whatever the moment, nobody of its children is left, nothing in the temporary folder after
//! the next stop, the log is whole, and no block is given that was not counted and logged.
//!
//! A few points in every run of the tests; all by `PUNCHLIST_KILLS=1000` and
//! `PUNCHLIST_SIGNALS=all`.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::processes::{assert_is_gone, eventually, is_alive};
use crate::test_project::{BETA, LIMIT, OTHERS, PUNCHLIST, Running, TestProject, finds, text};

/// The processes that have this test's folder in their environment.
fn left(project: &TestProject) -> Vec<Pid> {
    let root = text(&project.path(""));
    let root = root.trim_end_matches('/').as_bytes();
    let ids = fs::read_dir("/proc").expect("/proc").filter_map(Result::ok);
    ids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|id| {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            environment.windows(root.len()).any(|window| window == root)
        })
        .filter_map(Pid::from_raw)
        .filter(|pid| is_alive(*pid))
        .collect()
}

/// Asserts that nobody is left, and ends whoever is.
#[track_caller]
fn assert_nobody_lives(project: &TestProject, when: &str) {
    if !eventually(|| left(project).is_empty()) {
        let left = left(project);
        let command = |pid: &Pid| {
            let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_pid())).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ")
        };
        let names: Vec<_> = left.iter().map(command).collect();
        for pid in left {
            let _ = kill_process(pid, Signal::KILL);
        }
        panic!("{when}: left behind: {names:?}");
    }
}

/// The files below a folder of the test, empty where there is none.
fn entries(project: &TestProject, name: &str) -> Vec<String> {
    let entries = fs::read_dir(project.path(name)).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Every line of the log, which has to be whole.
fn records(project: &TestProject, when: &str) -> Vec<Value> {
    let files = project.texts_below("state/decisions");
    let lines = files.iter().flat_map(|(_, text)| text.lines());
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{when}: torn: {why}: {line}")))
        .collect()
}

/// A stop at which nothing is looked at, but for what others left.
fn assert_next_stop_sweeps(project: &mut TestProject, when: &str) {
    project.var("PUNCHLIST_OFF", "1");
    project.run().is_silent();
    project.unset("PUNCHLIST_OFF");
    // Or whoever is still at it, which may be the supervisor.
    for folder in ["tmp", "state/running"] {
        assert!(
            eventually(|| entries(project, folder).is_empty()),
            "{when}: left in {folder}: {:?}",
            entries(project, folder)
        );
    }
}

/// A session that is held by two readers, in a repository, with a client whose helpers have left
/// its group, do not end by `SIGTERM`, and hold its pipes.
fn held_project() -> TestProject {
    let project = TestProject::with_drift();
    let git = |args: &[&str]| {
        let done = Command::new("git").args(args).current_dir(project.in_work("")).output().expect("git");
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "First"]);
    project.client(&format!(
        "grandchild-setsid 90\ngrandchild-holds-pipes 90\nignore-sigterm\n{}\n{OTHERS}",
        finds(&[BETA])
    ));
    project
}

fn rounds_of(variable: &str, few: u32) -> u32 {
    std::env::var(variable).ok().and_then(|count| count.parse().ok()).unwrap_or(few)
}

#[test]
fn a_hook_that_is_killed_at_any_point_leaves_nobody_and_nothing() {
    let mut project = held_project();
    // The first audit with a client asks for its flags, too.
    project.run();
    let (wanted, mut killed, mut noted) = (rounds_of("PUNCHLIST_KILLS", 12), 0, 0);
    let mut span = Duration::ZERO;
    let mut round = 0;
    while killed < wanted {
        assert!(round < wanted * 20, "{killed} killed of {round}");
        project.input["session_id"] = format!("killed-{round}").into();
        // How long a run takes depends on what else the machine does.
        if round % 20 == 0 {
            span = project.run().wall;
            project.input["session_id"] = format!("killed-{round}-too").into();
        }
        // Thousandths that are spread over the span, in any number of rounds.
        let part = (round.wrapping_mul(618) + 309) % 1000;
        let running = project.start();
        sleep(span * part / 1000);
        let when = format!("round {round} at {part} thousandths of {span:?}");
        killed += u32::from(kill(running, &when));
        round += 1;
        noted += usize::from(!entries(&project, "state/running").is_empty());
        assert_nobody_lives(&project, &when);
        assert_next_stop_sweeps(&mut project, &when);
        records(&project, &when);
    }
    eprintln!("{killed} killed before their end, of {round} rounds, {noted} with a note of what they ran");
}

/// Kills a hook, and nobody else; returns whether it was still there.
fn kill(mut running: Running, when: &str) -> bool {
    if running.has_ended() {
        return false;
    }
    running.signal(Signal::KILL);
    let since = Instant::now();
    while !running.has_ended() {
        assert!(since.elapsed() < LIMIT, "{when}: it does not die");
        sleep(Duration::from_millis(1));
    }
    true
}

/// What a killed hook started dies with it, within moments and with no other stop.
#[test]
fn a_killed_hook_takes_its_auditor_along() {
    let project = held_project();
    project.client("grandchild-setsid 90 DIR/pid\nignore-sigterm\nhang");
    let running = project.start();
    assert!(eventually(|| project.path("pid").exists() && !entries(&project, "tmp").is_empty()), "at work");
    kill(running, "at work");
    assert_nobody_lives(&project, "killed at work");
    assert!(eventually(|| entries(&project, "tmp").is_empty()), "the auditor's folder is gone");
    assert!(eventually(|| entries(&project, "state/running").is_empty()), "so is the note");
}

/// The client kills the whole tree: nobody is left to clean up before the next stop.
#[test]
fn what_a_kill_of_the_whole_tree_left_is_swept_at_the_next_stop() {
    let mut project = held_project();
    project.client("grandchild-setsid 90 DIR/pid\nignore-sigterm\nhang");
    let running = project.start();
    assert!(eventually(|| project.path("pid").exists() && !entries(&project, "tmp").is_empty()), "at work");
    let auditor = project.calls()[0]["pid"].to_string();
    let auditor = crate::test_project::pid(&auditor);
    // First the supervisor, while the hook lives.
    let supervisors = left(&project).into_iter().filter(|pid| {
        let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_pid())).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("\0supervise\0")
    });
    let supervisors: Vec<_> = supervisors.collect();
    assert_eq!(supervisors.len(), 1, "one supervisor for all children");
    kill_process(supervisors[0], Signal::KILL).expect("killed");
    kill(running, "at work");
    assert!(is_alive(auditor), "the test needs an auditor that is left");
    assert!(!entries(&project, "tmp").is_empty(), "and its folder");
    assert_next_stop_sweeps(&mut project, "the whole tree killed");
    assert_is_gone(auditor);
    assert_nobody_lives(&project, "the whole tree killed");
}

/// Whoever left the group of a check by `setsid` or a double fork, with or without our environment,
/// whether or not it ends by `SIGTERM`, is gone when the hook has ended.
#[test]
fn whoever_left_the_group_of_a_check_is_gone_with_the_hook() {
    let mut project = TestProject::without_drift();
    let sleeper = |name: &str| format!("sh -c 'trap \\\"\\\" TERM; echo $$ > DIR/{name}; exec sleep 90'");
    let run = format!(
        "setsid {} & ( ( {} & ) & ); env -i setsid {} & while test ! -s DIR/c; do sleep 0.05; done",
        sleeper("a"),
        sleeper("b"),
        sleeper("c"),
    );
    project.own_config(&format!("[[check]]\nname = \"test\"\nrun = \"{run}\"\n"));
    project.works_on();
    let run = project.run();
    run.logs("allow", "clean");
    for name in ["a", "b", "c"] {
        assert_is_gone(project.pid_in(name));
    }
}

// ---- SIGTERM at every system call

/// Whether system calls can be traced here.
fn can_trace() -> bool {
    let can = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).output();
    let can = can.is_ok_and(|output| output.status.success());
    if !can {
        eprintln!("SKIPPED: strace can't be used here, so no signal was sent at any system call");
    }
    can
}

/// The hook under strace.
fn traced(project: &TestProject, options: &[&str]) -> Running {
    let mut command = Command::new("strace");
    command.args(["-qq", "-o"]).arg(project.path("trace")).args(options).args([PUNCHLIST, "hook"]);
    project.start_command(command, project.input.to_string().as_bytes())
}

/// Whether a line of a trace is the start of a child.
fn starts_child(line: &str) -> bool {
    let name = line.split('(').next().unwrap_or_default();
    ["clone", "clone3", "vfork", "fork"].contains(&name) && !line.contains("CLONE_THREAD")
}

/// The system calls of the hook's main thread in a whole stop, each with how often it was made by
/// then.
fn system_calls(project: &TestProject) -> Vec<(String, usize)> {
    // The first audit with a client asks for its flags, too.
    project.run();
    // The longer it waits for its children, the more calls it makes: where others keep the machine
    // busy, most would be those of no other run.
    let traces = (0..3).map(|_| {
        project.finish(traced(project, &[]));
        fs::read_to_string(project.path("trace")).expect("a trace")
    });
    let trace = traces.min_by_key(String::len).expect("three");
    let mut made = BTreeMap::<&str, usize>::new();
    let mut calls = Vec::new();
    for line in trace.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase())) {
        let name = line.split('(').next().unwrap_or_default();
        let count = made.entry(name).or_default();
        *count += 1;
        // A process starts with `execve`, and strace can't stop what it does before.
        if name != "execve" {
            calls.push((name.to_owned(), *count));
        }
    }
    assert!(trace.lines().any(starts_child), "the hook starts a child");
    calls
}

#[test]
fn sigterm_at_any_system_call_ends_the_hook_with_its_children() {
    if !can_trace() {
        return;
    }
    let mut project = held_project();
    project.input["session_id"] = "count".into();
    let calls = system_calls(&project);
    let all = calls.len();
    let every =
        if std::env::var("PUNCHLIST_SIGNALS").is_ok_and(|which| which == "all") { 1 } else { all / 20 };
    let (mut points, mut by_signal, mut interrupted, mut blocked) = (0, 0, 0, 0);
    let mut swallowed = Vec::new();
    for (at, (name, count)) in calls.iter().enumerate().step_by(every.max(1)) {
        let session = format!("signal-{at}");
        let when = format!("SIGTERM at system call {at} of {all}, {name} {count}");
        project.input["session_id"] = session.clone().into();
        let before = records(&project, &when).len();
        let inject = format!("inject={name}:signal=TERM:when={count}");
        let run = project.finish(traced(&project, &["-e", &inject]));
        let trace = fs::read_to_string(project.path("trace")).expect("a trace");
        // How often a pipe is polled differs from run to run: this one may not have come that far,
        // or come there only after its last child.
        let after_signal = trace.split_once("--- SIGTERM").map(|(_, after)| after);
        let was_sent = after_signal.is_some();
        points += usize::from(was_sent);
        assert_nobody_lives(&project, &when);
        let new = records(&project, &when).split_off(before);
        let state = fs::read(project.path(&format!("state/sessions/{session}.json"))).unwrap_or_default();
        let state: Value = serde_json::from_slice(&state).unwrap_or_default();
        let counted = state["blocks"].as_u64().unwrap_or(0);
        match (run.status.code(), run.status.signal()) {
            // Before its first child, or after its answer: nothing was to be cleaned up.
            (None, Some(15)) => {
                by_signal += 1;
                run.check(run.stdout.is_empty() || new.len() == 1, &when);
            }
            (Some(0), _) if was_sent => {
                interrupted += 1;
                run.check(counted == 0, &format!("{when}: no block is counted that is not given"));
                run.check(new.len() == 1, &format!("{when}: one record"));
                let detail = new[0]["detail"].as_str().unwrap_or_default();
                run.check(detail.contains("ended by SIGTERM"), &format!("{when}: {detail}"));
            }
            (Some(2), _) => {
                blocked += usize::from(was_sent);
                run.check(counted == 1 && new.len() == 1, &format!("{when}: counted and logged"));
                run.check(new[0]["decision"] == "block", &format!("{when}: logged as a block"));
                if after_signal.is_some_and(|after| after.lines().any(starts_child)) {
                    swallowed.push(when.clone());
                }
            }
            _ => run.check(false, &format!("{when}: {}", run.status)),
        }
        assert_next_stop_sweeps(&mut project, &when);
    }
    eprintln!(
        "{points} points of {all} system calls: {by_signal} ended by the signal, {interrupted} logged as \
         interrupted, {blocked} had decided"
    );
    assert!(points > 0, "no signal was sent");
    assert_eq!(swallowed, [""; 0], "a child was started after the signal, and the stop blocked");
}
