//! Files that have to be written before a stop is over, and that nobody waits for: takes them as they come, writes them
//! while something else is waited for, or at the end. What is in them can be made again, so that a failure costs
//! nothing but time, and is told to nobody.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use crate::files::write_whole;

/// What is still to be written.
#[derive(Default)]
pub struct Chores(Vec<(PathBuf, Make)>);

/// Makes what is to be written, if it is to be.
type Make = Box<dyn Fn() -> Option<Vec<u8>> + Send + Sync>;

impl fmt::Debug for Chores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(path, _)| path)).finish()
    }
}

impl Chores {
    /// One more file, which is made when its turn comes, unless it turns out that there must be none.
    pub fn add(&mut self, path: PathBuf, make: impl Fn() -> Option<Vec<u8>> + Send + Sync + 'static) {
        self.0.push((path, Box::new(make)));
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes all of them now.
    pub fn write(&mut self) {
        self.write_all();
        self.0.clear();
    }

    /// Writes all of them, and does what else there is to do, while something is waited for; where no thread is to be
    /// had, afterwards.
    pub fn write_beside<T>(&mut self, others: impl Fn() + Sync, wait: impl FnOnce() -> T) -> T {
        let chores = || {
            // Whatever goes wrong here, what is waited for counts.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                self.write_all();
                others();
            }));
        };
        let result = std::thread::scope(|scope| {
            let started = std::thread::Builder::new().name("chores".into()).spawn_scoped(scope, chores);
            let result = wait();
            if started.is_err() {
                chores();
            }
            result
        });
        self.0.clear();
        result
    }

    fn write_all(&self) {
        for (path, make) in &self.0 {
            if let Some(Err(error)) = make().map(|bytes| write_whole(path, &bytes)) {
                tracing::debug!(%error, path = %path.display(), "it can't be kept");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_written_by_the_time_the_wait_is_over_and_only_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let mut chores = Chores::default();
        chores.add(path("a"), || Some(b"one".to_vec()));
        chores.add(PathBuf::from("/dev/null/none"), || Some(b"nowhere".to_vec()));
        chores.add(path("none"), || None);
        chores.add(path("b"), || Some(b"two".to_vec()));
        let other = || std::fs::write(path("c"), "three").expect("written");
        assert_eq!(chores.write_beside(other, || 7), 7);
        for (name, text) in [("a", "one"), ("b", "two"), ("c", "three")] {
            assert_eq!(std::fs::read_to_string(path(name)).expect("written"), text);
        }
        assert!(!path("none").exists());
        std::fs::remove_file(path("a")).expect("removed");
        chores.write();
        assert!(!path("a").exists());
    }

    #[test]
    fn what_fails_beside_is_nothing_to_what_is_waited_for() {
        assert_eq!(Chores::default().write_beside(|| panic!("on purpose"), || 7), 7);
    }
}
