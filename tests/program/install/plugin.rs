//! The plugin's own parts: what its hook does with and without the program, and that its files
//! agree with the program. The real client installs it in `tests/real_client`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::install::machine::Machine;

/// Runs the hook with no input; gives its exit code and what it printed.
fn stop(machine: &Machine, vars: &[(&str, &Path)]) -> (Option<i32>, String, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/hooks/stop.sh");
    let mut command = Command::new("/bin/sh");
    command.arg(script).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", machine.path("home"));
    command.env("PUNCHLIST_HOME", machine.path("state")).envs(vars.iter().copied());
    let out = command.stdin(Stdio::null()).output().expect("a shell");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

fn file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect(name)
}

fn json(name: &str) -> Value {
    serde_json::from_str(&file(name)).expect(name)
}

#[test]
fn the_program_is_found_on_the_path_and_where_cargo_puts_it() {
    let machine = Machine::new();
    let runs = |vars: &[(&str, &Path)]| {
        let (code, stdout, stderr) = stop(&machine, vars);
        assert_eq!((code, stdout.as_str()), (Some(0), ""));
        assert!(stderr.starts_with("punchlist: "), "it ran, and says that stdin is empty: {stderr}");
    };
    runs(&[("PATH", &machine.path("bin"))]);
    let cargo = machine.path("home/.cargo/bin");
    fs::create_dir_all(&cargo).expect("a folder");
    Machine::copy_program(&cargo.join("punchlist"));
    runs(&[]);
}

#[test]
fn without_the_program_it_says_so_once_and_holds_nobody() {
    let machine = Machine::new();
    let data = machine.path("data");
    let (code, stdout, stderr) = stop(&machine, &[("CLAUDE_PLUGIN_DATA", &data)]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let said: Value = serde_json::from_str(&stdout).expect("one object and nothing else");
    insta::assert_snapshot!(said["systemMessage"].as_str().expect("words"));
    assert_eq!(said.as_object().map(serde_json::Map::len), Some(1));
    let again = stop(&machine, &[("CLAUDE_PLUGIN_DATA", &data)]);
    assert_eq!(again, (Some(0), String::new(), String::new()));
    // Older clients give a plugin no folder.
    assert!(stop(&machine, &[]).1.contains("systemMessage"));
    assert_eq!(stop(&machine, &[]), (Some(0), String::new(), String::new()));
}

#[test]
fn a_sessions_start_runs_the_program_and_leaves_the_telling_to_a_stop() {
    let machine = Machine::new();
    let hooks = json("plugin/hooks/hooks.json");
    let command =
        hooks["hooks"]["SessionStart"][0]["hooks"][0]["command"].as_str().expect("a command").to_owned();
    let run = |path: &Path| {
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", &command])
            .env_clear()
            .env("CLAUDE_PLUGIN_ROOT", concat!(env!("CARGO_MANIFEST_DIR"), "/plugin"));
        shell
            .env("PUNCHLIST_HOME", machine.path("state"))
            .env("HOME", machine.path("home"))
            .stdin(Stdio::null());
        shell.env("PATH", format!("{}:/usr/bin:/bin", path.display()));
        let out = shell.output().expect("a shell");
        (out.status.code(), out.stdout.len(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    assert_eq!(run(&machine.path("none")), (Some(0), 0, String::new()));
    let (code, _, stderr) = run(&machine.path("bin"));
    assert!(
        code == Some(0) && stderr.starts_with("punchlist: "),
        "it ran, and says that stdin is empty: {stderr}"
    );
    assert!(stop(&machine, &[]).1.contains("systemMessage"), "the stop tells it");
}

#[test]
fn where_nothing_can_be_noted_nothing_is_said() {
    let machine = Machine::new();
    machine.write("data", "a file");
    assert_eq!(
        stop(&machine, &[("CLAUDE_PLUGIN_DATA", &machine.path("data"))]),
        (Some(0), String::new(), String::new())
    );
}

/// A session may be open while the plugin is updated or taken away, and dash says 2 to a script
/// that is not there.
#[test]
fn a_plugin_that_has_gone_holds_nobody() {
    let machine = Machine::new();
    let hooks = json("plugin/hooks/hooks.json");
    let command = hooks["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().expect("a command").to_owned();
    let run = |root: &Path| {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &command]).env_clear().env("CLAUDE_PLUGIN_ROOT", root);
        shell.env("PUNCHLIST_HOME", machine.path("state")).stdin(Stdio::null());
        shell.env("PATH", format!("{}:/usr/bin:/bin", machine.path("bin").display()));
        let out = shell.output().expect("a shell");
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    assert_eq!(run(&machine.path("gone")), (Some(0), String::new()));
    let (code, stderr) = run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin"));
    assert!(code == Some(0) && stderr.starts_with("punchlist: "), "{stderr}");
}

#[test]
fn a_program_that_can_not_be_run_is_none() {
    let machine = Machine::new();
    machine.write("home/.local/bin/punchlist", "#!/bin/sh\nexit 2\n");
    let path = machine.path("home/.local/bin/punchlist");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("set");
    assert_eq!(stop(&machine, &[]).0, Some(0));
}

#[test]
fn its_files_agree_with_the_program() {
    let manifest = json("plugin/.claude-plugin/plugin.json");
    assert_eq!(
        (&manifest["name"], &manifest["version"]),
        (&"punchlist".into(), &env!("CARGO_PKG_VERSION").into())
    );
    assert_eq!(json(".claude-plugin/marketplace.json")["plugins"][0]["name"], manifest["name"]);
    let hooks = json("plugin/hooks/hooks.json");
    let hook = |event: &str| hooks["hooks"][event][0]["hooks"][0].clone();
    let timeout = hook("Stop")["timeout"].clone();
    assert!(file("plugin/hooks/stop.sh").contains(&format!("set -- --hook-timeout {timeout}\n")));
    let start = hook("SessionStart");
    let command = start["command"].as_str().unwrap_or_default();
    assert!(command.ends_with(&format!("/hooks/stop.sh\" --hook-timeout {}", start["timeout"])), "{command}");
    let machine = Machine::new();
    for command in ["audit", "log", "off", "on"] {
        let text = file(&format!("plugin/commands/{command}.md"));
        assert!(text.contains(&format!("allowed-tools: Bash(punchlist {command}:*)")), "{text}");
        assert_eq!(machine.run(&[command, "--help"]).code, Some(0));
    }
}
