//! The environment: every variable of ours and of the client's that is read, as a documented constant, and the
//! place to read them from. Must be the only part that looks at the process's own variables.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The person's [switch](Env::switch): lets every stop through.
pub const OFF: &str = "PUNCHLIST_OFF";
/// A [switch](Env::switch): does everything and never blocks; the log says what would have happened.
pub const DRY_RUN: &str = "PUNCHLIST_DRY_RUN";
/// The state folder, in place of the XDG one.
pub const HOME: &str = "PUNCHLIST_HOME";
/// The client to ask, before any configured one.
pub const CLAUDE: &str = "PUNCHLIST_CLAUDE";
/// A [switch](Env::switch): prints what the program is doing, on stderr, and in `hook` where the time went.
pub const TRACE: &str = "PUNCHLIST_TRACE";
/// Which worker of the registry this session, or this shell, is.
pub const WORKER: &str = "PUNCHLIST_WORKER";
/// Set by punchlist for the command of `[tasks]`: the session that is asking.
pub const SESSION: &str = "PUNCHLIST_SESSION";
/// Set by punchlist for its auditor, so that a hook that fires inside it steps aside.
pub const INSIDE_AUDITOR: &str = "PUNCHLIST_INSIDE_AUDITOR";

/// The environment: the process's own, or one that is made up. Nothing of the process's own is copied before it is
/// asked for; it does not change while we run.
#[derive(Debug, Clone, Default)]
pub struct Env(Source);

#[derive(Debug, Clone)]
enum Source {
    Process,
    MadeUp(HashMap<OsString, OsString>),
}

impl Default for Source {
    fn default() -> Self {
        Self::MadeUp(HashMap::new())
    }
}

impl Env {
    /// The process's own environment.
    pub fn of_process() -> Self {
        Self(Source::Process)
    }

    /// A made-up environment.
    pub fn from_pairs<K: Into<OsString>, V: Into<OsString>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        Self(Source::MadeUp(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect()))
    }

    /// A variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<OsString> {
        let value = match &self.0 {
            Source::Process => std::env::var_os(name),
            Source::MadeUp(pairs) => pairs.get(OsStr::new(name)).cloned(),
        };
        value.filter(|value| !value.is_empty())
    }

    /// The same, as text.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(|value| value.into_string().ok())
    }

    /// The same, as a path.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }

    /// Whether a switch is on: set, and not to a word for "no" (`0`, `false`, `no`, `off`).
    pub fn switch(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.to_str().is_none_or(|value| !is_no(value)))
    }

    /// The person's home folder.
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
