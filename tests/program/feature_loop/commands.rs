//! `loop init`, `start`, `stop`, `status` and `pass`.

use serde_json::json;

use crate::feature_loop::machine::Machine;

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

#[test]
fn init_writes_what_is_missing_and_leaves_what_is_there() {
    let machine = Machine::new();
    machine.list(&[("F1", false)]);
    assert_eq!(
        machine.print(&["loop", "init"]),
        "feature_list.json: is there already; 1 feature, 0 of them pass\n\
         progress.txt: iteration 0 of 50, 1 feature is open\n\
         Bound to no session: `punchlist loop run` works the list off, or `! punchlist loop start` in a session.\n"
    );
    let progress = machine.read("project/progress.txt");
    assert!(
        progress.starts_with("iteration: 0\nmax: 50\nstatus: IN_PROGRESS\npassing: 0 of 1\nupdated: 20"),
        "{progress}"
    );
    assert_eq!(
        machine.fails(&["loop", "init"]),
        "punchlist: there is a loop in this folder already, in iteration 0 of 50; `punchlist loop start` goes on with it, \
         `punchlist loop stop` halts it\n"
    );
    // Of its own files, only the first two may be there, with the rights of any new file.
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(machine.path("project/progress.txt")).expect("there").permissions(),
    );
    assert_eq!(mode & 0o600, 0o600);
}

/// A loop with an empty list held nobody, and nobody noticed.
#[test]
fn init_with_nothing_to_begin_with_begins_nothing_and_says_what_would_do() {
    let machine = Machine::new();
    let example =
        "put each in as {\"id\": \"F1\", \"description\": \"…\", \"steps\": [\"…\"], \"passes\": false}";
    assert_eq!(
        machine.fails(&["loop", "init"]),
        format!(
            "punchlist: there is no feature_list.json here to work through, and no loop was begun. `punchlist loop init \
             --from FILE` takes a JSON list, or the items of a Markdown list; or write the file: {example}\n"
        )
    );
    machine.write("project/PLAN.md", "# Shop\n- [ ] Log in\n- [ ] Log out\n");
    let said = machine.fails(&["loop", "init"]);
    assert!(
        said.contains("PLAN.md has 2 items: `punchlist loop init --from PLAN.md` begins with them; or write"),
        "{said}"
    );
    machine.list(&[]);
    assert_eq!(
        machine.fails(&["loop", "init"]),
        format!("punchlist: feature_list.json has no features yet: {example}\n")
    );
    assert!(!machine.path("project/progress.txt").exists());
}

#[test]
fn a_list_that_is_there_is_taken_as_it_is_with_its_progress() {
    let machine = Machine::new();
    let list = "[ {\"description\":\"x\" , \"passes\":true,\"own\":[1]},{\"description\":\"y\"} ]";
    machine.write("project/feature_list.json", list);
    machine.write("project/progress.txt", "Iteration: 4/20\n\nMy notes.\n");
    let said = machine.print(&["loop", "init", "--max", "9"]);
    assert!(said.starts_with("feature_list.json: is there already; 2 features, 1 of them pass\n"), "{said}");
    assert_eq!(machine.read("project/feature_list.json"), list);
    let progress = machine.read("project/progress.txt");
    assert!(progress.starts_with("Iteration: 4/9\nstatus: IN_PROGRESS\npassing: 1 of 2\n"), "{progress}");
    assert!(progress.ends_with("\n\nMy notes.\n"), "{progress}");
}

#[test]
fn a_list_comes_from_json_or_markdown() {
    let machine = Machine::new();
    machine.write("project/plan.md", "# Shop\n- [ ] Log in\n  - open it\n- [x] Log out\n");
    let said = machine.print(&["loop", "init", "--from", "plan.md"]);
    assert!(said.starts_with("feature_list.json: written; 2 features, 1 of them pass\n"), "{said}");
    assert_eq!(
        machine.status()["open"],
        json!([{ "id": "F001", "description": "Log in", "steps": ["open it"] }])
    );
    let other = Machine::new();
    other.write("project/words.txt", "Just words.\n");
    assert_eq!(
        other.fails(&["loop", "init", "--from", "words.txt"]),
        "punchlist: words.txt: it is not JSON: expected value at line 1 column 1, and it has no list in Markdown\n"
    );
    assert!(!other.path("project/feature_list.json").exists());
}

#[test]
fn a_command_of_a_session_binds_that_session_and_no_other_takes_it_unasked() {
    let machine = Machine::new();
    machine.list(&[("F1", false)]);
    let vars = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", SESSION)];
    let said = machine.run_with(&["loop", "init"], &vars).printed();
    assert!(
        said.ends_with("Bound to session 11111111: its stops are held until every feature passes.\n"),
        "{said}"
    );
    assert_eq!(machine.status()["session"], SESSION);
    let other = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "other")];
    let refused = machine.run_with(&["loop", "start"], &other);
    assert_eq!(
        refused.stderr,
        format!(
            "punchlist: the loop is bound to session {SESSION}; `punchlist loop start --take` takes it over, if that one is over\n"
        )
    );
    let refused = machine.fails(&["loop", "run"]);
    assert_eq!(
        refused,
        format!(
            "punchlist: the loop is bound to session {SESSION}; `punchlist loop stop` lets that one go\n"
        )
    );
    machine.run_with(&["loop", "start", "--take"], &other).printed();
    assert_eq!(machine.status()["session"], "other");
    assert_eq!(
        machine.print(&["loop", "stop"]),
        "Halted in iteration 0 of 50. `punchlist loop start` or `punchlist loop run` goes on.\n"
    );
    assert_eq!((&machine.status()["session"], &machine.status()["status"]), (&json!(null), &json!("PAUSED")));
    assert!(machine.read("project/progress.txt").contains("\nstatus: PAUSED\n"));
    assert_eq!(machine.fails(&["loop", "stop"]), "punchlist: the loop is over already: PAUSED\n");
    machine.print(&["loop", "start", "--session", "named"]);
    assert_eq!(
        (&machine.status()["session"], &machine.status()["status"]),
        (&json!("named"), &json!("IN_PROGRESS"))
    );
}

