//! `uninstall --everywhere`: what is found, what the client is asked to remove, what remains; and a
//! registration whose program is gone.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::install::machine::{LOCAL, Machine, PROJECT, USER};

/// A client that removes plugins and says which.
const CLIENT: &str = "#!/bin/sh\nprintf '%s\\n' \"$(pwd): $*\" >> \"$HOME/asked\"\n";

fn with_client(script: &str) -> Machine {
    let machine = Machine::new();
    machine.write("bin/claude", script);
    fs::set_permissions(machine.path("bin/claude"), fs::Permissions::from_mode(0o755)).expect("set");
    machine
}

/// Registered in every scope, in a project that only the client knows and in one that only a receipt names.
fn registered_everywhere(machine: &Machine) {
    for name in ["by-client", "by-receipt"] {
        fs::create_dir_all(machine.path(name)).expect("a folder");
        machine.run_in(&machine.path(name), &["install"]).printed();
    }
    let receipts = machine.read("state/installs/files.json");
    let known = machine.path("by-client").display().to_string();
    let kept: Vec<String> = serde_json::from_str::<Vec<String>>(&receipts).expect("a list");
    let kept: Vec<_> = kept.into_iter().filter(|file| !file.starts_with(&known)).collect();
    machine.write("state/installs/files.json", &json!(kept).to_string());
    machine
        .write("home/.claude.json", &json!({ "projects": { known: {}, "/gone/project": {} } }).to_string());
    for scope in ["--user", "--project", "--local"] {
        machine.print(&["install", scope]);
    }
}

#[test]
fn every_scope_and_every_known_project_is_found() {
    let machine = with_client(CLIENT);
    registered_everywhere(&machine);
    let user: Value = serde_json::from_str(&machine.read(USER)).expect("json");
    let mut user = user;
    user["enabledPlugins"] = json!({ "punchlist@punchlist": true, "other@m": true });
    machine.write(USER, &user.to_string());
    let would = machine.print(&["uninstall", "--everywhere", "--dry-run"]);
    assert_eq!(would.matches("Would take the hook out of").count(), 5, "{would}");
    assert!(
        would
            .contains("Would have the client remove the plugin punchlist@punchlist: claude plugin uninstall")
    );
    assert!(!machine.path("home/asked").exists());
    let said = machine.print(&["uninstall", "--everywhere"]);
    let taken: Vec<_> = said.lines().filter(|line| line.starts_with("Took")).collect();
    assert_eq!(
        taken,
        [
            "Took the hook out of ~/.claude/settings.json (every project of yours):",
            "Took the hook out of DIR/by-client/.claude/settings.local.json (this project, only for you):",
            "Took the hook out of DIR/by-receipt/.claude/settings.local.json (this project, only for you):",
            "Took the hook out of DIR/project/.claude/settings.local.json (this project, only for you):",
            "Took the hook out of DIR/project/.claude/settings.json (this project, for everybody who works on it):",
        ]
    );
    assert!(said.contains("The client removed the plugin punchlist@punchlist.\n"), "{said}");
    assert!(machine.read("home/asked").ends_with(": plugin uninstall punchlist@punchlist\n"));
    for file in [LOCAL, PROJECT, "by-client/.claude", "by-receipt/.claude"] {
        assert!(!machine.path(file).exists(), "{file}");
    }
    let again = machine.print(&["uninstall", "--everywhere"]);
    assert!(again.starts_with("Not registered in any settings file of yours or of "), "{again}");
}

