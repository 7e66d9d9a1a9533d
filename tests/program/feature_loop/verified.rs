//! What shows that a feature passes: its own command, once a person has allowed it, and that of the
//! whole list.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::feature_loop::gate::{ALL, bound, held, stop, told};
use crate::feature_loop::machine::Machine;
use crate::processes::eventually;

/// A list in which the second feature has a command of its own.
fn verified_list(marks: [bool; 2], verify: &str) -> String {
    json!({ "features": [
        { "id": "F1", "description": "x", "passes": marks[0] },
        { "id": "F2", "description": "y", "passes": marks[1], "verify": verify },
    ]})
    .to_string()
}

#[test]
fn a_features_command_decides_once_a_person_has_allowed_it() {
    let machine = Machine::new();
    let write = |marks| {
        machine
            .write("project/feature_list.json", &verified_list(marks, "echo no cart; test -e src/cart.rs"));
    };
    write([true, false]);
    let begun = machine.print(&["loop", "init", "--max", "9"]);
    let one = "1 feature has a `verify`: `punchlist allow` lets it run\n";
    assert!(begun.ends_with(one), "{begun}");
    machine.print(&["loop", "start", "--session", "s"]);
    held(&stop(&machine));
    machine.write("project/src/other.rs", "1");
    write([true, true]);
    // A command that never ran shows nothing: the loop was COMPLETE here.
    for _ in 0..2 {
        let message = told(&stop(&machine));
        assert_eq!(
            message,
            "punchlist: feature loop: all features are set to pass, and it stays open: `verify` in the feature list \
             does not run before you have looked at it: `punchlist allow`"
        );
    }
    let allowed = machine.print(&["allow", "--yes"]);
    assert!(allowed.contains("  echo no cart; test -e src/cart.rs\n"), "{allowed}");
    let reason = held(&stop(&machine));
    assert!(
        reason.contains("set back to open:\n- F2: `echo no cart; test -e src/cart.rs` ended with exit code 1\n   | no cart\n"),
        "{reason}"
    );
    // Another command has not been read by anybody, and the one that the loop began with counts.
    machine.write("project/src/other.rs", "3");
    machine.write("project/feature_list.json", &verified_list([true, true], "true"));
    let reason = held(&stop(&machine));
    assert!(reason.contains("- F2: `echo no cart; test -e src/cart.rs` ended with exit code 1"), "{reason}");
    machine.write("project/src/cart.rs", "1");
    write([true, true]);
    assert!(told(&stop(&machine)).starts_with("punchlist: feature loop COMPLETE: all 2 features pass"));
}

#[test]
fn a_command_that_nobody_allowed_keeps_the_loop_open_unless_the_whole_list_shows_it() {
    let machine = Machine::new();
    set_verify(&machine, "test -e src/all.rs");
    machine.write("project/feature_list.json", &verified_list([false, false], "true"));
    machine.print(&["loop", "init", "--max", "9"]);
    machine.print(&["loop", "start", "--session", "s"]);
    held(&stop(&machine));
    machine.write("project/src/cart.rs", "1");
    machine.write("project/feature_list.json", &verified_list([false, true], "true"));
    let told_of = "`verify` in the feature list does not run before you have looked at it: `punchlist allow`";
    assert!(held(&stop(&machine)).ends_with(&format!("For the person: {told_of}")));
    machine.write("project/src/all.rs", "1");
    machine.write("project/feature_list.json", &verified_list([true, true], "true"));
    let message = told(&stop(&machine));
    assert_eq!(message, "punchlist: feature loop COMPLETE: all 2 features pass, after 2 iterations");
}

#[test]
fn the_whole_lists_command_has_the_last_word() {
    let machine = bound();
    let config = "[audit]\nenabled = false\n[loop]\nverify = \"test -e src/all.rs\"\n";
    machine.write("home/.config/punchlist/config.toml", config);
    machine.list(&[("F1", true), ("F2", true), ("F3", false)]);
    machine.write("project/src/a.rs", "1");
    assert!(held(&stop(&machine)).contains("2 of 3 features pass"), "it is asked at the end");
    machine.write("project/src/a.rs", "2");
    machine.list(ALL);
    let reason = held(&stop(&machine));
    assert!(reason.contains("- F3: `test -e src/all.rs` ended with exit code 1"), "{reason}");
    machine.write("project/src/all.rs", "1");
    machine.list(ALL);
    assert!(told(&stop(&machine)).starts_with("punchlist: feature loop COMPLETE: all 3 features pass"));
}

