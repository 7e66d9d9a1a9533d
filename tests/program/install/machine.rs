//! A home, a project under git, and the binary on the PATH as an installed one would be.

use std::fs;
use std::ops::Deref;
use std::path::Path;
use std::process::Command;

use crate::test_machine::{PUNCHLIST, ProgramOutput, TestMachine};

pub(crate) struct Machine(TestMachine);

impl Deref for Machine {
    type Target = TestMachine;

    fn deref(&self) -> &TestMachine {
        &self.0
    }
}

/// The file of the default scope.
pub(crate) const LOCAL: &str = "project/.claude/settings.local.json";
/// The file of `--project`.
pub(crate) const PROJECT: &str = "project/.claude/settings.json";
/// The file of `--user`.
pub(crate) const USER: &str = "home/.claude/settings.json";

impl Machine {
    pub(crate) fn new() -> Self {
        let machine = TestMachine::new("project", &["home", "project", "bin"]);
        let path = format!("{}:/usr/bin:/bin", machine.path("bin").display());
        let machine = Self(machine.var("PATH", path));
        std::os::unix::fs::symlink(PUNCHLIST, machine.path("bin/punchlist")).expect("a link");
        let git = Command::new("git").args(["init", "--quiet"]).arg(machine.path("project")).status();
        assert!(git.expect("git").success());
        machine.write("project/.git/info/exclude", ".claude/settings.local.json*\n");
        machine
    }

    /// Copies the program, by another process: a file that this one has open for writing may be
    /// inherited by programs that other tests start, and then can't be executed.
    pub(crate) fn copy_program(to: &Path) {
        let copied = Command::new("cp").arg(PUNCHLIST).arg(to).status();
        assert!(copied.expect("cp").success());
    }

    /// The names in a folder, in order.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub(crate) fn run_in(&self, folder: &Path, args: &[&str]) -> ProgramOutput {
        let program = self.path("bin/punchlist");
        self.run_command(&mut self.program(&program.to_string_lossy(), folder, args))
    }

    /// Runs the installed program in the project.
    pub(crate) fn run(&self, args: &[&str]) -> ProgramOutput {
        self.run_in(&self.path("project"), args)
    }

    #[track_caller]
    pub(crate) fn print(&self, args: &[&str]) -> String {
        self.run(args).printed()
    }

    #[track_caller]
    pub(crate) fn fails(&self, args: &[&str]) -> String {
        self.run(args).failed()
    }
}
