//! Uncommitted work was thrown away. To name a single file is a choice; the whole tree is not.

use super::git::{has, has_short};
use super::{Line, advisory, git};
use crate::evidence::Evidence;
use crate::finding::{Advisory, AdvisoryKind};

pub(super) fn find(_: &Evidence, lines: &[Line<'_>]) -> Option<Advisory> {
    let shown = git::newest(lines, |subcommand, arguments, _| throws_away(subcommand, arguments))?;
    let text = "The session ran a command that throws uncommitted work away.";
    Some(advisory(AdvisoryKind::HardReset, text, &shown))
}

fn throws_away(subcommand: &str, arguments: &[String]) -> bool {
    let has = |wanted: &str| has(arguments, wanted);
    let whole_tree = || [".", "./", ":/", "*"].iter().any(|tree| has(tree));
    match subcommand {
        "reset" => has("--hard"),
        "checkout" => whole_tree() || has("-f") || has("--force"),
        "switch" => has("--discard-changes") || has("-f") || has("--force"),
        "restore" => whole_tree() && (!has("--staged") || has("--worktree")) && !has("-S"),
        "clean" => (has_short(arguments, 'f') || has("--force")) && !has_short(arguments, 'n'),
        "stash" => has("drop") || has("clear"),
        _ => false,
    }
}
