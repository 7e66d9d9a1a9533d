//! Takes one command, says whether it uses the person's switch: `punchlist off`, `punchlist uninstall`, or
//! `PUNCHLIST_OFF` set for others. Pure.

use super::Deed;
use super::line::Simple;
use crate::env::OFF;
use crate::finding::AdvisoryKind;
use crate::words::base_name;

pub(super) fn deed(command: &Simple) -> Option<Deed> {
    let is_set = |word: &String| {
        let value = word.strip_prefix(OFF).and_then(|rest| rest.strip_prefix('='));
        value.is_some_and(|value| !["", "0", "false", "no", "off"].contains(&value))
    };
    let program = base_name(command.program());
    let throws = program.trim_end_matches(".exe") == "punchlist"
        && command.words.get(1).is_some_and(|word| word == "off" || word == "uninstall")
        && !command.has("--help")
        && !command.has("-h")
        && !command.has("--dry-run");
    // Before a command of our own it is that command's, and no hook sees it.
    let sets = program != "punchlist" && command.assignments.iter().any(is_set)
        || matches!(program, "export" | "setx" | "declare") && command.words.iter().any(is_set);
    (throws || sets).then(|| Deed::of(AdvisoryKind::SwitchedOff, command, ""))
}
