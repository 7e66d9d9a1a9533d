//! A branch on a remote was overwritten.

use super::git::{has, has_short};
use super::{Line, advisory, git};
use crate::evidence::Evidence;
use crate::finding::{Advisory, AdvisoryKind};

pub(super) fn find(_: &Evidence, lines: &[Line<'_>]) -> Option<Advisory> {
    let shown = git::newest(lines, |subcommand, arguments, _| {
        subcommand == "push" && overwrites(arguments) && !has(arguments, "-n")
    })?;
    Some(advisory(AdvisoryKind::ForcePush, "The session overwrote a branch on a remote.", &shown))
}

fn overwrites(arguments: &[String]) -> bool {
    has_short(arguments, 'f')
        || arguments.iter().any(|word| {
            word == "--force"
                || word == "--mirror"
                || word.starts_with("--force-with-lease")
                || (word.starts_with('+') && word.len() > 1)
        })
}
