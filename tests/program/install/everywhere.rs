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

/// Registered in every scope, in a project that only the client knows and in one that only a
/// receipt names.
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
    assert!(done.contains("What remains:") && done.ends_with("Removed these files.\n"), "{done}");
    assert!(!machine.path("state").exists() && !machine.path("home/.config/punchlist").exists());
    assert!(machine.path("project/.claude/punchlist.toml").exists(), "it is everybody's");
    assert_eq!(machine.read(PROJECT), "{\n  \"model\": \"opus\"\n}\n");
}

/// The first run forgot where it had been installed, and the second one said that it had removed what
/// it did not know of.
#[test]
fn a_purge_after_an_uninstall_left_the_configs_of_other_projects() {
    let machine = Machine::new();
    let other = machine.path("other");
    fs::create_dir_all(&other).expect("a folder");
    machine.run_in(&other, &["install"]).printed();
    machine.run_in(&other, &["config", "init", "--project"]).printed();
    assert!(machine.path("other/.claude/punchlist.toml").exists());
    let said = machine.print(&["uninstall", "--everywhere"]);
    assert!(said.contains("other/.claude/punchlist.toml"), "{said}");
    machine.print(&["uninstall", "--everywhere", "--purge", "--yes"]);
    assert_eq!(machine.names("other/.claude"), Vec::<String>::new());
}

/// Git was asked in the project for a file of the home folder, and its "outside of this repository"
/// passed for tracked.
#[test]
fn the_persons_own_backup_is_removed_and_named_once() {
    let machine = Machine::new();
    for name in ["one", "two"] {
        fs::create_dir_all(machine.path(name).join(".git/objects")).expect("a folder");
        fs::create_dir_all(machine.path(name).join(".git/refs")).expect("a folder");
        machine.write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
    }
    let projects = json!({ machine.path("one").display().to_string(): {}, machine.path("two").display().to_string(): {} });
    machine.write("home/.claude.json", &json!({ "projects": projects }).to_string());
    machine.write(USER, "{\n  \"model\": \"opus\"\n}\n");
    let backup = format!("{USER}.punchlist-backup");
    machine.write(&backup, "{}\n");
    machine.write(&USER.replace(".json", ".local.json"), "{}\n");
    let said = machine.print(&["uninstall", "--everywhere", "--purge", "--yes"]);
    assert_eq!(said.matches(".claude/settings.json.punchlist-backup").count(), 1, "{said}");
    assert!(!said.contains("git tracks") && !machine.path(&backup).exists(), "{said}");
    let project = Machine::new();
    fs::remove_dir_all(project.path("project/.git")).expect("removed");
    assert!(
        project
            .print(&["uninstall", "--everywhere"])
            .starts_with("Not registered in any settings file of yours or of 1 project.\n")
    );
}

#[test]
fn a_backup_that_the_real_run_removes_is_not_said_to_remain() {
    let machine = Machine::new();
    machine.write(USER, "{\n  \"model\": \"opus\"\n}\n");
    machine.print(&["install", "--user"]);
    let would = machine.print(&["uninstall", "--everywhere", "--dry-run"]);
    let said = machine.print(&["uninstall", "--everywhere"]);
    for text in [would, said] {
        assert!(
            text.contains("What remains:") && !text.contains("settings.json.punchlist-backup ("),
            "{text}"
        );
    }
}

#[test]
fn the_plugins_marketplace_and_the_notes_of_plugin_and_installer_are_named() {
    let machine = Machine::new();
    let source = json!({ "source": { "source": "directory", "path": "/tmp/x" } });
    machine.write(USER, &json!({ "extraKnownMarketplaces": { "punchlist": source.clone() } }).to_string());
    machine.write("home/.cache/punchlist/npm-asked", "");
    machine.write("home/.local/share/punchlist/installed-from", "https://x.test/releases\n");
    let said = machine.print(&["uninstall", "--everywhere", "--purge", "--yes"]);
    for line in [
        "  ~/.cache/punchlist/npm-asked (0 B)\n",
        "  ~/.local/share/punchlist/installed-from (24 B)\n",
        "  the plugin's marketplace in ~/.claude/settings.json: `claude plugin marketplace remove punchlist` removes it\n",
    ] {
        assert!(said.contains(line), "{said}");
    }
    assert!(!machine.path("home/.cache/punchlist").exists());
    assert!(!machine.path("home/.local/share/punchlist").exists());
    // 2.0.32 names it in no settings.
    machine.write(USER, "{}");
    machine
        .write("home/.claude/plugins/known_marketplaces.json", &json!({ "punchlist": source }).to_string());
    let said = machine.print(&["uninstall", "--everywhere"]);
    assert!(
        said.contains("the plugin's marketplace in ~/.claude/plugins/known_marketplaces.json:"),
        "{said}"
    );
}

