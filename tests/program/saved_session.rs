//! A test's session as the client leaves it: its transcript in the folder of its project, with id,
//! folder and time in every row.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::test_project::{Run, TestProject, text};

impl TestProject {
    /// The client's folder for this test's workspace.
    pub(crate) fn project_folder(&self) -> PathBuf {
        let name = text(&self.in_work("")).trim_end_matches('/').to_owned();
        let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        self.path("home/.claude/projects").join(name)
    }

    /// Puts the session there, ended in this minute of the first hour of 2026; gives its
    /// transcript.
    pub(crate) fn save(&self, id: &str, minute: u64) -> PathBuf {
        let rows: String = self
            .transcript
            .text()
            .lines()
            .map(|line| {
                let mut row: Value = serde_json::from_str(line).expect("a row");
                row["sessionId"] = json!(id);
                row["cwd"] = json!(text(&self.in_work("")).trim_end_matches('/'));
                row["version"] = json!("2.1.325");
                row["timestamp"] = json!(format!("2026-01-01T00:{minute:02}:00.000Z"));
                format!("{row}\n")
            })
            .collect();
        let path = self.project_folder().join(format!("{id}.jsonl"));
        fs::create_dir_all(self.project_folder()).expect("a folder");
        fs::write(&path, rows).expect("the transcript");
        let file = fs::File::options().append(true).open(&path).expect("the transcript");
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600 + minute * 60))
            .expect("dated");
        path
    }

    /// Runs `audit`, and asserts that neither the log nor anything that is remembered has changed.
    #[track_caller]
    pub(crate) fn audit(&self, args: &[&str]) -> Run {
        let run = self.run_args(&[&["audit"], args].concat());
        run.same(&run.log.len(), &0);
        run.check(!self.path("state/sessions").exists(), "nothing is remembered of a session");
        run
    }

    /// The same with these bytes on stdin.
    #[track_caller]
    pub(crate) fn audit_with_stdin(&self, args: &[&str], stdin: &str) -> Run {
        let mut command = std::process::Command::new(crate::test_project::PUNCHLIST);
        command.arg("audit").args(args);
        let running = self.start_command(command, stdin.as_bytes());
        self.finish(running)
    }
}
