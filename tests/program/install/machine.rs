//! A home, a project under git, and the binary on the PATH as an installed one would be.

use std::fs;
use std::ops::Deref;
use std::path::Path;
use std::process::Command;

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

/// The file of the default scope.
pub(crate) const LOCAL: &str = "project/.claude/settings.local.json";
/// The file of `--project`.
pub(crate) const PROJECT: &str = "project/.claude/settings.json";
/// The file of `--user`.
pub(crate) const USER: &str = "home/.claude/settings.json";

impl Machine {
    pub(crate) fn new() -> Self {
        let machine = Self(TestFolder::with("punchlist-setup-", &["home", "project", "bin"]));
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_punchlist"), machine.path("bin/punchlist"))
            .expect("a link");
        let git = Command::new("git").args(["init", "--quiet"]).arg(machine.path("project")).status();
        assert!(git.expect("git").success());
        machine.write("project/.git/info/exclude", ".claude/settings.local.json*\n");
        machine
    }

    /// A copy of the program. Made by another process: what this one has open for writing may be inherited by the
    /// programs that tests beside it start, and then it can't be run.
    pub(crate) fn copy_program(to: &Path) {
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_punchlist")).arg(to).status();
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

    /// Runs it in a folder.
    pub(crate) fn run_in(&self, folder: &Path, args: &[&str]) -> ProgramOutput {
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        let mut command = Command::new(self.path("bin/punchlist"));
        command.args(args).current_dir(folder).env_clear();
        command.env("PATH", path).env("HOME", self.path("home")).env("PUNCHLIST_HOME", self.path("state"));
        self.ran(&command.output().expect("it runs"))
    }

    /// Runs it in the project.
    pub(crate) fn run(&self, args: &[&str]) -> ProgramOutput {
        self.run_in(&self.path("project"), args)
    }

    /// Runs it, which has to go well and silently; gives what it prints.
    #[track_caller]
    pub(crate) fn print(&self, args: &[&str]) -> String {
        self.run(args).printed(args)
    }

    /// Runs it, which has to fail with a word on stderr alone; gives that.
    #[track_caller]
    pub(crate) fn fails(&self, args: &[&str]) -> String {
        self.run(args).failed(args)
    }
}
