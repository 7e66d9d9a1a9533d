//! Which sessions of this machine are workers of the fleet: an empty file for each, so that a stop
//! of any other session does not ask the server. What can't be written costs that session its
//! worker's gates at a stop, unless the variable names it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::ids::ContentId;
use crate::private_file::{self, Access};

#[derive(Debug)]
pub(super) struct WorkerMarks(PathBuf);

impl WorkerMarks {
    pub(super) fn in_folder(state: &Path) -> Self {
        Self(state.join("fleet-workers"))
    }

    fn file(&self, session: &str) -> PathBuf {
        self.0.join(ContentId::digest(session))
    }

    pub(super) fn contains(&self, session: &str) -> bool {
        self.file(session).exists()
    }

    pub(super) fn add(&self, session: &str) {
        if let Err(error) = private_file::open(&self.file(session), Access::Append) {
            tracing::debug!(%error, "a worker's session could not be marked");
        }
    }

    pub(super) fn remove(&self, session: &str) {
        let _ = fs::remove_file(self.file(session));
    }
}
