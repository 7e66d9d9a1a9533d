//! A run that is asked to end, is cut off, or is not the only one.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::feature_loop::machine::{DONE, Machine};
use crate::processes::{assert_group_is_gone, eventually, is_alive};

const ALL: &[(&str, bool)] = &[("F1", true), ("F2", true), ("F3", true)];

fn group(machine: &Machine, call: usize) -> Pid {
    let id = machine.calls()[call]["pgid"].as_i64().and_then(|id| i32::try_from(id).ok());
    id.and_then(Pid::from_raw).expect("a group")
}

fn at_work(machine: &Machine) -> Child {
    let run = machine.start(&["loop", "run"]);
    assert!(eventually(|| !machine.calls().is_empty()), "a session is started");
    run
}

#[test]
fn a_signal_ends_the_session_and_the_run_and_another_run_goes_on() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let machine = Machine::nearly_done();
        let all = format!("on-call 2 {}", Machine::writes(ALL));
        machine.script(&["on-call 1 hang", &all, DONE]);
        let run = at_work(&machine);
        kill_process(Pid::from_child(&run), signal).expect("signalled");
        let ran = machine.tidy(&run.wait_with_output().expect("it ends"));
        assert_eq!(ran.code, Some(1), "{}", ran.stdout);
        assert!(
            ran.stdout.contains("INTERRUPTED: asked to end; `punchlist loop run` goes on"),
            "{}",
            ran.stdout
        );
        assert_group_is_gone(group(&machine, 0));
        let progress = machine.read("project/progress.txt");
        assert!(
            progress.contains("iteration: 1\n") && progress.contains("status: INTERRUPTED\n"),
            "{progress}"
        );
        assert_eq!(machine.status()["session"], serde_json::Value::Null);
        let ran = machine.run(&["loop", "run"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stdout);
        assert!(ran.stdout.contains("iteration 2 of 10"), "{}", ran.stdout);
    }
}

#[test]
fn a_signal_while_nothing_runs_ends_it_too() {
    let machine = Machine::begun();
    machine.script(&["write src/a 1", DONE]);
    let run = machine.start(&["loop", "run", "--every", "10m"]);
    assert!(eventually(|| machine.status()["spent"]["usd"] == 0.25), "the session is over");
    kill_process(Pid::from_child(&run), Signal::TERM).expect("signalled");
    let ran = machine.tidy(&run.wait_with_output().expect("it ends"));
    assert!(ran.stdout.contains("INTERRUPTED") && ran.code == Some(1), "{}", ran.stdout);
}

#[test]
fn two_runs_of_one_folder_are_not_at_work_at_once() {
    let machine = Machine::begun();
    machine.script(&["hang"]);
    let run = at_work(&machine);
    let pid = run.id();
    let said = machine.fails(&["loop", "run"]);
    assert_eq!(said, format!("punchlist: this loop is being run already (process {pid})\n"));
    assert_eq!(machine.fails(&["loop", "start", "--session", "s"]), said, "nor is a session bound meanwhile");
    assert_eq!(machine.status()["running"], true);
    kill_process(Pid::from_child(&run), Signal::TERM).expect("signalled");
    run.wait_with_output().expect("it ends");
    assert_eq!(machine.status()["running"], false);
}

#[test]
fn a_run_that_is_killed_leaves_no_lock_and_its_session_is_waited_for() {
    let machine = Machine::begun();
    // The session outlives its run, ends its feature, and only then does the next one begin.
    let two = format!("on-call 1 {}", Machine::writes(&[("F1", true), ("F2", true), ("F3", false)]));
    let all = format!("on-call 2 {}", Machine::writes(ALL));
    machine.script(&["on-call 1 sleep 3000", &two, "on-call 1 exit 0", &all, DONE]);
    let run = at_work(&machine);
    let session = group(&machine, 0);
    assert!(eventually(|| machine.read_state().contains("\"pid\":")), "the session is remembered");
    kill_process(Pid::from_child(&run), Signal::KILL).expect("killed");
    run.wait_with_output().expect("gone");
    assert!(is_alive(session), "it is at work still");
    let ran = machine.run(&["loop", "run"]);
    assert_eq!((ran.code, machine.calls().len()), (Some(0), 2), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("The last run was cut off in session ")
            && ran.stdout.contains("and is waited for"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("iteration 2 of 10  F3 What F3 is  3 of 3 pass"),
        "nothing is done twice: {}",
        ran.stdout
    );
}

#[test]
fn a_run_that_was_cut_off_with_its_session_goes_on() {
    let machine = Machine::nearly_done();
    let all = format!("on-call 2 {}", Machine::writes(ALL));
    machine.script(&["on-call 1 hang", &all, DONE]);
    let run = at_work(&machine);
    let session = group(&machine, 0);
    assert!(eventually(|| machine.read_state().contains("\"pid\":")));
    kill_process(Pid::from_child(&run), Signal::KILL).expect("killed");
    run.wait_with_output().expect("gone");
    kill_process(session, Signal::KILL).expect("killed");
    assert_group_is_gone(session);
    let ran = machine.run(&["loop", "run"]);
    assert_eq!((ran.code, machine.calls().len()), (Some(0), 2), "{}", ran.stdout);
    assert!(ran.stdout.contains("; going on.\n"), "{}", ran.stdout);
}
