//! One person's machine: a home, a state folder, two repositories and a worktree of the first.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::output::ProgramOutput;

/// The program under test.
pub(crate) const PUNCHLIST: &str = env!("CARGO_BIN_EXE_punchlist");

/// The machine.
pub(crate) struct Machine {
    #[expect(dead_code, reason = "held, not read: the folder is gone with it")]
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("punchlist-registry-").tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("the folder");
        for name in ["home", "shop/.git/worktrees/tree", "shop/src", "tree", "blog/.git"] {
            fs::create_dir_all(root.join(name)).expect("a folder");
        }
        let link = format!("gitdir: {}\n", root.join("shop/.git/worktrees/tree").display());
        fs::write(root.join("tree/.git"), link).expect("a link");
        Self { folder, root }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The program in a folder, ready to run.
    pub(crate) fn command(&self, folder: &str, args: &[&str]) -> Command {
        let mut command = Command::new(PUNCHLIST);
        command.args(args).env_clear().current_dir(self.path(folder)).env("TZ", "UTC");
        command.env("PUNCHLIST_HOME", self.path("state")).env("HOME", self.path("home"));
        command
    }

    /// Runs it in a folder, as a session where one is named.
    pub(crate) fn run_in(&self, folder: &str, session: Option<&str>, args: &[&str]) -> ProgramOutput {
        let mut command = self.command(folder, args);
        command.envs(session.map(|session| ("CLAUDE_CODE_SESSION_ID", session)));
        let Output { status, stdout, stderr } = command.output().expect("it runs");
        ProgramOutput { code: status.code(), stdout: self.tidy(&stdout), stderr: self.tidy(&stderr) }
    }

    /// Runs it in the shop.
    pub(crate) fn run(&self, args: &[&str]) -> ProgramOutput {
        self.run_in("shop", None, args)
    }

    /// Runs it, which has to go well and silently; gives what it prints.
    #[track_caller]
    pub(crate) fn print(&self, args: &[&str]) -> String {
        self.run(args).printed(args)
    }

    /// The same, as JSON.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let printed = self.print(args);
        serde_json::from_str(&printed).unwrap_or_else(|why| panic!("{why}: {printed}"))
    }

    /// Runs it, which has to fail with one line; gives that.
    #[track_caller]
    pub(crate) fn refuses(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{args:?}: {}", ran.stderr);
        ran.stderr.strip_prefix("punchlist: ").expect("our name").trim_end().to_owned()
    }

    fn tidy(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        let text = text.replace(&Path::display(&self.root).to_string(), "DIR");
        // On a busy machine a moment may be a few seconds.
        (1..10).fold(text, |text, second| text.replace(&format!(" {second} s"), " 0 s"))
    }
}
