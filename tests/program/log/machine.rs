//! A machine with a decision log.

use std::fs;
use std::io::Write;
use std::ops::Deref;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::sample_log::write_year;
use crate::test_machine::TestMachine;

pub(crate) use crate::test_machine::PUNCHLIST;

pub(crate) struct Machine(TestMachine);

impl Deref for Machine {
    type Target = TestMachine;

    fn deref(&self) -> &TestMachine {
        &self.0
    }
}

impl Machine {
    /// With an empty log.
    pub(crate) fn new() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self(TestMachine::new("", &[]).path_var("HOME", "").var("PATH", path))
    }

    /// With a year's log.
    pub(crate) fn with_year(records: usize) -> Self {
        let machine = Self::new();
        write_year(&machine.state(), 7, records).expect("a year");
        machine
    }

    /// With another variable.
    pub(crate) fn var(self, name: &'static str, value: &str) -> Self {
        Self(self.0.var(name, value))
    }

    /// The state folder.
    pub(crate) fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// The log file of a month.
    pub(crate) fn month(&self, month: &str) -> PathBuf {
        self.path(&format!("state/decisions/{month}.jsonl"))
    }

    /// Appends to the log file of a month.
    pub(crate) fn append(&self, month: &str, bytes: &[u8]) {
        let path = self.month(month);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let mut file = fs::File::options().create(true).append(true).open(path).expect("open");
        file.write_all(bytes).expect("written");
    }

    /// Another program, in the same environment.
    pub(crate) fn other(&self, program: &str) -> Command {
        self.program(program, &self.path(""), &[])
    }

    /// Runs a command that prints JSON, one value a line.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Vec<Value> {
        let parsed = |line: &str| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}"));
        self.print(args).lines().map(parsed).collect()
    }
}
