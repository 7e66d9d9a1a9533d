//! The names of files with hard links: a secret file is secret under any name. Must not open a
//! file.
//!
//! A file is shown only if all of its names are in the workspace and none of them is a secret
//! file's. Other names may be anywhere, and there is no way to find them.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use walkdir::WalkDir;

use super::{SEARCH_CAP, walk};
use crate::redact::is_secret_file;

/// The names of one file.
#[derive(Debug, Default, Clone, Copy)]
struct Names {
    count: u64,
    is_secret: bool,
}

/// The files with several names below a folder, which is searched when the first of them is asked
/// for.
#[derive(Debug)]
pub(crate) struct HardLinks {
    root: PathBuf,
    names: OnceLock<HashMap<(u64, u64), Names>>,
}

impl HardLinks {
    pub(crate) fn below(root: PathBuf) -> Self {
        Self { root, names: OnceLock::new() }
    }

    /// Returns whether an open file may be a secret one under another name.
    pub(crate) fn may_be_secret(&self, meta: &Metadata) -> bool {
        let (id, links) = identity(meta);
        if links < 2 {
            return false;
        }
        let names = self.names.get_or_init(|| names_below(&self.root)).get(&id).copied().unwrap_or_default();
        names.is_secret || names.count < links
    }
}

fn names_below(root: &Path) -> HashMap<(u64, u64), Names> {
    let mut found: HashMap<(u64, u64), Names> = HashMap::new();
    for entry in walk(WalkDir::new(root), &[], SEARCH_CAP).filter(|entry| entry.file_type().is_file()) {
        let Some((id, 2..)) = entry.metadata().ok().as_ref().map(identity) else { continue };
        let names = found.entry(id).or_default();
        names.count += 1;
        names.is_secret |= is_secret_file(entry.path());
    }
    found
}

/// Returns what identifies a file, and how many names it has; one if the system does not say.
fn identity(meta: &Metadata) -> ((u64, u64), u64) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        ((meta.dev(), meta.ino()), meta.nlink())
    }
    #[cfg(not(unix))]
    {
        let _ = meta;
        ((0, 0), 1)
    }
}
