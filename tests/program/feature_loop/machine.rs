//! A project under git with a list of features, and a scripted client.

use std::fs;
use std::ops::Deref;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::output::ProgramOutput;
use crate::test_folder::TestFolder;

/// One person's machine.
pub(crate) struct Machine(TestFolder);

impl Deref for Machine {
    type Target = TestFolder;

    fn deref(&self) -> &TestFolder {
        &self.0
    }
}

/// What a session of the scripted client costs here.
pub(crate) const DONE: &str = r#"stdout {"type":"result","subtype":"success","is_error":false,"result":"Done","total_cost_usd":0.25,"permission_denials":[]}"#;

impl Machine {
    pub(crate) fn new() -> Self {
        let machine = Self(TestFolder::with("punchlist-loops-", &["home", "project/src"]));
        machine.git(&["init", "--quiet"]);
        machine
    }

    /// The same with a list of three features, and a loop.
    pub(crate) fn begun() -> Self {
        let machine = Self::new();
        machine.list(&[("F1", true), ("F2", false), ("F3", false)]);
        machine.print(&["loop", "init", "--max", "10"]);
        machine
    }

    fn git(&self, args: &[&str]) {
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
        let calls = format!("record {}", self.path("calls").display());
        self.write("script", &format!("{calls}\n{}\n", lines.join("\n")));
    }

    /// A line of the script: the agent writes the list.
    pub(crate) fn writes(features: &[(&str, bool)]) -> String {
        format!("write feature_list.json {}", Self::list_text(features))
    }

    pub(crate) fn command(&self, args: &[&str], vars: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_punchlist"));
        command.args(args).current_dir(self.path("project")).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("HOME", self.path("home"));
        command
            .env("PUNCHLIST_HOME", self.path("state"))
            .env("PUNCHLIST_CLAUDE", env!("CARGO_BIN_EXE_fake-claude"));
        command.env("FAKE_CLAUDE_SCRIPT", self.path("script")).envs(vars.iter().copied());
        command
    }

    /// Runs it.
    pub(crate) fn run_with(&self, args: &[&str], vars: &[(&str, &str)]) -> ProgramOutput {
        self.ran(&self.command(args, vars).output().expect("it runs"))
    }

    pub(crate) fn run(&self, args: &[&str]) -> ProgramOutput {
        self.run_with(args, &[])
    }

    /// Runs it, which has to go well and silently; gives what it prints.
    #[track_caller]
    pub(crate) fn print(&self, args: &[&str]) -> String {
        self.run(args).printed(args)
    }

    /// Runs it, which has to fail; gives what is said on stderr.
    #[track_caller]
    pub(crate) fn fails(&self, args: &[&str]) -> String {
        self.run(args).failed(args)
    }

    /// Starts it, with its output kept.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args, &[]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
    }

    /// How the loop stands.
    #[track_caller]
    pub(crate) fn status(&self) -> Value {
        serde_json::from_str(&self.print(&["loop", "status", "--json"])).expect("JSON")
    }

    /// What is remembered of the loop, as it is kept.
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

    /// A stop of a session in the project; gives exit code, stdout and stderr.
    pub(crate) fn stop(&self, session: &str, more: &Value) -> ProgramOutput {
        let mut input = json!({
            "hook_event_name": "Stop", "session_id": session, "cwd": self.path("project"),
            "transcript_path": self.path(&format!("{session}.jsonl")), "stop_hook_active": false,
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            input[key] = value.clone();
        }
        self.write("script", "exit 1\n");
        let config = "[audit]\nenabled = false\n";
        if !self.path("home/.config/punchlist/config.toml").exists() {
            self.write("home/.config/punchlist/config.toml", config);
        }
        let mut command = self.command(&["hook"], &[]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        std::io::Write::write_all(&mut child.stdin.take().expect("stdin"), input.to_string().as_bytes())
            .expect("written");
        self.ran(&child.wait_with_output().expect("it ends"))
    }
}
