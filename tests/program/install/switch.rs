//! What a person sees of `off` and `on`. What the hook makes of them is told in
//! `tests/hook/switch.rs`.

use std::fs;

use crate::install::machine::Machine;

#[test]
fn off_and_on_say_what_they_did() {
    let machine = Machine::new();
    let off = "Off: DIR/project\nEvery stop goes through, and the log says so, until `punchlist on`.\n";
    assert_eq!(machine.print(&["off"]), off);
    assert_eq!(machine.print(&["off", "--project"]), "Already off: DIR/project\n");
    assert_eq!(machine.print(&["on"]), "On: DIR/project\n");
    assert_eq!(machine.print(&["on"]), "Already on: DIR/project\n");
    assert_eq!(machine.names("state"), ["off.lock"], "nothing is left that a stop would have to read");
}

#[test]
fn a_folder_of_the_project_means_the_project() {
    let machine = Machine::new();
    let inner = machine.path("project/src/deep");
    fs::create_dir_all(&inner).expect("made");
    assert!(machine.run_in(&inner, &["off"]).stdout.starts_with("Off: DIR/project\n"));
    assert_eq!(machine.print(&["on"]), "On: DIR/project\n");
    // A home has the client's settings, too, and is no project by that.
    let loose = machine.path("home/notes");
    fs::create_dir_all(machine.path("home/.claude")).expect("made");
    fs::create_dir_all(&loose).expect("made");
    assert!(machine.run_in(&loose, &["off"]).stdout.starts_with("Off: DIR/home/notes\n"));
}

#[test]
fn a_session_is_switched_by_the_start_of_its_id() {
    let machine = Machine::new();
    let off = "Off: session 3f2a\nEvery stop goes through, and the log says so, until `punchlist on --session ID`.\n";
    assert_eq!(machine.print(&["off", "--session", "3f2a"]), off);
    let on = "Already on: DIR/project\nBut session 3f2a is still off: `punchlist on --session 3f2a`.\n";
    assert_eq!(machine.print(&["on"]), on);
    assert_eq!(machine.print(&["on", "--session", "3f2a-77"]), "On: session 3f2a-77\n");
    assert_eq!(machine.print(&["on"]), "Already on: DIR/project\n");
    let short = "punchlist: \"3f\" may be many sessions: give at least 4 characters of its id\n";
    assert_eq!(machine.fails(&["off", "--session", "3f"]), short);
}

#[test]
fn what_keeps_it_off_all_the_same_is_said() {
    let machine = Machine::new();
    machine.write("home/.config/punchlist/config.toml", "[gates]\nenabled = false\n");
    let on = "Already on: DIR/project\nBut the config says [gates] enabled = false, which lets every stop through.\n";
    assert_eq!(machine.print(&["on"]), on);
}

#[test]
fn a_state_folder_that_can_not_be_written_is_an_error() {
    let machine = Machine::new();
    machine.write("state", "a file");
    let said = machine.fails(&["off"]);
    assert_eq!(said, "punchlist: the state folder can't be used: DIR/state: it is no folder\n");
}
