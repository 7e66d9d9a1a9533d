//! The scratch folder of one session: a home, a project under git, a temporary folder. Takes
//! nothing from the person's own: every path and variable that a program of the session sees leads
//! back here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The scratch folder. Gone with the session, unless it is told to stay.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    root: PathBuf,
    project: PathBuf,
    /// Where programs are found.
    programs: Vec<PathBuf>,
    variables: Vec<(OsString, OsString)>,
}

impl Scratch {
    pub(crate) fn new() -> Result<Self, String> {
        Self::with_project("project")
    }

    /// One whose project has another name, and may be in the home: the client shows where it is.
    pub(crate) fn with_project(name: &str) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("no scratch folder: {error}");
        let folder = tempfile::Builder::new().prefix("punchlist-e2e-").tempdir().map_err(failed)?;
        // The client resolves links before it names a folder; so must whoever looks for its files.
        let root = folder.path().canonicalize().map_err(failed)?;
        let programs = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
        let project = root.join(name);
        let scratch = Self { folder, root, project, programs, variables: Vec::new() };
        for path in [scratch.home(), scratch.project(), scratch.temporary()] {
            std::fs::create_dir_all(path).map_err(failed)?;
        }
        Ok(scratch)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.project.clone()
    }

    /// What programs of the session take for the system's temporary folder.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// Where the client keeps what it knows of a folder.
    pub(crate) fn notes_on(&self, folder: &Path) -> PathBuf {
        self.home().join(".claude/projects").join(slug(folder))
    }

    /// Where programs are found, in place of where the test itself finds them.
    pub(crate) fn find_programs_in(&mut self, folders: Vec<PathBuf>) {
        self.programs = folders;
    }

    /// One more variable for every program of the session.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.push((name.into(), value.into()));
    }

    /// The whole environment of every program of the session, but for what a client adds. One
    /// folder may come before all others in which programs are looked for.
    pub(crate) fn env(&self, first: Option<&Path>) -> Vec<(OsString, OsString)> {
        let programs = first.into_iter().chain(self.programs.iter().map(PathBuf::as_path));
        let own = [
            // What cannot be joined came from no variable.
            ("PATH", std::env::join_paths(programs).unwrap_or_default()),
            ("HOME", self.home().into()),
            ("TMPDIR", self.temporary().into()),
            // Some clients do not go by the system's variable.
            ("CLAUDE_CODE_TMPDIR", self.temporary().into()),
            ("LANG", "C.UTF-8".into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_AUTHOR_NAME", "Someone".into()),
            ("GIT_AUTHOR_EMAIL", "someone@example.invalid".into()),
            ("GIT_COMMITTER_NAME", "Someone".into()),
            ("GIT_COMMITTER_EMAIL", "someone@example.invalid".into()),
        ];
        own.map(|(name, value)| (name.into(), value))
            .into_iter()
            .chain(self.variables.iter().cloned())
            .collect()
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, text: &str) -> Result<(), String> {
        let path = path.as_ref();
        assert!(path.starts_with(&self.root), "{} is outside the scratch folder", path.display());
        let parent = path.parent().unwrap_or(path);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(path, text))
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    pub(crate) fn git(&self, args: &[&str]) -> Result<(), String> {
        self.output("git", args, &[]).map(drop)
    }

    /// Runs a program in the project and gives what it printed.
    pub(crate) fn output(
        &self,
        program: &str,
        args: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<String, String> {
        let output = Command::new(program)
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .envs(self.env(None))
            .envs(variables.iter().copied())
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

/// The client's name for a folder among its own files.
pub(crate) fn slug(folder: &Path) -> String {
    let dashed = |character: char| if character.is_ascii_alphanumeric() { character } else { '-' };
    folder.to_string_lossy().chars().map(dashed).collect()
}
