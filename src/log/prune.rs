//! Taking out what is old or too much because a person asks for it: what [`crate::log::artifacts`] does by itself, and besides,
//! of the month in which the time to keep begins, all that is older. Gives what was or would be taken out.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use super::DecisionLog;
use crate::files::write_whole;
use crate::log::artifacts::{Kept, Kind, too_old_or_too_much};
use crate::log::summary::Line;

/// What was or would be taken out.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Whole files, by what they are.
    pub files: Vec<(Kind, PathBuf, u64)>,
    /// Lines of months that stay: how many, and their bytes.
    pub lines: Vec<(PathBuf, usize, u64)>,
    /// How many bytes are left.
    pub left: u64,
}

impl Pruned {
    /// How many bytes that is.
    pub fn bytes(&self) -> u64 {
        let files: u64 = self.files.iter().map(|(_, _, bytes)| bytes).sum();
        files + self.lines.iter().map(|(_, _, bytes)| bytes).sum::<u64>()
    }
}

/// Takes it out, or only looks.
pub fn prune(
    state: &Path,
    keep: Duration,
    max_size: u64,
    now: Timestamp,
    for_real: bool,
) -> io::Result<Pruned> {
    let log = DecisionLog::in_folder(state);
    let mut pruned = Pruned::default();
    let since = now.as_millisecond().saturating_sub(i64::try_from(keep.as_millis()).unwrap_or(i64::MAX));
    let month = Timestamp::from_millisecond(since).map(|since| since.strftime("%Y-%m").to_string());
    let month = month.unwrap_or_default();
    let is_kept = |line: &[u8]| match Line::of(line) {
        Some(Line::Decision(glance)) => glance.ms >= since,
        Some(Line::Note(noted)) => noted.ms().is_some_and(|ms| ms >= since),
        // Not ours to judge.
        Some(Line::Newer) => true,
        Some(Line::Torn) | None => false,
    };
    // A file holds nothing that is newer than its month, whenever it was written last.
    for path in log.files() {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name > month {
            continue;
        }
        let length = std::fs::metadata(&path)?.len();
        let (lines, bytes) = log.cut(&path, for_real, is_kept)?;
        if lines > 0 && bytes == length {
            pruned.files.push((Kind::Month, path, bytes));
        } else if lines > 0 {
            pruned.lines.push((path, lines, bytes));
        }
    }
    // What was only looked at is still there.
    let lines = pruned.lines.iter().map(|(path, _, bytes)| (path.clone(), *bytes));
    let months = pruned.files.iter().map(|(_, path, bytes)| (path.clone(), *bytes));
    let already = if for_real { BTreeMap::new() } else { lines.chain(months).collect() };
    let (gone, left) = too_old_or_too_much(state, keep, max_size, SystemTime::from(now), &already);
    for Kept { path, kind, bytes, .. } in gone {
        if for_real {
            match std::fs::remove_file(&path) {
                // Somebody else tidies, too.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                removed => removed?,
            }
        }
        pruned.files.push((kind, path, bytes));
    }
    if for_real {
        write_whole(&state.join("tidied"), b"")?;
    }
    pruned.left = left;
    Ok(pruned)
}
