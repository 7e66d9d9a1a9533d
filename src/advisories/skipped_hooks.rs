//! A commit or a push went past the hooks of git.

use super::git::{has, has_short};
use super::{Line, advisory, git};
use crate::evidence::Evidence;
use crate::finding::{Advisory, AdvisoryKind};

/// Subcommands that run hooks.
const HOOKED: &[&str] = &["am", "cherry-pick", "commit", "merge", "push", "rebase"];

/// Variables that switch hooks off, by how they begin.
const HOOKS_OFF: &[&str] = &["HUSKY=0", "HUSKY_SKIP_HOOKS=1", "HUSKY_SKIP_HOOKS=true", "LEFTHOOK=0", "SKIP="];

pub(super) fn find(_: &Evidence, lines: &[Line<'_>]) -> Option<Advisory> {
    let shown = git::newest(lines, |subcommand, arguments, command| {
        HOOKED.contains(&subcommand)
            && (has(arguments, "--no-verify")
                || (subcommand == "commit" && has_short(arguments, 'n'))
                || command.assignments().any(|set| HOOKS_OFF.iter().any(|off| set.starts_with(off)))
                || command.arguments().iter().any(|word| word.starts_with("core.hooksPath=")))
    })?;
    Some(advisory(AdvisoryKind::NoVerify, "The session went past the hooks of git.", &shown))
}
