//! Environment variables: each of ours as a documented constant, and the only code that reads the
//! process's own. The client's are in `client::env_vars`.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A [switch](Env::switch): lets every stop through.
pub const OFF: &str = "PUNCHLIST_OFF";
/// A [switch](Env::switch): runs everything but never blocks; the log says what would have
/// happened.
pub const DRY_RUN: &str = "PUNCHLIST_DRY_RUN";
/// The state folder, instead of the XDG one.
pub const HOME: &str = "PUNCHLIST_HOME";
/// The client to run. Overrides the config.
pub const CLAUDE: &str = "PUNCHLIST_CLAUDE";
/// A [switch](Env::switch): prints what the program is doing on stderr, and in `hook` where the
/// time went.
pub const TRACE: &str = "PUNCHLIST_TRACE";
/// Which worker of the registry this session, or this shell, is.
pub const WORKER: &str = "PUNCHLIST_WORKER";
/// The fleet's database. Overrides the config.
pub const DATABASE_URL: &str = "PUNCHLIST_DATABASE_URL";
/// The collector to export to. Overrides the config.
pub const OTLP: &str = "PUNCHLIST_OTLP";
/// Set by punchlist for the command of `[tasks]`: the session that is asking.
pub const SESSION: &str = "PUNCHLIST_SESSION";
/// Set for the programs that a stop runs, so that a hook that fires inside one does nothing.
pub const INSIDE_AUDITOR: &str = "PUNCHLIST_INSIDE_AUDITOR";
/// Set for the programs that a stop runs: identifies the run of the hook they belong to, so that
/// they are found if it is killed.
pub const RUN: &str = "PUNCHLIST_RUN";

/// The environment: the process's own, or a made-up one.
#[derive(Debug, Clone, Default)]
pub struct Env {
    variables: Arc<HashMap<OsString, OsString>>,
    /// The folder whose programs are never run, and the person's home.
    foreign: Option<(PathBuf, Option<PathBuf>)>,
}

impl Env {
    pub fn of_process() -> Self {
        Self::from_pairs(std::env::vars_os())
    }

    /// Returns a made-up environment, for tests and sandboxes.
    pub fn from_pairs<K: Into<OsString>, V: Into<OsString>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        let variables: HashMap<_, _> =
            pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        Self { variables: variables.into(), foreign: None }
    }

    /// Returns it without these variables.
    #[must_use]
    pub fn without<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut variables = HashMap::clone(&self.variables);
        names.into_iter().for_each(|name| drop(variables.remove(OsStr::new(name))));
        Self { variables: variables.into(), foreign: self.foreign.clone() }
    }

    /// Returns every variable and its value.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// Returns a variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<OsString> {
        self.variables.get(OsStr::new(name)).filter(|value| !value.is_empty()).cloned()
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(|value| value.into_string().ok())
    }

    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }

    /// Returns whether a switch is on: set, and not to a word for "no" (`0`, `false`, `no`, `off`).
    pub fn switch(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.to_str().is_none_or(|value| !is_no(value)))
    }

    /// Returns the folder for temporary files.
    pub fn temp_folder(&self) -> PathBuf {
        let usual = || if cfg!(unix) { PathBuf::from("/tmp") } else { std::env::temp_dir() };
        self.path("TMPDIR").filter(|folder| folder.is_absolute()).unwrap_or_else(usual)
    }

    pub fn home(&self) -> Option<PathBuf> {
        self.path("HOME").or_else(|| self.path("USERPROFILE"))
    }

    /// Returns it so that no program is found in this folder or the repository around it, wherever
    /// links lead: whoever wrote a repository chooses what is there. A folder around `home` is the
    /// person's own. PATH is only looked at when a program is looked for, which most stops do not do.
    #[must_use]
    pub fn without_path_in(&self, folder: &Path, home: Option<&Path>) -> Self {
        Self { foreign: Some((folder.to_path_buf(), home.map(Path::to_path_buf))), ..self.clone() }
    }

    /// Returns whether an entry of PATH is in the folder whose programs are never run.
    fn foreign_entries(&self) -> impl Fn(&Path) -> bool {
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let theirs = self.foreign.as_ref().and_then(|(folder, home)| {
            let (folder, home) = (real(folder), home.as_deref().map(real));
            let is_own = |above: &Path| home.as_ref().is_some_and(|home| home.starts_with(above));
            let top = folder.ancestors().find(|above| above.join(".git").exists());
            let theirs = [top, Some(&*folder)].into_iter().flatten().find(|above| !is_own(above));
            theirs.map(Path::to_path_buf)
        });
        move |entry| theirs.as_ref().is_some_and(|theirs| real(entry).starts_with(theirs))
    }

    /// Returns the absolute path of a program. Skips empty and relative entries of PATH: they would
    /// run whatever the repository that we are in has under that name. A relative path is resolved
    /// from home.
    pub fn program(&self, name: impl AsRef<OsStr>) -> Option<PathBuf> {
        let found = which::which_in(name, self.absolute_path(), self.home().unwrap_or_default()).ok()?;
        // `/proc/self/cwd` would be another folder for whoever runs it.
        Some(match std::fs::canonicalize(&found) {
            Ok(real) if found.starts_with("/proc") => real,
            _ => found,
        })
    }

    /// Returns PATH without its empty and relative entries, and those where no program is run; `None`
    /// if none are left.
    pub fn absolute_path(&self) -> Option<OsString> {
        let path = self.get("PATH")?;
        let is_foreign = self.foreign_entries();
        let absolute = std::env::split_paths(&path).filter(|entry| entry.is_absolute() && !is_foreign(entry));
        std::env::join_paths(absolute).ok().filter(|path| !path.is_empty())
    }
}