#[test]
fn a_plugin_that_the_client_does_not_remove_is_said_with_the_command() {
    let machine = with_client("#!/bin/sh\necho 'no such plugin' >&2\nexit 1\n");
    machine.write(PROJECT, r#"{"enabledPlugins": {"punchlist@team": true}}"#);
    let said = machine.print(&["uninstall", "--everywhere"]);
    let line = said.lines().find(|line| line.starts_with('!')).expect("a line");
    assert_snapshot!(line, @"! The plugin punchlist@team is still there (no such plugin): run `claude plugin uninstall punchlist@team --scope project` in DIR/project");
}

#[test]
fn what_remains_is_said_and_purge_removes_it_after_showing_it() {
    let machine = Machine::new();
    machine.write("state/decisions/2026-11.jsonl", "{}\n");
    machine.write("home/.config/punchlist/config.toml", "[audit]\n");
    machine.write("project/.claude/punchlist.toml", "[audit]\n");
    machine.write(PROJECT, "{\n  \"model\": \"opus\"\n}\n");
    machine.print(&["install", "--project"]);
    let git = |args: &[&str]| {
        let done = Command::new("git").arg("-C").arg(machine.path("project")).args(args).status();
        assert!(done.expect("git").success());
    };
    let said = machine.print(&["uninstall", "--everywhere"]);
    let remains = said.split_once("What remains:").expect("what remains").1;
    let remains: String =
        remains.lines().map(|line| line.split(", ").next().unwrap_or(line).to_owned() + "\n").collect();
    assert_snapshot!(remains);
    git(&["add", ".claude/punchlist.toml"]);
    let asked = machine.run(&["uninstall", "--everywhere", "--purge"]);
    assert_eq!(asked.code, Some(1));
    assert!(asked.stderr.contains("nobody is there to ask"), "{}", asked.stderr);
    assert!(machine.path("state/decisions").exists());
    let shown = machine.print(&["uninstall", "--everywhere", "--purge", "--dry-run"]);
    assert!(shown.contains("project/.claude/punchlist.toml (git tracks it, and so it stays)"), "{shown}");
    let done = machine.print(&["uninstall", "--everywhere", "--purge", "--yes"]);
    assert!(done.contains("What remains:") && done.ends_with("Removed.\n"), "{done}");
    assert!(!machine.path("state").exists() && !machine.path("home/.config/punchlist").exists());
    assert!(machine.path("project/.claude/punchlist.toml").exists(), "it is everybody's");
    assert_eq!(machine.read(PROJECT), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn a_state_folder_with_other_things_around_it_is_not_purged() {
    let machine = Machine::new();
    machine.write("home/diary.txt", "dear diary");
    let mut command = machine.program(
        "/bin/sh",
        &machine.path("project"),
        &["-c", "exec punchlist uninstall --everywhere --purge --yes"],
    );
    command.env("PUNCHLIST_HOME", machine.path("home"));
    machine.run_command(&mut command).printed();
    assert_eq!(machine.read("home/diary.txt"), "dear diary");
}

#[test]
fn a_registration_whose_program_is_gone_says_nothing() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("a place")).expect("a folder");
    Machine::copy_program(&machine.path("a place/punchlist"));
    let program = machine.path("a place/punchlist").display().to_string();
    let mut install = machine.program(&program, &machine.path("project"), &["install", "--statusline"]);
    machine.run_command(&mut install).printed();
    let settings: Value = serde_json::from_str(&machine.read(LOCAL)).expect("json");
    let run = |command: &Value| {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command.as_str().expect("a command")]).env_clear();
        shell.env("PUNCHLIST_HOME", machine.path("state")).stdin(Stdio::null());
        let out = shell.output().expect("a shell");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (out.status.code(), text(&out.stdout), text(&out.stderr))
    };
    let stop = &settings["hooks"]["Stop"][0]["hooks"][0]["command"];
    let line = &settings["statusLine"]["command"];
    let (code, _, stderr) = run(stop);
    assert!(
        code == Some(0) && stderr.starts_with("punchlist: "),
        "it runs, and says that stdin is empty: {stderr}"
    );
    assert_eq!(run(line).1, "punchlist: no session\n");
    fs::remove_file(&program).expect("gone");
    for command in [stop, line, &settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]] {
        assert_eq!(run(command), (Some(0), String::new(), String::new()), "{command}");
    }
    let doctor = machine.run(&["doctor"]).stdout;
    assert!(doctor.contains("there is no program DIR/a place/punchlist"), "{doctor}");
}

#[test]
fn a_status_line_of_ones_own_stays_and_is_named() {
    let machine = Machine::new();
    machine.write(USER, r#"{"statusLine": {"type": "command", "command": "~/line.sh"}}"#);
    let said = machine.print(&["install", "--statusline"]);
    let note = said.lines().find(|line| line.contains("status line")).expect("a note");
    assert_snapshot!(note, @"! ~/.claude/settings.json has a status line of your own, which stays: `~/line.sh`. To have both, let it run `punchlist statusline` with what it is given on stdin, and print the answer.");
    assert!(!machine.read(LOCAL).contains("statusLine"));
    machine.write(USER, "{}");
    machine.print(&["install", "--statusline"]);
    assert!(machine.read(LOCAL).contains("punchlist statusline"));
    let said = machine.print(&["install", "--user", "--statusline"]);
    assert!(
        said.contains("! The status line is set in DIR/project/.claude/settings.local.json already."),
        "{said}"
    );
    machine.print(&["uninstall"]);
    assert_eq!(machine.names("project"), [".git"]);
}

#[test]
fn how_it_was_installed_is_told_and_a_build_has_nobody_to_ask() {
    let machine = Machine::new();
    let said = machine.print(&["update", "--check"]);
    assert!(
        said.contains(
            ", installed nowhere: it is a build in a checkout: there is nobody to ask for a newer one."
        ),
        "{said}"
    );
    // As npm lays it out, with an npm that answers, one that can't, and none.
    let folder = "npm/lib/node_modules/punchlist/node_modules/@punchlist/linux-x64/bin";
    fs::create_dir_all(machine.path(folder)).expect("a folder");
    let program = machine.path(folder).join("punchlist");
    Machine::copy_program(&program);
    let npm = |script: &str| {
        machine.write("bin/npm", &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(machine.path("bin/npm"), fs::Permissions::from_mode(0o755)).expect("set");
    };
    let check = |path: &str| {
        let program = program.display().to_string();
        let mut command = machine.program(&program, &machine.path("project"), &["update", "--check"]);
        command.env("PATH", path.replace("BIN", &machine.path("bin").display().to_string()));
        let out = machine.run_command(&mut command);
        (out.code, (out.stdout + &out.stderr).replace(env!("CARGO_PKG_VERSION"), "VERSION"))
    };
    npm("[ \"$*\" = 'view punchlist version' ] && echo 99.0.0");
    assert_eq!(
        check("BIN:/usr/bin:/bin"),
        (Some(0), "punchlist VERSION, installed through npm. There is 99.0.0.\n`npm install -g punchlist@latest` updates it.\n".into())
    );
    npm(&format!("echo {}", env!("CARGO_PKG_VERSION")));
    assert_eq!(
        check("BIN:/usr/bin:/bin"),
        (Some(0), "punchlist VERSION, installed through npm. There is none newer (VERSION).\n".into())
    );
    npm("echo 'npm error code ENOTFOUND' >&2; exit 1");
    assert_eq!(
        check("BIN:/usr/bin:/bin"),
        (Some(1), "punchlist: punchlist VERSION, installed through npm. `npm view punchlist version`: it could not say, perhaps for want of a network (exit 1: npm error code ENOTFOUND)\n".into())
    );
    assert_eq!(
        check("/nowhere"),
        (Some(1), "punchlist: punchlist VERSION, installed through npm. `npm view punchlist version`: there is no such program on your PATH\n".into())
    );
}
