//! A machine with two repositories, and a worktree of the first.

use std::ops::Deref;
use std::process::Command;

use serde_json::Value;

use crate::test_machine::{PUNCHLIST, ProgramOutput, TestMachine};

pub(crate) struct Machine(TestMachine);

impl Deref for Machine {
    type Target = TestMachine;

    fn deref(&self) -> &TestMachine {
        &self.0
    }
}

impl Machine {
    pub(crate) fn new() -> Self {
        let folders = ["home", "shop/.git/worktrees/tree", "shop/src", "tree", "blog/.git"];
        let machine = TestMachine::new("shop", &folders);
        let git = machine.path("shop/.git/worktrees/tree");
        machine.write("tree/.git", &format!("gitdir: {}\n", git.display()));
        Self(machine)
    }

    /// The program in a folder, ready to run.
    pub(crate) fn command(&self, folder: &str, args: &[&str]) -> Command {
        self.program(PUNCHLIST, &self.path(folder), args)
    }

    /// Runs the program in a folder, as a session if one is named.
    pub(crate) fn run_in(&self, folder: &str, session: Option<&str>, args: &[&str]) -> ProgramOutput {
        let mut command = self.command(folder, args);
        command.envs(session.map(|session| ("CLAUDE_CODE_SESSION_ID", session)));
        let mut output = self.run_command(&mut command);
        // On a busy machine a moment may be a few seconds.
        for second in 1..10 {
            for text in [&mut output.stdout, &mut output.stderr] {
                *text = text.replace(&format!(" {second} s"), " 0 s");
            }
        }
        output
    }

    pub(crate) fn run(&self, args: &[&str]) -> ProgramOutput {
        self.run_in("shop", None, args)
    }

    #[track_caller]
    pub(crate) fn print(&self, args: &[&str]) -> String {
        self.run(args).printed()
    }

    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let printed = self.print(args);
        serde_json::from_str(&printed).unwrap_or_else(|why| panic!("{why}: {printed}"))
    }

    /// Runs a command that must fail; returns its message without our name.
    #[track_caller]
    pub(crate) fn refuses(&self, args: &[&str]) -> String {
        let message = self.run(args).failed();
        message.strip_prefix("punchlist: ").expect("our name").trim_end().to_owned()
    }
}
