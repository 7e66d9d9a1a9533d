//! What a stop costs that is let go at once, and a session's start with nothing to be given: no
//! thread, no program, and hardly a call to the system. Counted by `strace`, which says the same on
//! a busy machine; where there is none, that is said aloud.

use std::process::Command;

use serde_json::json;

use crate::test_project::{PUNCHLIST, TestProject};

/// The calls of one run, if they can be counted here. The loader's and the runtime's are among
/// them: how many those are is the toolchain's affair and differs by machine.
fn calls(project: &TestProject) -> Option<Vec<String>> {
    let trace = project.path("strace");
    let mut command = Command::new("strace");
    command.arg("-f").arg("-o").arg(&trace).args([PUNCHLIST, "hook"]);
    if Command::new("strace").arg("-V").output().is_err() {
        assert_ne!(std::env::var("PUNCHLIST_STRACE").as_deref(), Ok("required"), "there is no strace");
        eprintln!("SKIPPED: there is no strace here, so no call is counted");
        return None;
    }
    let run = project.finish(project.start_command(command, project.input.to_string().as_bytes()));
    let text = std::fs::read_to_string(trace).unwrap_or_default();
    if !text.contains("execve(") {
        eprintln!("SKIPPED: strace may not look at processes here: {}", run.stderr);
        return None;
    }
    run.is_silent();
    if project.input["hook_event_name"] == "Stop" {
        run.same(&run.record()["decision"], &json!("allow"));
    }
    // `12345 openat(AT_FDCWD, …`: signals and exits stand there as well, and are no calls.
    let name = |line: &str| Some(line.split_once(' ')?.1.trim().split_once('(')?.0.to_owned());
    Some(text.lines().filter_map(name).filter(|name| !name.starts_with(['-', '+', '<'])).collect())
}

fn scenes() -> Vec<(&'static str, TestProject)> {
    let mut scenes: Vec<_> = ["loop guard", "plan mode", "off", "session start"]
        .map(|name| (name, TestProject::with_drift()))
        .into_iter()
        .collect();
    scenes[0].1.input["stop_hook_active"] = json!(true);
    scenes[1].1.input["permission_mode"] = json!("plan");
    scenes[2].1.var("PUNCHLIST_OFF", "1");
    scenes[3].1.input["hook_event_name"] = json!("SessionStart");
    scenes
}

/// Stdin, two config files, whether there is a feature loop, the person's switch, what the session
/// may still ask of a model, an id, a line of the log, and whether a block is there whose outcome
/// nobody knows; the runtime's seed of its hash tables and its leaving take three. Each file of the
/// state folder is looked at when it is opened, and its folder before, and what is around the
/// session is compared.
const OURS: usize = 64;
/// Where a variable switches it off, it is asked when each settings file was changed that may have
/// set it.
const SETTINGS_FILES: usize = 3;

#[cfg(target_os = "linux")]
#[test]
fn a_stop_that_is_let_go_at_once_asks_the_system_for_little() {
    for (name, project) in scenes() {
        // The first stop of all makes the folders.
        project.run();
        let Some(calls) = calls(&project) else { return };
        for started in ["clone", "fork", "vfork"] {
            assert!(!calls.iter().any(|call| call == started), "{name}: {started}: {calls:?}");
        }
        // The thread with a stack of its own.
        assert!(calls.iter().filter(|call| *call == "clone3").count() <= 1, "{name}: {calls:?}");
        assert_eq!(calls.iter().filter(|call| *call == "execve").count(), 1, "{name}");
        // The look at stdin is the first thing that is ours.
        let first = calls.iter().rposition(|call| call == "ioctl").expect("stdin is looked at");
        // A build with its checks on asks about every file that it closes.
        let ours =
            calls[first..].iter().filter(|call| !["exit_group", "fcntl"].contains(&call.as_str())).count();
        let looked_at = if name == "off" { SETTINGS_FILES } else { 0 };
        assert!(ours <= OURS + looked_at, "{name}: {ours} calls of ours: {:?}", &calls[first..]);
    }
}
