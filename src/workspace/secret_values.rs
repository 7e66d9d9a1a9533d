//! The secret files of a workspace, as far as a short walk finds them, and the values in them. Must
//! not show what they hold to anybody: [`SecretValues`] only hides it.

use std::path::PathBuf;

use walkdir::WalkDir;

use super::{Workspace, walk};
use crate::files::{open_real, read_bounded};
use crate::paths::SKIPPED_FOLDERS;
use crate::redact::{SecretValues, is_secret_file};

/// How many entries are looked at: at the top of the workspace, and below it.
const MOST_AT_TOP: usize = 2_000;
const MOST_BELOW: usize = 6_000;
const MOST_SECRET_FILES: usize = 40;
const LONGEST_SECRET_FILE: u64 = 64 << 10;

impl Workspace {
    /// Returns the values of the secret files in the workspace, as far as a short walk finds them:
    /// those at its top first. They are read once.
    pub fn secret_values(&self) -> &SecretValues {
        self.secret_values.get_or_init(|| self.read_secret_values())
    }

    fn read_secret_values(&self) -> SecretValues {
        let top = walk(WalkDir::new(&self.root).max_depth(1), SKIPPED_FOLDERS, MOST_AT_TOP);
        let below = walk(WalkDir::new(&self.root).min_depth(2).max_depth(4), SKIPPED_FOLDERS, MOST_BELOW);
        let secret = top.chain(below).filter(|entry| {
            entry.file_type().is_file()
                && is_secret_file(entry.path().strip_prefix(&self.root).unwrap_or(entry.path()))
                && entry.metadata().is_ok_and(|meta| meta.len() <= LONGEST_SECRET_FILE)
        });
        let texts = secret.take(MOST_SECRET_FILES).filter_map(|entry| {
            let file = open_real(entry.path()).ok()?;
            let text = read_bounded(file, LONGEST_SECRET_FILE).ok()?;
            Some((entry.into_path(), text))
        });
        let texts: Vec<(PathBuf, String)> = texts.collect();
        SecretValues::in_files(texts.iter().map(|(path, text)| (path.as_path(), text.as_str())))
    }
}
