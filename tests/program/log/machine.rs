//! One state folder and the real binary: runs commands in a cleared environment, gives what they print, with what differs
//! from machine to machine taken out.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::output::ProgramOutput;
use crate::sample_log::write_year;

/// The program under test.
pub(crate) const PUNCHLIST: &str = env!("CARGO_BIN_EXE_punchlist");

/// A state folder.
pub(crate) struct Machine {
    folder: tempfile::TempDir,
    vars: Vec<(&'static str, String)>,
}

impl Machine {
    /// With an empty log.
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("punchlist-log-").tempdir().expect("a folder");
        Self { folder, vars: vec![("TZ", "UTC".to_owned())] }
    }

    /// With a year's log.
    pub(crate) fn with_year(records: usize) -> Self {
        let machine = Self::new();
        write_year(&machine.state(), 7, records).expect("a year");
        machine
    }

    /// With another variable.
    pub(crate) fn var(mut self, name: &'static str, value: &str) -> Self {
        self.vars.push((name, value.to_owned()));
        self
    }

    /// The folder of the state.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// The file of a month.
    pub(crate) fn month(&self, month: &str) -> PathBuf {
        self.state().join("decisions").join(format!("{month}.jsonl"))
    }

    /// Adds bytes to the file of a month.
    pub(crate) fn append(&self, month: &str, bytes: &[u8]) {
        let path = self.month(month);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let mut file = fs::File::options().create(true).append(true).open(path).expect("open");
        file.write_all(bytes).expect("written");
    }

    /// The program, ready to run.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.other(PUNCHLIST);
        command.args(args);
        command
    }

    /// Another program, in the same place.
    pub(crate) fn other(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.folder.path());
        command.env("PUNCHLIST_HOME", self.state()).env("HOME", self.folder.path());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command.envs(self.vars.iter().map(|(name, value)| (*name, value)));
        command
    }

    /// Runs it.
    pub(crate) fn run(&self, args: &[&str]) -> ProgramOutput {
        let Output { status, stdout, stderr } = self.command(args).output().expect("it runs");
        ProgramOutput { code: status.code(), stdout: self.tidy(&stdout), stderr: self.tidy(&stderr) }
    }

    /// Runs it, which has to go well and silently; gives what it prints.
    #[track_caller]
    pub(crate) fn print(&self, args: &[&str]) -> String {
        self.run(args).printed(args)
    }

    /// The same, as JSON, one value a line.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Vec<Value> {
        let parsed = |line: &str| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}"));
        self.print(args).lines().map(parsed).collect()
    }

    fn tidy(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        let real = fs::canonicalize(self.folder.path()).unwrap_or_default();
        let places = [real.as_path(), self.folder.path()].map(Path::display).map(|path| path.to_string());
        places.iter().fold(text.into_owned(), |text, place| text.replace(place, "DIR"))
    }
}
