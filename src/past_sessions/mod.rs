//! Past sessions, and whether the disk is still as they left it. `find` finds them, `audit` audits
//! one as the hook audits a stop, without gates, log and state. Must not change anything.

pub mod audit;
pub mod find;

use std::path::Path;

use jiff::Timestamp;

use crate::workspace::git::Git;

/// Returns what has happened since, if anything has. `later` is how many sessions of the project
/// ended after this one.
pub fn moved_on(workspace: &Path, ended: Option<&str>, later: usize) -> Option<String> {
    if !workspace.is_dir() {
        return Some("its folder is gone".to_owned());
    }
    if later > 0 {
        return Some(later_sessions(later));
    }
    let ended: Timestamp = ended?.parse().ok()?;
    let newest = Git::new(workspace.to_path_buf()).newest_commit()?;
    (newest > ended.as_second()).then(|| "the repository has newer commits".to_owned())
}

/// Returns a phrase for the number of later sessions.
pub fn later_sessions(later: usize) -> String {
    match later {
        1 => "a later session of this project exists".to_owned(),
        _ => format!("{later} later sessions of this project exist"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_gone_and_a_later_session_are_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let since = |path: &Path, later| moved_on(path, Some("2026-01-01T00:00:00Z"), later);
        assert_eq!(since(&folder.path().join("none"), 0).as_deref(), Some("its folder is gone"));
        assert_eq!(since(folder.path(), 1).as_deref(), Some("a later session of this project exists"));
        assert_eq!(since(folder.path(), 3).as_deref(), Some("3 later sessions of this project exist"));
        assert_eq!(since(folder.path(), 0), None);
    }
}
