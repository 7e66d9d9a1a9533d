//! The agent ran `punchlist allow --yes` in the person's place. Without the flag the command asks,
//! and only the person can answer.

use super::switched_off::own_subcommand;
use super::{Line, advisory, newest};
use crate::evidence::Evidence;
use crate::finding::{Advisory, AdvisoryKind};

pub(super) fn find(_: &Evidence, lines: &[Line<'_>]) -> Option<Advisory> {
    let command = newest(lines, |command| own_subcommand(command) == Some("allow") && command.has("--yes"))?;
    let text = "The agent itself allowed what this project's config asks to run at a stop.";
    Some(advisory(AdvisoryKind::GaveLeave, text, &command.words.join(" ")))
}
