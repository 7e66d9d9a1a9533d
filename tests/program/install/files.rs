//! Files in every state in which people have them: nothing is lost, and what can't be done is said.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::install::machine::{LOCAL, Machine};

#[test]
fn what_can_not_be_edited_is_left_and_said() {
    for (text, why) in [
        ("{ \"a\": 1,", "is not valid JSON (EOF while parsing a value at line 1 column 9)"),
        ("{\n  // mine\n  \"a\": 1\n}\n", "has comments in it, and JSON knows none (line 2, column 3)"),
        ("{\n  \"a\": 1 /* mine */\n}\n", "has comments in it, and JSON knows none (line 2, column 10)"),
        ("[]", "has something else than an object in place of its settings"),
        ("{\"hooks\": []}", "has something else than an object in \"hooks\""),
    ] {
        let machine = Machine::new();
        machine.write(LOCAL, text);
        let said = machine.fails(&["install"]);
        let wanted = format!(
            "punchlist: DIR/{LOCAL} {why}; nothing was changed. Fix it, or add this by hand: {{\"hooks\":"
        );
        assert!(said.starts_with(&wanted), "{said}");
        assert_eq!(
            machine.fails(&["uninstall"]),
            format!("punchlist: DIR/{LOCAL} {why}; nothing was changed\n")
        );
        assert_eq!((machine.read(LOCAL).as_str(), machine.names("project/.claude").len()), (text, 1));
    }
}

#[test]
fn a_folder_a_pipe_a_dead_link_bytes_and_a_read_only_file_are_left() {
    let machine = Machine::new();
    let path = machine.path(LOCAL);
    fs::create_dir_all(&path).expect("a folder");
    assert_eq!(
        machine.fails(&["install"]),
        format!("punchlist: DIR/{LOCAL} is not a file; nothing was changed\n")
    );
    fs::remove_dir(&path).expect("gone");
    symlink("nowhere.json", &path).expect("a link");
    let said = machine.fails(&["install"]);
    assert_eq!(said, format!("punchlist: DIR/{LOCAL} is a link that leads nowhere; nothing was changed\n"));
    fs::remove_file(&path).expect("gone");
    fs::write(&path, b"{\"a\": \"\xff\"}").expect("written");
    let said = machine.fails(&["install"]);
    assert_eq!(said, format!("punchlist: DIR/{LOCAL} is not UTF-8 text; nothing was changed\n"));
    machine.write(LOCAL, "{}");
    fs::set_permissions(&path, Permissions::from_mode(0o444)).expect("read-only");
    let said = machine.fails(&["install"]);
    assert_eq!(said, format!("punchlist: DIR/{LOCAL} is read-only; nothing was changed\n"));
    assert_eq!((machine.read(LOCAL).as_str(), machine.names("project/.claude").len()), ("{}", 1));
}

#[test]
fn a_link_is_followed_and_permissions_stay() {
    let machine = Machine::new();
    machine.write("dotfiles/claude.json", "{\n  \"model\": \"opus\"\n}\n");
    fs::set_permissions(machine.path("dotfiles/claude.json"), Permissions::from_mode(0o640)).expect("set");
    fs::create_dir_all(machine.path("home/.claude")).expect("a folder");
    symlink(machine.path("dotfiles/claude.json"), machine.path("home/.claude/settings.json"))
        .expect("a link");
    machine.print(&["install", "--user"]);
    assert!(machine.path("home/.claude/settings.json").is_symlink());
    assert!(machine.read("dotfiles/claude.json").contains(" hook --hook-timeout 120"));
    let mode = |name: &str| fs::metadata(machine.path(name)).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode("dotfiles/claude.json"), 0o640);
    assert_eq!(machine.names("dotfiles"), ["claude.json", "claude.json.punchlist-backup"]);
    assert_eq!(mode("dotfiles/claude.json.punchlist-backup"), 0o640);
    machine.print(&["uninstall", "--user"]);
    assert_eq!(machine.names("dotfiles"), ["claude.json"]);
    assert_eq!(machine.read("dotfiles/claude.json"), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn an_empty_file_a_byte_order_mark_and_windows_line_ends_are_no_matter() {
    for text in ["", "\n", "\u{feff}{}", "\u{feff}{\r\n\t\"model\": \"opus\"\r\n}\r\n"] {
        let machine = Machine::new();
        machine.write(LOCAL, text);
        machine.print(&["install"]);
        let now = machine.read(LOCAL);
        assert_eq!(now.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
        assert_eq!(now.contains("\r\n"), text.contains("\r\n"));
        assert!(!now.replace("\r\n", "").contains('\r') && now.matches('\n').count() >= 10, "{now}");
        serde_json::from_str::<serde_json::Value>(now.trim_start_matches('\u{feff}')).expect("json");
        assert!(machine.print(&["install"]).starts_with("Registered already"));
        machine.print(&["uninstall"]);
        let nothing = text.trim().is_empty();
        assert_eq!(machine.read(LOCAL), if nothing { "{}\n" } else { text });
    }
}

#[test]
fn what_was_changed_meanwhile_stays() {
    let machine = Machine::new();
    machine.print(&["install"]);
    let more = machine.read(LOCAL).replacen('{', "{\n  \"model\": \"opus\",", 1);
    machine.write(LOCAL, &more);
    let said = machine.print(&["uninstall"]);
    assert!(
        said.contains("The file as it was: DIR/project/.claude/settings.local.json.punchlist-backup"),
        "{said}"
    );
    assert_eq!(machine.read(LOCAL), "{\n  \"model\": \"opus\"\n}\n");
    assert_eq!(machine.read("project/.claude/settings.local.json.punchlist-backup"), more);
}

#[test]
fn a_path_with_spaces_and_quotes_is_run_as_it_is() {
    let machine = Machine::new();
    let odd = machine.path("it's a \"bin\"");
    fs::create_dir(&odd).expect("a folder");
    Machine::copy_program(&odd.join("punchlist"));
    let mut command = std::process::Command::new(odd.join("punchlist"));
    command.arg("install").current_dir(machine.path("project")).env_clear();
    command
        .env("HOME", machine.path("home"))
        .env("PUNCHLIST_HOME", machine.path("state"))
        .env("PATH", "/usr/bin:/bin");
    assert!(command.output().expect("it runs").status.success());
    let settings: serde_json::Value = serde_json::from_str(&machine.read(LOCAL)).expect("json");
    let line = settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().expect("a command").to_owned();
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", &line]).env_clear().env("PUNCHLIST_HOME", machine.path("state"));
    let out = shell.stdin(std::process::Stdio::null()).output().expect("a shell");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success() && said.starts_with("punchlist: "), "{said}");
    assert!(machine.print(&["uninstall"]).starts_with("Took the hook out"));
}
