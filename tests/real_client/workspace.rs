//! The workspace of one trial: a scratch folder with the Stop hook registered, a project with one
//! commit, punchlist's state. Takes nothing from the person's own.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::rig::scratch::Scratch;

/// The program under test.
pub(crate) const PUNCHLIST: &str = env!("CARGO_BIN_EXE_punchlist");

/// A scratch folder with punchlist in it.
#[derive(Debug)]
pub(crate) struct Workspace(Scratch);

impl Deref for Workspace {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        &self.0
    }
}

impl DerefMut for Workspace {
    fn deref_mut(&mut self) -> &mut Scratch {
        &mut self.0
    }
}

impl Workspace {
    pub(crate) fn new() -> Result<Self, String> {
        Self::with(Scratch::new()?)
    }

    /// In the home, under a name that people may see.
    pub(crate) fn at_home(name: &str) -> Result<Self, String> {
        Self::with(Scratch::with_project(&format!("home/{name}"))?)
    }

    fn with(mut scratch: Scratch) -> Result<Self, String> {
        scratch.set("PUNCHLIST_HOME", scratch.root().join("state"));
        // Empty, unless a trial puts something in.
        let found = std::env::var_os("PATH").unwrap_or_default();
        let programs = std::iter::once(scratch.root().join("bin")).chain(std::env::split_paths(&found));
        scratch.find_programs_in(programs.collect());
        scratch.git(&["init", "--quiet"])?;
        scratch.write(scratch.project().join("README.md"), "# A project\n")?;
        scratch.git(&["add", "."])?;
        scratch.git(&["commit", "--quiet", "--message", "Begin"])?;
        let workspace = Self(scratch);
        workspace.register_hook(&workspace.home())?;
        Ok(workspace)
    }

    /// Registers the Stop hook in the settings of a home or of a project.
    pub(crate) fn register_hook(&self, owner: &Path) -> Result<(), String> {
        // One command line and no `args`: older clients do not know them.
        let command = format!("'{PUNCHLIST}' hook");
        self.register(owner, &json!({ "type": "command", "command": command, "timeout": 120 }))
    }

    /// Leaves nothing registered in the person's own settings.
    pub(crate) fn register_nothing(&self) -> Result<(), String> {
        self.write(self.home().join(".claude/settings.json"), "{}\n")
    }

    /// Registers it for the background as a person does, in place of what was registered there.
    pub(crate) fn register_behind(&self) -> Result<(), String> {
        self.register_nothing()?;
        self.punchlist(&["install", "--user", "--background"]).map(drop)
    }

    fn register(&self, owner: &Path, hook: &Value) -> Result<(), String> {
        let settings = json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } });
        self.write(owner.join(".claude/settings.json"), &settings.to_string())
    }

    /// A program of the trial's own, by its text.
    pub(crate) fn program(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.root().join(name);
        self.write(&path, text)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&path, executable).map_err(|error| format!("{name}: {error}"))?;
        }
        Ok(path)
    }

    /// Where the client keeps the memory of a folder.
    pub(crate) fn memory_of(&self, folder: &Path) -> PathBuf {
        self.notes_on(folder).join("memory/MEMORY.md")
    }

    /// The names of what stands in a folder, in order.
    pub(crate) fn names_in(&self, folder: impl AsRef<Path>) -> Vec<String> {
        let entries = std::fs::read_dir(self.root().join(folder)).into_iter().flatten().flatten();
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

    /// Runs punchlist beside the session, on the same state.
    pub(crate) fn punchlist(&self, args: &[&str]) -> Result<String, String> {
        self.output(PUNCHLIST, args, &[])
    }
}
