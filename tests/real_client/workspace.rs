//! The scratch folder of one trial: a home with the Stop hook registered, a project under git, punchlist's
//! state. Takes nothing from the person's own: every path and variable that a program of the trial sees
//! leads back here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

/// The program under test.
pub(crate) const PUNCHLIST: &str = env!("CARGO_BIN_EXE_punchlist");

/// The scratch folder. Gone with the trial, unless it is told to stay.
#[derive(Debug)]
pub(crate) struct Workspace {
    folder: TempDir,
    root: PathBuf,
}

impl Workspace {
    pub(crate) fn new() -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("no scratch folder: {error}");
        let folder = tempfile::Builder::new().prefix("punchlist-e2e-").tempdir().map_err(failed)?;
        // The client resolves links before it names a folder; so must whoever looks for its files.
        let root = folder.path().canonicalize().map_err(failed)?;
        let workspace = Self { folder, root };
        for path in [workspace.home(), workspace.project(), workspace.temporary()] {
            std::fs::create_dir_all(path).map_err(failed)?;
        }
        workspace.git(&["init", "--quiet"])?;
        workspace.write(workspace.project().join("README.md"), "# A project\n")?;
        workspace.git(&["add", "."])?;
        workspace.git(&["commit", "--quiet", "--message", "Begin"])?;
        workspace.register_hook(&workspace.home())?;
        Ok(workspace)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// What programs of the trial take for the system's temporary folder.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// Registers the Stop hook in the settings of a home or of a project.
    pub(crate) fn register_hook(&self, owner: &Path) -> Result<(), String> {
        // One command line and no `args`: older clients do not know them.
        let command = format!("'{PUNCHLIST}' hook");
        let hook = json!({ "type": "command", "command": command, "timeout": 120 });
        let settings = json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } });
        self.write(owner.join(".claude/settings.json"), &settings.to_string())
    }

    /// Where the client keeps the memory of a folder.
    pub(crate) fn memory_of(&self, folder: &Path) -> PathBuf {
        let name: String = folder
            .to_string_lossy()
            .chars()
            .map(|character| if character.is_ascii_alphanumeric() { character } else { '-' })
            .collect();
        self.home().join(".claude/projects").join(name).join("memory/MEMORY.md")
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, text: &str) -> Result<(), String> {
        let path = path.as_ref();
        assert!(path.starts_with(&self.root), "{} is outside the scratch folder", path.display());
        let parent = path.parent().unwrap_or(path);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(path, text))
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The names of what stands in a folder, in order.
    pub(crate) fn names_in(&self, folder: impl AsRef<Path>) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.join(folder)).into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Every line of every transcript that the client has left.
    pub(crate) fn transcripts(&self) -> String {
        let mut folders = vec![self.home().join(".claude/projects")];
        let mut lines = String::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                    lines.push_str(&std::fs::read_to_string(&path).unwrap_or_default());
                }
            }
        }
        lines
    }

    /// The whole environment of every program of the trial, but for what a client adds.
    pub(crate) fn env(&self, path: OsString) -> Vec<(OsString, OsString)> {
        [
            ("PATH", path),
            ("HOME", self.home().into()),
            ("TMPDIR", self.temporary().into()),
            // Some clients do not go by the system's variable.
            ("CLAUDE_CODE_TMPDIR", self.temporary().into()),
            ("PUNCHLIST_HOME", self.root.join("state").into()),
            ("LANG", "C.UTF-8".into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_AUTHOR_NAME", "Someone".into()),
            ("GIT_AUTHOR_EMAIL", "someone@example.invalid".into()),
            ("GIT_COMMITTER_NAME", "Someone".into()),
            ("GIT_COMMITTER_EMAIL", "someone@example.invalid".into()),
        ]
        .map(|(name, value)| (name.into(), value))
        .into()
    }

    /// Runs punchlist beside the session, on the same state.
    pub(crate) fn punchlist(&self, args: &[&str]) -> Result<String, String> {
        self.output(PUNCHLIST, args)
    }

    fn git(&self, args: &[&str]) -> Result<(), String> {
        self.output("git", args).map(drop)
    }

    fn output(&self, program: &str, args: &[&str]) -> Result<String, String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let output = Command::new(program)
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .envs(self.env(path))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("{program}: {error}"))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(format!("{program} {}: {}\n{said}", args.join(" "), output.status))
        }
    }

    /// Leaves the folder where it is, for somebody to look at.
    pub(crate) fn stay(&mut self) {
        self.folder.disable_cleanup(true);
    }
}
