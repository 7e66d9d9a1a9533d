//! A temporary folder in which a person's machine is laid out: its files, and what a program printed there. Gone with this value.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use crate::output::ProgramOutput;

/// The folder.
pub(crate) struct TestFolder {
    #[expect(dead_code, reason = "held, not read: the folder is gone with it")]
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl TestFolder {
    /// One with these folders in it; its name begins so.
    pub(crate) fn with(prefix: &str, folders: &[&str]) -> Self {
        let folder = tempfile::Builder::new().prefix(prefix).tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("the folder");
        let ground = Self { folder, root };
        for name in folders {
            fs::create_dir_all(ground.path(name)).expect("a folder");
        }
        ground
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
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

    /// How a program ended and what it printed, with the folder as `DIR`.
    pub(crate) fn ran(&self, output: &Output) -> ProgramOutput {
        let tidy =
            |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&self.root.display().to_string(), "DIR");
        ProgramOutput {
            code: output.status.code(),
            stdout: tidy(&output.stdout),
            stderr: tidy(&output.stderr),
        }
    }
}

impl ProgramOutput {
    /// What it said on stderr; it has to have failed, with nothing else said.
    #[track_caller]
    pub(crate) fn failed(self, args: &[&str]) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (Some(1), ""), "{args:?}\n{}", self.stderr);
        self.stderr
    }
}
