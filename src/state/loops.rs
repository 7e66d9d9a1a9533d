//! The state of feature loops, one file for each folder. Without a loop a stop pays one failed
//! open. A loop is changed under a lock; the process that runs one holds another lock until it
//! ends, however that happens.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{StateFolder, read_json, update_json};
use crate::feature_loop::LoopState;
use crate::ids::ContentId;
use crate::private_file::{self, Access};

/// A loop without progress for this long is forgotten.
const FORGET_MS: i64 = 90 * 24 * 3600 * 1000;

/// How long a check whether a loop is running may hold its lock.
const GLANCE: Duration = Duration::from_millis(20);
const GLANCES: u32 = 10;

/// The lock of the process that runs a loop; released with the process.
#[derive(Debug)]
pub struct RunLock(#[expect(dead_code, reason = "held, not read")] File);

impl StateFolder {
    fn loops(&self) -> PathBuf {
        self.root.join("loops")
    }

    fn loop_file(&self, folder: &Path) -> PathBuf {
        let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
        self.loops().join(format!("{}.json", ContentId::digest(real.to_string_lossy().as_bytes())))
    }

    pub fn loop_of(&self, folder: &Path) -> Option<LoopState> {
        read_json(&self.loop_file(folder))
    }

    pub fn all_loops(&self) -> Vec<LoopState> {
        let Ok(entries) = fs::read_dir(self.loops()) else { return Vec::new() };
        let paths = entries.flatten().map(|entry| entry.path());
        paths
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
            .filter_map(|path| read_json(&path))
            .collect()
    }

    /// Forgets loops that nobody will continue: their folder is gone, or they have been idle for
    /// long. Every stop looks at all existing loops.
    pub fn tidy_loops(&self, now_ms: i64) {
        let is_old = |one: &LoopState| now_ms.saturating_sub(one.moved_ms.max(one.begun_ms)) > FORGET_MS;
        let is_over = |one: &LoopState| !one.folder.is_dir() || is_old(one) && one.session.is_none();
        for one in self.all_loops().into_iter().filter(is_over) {
            // By the name in the file: the folder may be gone, and links in its path with it.
            let name = ContentId::digest(one.folder.to_string_lossy().as_bytes());
            for end in ["json", "run", "lock"] {
                let _ = fs::remove_file(self.loops().join(format!("{name}.{end}")));
            }
        }
    }

    /// Changes the loop of a folder; `None` stands for one that no longer exists, or not yet. If
    /// the change fails, nothing changes.
    pub fn change_loop<T>(
        &self,
        folder: &Path,
        change: impl FnOnce(&mut Option<LoopState>) -> Result<T, String>,
    ) -> Result<T, String> {
        let path = self.loop_file(folder);
        let changed = update_json(&path, false, |kept: &mut Option<LoopState>| {
            let mut changed = kept.clone();
            let result = change(&mut changed)?;
            *kept = changed;
            Ok(result)
        });
        changed.map_err(|error| error.to_string())?
    }

    pub fn is_loop_run(&self, folder: &Path) -> bool {
        let file = private_file::open(&self.loop_file(folder).with_extension("run"), Access::Read);
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Takes the lock for running the loop of a folder; the error names the process that has it.
    pub fn run_loop(&self, folder: &Path) -> Result<RunLock, String> {
        let path = self.loop_file(folder).with_extension("run");
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        let mut file = private_file::open(&path, Access::Write).map_err(|error| error.to_string())?;
        // A process that only checks has it for a moment.
        let mut taken = file.try_lock();
        for _ in 0..GLANCES {
            if !matches!(taken, Err(TryLockError::WouldBlock)) {
                break;
            }
            std::thread::sleep(GLANCE);
            taken = file.try_lock();
        }
        match taken {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let _ = file.read_to_string(&mut text);
                let who = text
                    .trim()
                    .parse::<u32>()
                    .map_or_else(|_| String::new(), |pid| format!(" (process {pid})"));
                return Err(format!("this loop is being run already{who}"));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // Only for the message above: the lock itself is the kernel's, and is released with its
        // process.
        let pid = format!("{}\n", std::process::id());
        let written = file
            .set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| file.write_all(pid.as_bytes()));
        written.map_err(failed)?;
        Ok(RunLock(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_remembered_by_its_folder_and_a_failed_change_changes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path().join("state"));
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        fs::create_dir(&one).expect("made");
        assert_eq!((state.loop_of(&one), state.all_loops().len()), (None, 0));
        let begin = |kept: &mut Option<LoopState>| {
            *kept = Some(LoopState { max: 7, ..LoopState::default() });
            Ok(())
        };
        state.change_loop(&one, begin).expect("written");
        assert_eq!(state.loop_of(&one).map(|kept| kept.max), Some(7));
        assert_eq!(state.loop_of(&other), None);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&one, folder.path().join("link")).expect("a link");
            assert_eq!(
                state.loop_of(&folder.path().join("link")).map(|kept| kept.max),
                Some(7),
                "the same folder"
            );
        }
        let failed = state.change_loop(&one, |kept| -> Result<(), String> {
            *kept = None;
            Err("no".into())
        });
        assert_eq!((failed, state.all_loops().len()), (Err("no".into()), 1));
        state
            .change_loop(&one, |kept| {
                *kept = None;
                Ok(())
            })
            .expect("gone");
        assert_eq!(state.loop_of(&one), None);
    }

    #[test]
    fn loops_that_nobody_will_go_on_with_are_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("the folder");
        let state = StateFolder::at(root.join("state"));
        for (name, session) in [("gone", None), ("old", None), ("bound", Some("s")), ("new", None)] {
            fs::create_dir(root.join(name)).expect("made");
            let begun_ms = if name == "new" { FORGET_MS } else { 0 };
            let one = LoopState {
                folder: root.join(name),
                begun_ms,
                session: session.map(String::from),
                ..LoopState::default()
            };
            state
                .change_loop(&root.join(name), |kept| {
                    *kept = Some(one);
                    Ok(())
                })
                .expect("written");
        }
        fs::remove_dir(root.join("gone")).expect("gone");
        state.tidy_loops(FORGET_MS + 1);
        let mut left: Vec<_> = state.all_loops().into_iter().map(|one| one.folder).collect();
        left.sort();
        assert_eq!(left, [root.join("bound"), root.join("new")]);
    }

    #[test]
    fn only_one_runs_a_loop_and_its_place_is_free_when_it_is_gone() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path().join("state"));
        let first = state.run_loop(folder.path()).expect("free");
        let said = state.run_loop(folder.path()).expect_err("taken");
        assert_eq!(said, format!("this loop is being run already (process {})", std::process::id()));
        assert!(state.is_loop_run(folder.path()));
        drop(first);
        assert!(!state.is_loop_run(folder.path()));
        assert!(state.run_loop(folder.path()).is_ok());
    }
}
