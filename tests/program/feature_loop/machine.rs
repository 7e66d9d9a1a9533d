//! A project under git with a list of features, and a scripted client.

use std::fs;
use std::ops::Deref;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::test_machine::{ProgramOutput, TestMachine};

pub(crate) struct Machine(TestMachine);

impl Deref for Machine {
    type Target = TestMachine;

    fn deref(&self) -> &TestMachine {
        &self.0
    }
}

/// What a session of the scripted client costs here.
pub(crate) const DONE: &str = r#"stdout {"type":"result","subtype":"success","is_error":false,"result":"Done","total_cost_usd":0.25,"permission_denials":[]}"#;

impl Machine {
    pub(crate) fn new() -> Self {
        let machine = TestMachine::new("project", &["home", "project/src"])
            .var("PUNCHLIST_CLAUDE", env!("CARGO_BIN_EXE_fake-claude"))
            .path_var("FAKE_CLAUDE_SCRIPT", "script");
        let machine = Self(machine);
        machine.git(&["init", "--quiet"]);
        machine
    }

    /// The same with a list of three features, and a loop.
    pub(crate) fn begun() -> Self {
        Self::begun_with(&[("F1", true), ("F2", false), ("F3", false)])
    }

    /// The same with only the last feature open.
    pub(crate) fn nearly_done() -> Self {
        Self::begun_with(&[("F1", true), ("F2", true), ("F3", false)])
    }

    fn begun_with(features: &[(&str, bool)]) -> Self {
        let machine = Self::new();
        machine.list(features);
        machine.print(&["loop", "init", "--max", "10"]);
        machine
    }

    pub(crate) fn git(&self, args: &[&str]) {
        let done = Command::new("git").args(args).current_dir(self.path("project")).output();
        assert!(done.expect("git").status.success());
    }

    /// The text of a list.
    pub(crate) fn list_text(features: &[(&str, bool)]) -> String {
        let features = features.iter().map(|(id, passes)| {
            json!({ "id": id, "description": format!("What {id} is"), "steps": ["Try it"], "passes": passes })
        });
        json!({ "features": features.collect::<Vec<_>>() }).to_string()
    }

    /// Writes the list.
    pub(crate) fn list(&self, features: &[(&str, bool)]) {
        self.write("project/feature_list.json", &Self::list_text(features));
    }

    /// What the client does.
    pub(crate) fn script(&self, lines: &[&str]) {
        let mut script = format!("record {}\n", self.path("calls").display());
        for (at, line) in lines.iter().enumerate() {
            // Whoever sets a mark has done some work as well.
            if let Some((when, list)) = line.split_once("write feature_list.json {") {
                script.push_str(&format!("{when}write src/work {at} {list}\n"));
            }
            script.push_str(&format!("{line}\n"));
        }
        self.write("script", &script);
    }

    /// A line of the script: the agent writes the list.
    pub(crate) fn writes(features: &[(&str, bool)]) -> String {
        format!("write feature_list.json {}", Self::list_text(features))
    }

    pub(crate) fn run_with(&self, args: &[&str], vars: &[(&str, &str)]) -> ProgramOutput {
        self.run_command(self.command(args).envs(vars.iter().copied()))
    }

    /// What a command prints that is typed in a terminal of its own; `line` is for a shell, in
    /// which `punchlist` is the program, and `vars` are what the terminal was opened with.
    #[track_caller]
    pub(crate) fn typed(&self, line: &str, vars: &[(&str, &str)]) -> String {
        // The shell stays until the command is over, as a person's does.
        let line = format!("punchlist() {{ {} \"$@\"; }}; {line}; exit $?", env!("CARGO_BIN_EXE_punchlist"));
        let mut script = self.program("script", &self.path("project"), &["-qec", &line, "/dev/null"]);
        script.env("SHELL", "/bin/sh").envs(vars.iter().copied()).stdin(Stdio::null());
        let ran = self.run_command(&mut script);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stdout.replace("\r\n", "\n")
    }

    /// Starts the program, with its output captured.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    }

    /// `loop status` as JSON.
    #[track_caller]
    pub(crate) fn status(&self) -> Value {
        serde_json::from_str(&self.print(&["loop", "status", "--json"])).expect("JSON")
    }

    /// The saved state of the loop.
    pub(crate) fn read_state(&self) -> String {
        let files = fs::read_dir(self.path("state/loops")).into_iter().flatten().flatten();
        let kept = files.filter(|entry| entry.path().extension().is_some_and(|end| end == "json"));
        kept.map(|entry| fs::read_to_string(entry.path()).unwrap_or_default()).collect()
    }

    /// Every session that was started.
    pub(crate) fn calls(&self) -> Vec<Value> {
        let lines = fs::read_to_string(self.path("calls")).unwrap_or_default();
        lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Runs the hook for a stop at which a scripted client may be asked.
    pub(crate) fn stop_with_client(&self, session: &str, script: &str) -> ProgramOutput {
        self.write("script", &format!("{}{script}\n", crate::test_project::HELP));
        self.stop(session, &json!({}))
    }

    /// Runs the hook for a stop of a session in the project.
    pub(crate) fn stop(&self, session: &str, more: &Value) -> ProgramOutput {
        self.tidy(&self.start_stop(session, more, &["hook"]).wait_with_output().expect("it ends"))
    }

    /// Starts the hook, by these arguments.
    pub(crate) fn start_stop(&self, session: &str, more: &Value, args: &[&str]) -> Child {
        let mut input = json!({
            "hook_event_name": "Stop", "session_id": session, "cwd": self.path("project"),
            "transcript_path": self.path(&format!("{session}.jsonl")), "stop_hook_active": false,
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            input[key] = value.clone();
        }
        if !self.path("script").exists() {
            self.write("script", "exit 1\n");
        }
        let config = "[audit]\nenabled = false\n";
        if !self.path("home/.config/punchlist/config.toml").exists() {
            self.write("home/.config/punchlist/config.toml", config);
        }
        let mut command = self.command(args);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        std::io::Write::write_all(&mut child.stdin.take().expect("stdin"), input.to_string().as_bytes())
            .expect("written");
        child
    }
}
