//! Files that have to be written before a stop is over, and that nobody waits for: takes them as they come, and makes and
//! writes them on a thread of their own. What is in them can be made again, so that a failure costs nothing but time, and
//! is told to nobody.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::thread::{Builder, JoinHandle};

use crate::files::write_whole;

/// What is still to be written.
#[derive(Default)]
pub struct Chores {
    /// Whoever does them, from the first one on.
    worker: Option<(Sender<Chore>, JoinHandle<()>)>,
    /// What is left for the end, where no thread is to be had.
    left: Vec<Chore>,
}

type Chore = Box<dyn FnOnce() + Send>;

impl fmt::Debug for Chores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chores").field("left", &self.left.len()).finish_non_exhaustive()
    }
}

impl Chores {
    /// One more file, which is made when its turn comes, unless it turns out that there must be none.
    pub fn add(&mut self, path: PathBuf, make: impl FnOnce() -> Option<Vec<u8>> + Send + 'static) {
        self.run(move || {
            if let Some(Err(error)) = make().map(|bytes| write_whole(&path, &bytes)) {
                tracing::debug!(%error, path = %path.display(), "it can't be kept");
            }
        });
    }

    /// Something else that has to be done before the stop is over.
    pub fn run(&mut self, chore: impl FnOnce() + Send + 'static) {
        let chore: Chore = Box::new(chore);
        if self.worker.is_none() {
            let (chores, coming) = mpsc::channel::<Chore>();
            let work = move || coming.into_iter().for_each(quietly);
            self.worker = Builder::new().name("chores".into()).spawn(work).ok().map(|done| (chores, done));
        }
        match &self.worker {
            Some((chores, _)) => self.left.extend(chores.send(chore).err().map(|unsent| unsent.0)),
            None => self.left.push(chore),
        }
    }

    /// Waits until all of them are done.
    pub fn finish(&mut self) {
        if let Some((chores, done)) = self.worker.take() {
            drop(chores);
            let _ = done.join();
        }
        self.left.drain(..).for_each(quietly);
    }
}

/// Whatever goes wrong in a chore, the stop goes on.
fn quietly(chore: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(chore));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_written_in_the_end_whatever_goes_wrong_on_the_way() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let mut chores = Chores::default();
        chores.add(path("a"), || Some(b"one".to_vec()));
        chores.add(PathBuf::from("/dev/null/none"), || Some(b"nowhere".to_vec()));
        chores.add(path("none"), || None);
        chores.add(path("fault"), || panic!("on purpose"));
        chores.add(path("b"), || Some(b"two".to_vec()));
        chores.finish();
        for (name, text) in [("a", "one"), ("b", "two")] {
            assert_eq!(std::fs::read_to_string(path(name)).expect("written"), text);
        }
        assert!(!path("none").exists() && !path("fault").exists());
        chores.add(path("c"), || Some(b"three".to_vec()));
        chores.finish();
        assert!(path("c").exists());
    }
}
