//! Whether a check has to run, by the files that the session touched and by what it passed on last. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::config::CheckConfig;
use crate::globs;
use crate::ids::ContentId;

/// Touched files by their names in the workspace, each with its length and the time of its last change; `None` for
/// one that is gone.
pub type Touched = BTreeMap<String, Option<(u64, u128)>>;

/// What a check passed on: a hash of its command and of the files that it cares about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Passed(pub String);

/// Why a check does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotDue {
    /// The session touched nothing that it cares about.
    NothingTouched,
    /// It passed, and nothing of that was touched since.
    PassedAlready,
}

/// Returns what a check would pass on if it ran now, or why it is not due.
pub fn due(check: &CheckConfig, touched: &Touched, last: Option<&Passed>) -> Result<Passed, NotDue> {
    // A glob that could not be read was a fault of the config file already.
    let globs = globs::anywhere(&check.when).unwrap_or_default();
    let cares = |name: &str| check.when.is_empty() || globs.is_match(name);
    let mut name = ContentId::default();
    name.add(&check.run);
    let mut any = false;
    for (path, stamp) in touched.iter().filter(|(path, _)| cares(path)) {
        any = true;
        name.add(path);
        name.add(format!("{stamp:?}"));
    }
    let passed = Passed(name.finish());
    match (any, last) {
        (false, _) => Err(NotDue::NothingTouched),
        (true, Some(last)) if *last == passed => Err(NotDue::PassedAlready),
        (true, _) => Ok(passed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CheckOn;

    fn check(when: &[&str]) -> CheckConfig {
        CheckConfig {
            name: "test".into(),
            run: "cargo test".into(),
            when: when.iter().map(|glob| (*glob).to_owned()).collect(),
            timeout: crate::config::CHECK_TIMEOUT,
            on: CheckOn::Stop,
            is_projects: false,
        }
    }

    fn touched(files: &[(&str, u64)]) -> Touched {
        files.iter().map(|(name, bytes)| ((*name).to_owned(), Some((*bytes, 1)))).collect()
    }

    #[test]
    fn it_runs_only_if_something_that_it_cares_about_was_touched() {
        let rust = check(&["src/**", "*.toml"]);
        assert_eq!(due(&rust, &touched(&[("README.md", 1)]), None), Err(NotDue::NothingTouched));
        assert_eq!(due(&check(&[]), &Touched::new(), None), Err(NotDue::NothingTouched));
        for name in ["src/a.rs", "src/deep/b.rs", "Cargo.toml", "crates/x/Cargo.toml"] {
            assert!(due(&rust, &touched(&[(name, 1)]), None).is_ok(), "{name}");
        }
        assert!(due(&check(&[]), &touched(&[("README.md", 1)]), None).is_ok());
    }

    #[test]
    fn it_runs_again_only_if_that_changed_since_it_passed() {
        let rust = check(&["src/**"]);
        let passed = due(&rust, &touched(&[("src/a.rs", 1)]), None).expect("due");
        let again = |files: &[(&str, u64)]| due(&rust, &touched(files), Some(&passed));
        assert_eq!(again(&[("src/a.rs", 1), ("README.md", 7)]), Err(NotDue::PassedAlready));
        assert!(again(&[("src/a.rs", 2)]).is_ok());
        assert!(again(&[("src/a.rs", 1), ("src/b.rs", 1)]).is_ok());
        let gone: Touched = [("src/a.rs".to_owned(), None)].into();
        assert!(due(&rust, &gone, Some(&passed)).is_ok());
        let mut other = rust.clone();
        other.run = "cargo test --all".into();
        assert!(due(&other, &touched(&[("src/a.rs", 1)]), Some(&passed)).is_ok(), "another command");
    }
}
