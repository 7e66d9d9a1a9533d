//! What a person sees of `install` and `uninstall`, and what stands in the files then.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::install::machine::{LOCAL, Machine, PROJECT, USER};

/// Somebody's settings, indented as nobody else would.
const SETTINGS: &str = r#"{
   "model": "opus",
   "permissions": { "allow": ["Bash(npm test)", "Read"] },
   "hooks": {
      "PostToolUse": [{ "matcher": "Edit", "hooks": [{ "type": "command", "command": "fmt" }] }],
      "Stop": [
         { "hooks": [{ "type": "command", "command": "say done" }] }
      ]
   },
   "env": { "A": "1" }
}
"#;

#[test]
fn the_first_time() {
    let machine = Machine::new();
    assert_snapshot!(machine.print(&["install"]));
    let settings: Value = serde_json::from_str(&machine.read(LOCAL)).expect("json");
    let hook = |timeout: u32| {
        let program = machine.path("bin/punchlist").display().to_string();
        let command = format!(
            "p={program}; test -x \"$p\" || p=$(command -v punchlist) || p=:; \"$p\" hook --hook-timeout {timeout}"
        );
        json!({ "type": "command", "command": command, "timeout": timeout })
    };
    let mut stop = hook(120);
    stop["statusMessage"] = json!("punchlist checks this stop");
    let groups = json!({ "Stop": [{ "hooks": [stop] }], "SessionStart": [{ "hooks": [hook(10)] }] });
    assert_eq!(settings, json!({ "hooks": groups }));
    assert_eq!(machine.names("project/.claude"), ["settings.local.json"]);
}

#[test]
fn again_changes_nothing_and_uninstall_leaves_nothing() {
    let machine = Machine::new();
    machine.print(&["install"]);
    let before = machine.read(LOCAL);
    assert_snapshot!(machine.print(&["install"]), @"Registered already: DIR/project/.claude/settings.local.json (this project, only for you)");
    assert_eq!(machine.read(LOCAL), before);
    assert_snapshot!(machine.print(&["uninstall"]));
    assert_eq!(machine.names("project"), [".git"]);
    assert_snapshot!(machine.print(&["uninstall"]), @"Not registered in DIR/project/.claude/settings.local.json: nothing to take out.");
}

#[test]
fn beside_what_is_there() {
    let machine = Machine::new();
    machine.write(USER, SETTINGS);
    assert_snapshot!(machine.print(&["install", "--user", "--subagents", "--background"]));
    assert_eq!(machine.read("home/.claude/settings.json.punchlist-backup"), SETTINGS);
    assert_snapshot!(machine.print(&["uninstall", "--user"]));
    assert_eq!(machine.read(USER), SETTINGS);
    assert_eq!(machine.names("home/.claude"), ["settings.json"]);
}

#[test]
fn a_dry_run_writes_nothing() {
    let machine = Machine::new();
    let said = machine.print(&["install", "--dry-run", "--subagents"]);
    assert!(said.starts_with("Would register the hook in DIR/project/.claude/settings.local.json"), "{said}");
    assert_eq!((machine.names("project"), machine.names("state")), (vec![".git".to_owned()], Vec::new()));
    machine.print(&["install"]);
    let before = machine.read(LOCAL);
    let said = machine.print(&["uninstall", "--dry-run"]);
    assert!(said.starts_with("Would take the hook out of"), "{said}");
    assert_eq!(machine.read(LOCAL), before);
}

#[test]
fn in_a_file_that_teammates_share_it_goes_by_its_name() {
    let machine = Machine::new();
    machine.print(&["install", "--project"]);
    let settings: Value = serde_json::from_str(&machine.read(PROJECT)).expect("json");
    let command = settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().expect("a command").to_owned();
    let run = |path: &str| {
        let mut shell = std::process::Command::new("/bin/sh");
        shell
            .args(["-c", &command])
            .env_clear()
            .env("PATH", path)
            .env("PUNCHLIST_HOME", machine.path("state"));
        let out = shell.stdin(std::process::Stdio::null()).output().expect("a shell");
        (
            out.status.code(),
            String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr),
        )
    };
    assert_eq!(run("/usr/bin:/bin"), (Some(0), String::new()), "a teammate without it notices nothing");
    let (code, said) = run(&machine.path("bin").display().to_string());
    assert_eq!(code, Some(0));
    assert!(said.contains("punchlist: "), "it ran, and says that stdin is empty: {said}");
    let again = machine.print(&["install", "--project"]);
    assert!(again.starts_with("Registered already"), "{again}");
}

#[test]
fn an_older_registration_is_upgraded_in_place() {
    let machine = Machine::new();
    machine.write(
        LOCAL,
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/old/punchlist hook","timeout":30}]}]}}"#,
    );
    assert_snapshot!(machine.print(&["install"]));
}

#[test]
fn what_an_upgrade_kept_goes_with_the_file_that_install_made() {
    let machine = Machine::new();
    machine.print(&["install"]);
    machine.write(LOCAL, &machine.read(LOCAL).replace("120", "30"));
    machine.print(&["install"]);
    assert_eq!(machine.names("project/.claude").len(), 2);
    machine.print(&["uninstall"]);
    assert_eq!(machine.names("project"), [".git"]);
}

#[test]
fn a_backup_that_git_would_offer_is_said() {
    let machine = Machine::new();
    machine.write(PROJECT, "{\n  \"model\": \"opus\"\n}\n");
    let said = machine.print(&["install", "--project"]);
    let wanted = "The file as it was: DIR/project/.claude/settings.json.punchlist-backup (git does not ignore it: delete it when you are satisfied)\n";
    assert!(said.contains(wanted), "{said}");
}

#[test]
fn the_timeout_is_above_the_auditors() {
    let machine = Machine::new();
    machine.write("home/.config/punchlist/config.toml", "[auditor]\ntimeout = \"4m\"\n");
    machine.print(&["install"]);
    let settings: Value = serde_json::from_str(&machine.read(LOCAL)).expect("json");
    let hook = &settings["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!(hook["timeout"], 255);
    assert!(
        hook["command"].as_str().is_some_and(|command| command.ends_with(" hook --hook-timeout 255")),
        "{hook}"
    );
}

#[test]
fn what_the_person_should_know_is_said() {
    let machine = Machine::new();
    machine.write("project/.git/info/exclude", "");
    machine.write(USER, r#"{"disableAllHooks": true, "enabledPlugins": {"punchlist@punchlist": true}}"#);
    machine.print(&["install", "--project"]);
    let said = machine.print(&["install", "--background"]);
    let notes: Vec<&str> = said.lines().filter(|line| line.starts_with('!')).collect();
    assert_snapshot!(notes.join("\n"));
    let said = machine.print(&["uninstall"]);
    let notes: Vec<&str> = said.lines().filter(|line| line.starts_with('!')).collect();
    assert_snapshot!(notes.join("\n"));
}

#[test]
fn only_one_scope_can_be_meant() {
    let ran = Machine::new().run(&["install", "--user", "--project"]);
    assert_eq!(ran.code, Some(64), "{}", ran.stderr);
}