/// Returns whether the value of a switch means "no", or nothing.
pub fn is_no(value: &str) -> bool {
    ["", "0", "false", "no", "off"].iter().any(|no| value.eq_ignore_ascii_case(no))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_is_off_when_unset_empty_or_a_word_for_no() {
        let env = Env::from_pairs([("A", "1"), ("B", "0"), ("C", ""), ("D", "False"), ("E", "yes")]);
        assert!(env.switch("A") && env.switch("E"));
        assert!(!env.switch("B") && !env.switch("C") && !env.switch("D") && !env.switch("Z"));
    }

    #[cfg(unix)]
    #[test]
    fn a_program_of_the_current_folder_is_not_found_by_an_empty_or_relative_entry() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        for place in ["here", "bin"] {
            let program = folder.path().join(place).join("tool");
            std::fs::create_dir_all(folder.path().join(place)).expect("made");
            std::fs::write(&program, "").expect("written");
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("set");
        }
        let (home, bin) = (folder.path().join("here"), folder.path().join("bin"));
        let found = |path: &str| {
            let path = path.replace("BIN", &bin.display().to_string());
            Env::from_pairs([("PATH", path), ("HOME", home.display().to_string())]).program("tool")
        };
        for path in ["", ".", ":", "./", "../here", ".:", "here"] {
            assert_eq!(found(path), None, "{path:?}");
        }
        for path in ["BIN", ":BIN", ".:../here:BIN:"] {
            assert_eq!(found(path), Some(bin.join("tool")), "{path:?}");
        }
        // Another folder for whoever runs it.
        #[cfg(target_os = "linux")]
        {
            let real = std::fs::canonicalize(&bin).expect("a folder");
            assert_eq!(found("/proc/self/root/BIN"), Some(real.join("tool")));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_repository_has_no_entry_in_path_but_a_persons_home_does() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = std::fs::canonicalize(folder.path()).expect("the folder");
        for below in ["home/.git", "home/bin", "home/src", "home/clone/.git", "home/clone/below/bin"] {
            std::fs::create_dir_all(root.join(below)).expect("made");
        }
        let left = |folder: &str| {
            let path = format!("{0}/clone/below/bin:{0}/bin:/usr/bin", root.join("home").display());
            let env = Env::from_pairs([("PATH", path)]);
            let env = env.without_path_in(&root.join(folder), Some(&root.join("home")));
            let left = env.absolute_path().and_then(|path| path.into_string().ok()).expect("a path");
            left.replace(root.to_str().expect("text"), "")
        };
        assert_eq!(left("home/clone/below"), "/home/bin:/usr/bin");
        assert_eq!(left("home/clone"), "/home/bin:/usr/bin");
        for own in ["home", "home/src", ""] {
            assert_eq!(left(own), "/home/clone/below/bin:/home/bin:/usr/bin", "{own:?}");
        }
    }
}
