//! A person's machine in a temporary folder: its files, and the real program run in a cleared
//! environment. Removed with this value.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program under test.
pub(crate) const PUNCHLIST: &str = env!("CARGO_BIN_EXE_punchlist");

/// The machine. Home is `home`, the state folder `state`.
pub(crate) struct TestMachine {
    #[expect(dead_code, reason = "removes the folder when dropped")]
    folder: tempfile::TempDir,
    root: PathBuf,
    working_dir: &'static str,
    vars: Vec<(&'static str, OsString)>,
}

impl TestMachine {
    /// A machine with these folders, on which programs run in `working_dir`.
    pub(crate) fn new(working_dir: &'static str, folders: &[&str]) -> Self {
        let folder = tempfile::Builder::new().prefix("punchlist-").tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("the folder");
        for name in folders {
            fs::create_dir_all(root.join(name)).expect("a folder");
        }
        Self { folder, root, working_dir, vars: Vec::new() }
            .var("PATH", "/usr/bin:/bin")
            .path_var("HOME", "home")
            .path_var("PUNCHLIST_HOME", "state")
            .var("TZ", "UTC")
    }

    /// Sets an environment variable of every program.
    pub(crate) fn var(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.vars.push((name, value.into()));
        self
    }

    /// The same, to a path on the machine.
    pub(crate) fn path_var(self, name: &'static str, path: &str) -> Self {
        let path = self.path(path);
        self.var(name, path)
    }

    /// A path on the machine; of its root, if the name is empty.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.root.clone() } else { self.root.join(name) }
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Any program, ready to run in a folder.
    pub(crate) fn program(&self, program: &str, folder: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(folder).env_clear();
        command.envs(self.vars.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The program under test, ready to run.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.program(PUNCHLIST, &self.path(self.working_dir), args)
    }

    pub(crate) fn run(&self, args: &[&str]) -> ProgramOutput {
        self.run_command(&mut self.command(args))
    }

    pub(crate) fn run_command(&self, command: &mut Command) -> ProgramOutput {
        let output = command.output().expect("it runs");
        let folder = command.get_current_dir().unwrap_or(Path::new(".")).display();
        ProgramOutput { command: format!("{command:?} in {folder}"), ..self.tidy(&output) }
    }

    /// The output of a program, with the machine's folder as `DIR`.
    pub(crate) fn tidy(&self, output: &Output) -> ProgramOutput {
        let root = self.root.display().to_string();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&root, "DIR");
        ProgramOutput {
            command: String::new(),
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Runs a command that must succeed without a warning; returns what it prints.
    #[track_caller]
    pub(crate) fn print(&self, args: &[&str]) -> String {
        self.run(args).printed()
    }

    /// Runs a command that must fail; returns its error message.
    #[track_caller]
    pub(crate) fn fails(&self, args: &[&str]) -> String {
        self.run(args).failed()
    }
}

/// What a program printed, and how it ended.
#[derive(Debug)]
pub(crate) struct ProgramOutput {
    /// The command line and its folder, for a test that fails.
    command: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl ProgramOutput {
    /// Returns stdout; the program must have succeeded without a word on stderr.
    #[track_caller]
    pub(crate) fn printed(self) -> String {
        assert!(self.code == Some(0) && self.stderr.is_empty(), "{}", self.describe());
        self.stdout
    }

    /// Returns stderr; the program must have failed without a word on stdout.
    #[track_caller]
    pub(crate) fn failed(self) -> String {
        assert!(self.code == Some(1) && self.stdout.is_empty(), "{}", self.describe());
        self.stderr
    }

    fn describe(&self) -> String {
        let Self { command, code, stdout, stderr } = self;
        format!("{command}\nexit code: {code:?}\nstdout:\n{stdout}\nstderr:\n{stderr}")
    }
}