#[test]
fn a_purge_took_what_else_was_in_the_state_folder() {
    let machine = Machine::new();
    machine.write("home/diary.txt", "dear diary");
    machine.write("home/documents/letter.txt", "dear you");
    machine.write("home/decisions/2026-11.jsonl", "{}\n");
    let mut command = machine.program(
        "/bin/sh",
        &machine.path("project"),
        &["-c", "exec punchlist uninstall --everywhere --purge --yes"],
    );
    command.env("PUNCHLIST_HOME", machine.path("home"));
    machine.run_command(&mut command).printed();
    assert_eq!(machine.read("home/diary.txt"), "dear diary");
    assert_eq!(machine.read("home/documents/letter.txt"), "dear you");
    assert!(!machine.path("home/decisions").exists(), "what is ours is gone");
}

#[test]
fn a_config_of_a_repository_that_git_can_not_be_asked_about_stays() {
    let machine = Machine::new();
    machine.write("project/.claude/punchlist.toml", "[audit]\n");
    machine.write("project/.git/HEAD", "not a head\n");
    let done = machine.print(&["uninstall", "--everywhere", "--purge", "--yes"]);
    assert!(done.contains("project/.claude/punchlist.toml (git tracks it, and so it stays)"), "{done}");
    assert_eq!(machine.read("project/.claude/punchlist.toml"), "[audit]\n");
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

/// pnpm and Node's version managers have a folder for each version: after an upgrade every stop
/// went through unchecked.
#[test]
fn a_registration_whose_program_is_gone_runs_the_one_on_the_path() {
    let machine = Machine::new();
    let program = machine.path("home/.nvm/versions/node/v20/lib/punchlist");
    fs::create_dir_all(program.parent().expect("a folder")).expect("a folder");
    Machine::copy_program(&program);
    let mut install = machine.program(
        &program.display().to_string(),
        &machine.path("project"),
        &["install", "--statusline"],
    );
    let said = machine.run_command(&mut install).printed();
    let note = "! ~/.nvm/versions/node/v20/lib/punchlist is in the folder of one version of Node and may go away: then the \
                punchlist on your PATH is run in its place, and with none no stop is checked. Install again after an upgrade.\n";
    assert!(said.contains(note), "{said}");
    fs::remove_file(&program).expect("gone");
    let doctor = machine.run(&["doctor"]).stdout;
    let found = "there is no program ~/.nvm/versions/node/v20/lib/punchlist; the punchlist on the PATH is run in its place";
    assert!(doctor.split_whitespace().collect::<Vec<_>>().join(" ").contains(found), "{doctor}");
    let settings: Value = serde_json::from_str(&machine.read(LOCAL)).expect("json");
    let run = |command: &Value| {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command.as_str().expect("a command")]).env_clear();
        shell.env("PATH", machine.path("bin")).env("PUNCHLIST_HOME", machine.path("state"));
        let out = shell.stdin(Stdio::null()).output().expect("a shell");
        String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned()
    };
    assert!(run(&settings["hooks"]["Stop"][0]["hooks"][0]["command"]).contains("stdin is empty"));
    assert_eq!(run(&settings["statusLine"]["command"]), "punchlist: no session\n");
    machine.print(&["install"]);
    assert!(!machine.read(LOCAL).contains(".nvm"), "it is registered anew");
}

#[test]
fn an_older_guard_is_recognised_and_replaced() {
    let machine = Machine::new();
    let command = "test ! -x /old/punchlist || /old/punchlist hook --hook-timeout 120";
    let hook = serde_json::json!({ "type": "command", "command": command, "timeout": 120 });
    let settings = serde_json::json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } });
    machine.write(LOCAL, &settings.to_string());
    machine.print(&["install"]);
    let text = machine.read(LOCAL);
    assert!(
        !text.contains("/old/punchlist") && text.contains("|| p=$(command -v punchlist) || p=:;"),
        "{text}"
    );
}

#[test]
fn a_status_line_of_ones_own_stays_and_is_named() {
    let machine = Machine::new();
    machine.write(USER, r#"{"statusLine": {"type": "command", "command": "~/line.sh"}}"#);
    let said = machine.print(&["install", "--statusline"]);
    let note = said.lines().find(|line| line.contains("status line")).expect("a note");
    assert_snapshot!(note, @"! ~/.claude/settings.json has a status line of your own, which stays: `~/line.sh`. To have both, let it run `punchlist statusline` with the same stdin, and print the output.");
    assert!(!machine.read(LOCAL).contains("statusLine"));
    machine.write(USER, "{}");
    machine.print(&["install", "--statusline"]);
    assert!(machine.read(LOCAL).contains("\"$p\\\" statusline"));
    let said = machine.print(&["install", "--user", "--statusline"]);
    assert!(
        said.contains("! The status line is already set in DIR/project/.claude/settings.local.json."),
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
        (Some(1), "punchlist: punchlist VERSION, installed through npm. `npm view punchlist version`: it could not say (exit 1: npm error code ENOTFOUND)\n".into())
    );
    assert_eq!(
        check("/nowhere"),
        (Some(1), "punchlist: punchlist VERSION, installed through npm. `npm view punchlist version`: there is no such program on your PATH\n".into())
    );
}
