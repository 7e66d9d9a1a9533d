//! Reports `git` commands that took effect and overwrote a remote branch, threw away uncommitted
//! work or skipped hooks. Repositories in scratch folders do not count.

use super::written;
use crate::evidence::Evidence;
use crate::paths::is_scratch;
use crate::session::Command;
use crate::shell::SimpleCommand;

/// Subcommands that run hooks.
const HOOKED: &[&str] = &["am", "cherry-pick", "commit", "merge", "push", "rebase"];

/// Prefixes of variable assignments that disable hooks.
const HOOKS_OFF: &[&str] = &["HUSKY=0", "HUSKY_SKIP_HOOKS=1", "HUSKY_SKIP_HOOKS=true", "LEFTHOOK=0", "SKIP="];

pub(super) fn force_push(_: &Evidence, commands: &[&Command]) -> Option<String> {
    newest(commands, |subcommand, arguments, _| {
        subcommand == "push" && overwrites(arguments) && !has(arguments, "-n")
    })
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

/// Restoring a single file is a deliberate choice; restoring the whole tree is not.
pub(super) fn lost_work(_: &Evidence, commands: &[&Command]) -> Option<String> {
    newest(commands, |subcommand, arguments, _| {
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
    })
}

pub(super) fn skipped_hooks(_: &Evidence, commands: &[&Command]) -> Option<String> {
    newest(commands, |subcommand, arguments, command| {
        HOOKED.contains(&subcommand)
            && (has(arguments, "--no-verify")
                || (subcommand == "commit" && has_short(arguments, 'n'))
                || command.assignments().any(|set| HOOKS_OFF.iter().any(|off| set.starts_with(off)))
                || command.arguments().iter().any(|word| word.starts_with("core.hooksPath=")))
    })
}

/// Returns the newest `git` command for which this holds, given its subcommand and the words after
/// it.
fn newest(commands: &[&Command], is_it: impl Fn(&str, &[String], &SimpleCommand) -> bool) -> Option<String> {
    commands.iter().rev().find_map(|ran| {
        let mut folder = "";
        let mut found = None;
        for command in ran.line.all() {
            if matches!(command.program(), "cd" | "pushd") {
                folder = command.arguments().first().map_or("", String::as_str);
            }
            let Some((subcommand, rest)) = command.git() else { continue };
            if is_scratch(folder_option(command).unwrap_or(folder))
                || command.has("--help")
                || command.has("--dry-run")
            {
                continue;
            }
            if is_it(subcommand, rest, command) {
                found = Some(written(command));
            }
        }
        found.filter(|_| !was_rejected(ran))
    })
}

/// Returns whether git reported that it did nothing: a pipe can hide a rejected push.
fn was_rejected(command: &Command) -> bool {
    ["! [rejected]", "! [remote rejected]", "fatal: ", "error: failed to push"]
        .iter()
        .any(|words| command.output.contains(words))
}

fn folder_option(command: &SimpleCommand) -> Option<&str> {
    let arguments = command.arguments();
    let at = arguments.iter().position(|word| word == "-C")?;
    arguments.get(at + 1).map(String::as_str)
}

fn has(arguments: &[String], wanted: &str) -> bool {
    arguments.iter().any(|word| word == wanted)
}

/// Returns whether a bundle of short options contains this one. After `m`, the rest is the message.
fn has_short(arguments: &[String], option: char) -> bool {
    let mut arguments = arguments.iter().take_while(|word| *word != "--");
    while let Some(word) = arguments.next() {
        if matches!(word.as_str(), "-m" | "-F" | "-C" | "--message" | "--author") {
            arguments.next();
            continue;
        }
        let bundle = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
        let bundle = bundle.split(['m', 'F', 'C', 'S']).next().unwrap_or_default();
        if bundle.contains(option) {
            return true;
        }
    }
    false
}
