//! The agent used the person's switch: `punchlist off`, `punchlist uninstall`, or `PUNCHLIST_OFF`
//! on other commands. This is for stops that were checked anyway; `hook` detects that the switch is
//! set at a stop.

use super::newest;
use crate::env::{OFF, is_no};
use crate::evidence::Evidence;
use crate::session::Command;
use crate::shell::SimpleCommand;

pub(super) const TEXT: &str = "The agent itself switched punchlist off.";

pub(super) fn find(_: &Evidence, commands: &[&Command]) -> Option<String> {
    newest(commands, switches_off)
}

/// The agent ran `punchlist allow --yes` on the person's behalf. Without the flag the command asks,
/// and only the person can answer.
pub(super) fn gave_leave(_: &Evidence, commands: &[&Command]) -> Option<String> {
    newest(commands, |command| own_subcommand(command) == Some("allow") && command.has("--yes"))
}

/// Returns the subcommand, if a command is one of punchlist's own that does something.
fn own_subcommand(command: &SimpleCommand) -> Option<&str> {
    let is_ours = command.program().trim_end_matches(".exe") == "punchlist";
    let does_nothing = ["--help", "-h", "--dry-run", "--revoke"].iter().any(|flag| command.has(flag));
    command.arguments().first().filter(|_| is_ours && !does_nothing).map(String::as_str)
}

fn switches_off(command: &SimpleCommand) -> bool {
    let is_set = |word: &str| {
        let value = word.strip_prefix(OFF).and_then(|rest| rest.strip_prefix('='));
        value.is_some_and(|value| !is_no(value))
    };
    let program = command.program();
    matches!(own_subcommand(command), Some("off" | "uninstall"))
        // Set on one of our own commands, it applies to that command alone and no hook sees it.
        || program != "punchlist" && command.assignments().any(is_set)
        || matches!(program, "export" | "setx" | "declare") && command.arguments().iter().any(|it| is_set(it))
}
