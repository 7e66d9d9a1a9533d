//! A made-up session laid out as the client would have it: a home with its transcript, the
//! workspace, a scripted reader, and a state folder of our own. Everything is in one temporary
//! folder, which goes with this value.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use punchlist::client::folders::project_name;
use punchlist::decision::Cause;
use punchlist::log::{DecisionLog, Record};
use punchlist::sandbox::Sandbox;
use serde_json::{Value, json};

use crate::measure::Fault;
use crate::transcripts::{Later, Spec, Truth, generate};

/// The program that is measured.
pub(crate) const PUNCHLIST: &str = env!("CARGO_BIN_EXE_punchlist");
/// The scripted reader.
pub(crate) const READER: &str = env!("CARGO_BIN_EXE_fake-claude");

const SESSION: &str = "5e551000-0000-4000-8000-000000000001";
const SCRIPT: &str = "help --tools --system-prompt --json-schema\nchecklist answer {\"claimed\":[],\"finished\":false}\nfirst answer {\"findings\":[],\"candidates\":[],\"verdicts\":[]}\n";

/// The project.
pub(crate) struct BenchProject {
    sandbox: Sandbox,
    /// The session's transcript.
    pub(crate) transcript: PathBuf,
    /// What is in it, as it was at first.
    pub(crate) truth: Truth,
    /// How it goes on.
    pub(crate) later: Later,
}

impl BenchProject {
    /// Lays out a session.
    pub(crate) fn of(spec: &Spec) -> Result<Self, Fault> {
        let told = |why: std::io::Error| format!("a project of {} bytes: {why}", spec.bytes);
        let sandbox = empty_sandbox().map_err(told)?;
        let transcript = project_folder(&sandbox).join(format!("{SESSION}.jsonl"));
        let truth = generate(spec, &transcript, sandbox.workspace()).map_err(told)?;
        let later = Later::of(&transcript, &truth);
        Ok(Self { sandbox, transcript, truth, later })
    }

    /// The workspace.
    pub(crate) fn workspace(&self) -> &Path {
        self.sandbox.workspace()
    }

    /// The state folder.
    pub(crate) fn state(&self) -> PathBuf {
        self.sandbox.path("state")
    }

    /// A program in this project, with nothing of the caller's environment.
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        command(&self.sandbox, program, args)
    }

    /// `punchlist hook`.
    pub(crate) fn hook(&self) -> Command {
        self.command(PUNCHLIST, &["hook"])
    }

    /// What the client writes to the hook's stdin.
    pub(crate) fn input(&self, last_message: &str) -> Vec<u8> {
        self.input_with(last_message, |_| ())
    }

    /// The same with something changed.
    pub(crate) fn input_with(&self, last_message: &str, change: impl FnOnce(&mut Value)) -> Vec<u8> {
        let mut input = json!({
            "session_id": SESSION,
            "transcript_path": self.transcript,
            "cwd": self.workspace(),
            "permission_mode": "acceptEdits",
            "effort": {"level": "high"},
            "hook_event_name": "Stop",
            "stop_hook_active": false,
            "last_assistant_message": last_message,
            "background_tasks": [],
            "session_crons": [],
        });
        change(&mut input);
        input.to_string().into_bytes()
    }

    /// The newest decision, which has to be one of `causes`.
    pub(crate) fn decided(&self, causes: &[Cause]) -> Result<Record, Fault> {
        last_record(&self.state(), causes)
    }
}

/// Returns a sandbox with a scripted reader in it.
pub(crate) fn empty_sandbox() -> std::io::Result<Sandbox> {
    let sandbox = Sandbox::new("workspace")?;
    fs::create_dir_all(sandbox.path("state"))?;
    fs::write(sandbox.path("script"), SCRIPT)?;
    Ok(sandbox)
}

/// Where the client keeps the transcripts of the sandbox's workspace.
pub(crate) fn project_folder(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".claude/projects").join(project_name(sandbox.workspace()))
}

/// A program on a sandbox. Its path is the same everywhere, so that its length does not count.
pub(crate) fn command(sandbox: &Sandbox, program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(args)
        .current_dir(sandbox.workspace())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", sandbox.home())
        // As the client tells its hooks.
        .env("CLAUDE_PROJECT_DIR", sandbox.workspace())
        .env("PUNCHLIST_HOME", sandbox.path("state"))
        .env("PUNCHLIST_CLAUDE", READER)
        .env("FAKE_CLAUDE_SCRIPT", sandbox.path("script"));
    command
}

/// The newest decision in a state folder, which has to be one of `causes`.
pub(crate) fn last_record(state: &Path, causes: &[Cause]) -> Result<Record, Fault> {
    let mut last = None;
    DecisionLog::in_folder(state)
        .read(|record| last = Some(record))
        .map_err(|why| format!("the decision log: {why}"))?;
    let record = last.ok_or("nothing was decided")?;
    if causes.contains(&record.cause) {
        return Ok(record);
    }
    Err(format!(
        "decided as {} ({}), which is not what was to be measured; findings: {:?}",
        record.cause.name(),
        record.detail.as_deref().unwrap_or("no detail"),
        record.findings.iter().take(3).collect::<Vec<_>>(),
    ))
}