#[test]
fn somebody_outside_changes_what_is_to_be_done_and_not_who_does_it() {
    let machine = Machine::begun();
    machine.print(&["loop", "start", "--session", "s"]);
    machine.list(&[("F1", true), ("F2", false)]);
    assert_eq!(machine.status()["gone"], json!(["F3"]));
    let said = machine.typed("punchlist loop start --as-is --max 30", &[]);
    assert!(
        said.starts_with("progress.txt: iteration 0 of 30, 1 feature is open\nBound to session s:"),
        "{said}"
    );
    assert_eq!((&machine.status()["gone"], &machine.status()["session"]), (&json!([]), &json!("s")));
    let inside = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s")];
    let refused = machine.run_with(&["loop", "start", "--as-is"], &inside);
    assert_eq!(
        (refused.code, refused.stderr.as_str()),
        (
            Some(1),
            "punchlist: only a person can drop features: --as-is is for a terminal of your own, outside of a session\n"
        )
    );
    let hidden = machine.run_with(&["loop", "start", "--as-is"], &[("CLAUDECODE", "")]);
    assert_eq!(hidden.stderr, refused.stderr, "nor can an agent that hides itself");
    machine.run_with(&["loop", "stop"], &inside).printed();
    assert_eq!(machine.status()["ended"]["why"], "halted by `punchlist loop stop`, which session s ran");
}

#[test]
fn a_folder_below_is_of_the_loop_above_and_a_folder_beside_is_not() {
    let machine = Machine::begun();
    let here = |folder: &str| {
        let output =
            machine.command(&["loop", "status", "--json"]).current_dir(machine.path(folder)).output();
        serde_json::from_slice::<serde_json::Value>(&output.expect("it runs").stdout).expect("JSON")["status"]
            .clone()
    };
    assert_eq!((here("project/src"), here("home")), (json!("IN_PROGRESS"), json!(null)));
    machine.write("project/app/feature_list.json", "[{\"id\":1}]");
    let output = machine
        .command(&["loop", "init"])
        .current_dir(machine.path("project/app"))
        .output()
        .expect("it runs");
    assert!(output.status.success());
    assert_eq!(here("project/app"), json!("IN_PROGRESS"));
    assert_eq!(machine.status()["total"], 3, "two loops in one repository are two");
}

#[test]
fn marks_are_set_by_command() {
    let machine = Machine::begun();
    assert_eq!(
        machine.print(&["loop", "pass", "F2", "F3"]),
        "F2, F3: passes; 3 of 3 pass now\n\
         It is looked into at the next stop: only what you type in a terminal of your own counts as it is.\n"
    );
    assert_eq!(
        machine.read("project/feature_list.json"),
        Machine::list_text(&[("F1", true), ("F2", true), ("F3", true)])
    );
    assert_eq!(machine.print(&["loop", "pass", "F1", "--undo"]), "F1: open again; 2 of 3 pass now\n");
    assert_eq!(
        machine.fails(&["loop", "pass", "F9"]),
        "punchlist: feature_list.json: there is no feature \"F9\" in it; there are F1, F2, F3\n"
    );
}

#[test]
fn the_hooks_timeout_left_no_room_for_the_whole_lists_command() {
    let timeout = |config: &str| {
        let machine = Machine::new();
        machine.write("home/.config/punchlist/config.toml", config);
        machine.print(&["install"]);
        let settings: serde_json::Value =
            serde_json::from_str(&machine.read("project/.claude/settings.local.json")).expect("JSON");
        settings["hooks"]["Stop"][0]["hooks"][0]["timeout"].as_u64().expect("a timeout")
    };
    // 120 s for the command, 45 s for the first reader, and what the hook itself needs.
    assert_eq!((timeout(""), timeout("[loop]\nverify = \"npm test\"\n")), (120, 180));
}

#[test]
fn how_it_stands_is_told() {
    let machine = Machine::new();
    assert_eq!(
        machine.print(&["loop"]),
        "No feature loop in DIR/project. `punchlist loop init` begins one.\n"
    );
    machine.list(&[("F1", true), ("F2", false)]);
    machine.print(&["loop", "init"]);
    let told = machine.print(&["loop"]);
    let lines: Vec<_> = told.lines().filter(|line| !line.contains("moved")).collect();
    assert_eq!(
        lines,
        [
            "IN_PROGRESS  feature loop in DIR/project",
            "",
            "  features   ██████████░░░░░░░░░░  1 of 2 pass",
            "  next       F2  What F2 is",
            "  iteration  0 of 50",
            "  session    none is bound",
        ]
    );
}
