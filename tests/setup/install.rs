//! What a person sees of `install` and `uninstall`, and what stands in the files then.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::desk::{Desk, LOCAL, PROJECT, USER};

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
    let desk = Desk::new();
    assert_snapshot!(desk.print(&["install"]));
    let settings: Value = serde_json::from_str(&desk.read(LOCAL)).expect("json");
    let hook = |timeout: u32| {
        let command = format!("{} hook --hook-timeout {timeout}", desk.path("bin/punchlist").display());
        json!([{ "hooks": [{ "type": "command", "command": command, "timeout": timeout }] }])
    };
    assert_eq!(settings, json!({ "hooks": { "Stop": hook(120), "SessionStart": hook(10) } }));
    assert_eq!(desk.names("project/.claude"), ["settings.local.json"]);
}

#[test]
fn again_changes_nothing_and_uninstall_leaves_nothing() {
    let desk = Desk::new();
    desk.print(&["install"]);
    let before = desk.read(LOCAL);
    assert_snapshot!(desk.print(&["install"]), @"Registered already: DIR/project/.claude/settings.local.json (this project, only for you)");
    assert_eq!(desk.read(LOCAL), before);
    assert_snapshot!(desk.print(&["uninstall"]));
    assert_eq!(desk.names("project"), [".git"]);
    assert_snapshot!(desk.print(&["uninstall"]), @"Not registered in DIR/project/.claude/settings.local.json: nothing to take out.");
}

#[test]
fn beside_what_is_there() {
    let desk = Desk::new();
    desk.write(USER, SETTINGS);
    assert_snapshot!(desk.print(&["install", "--user", "--subagents", "--background"]));
    assert_eq!(desk.read("home/.claude/settings.json.punchlist-backup"), SETTINGS);
    assert_snapshot!(desk.print(&["uninstall", "--user"]));
    assert_eq!(desk.read(USER), SETTINGS);
    assert_eq!(desk.names("home/.claude"), ["settings.json"]);
}

#[test]
fn a_dry_run_writes_nothing() {
    let desk = Desk::new();
    let said = desk.print(&["install", "--dry-run", "--subagents"]);
    assert!(said.starts_with("Would register the hook in DIR/project/.claude/settings.local.json"), "{said}");
    assert_eq!((desk.names("project"), desk.names("state")), (vec![".git".to_owned()], Vec::new()));
    desk.print(&["install"]);
    let before = desk.read(LOCAL);
    let said = desk.print(&["uninstall", "--dry-run"]);
    assert!(said.starts_with("Would take the hook out of"), "{said}");
    assert_eq!(desk.read(LOCAL), before);
}

#[test]
fn in_a_file_that_teammates_share_it_goes_by_its_name() {
    let desk = Desk::new();
    desk.print(&["install", "--project"]);
    let settings: Value = serde_json::from_str(&desk.read(PROJECT)).expect("json");
    let command = settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().expect("a command").to_owned();
    let run = |path: &str| {
        let mut shell = std::process::Command::new("/bin/sh");
        shell.args(["-c", &command]).env_clear().env("PATH", path).env("PUNCHLIST_HOME", desk.path("state"));
        let out = shell.stdin(std::process::Stdio::null()).output().expect("a shell");
        (
            out.status.code(),
            String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr),
        )
    };
    assert_eq!(run("/usr/bin:/bin"), (Some(0), String::new()), "a teammate without it notices nothing");
    let (code, said) = run(&desk.path("bin").display().to_string());
    assert_eq!(code, Some(0));
    assert!(said.contains("punchlist: "), "it ran, and says that stdin is empty: {said}");
    let again = desk.print(&["install", "--project"]);
    assert!(again.starts_with("Registered already"), "{again}");
}

#[test]
fn an_older_registration_is_upgraded_in_place() {
    let desk = Desk::new();
    desk.write(
        LOCAL,
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/old/punchlist hook","timeout":30}]}]}}"#,
    );
    assert_snapshot!(desk.print(&["install"]));
}

#[test]
fn what_an_upgrade_kept_goes_with_the_file_that_install_made() {
    let desk = Desk::new();
    desk.print(&["install"]);
    desk.write(LOCAL, &desk.read(LOCAL).replace("120", "30"));
    desk.print(&["install"]);
    assert_eq!(desk.names("project/.claude").len(), 2);
    desk.print(&["uninstall"]);
    assert_eq!(desk.names("project"), [".git"]);
}

#[test]
fn a_backup_that_git_would_offer_is_said() {
    let desk = Desk::new();
    desk.write(PROJECT, "{\n  \"model\": \"opus\"\n}\n");
    let said = desk.print(&["install", "--project"]);
    let wanted = "The file as it was: DIR/project/.claude/settings.json.punchlist-backup (git does not ignore it: delete it when you are content)\n";
    assert!(said.contains(wanted), "{said}");
}

#[test]
fn the_timeout_is_above_the_auditors() {
    let desk = Desk::new();
    desk.write("project/.claude/punchlist.toml", "[auditor]\ntimeout = \"4m\"\n");
    desk.print(&["install"]);
    let settings: Value = serde_json::from_str(&desk.read(LOCAL)).expect("json");
    let hook = &settings["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!(hook["timeout"], 255);
    assert!(
        hook["command"].as_str().is_some_and(|command| command.ends_with(" hook --hook-timeout 255")),
        "{hook}"
    );
}

#[test]
fn what_the_person_should_know_is_said() {
    let desk = Desk::new();
    desk.write("project/.git/info/exclude", "");
    desk.write(USER, r#"{"disableAllHooks": true, "enabledPlugins": {"punchlist@punchlist": true}}"#);
    desk.print(&["install", "--project"]);
    let said = desk.print(&["install", "--background"]);
    let notes: Vec<&str> = said.lines().filter(|line| line.starts_with('!')).collect();
    assert_snapshot!(notes.join("\n"));
    let said = desk.print(&["uninstall"]);
    let notes: Vec<&str> = said.lines().filter(|line| line.starts_with('!')).collect();
    assert_snapshot!(notes.join("\n"));
}

#[test]
fn only_one_scope_can_be_meant() {
    let ran = Desk::new().run(&["install", "--user", "--project"]);
    assert_eq!(ran.code, Some(64), "{}", ran.stderr);
}
