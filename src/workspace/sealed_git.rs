//! Runs git so that it runs nothing of the repository's: a `.git` that came in an archive may name
//! programs for filters, signatures, diffs, hooks and transports. Must not change anything, or
//! block for long.
//!
//! - The program is found through PATH's absolute entries alone, and none in the repository.
//! - Git's own variables are not passed on: they would name another repository, or a program.
//! - A filter runs for any file that changed, and no option disables all of them. So their names
//!   are read first, which runs nothing, and each is set to do nothing, the person's own included:
//!   the repository could have redefined it.
//! - Nobody works in a bare repository inside the workspace, so it is ignored. Git before 2.38 does
//!   not have the setting for that, so the folders are checked as well.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use crate::child::{self, Ended, Ending, Job};
use crate::env::Env;

const DEADLINE: Duration = Duration::from_secs(2);
const OUTPUT_CAP: usize = 16 << 20;
/// A repository that names more filters than this is not used.
const MAX_FILTERS: usize = 100;
/// A repository that times out this often is not used again.
const MAX_TIMEOUTS: usize = 2;

/// Settings that name programs or otherwise bring in outside content.
const SETTINGS: &[&str] = &[
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "core.askPass=",
    "core.pager=cat",
    "core.quotePath=false",
    "credential.helper=",
    "diff.external=",
    "log.showSignature=false",
    "status.submoduleSummary=false",
];

/// Returns the top folder of the repository around `root`; `None` if git would take a folder inside
/// it for a bare repository.
pub(crate) fn top(root: &Path) -> Option<&Path> {
    let is_bare = |folder: &&Path| {
        let is_folder = |name: &str| folder.join(name).is_dir();
        folder.join("HEAD").symlink_metadata().is_ok()
            && (is_folder("objects") && is_folder("refs") || folder.join("commondir").exists())
    };
    let top = root.ancestors().find(|folder| folder.join(".git").exists())?;
    let below = root.ancestors().take_while(|folder| *folder != top);
    below.into_iter().find(is_bare).is_none().then_some(top)
}

/// Git in one folder.
#[derive(Debug)]
pub(crate) struct SealedGit {
    root: PathBuf,
    /// The arguments that disable each filter; `None` if that is impossible, or if there is no
    /// repository.
    filters_off: OnceLock<Option<Vec<String>>>,
    /// Git, and the PATH that it gets; found once.
    program: OnceLock<Option<(PathBuf, OsString)>>,
    timeouts: std::sync::atomic::AtomicUsize,
}

impl SealedGit {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root, filters_off: OnceLock::new(), program: OnceLock::new(), timeouts: 0.into() }
    }

    /// Returns the exit code and what git printed, if it ended by itself.
    pub(crate) fn run(&self, args: &[&str], stdin: String) -> Option<(i32, Vec<u8>)> {
        top(&self.root)?;
        let filters_off = self.filters_off.get_or_init(|| {
            let (code, keys) =
                self.run_with(&[], &["config", "--list", "--name-only", "-z"], String::new())?;
            if code == 0 { switch_off(&String::from_utf8_lossy(&keys)) } else { None }
        });
        self.run_with(filters_off.as_ref()?, args, stdin)
    }

    fn run_with(&self, filters_off: &[String], args: &[&str], stdin: String) -> Option<(i32, Vec<u8>)> {
        use std::sync::atomic::Ordering::Relaxed;
        if self.timeouts.load(Relaxed) >= MAX_TIMEOUTS {
            return None;
        }
        let find = || {
            let env = Env::of_process().without_path_in(&self.root, None);
            env.program("git").zip(env.absolute_path())
        };
        let git = self.program.get_or_init(find).as_ref()?;
        let ended = start(git, (&self.root, top(&self.root)?), filters_off, args, stdin);
        match ended.how {
            Ending::Exited(code) => Some((code, ended.stdout)),
            Ending::TimedOut => {
                self.timeouts.fetch_add(1, Relaxed);
                None
            }
            _ => None,
        }
    }
}

fn start(
    (program, path): &(PathBuf, OsString),
    (root, top): (&Path, &Path),
    filters_off: &[String],
    args: &[&str],
    stdin: String,
) -> Ended {
    let settings = SETTINGS.iter().copied().chain(filters_off.iter().map(String::as_str));
    let settings = settings.flat_map(|setting| ["-c", setting]);
    let own = std::env::vars_os().map(|(name, _)| name);
    child::run(Job {
        program: program.clone(),
        args: settings.chain(args.iter().copied()).map(Into::into).collect(),
        cwd: root.to_path_buf(),
        env_set: vec![
            ("PATH".into(), path.clone()),
            // The repository's own config could name any folder.
            ("GIT_WORK_TREE".into(), top.into()),
            ("GIT_OPTIONAL_LOCKS".into(), "0".into()),
            ("GIT_TERMINAL_PROMPT".into(), "0".into()),
            // A partial clone would fetch missing objects, with any program that its URL names.
            ("GIT_NO_LAZY_FETCH".into(), "1".into()),
            ("GIT_ALLOW_PROTOCOL".into(), "none".into()),
        ],
        env_unset: own.filter(|name| name.to_string_lossy().starts_with("GIT_")).collect(),
        stdin: stdin.into_bytes(),
        deadline: DEADLINE,
        stdout_cap: OUTPUT_CAP,
        stderr_cap: 1 << 10,
    })
}

/// Returns the settings that disable every filter in these keys; `None` if one can't be disabled.
fn switch_off(keys: &str) -> Option<Vec<String>> {
    let name = |key: &str| Some(key.strip_prefix("filter.")?.rsplit_once('.')?.0.to_owned());
    let mut names: Vec<String> = keys.split('\0').filter_map(name).collect();
    names.sort_unstable();
    names.dedup();
    // `-c` takes everything before the first equals sign as the key.
    let can_be = names.len() <= MAX_FILTERS && names.iter().all(|name| !name.contains('='));
    let off = |name: &String| {
        ["clean=", "smudge=", "process=", "required=false"].map(|set| format!("filter.{name}.{set}"))
    };
    can_be.then(|| names.iter().flat_map(off).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_is_switched_off_or_git_is_not_asked() {
        let keys = "user.name\0filter.lfs.clean\0filter.lfs.process\0filter.a.b c.smudge\0filter.x\0";
        let off = switch_off(keys).expect("both can be");
        assert_eq!(off[..2], ["filter.a.b c.clean=", "filter.a.b c.smudge="]);
        assert_eq!((off.len(), off[7].as_str()), (8, "filter.lfs.required=false"));
        assert_eq!(switch_off("filter.a=b.clean\0"), None);
        let many: String = (0..=MAX_FILTERS).map(|number| format!("filter.{number}.clean\0")).collect();
        assert_eq!(switch_off(&many), None);
    }
}