fn set_verify(machine: &Machine, run: &str) {
    let config = format!("[audit]\nenabled = false\n[loop]\nverify = \"{run}\"\n");
    machine.write("home/.config/punchlist/config.toml", &config);
}

#[test]
fn a_last_mark_of_the_persons_went_by_the_whole_lists_command() {
    let machine = bound();
    set_verify(&machine, "echo no tests; exit 1");
    machine.typed("punchlist loop pass F2 F3", &[]);
    let reason = held(&stop(&machine));
    assert!(
        reason.contains("3 of 3 features pass") && reason.contains("the command for the whole list fails. Find out why, and fix it: `echo no tests; exit 1` ended with exit code 1\n   | no tests\n"),
        "{reason}"
    );
    assert_eq!(machine.read("project/feature_list.json"), Machine::list_text(ALL), "and the mark stays");
    set_verify(&machine, "true");
    assert!(told(&stop(&machine)).contains("feature loop COMPLETE: all 3 features pass"));
}

#[test]
fn a_command_that_took_too_long_made_the_loop_complete() {
    let machine = bound();
    set_verify(&machine, "sleep 60");
    machine.write("project/src/a.rs", "1");
    machine.list(&[("F1", true), ("F2", true), ("F3", false)]);
    held(&stop(&machine));
    machine.write("project/src/a.rs", "2");
    machine.list(ALL);
    let hook = machine.start_stop("s", &json!({}), &["hook", "--hook-timeout", "7"]);
    let message = told(&machine.tidy(&hook.wait_with_output().expect("it ends")));
    assert!(
        message.contains("feature loop: all features are set to pass, and it stays open: `verify` of the whole list was not run: it did not end within 1 s, which is all that the hook's own timeout leaves: `punchlist install` raises that"),
        "{message}"
    );
    assert_eq!(
        (&machine.status()["status"], &machine.status()["session"]),
        (&json!("IN_PROGRESS"), &json!("s"))
    );
    set_verify(&machine, "true");
    assert!(told(&stop(&machine)).contains("feature loop COMPLETE: all 3 features pass"));
}

#[test]
fn a_signal_during_a_command_made_the_loop_complete() {
    let machine = bound();
    set_verify(&machine, "touch started; sleep 60");
    machine.write("project/src/a.rs", "1");
    machine.list(&[("F1", true), ("F2", true), ("F3", false)]);
    held(&stop(&machine));
    machine.write("project/src/a.rs", "2");
    machine.list(ALL);
    let before = machine.read_state();
    let hook = machine.start_stop("s", &json!({}), &["hook"]);
    assert!(eventually(|| machine.path("project/started").exists()), "the command runs");
    kill_process(Pid::from_child(&hook), Signal::TERM).expect("signalled");
    let ended = machine.tidy(&hook.wait_with_output().expect("it ends"));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(
        (machine.read_state(), machine.read("project/feature_list.json")),
        (before, Machine::list_text(ALL))
    );
    set_verify(&machine, "true");
    assert!(told(&stop(&machine)).contains("feature loop COMPLETE: all 3 features pass"));
}

/// The command that a list began with counted for ever, whoever changed it.
#[test]
fn a_person_could_not_correct_a_command() {
    let machine = Machine::new();
    machine.write("project/feature_list.json", &verified_list([true, false], "exit 4"));
    machine.print(&["loop", "init", "--max", "9"]);
    machine.print(&["loop", "start", "--session", "s"]);
    machine.write("project/feature_list.json", &verified_list([true, false], "test -e src/cart.rs"));
    // What the loop goes by and what the list says by now are both shown.
    let allowed = machine.print(&["allow", "--yes"]);
    assert!(allowed.contains("  exit 4\n") && allowed.contains("  test -e src/cart.rs\n"), "{allowed}");
    let inside = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s")];
    machine.run_with(&["loop", "start"], &inside).printed();
    machine.print(&["loop", "start", "--session", "s"]);
    machine.write("project/src/cart.rs", "1");
    machine.write("project/feature_list.json", &verified_list([true, true], "test -e src/cart.rs"));
    let reason = held(&stop(&machine));
    assert!(reason.contains("- F2: `exit 4` ended with exit code 4"), "{reason}");
    let said = machine.typed("punchlist loop start", &[]);
    assert!(
        said.contains("`verify` of F2 is now: test -e src/cart.rs  (`punchlist allow` lets it run)\n"),
        "{said}"
    );
    machine.write("project/src/cart.rs", "2");
    machine.write("project/feature_list.json", &verified_list([true, true], "test -e src/cart.rs"));
    assert!(told(&stop(&machine)).starts_with("punchlist: feature loop COMPLETE: all 2 features pass"));
}
