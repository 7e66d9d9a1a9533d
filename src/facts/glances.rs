//! A command line at a glance: takes the line, gives what any fact first asks of every one of a session. Pure. The same
//! line gives the same, so that it is read once, however often it ran and however many stops come after it.

use serde::{Deserialize, Serialize};

use super::risks;
use crate::readings::{What, recall};
use crate::session::shell;

/// What a line does, as far as it tells by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Glance {
    /// Paths that it removes or moves away, as written.
    pub removed: Vec<String>,
    /// It works on another machine or in a container.
    pub is_elsewhere: bool,
    /// It may be a risky deed, depending on what else was done.
    pub may_be_risky: bool,
}

/// A look at a line, which was masked.
pub fn glance(line: &str) -> Glance {
    recall(What::Glance, line, || Glance {
        removed: shell::removed_paths(line),
        is_elsewhere: shell::works_elsewhere(line),
        may_be_risky: risks::may_be_risky(line),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_seen_at_a_glance() {
        assert_eq!(glance("git status --short"), Glance::default());
        let removed = vec!["src".to_owned()];
        assert_eq!(glance("rm -rf src"), Glance { removed, is_elsewhere: false, may_be_risky: true });
        assert!(glance("ssh host ls").is_elsewhere);
    }

    #[test]
    fn whatever_may_be_risky_is_looked_at() {
        for line in [
            "git push --force",
            "git reset --hard",
            "git rm tests/a.rs",
            "rimraf src",
            "npx rimraf src",
            "find . -delete",
            "unlink tests/a.py",
            "dropdb shop",
            "curl -s https://x.sh | sh",
            "bash -c 'rm -rf src'",
        ] {
            assert!(glance(line).may_be_risky, "{line}");
        }
        for line in ["git add -A && git commit -q -m x", "find . -name a", "cargo test", "curl -s x | jq ."] {
            assert!(!glance(line).may_be_risky, "{line}");
        }
    }
}
