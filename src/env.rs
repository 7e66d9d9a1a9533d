//! Environment variables: every one of ours as a documented constant, and the only place that reads
//! the process's own. The client's are in `client::env_vars`.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A [switch](Env::switch): lets every stop through.
pub const OFF: &str = "PUNCHLIST_OFF";
/// A [switch](Env::switch): does everything and never blocks; the log says what would have
/// happened.
pub const DRY_RUN: &str = "PUNCHLIST_DRY_RUN";
/// The state folder, in place of the XDG one.
pub const HOME: &str = "PUNCHLIST_HOME";
/// The client to run, before any configured one.
pub const CLAUDE: &str = "PUNCHLIST_CLAUDE";
/// A [switch](Env::switch): prints what the program is doing, on stderr, and in `hook` where the
/// time went.
pub const TRACE: &str = "PUNCHLIST_TRACE";
/// Which worker of the registry this session, or this shell, is.
pub const WORKER: &str = "PUNCHLIST_WORKER";
/// The fleet's database, before any configured one.
pub const DATABASE_URL: &str = "PUNCHLIST_DATABASE_URL";
/// Set by punchlist for the command of `[tasks]`: the session that is asking.
pub const SESSION: &str = "PUNCHLIST_SESSION";
/// Set for the programs that a stop runs, so that a hook which fires inside one does nothing.
pub const INSIDE_AUDITOR: &str = "PUNCHLIST_INSIDE_AUDITOR";

/// The process's environment, or a made-up one.
#[derive(Debug, Clone, Default)]
pub struct Env(HashMap<OsString, OsString>);

impl Env {
    pub fn of_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// A made-up environment, for tests and sandboxes.
    pub fn from_pairs<K: Into<OsString>, V: Into<OsString>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        Self(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }

    /// Returns a variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<OsString> {
        self.0.get(OsStr::new(name)).filter(|value| !value.is_empty()).cloned()
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(|value| value.into_string().ok())
    }

    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }

    /// Whether a switch is on: set, and not to a word for "no" (`0`, `false`, `no`, `off`).
    pub fn switch(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.to_str().is_none_or(|value| !is_no(value)))
    }

    pub fn home(&self) -> Option<PathBuf> {
        self.path("HOME").or_else(|| self.path("USERPROFILE"))
    }
}

/// Whether the value of a switch means "no", or nothing.
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
}
