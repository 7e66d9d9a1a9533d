//! Takes one `git` command, gives what it overwrote, threw away or went past. Pure.

use super::Action;
use super::line::Simple;
use crate::finding::AdvisoryKind;
use crate::paths::is_scratch;

/// Variables that switch hooks off, by how they begin.
const HOOKS_OFF: &[&str] = &["HUSKY=0", "HUSKY_SKIP_HOOKS=1", "HUSKY_SKIP_HOOKS=true", "LEFTHOOK=0", "SKIP="];

/// Subcommands that run hooks.
const HOOKED: &[&str] = &["am", "cherry-pick", "commit", "merge", "push", "rebase"];

pub(super) fn deeds(command: &Simple, folder: &str) -> Vec<Action> {
    let Some((subcommand, at)) = subcommand(command) else { return Vec::new() };
    let place = after(command, "-C").unwrap_or(folder);
    if is_scratch(place) || command.has("--help") || command.has("--dry-run") {
        return Vec::new();
    }
    let arguments: Vec<&str> = command.words[at + 1..].iter().map(String::as_str).collect();
    let has = |wanted: &str| arguments.contains(&wanted);
    let mut deeds = Vec::new();
    if subcommand == "push" && overwrites(&arguments) && !has("-n") {
        deeds.push(Action::of(AdvisoryKind::ForcePush, command));
    }
    if throws_away(subcommand, &arguments) {
        deeds.push(Action::of(AdvisoryKind::HardReset, command));
    }
    let is_past_hooks = has("--no-verify")
        || (subcommand == "commit" && has_option(&arguments, 'n'))
        || command.assignments.iter().any(|set| HOOKS_OFF.iter().any(|off| set.starts_with(off)))
        || command.words[..at].iter().any(|word| word.starts_with("core.hooksPath="));
    if HOOKED.contains(&subcommand) && is_past_hooks {
        deeds.push(Action::of(AdvisoryKind::NoVerify, command));
    }
    deeds
}

/// The subcommand, and where it stands.
fn subcommand(command: &Simple) -> Option<(&str, usize)> {
    let mut words = command.words.iter().enumerate().skip(1);
    while let Some((at, word)) = words.next() {
        match word.as_str() {
            "-C" | "-c" | "--git-dir" | "--work-tree" => {
                words.next();
            }
            option if option.starts_with('-') => {}
            subcommand => return Some((subcommand, at)),
        }
    }
    None
}

fn after<'a>(command: &'a Simple, option: &str) -> Option<&'a str> {
    let at = command.words.iter().position(|word| word == option)?;
    command.words.get(at + 1).map(String::as_str)
}

/// Whether a bundle of short options holds this one. What follows `m` in a bundle is the message.
fn has_option(arguments: &[&str], option: char) -> bool {
    let mut arguments = arguments.iter().take_while(|word| **word != "--");
    while let Some(word) = arguments.next() {
        if matches!(*word, "-m" | "-F" | "-C" | "--message" | "--author") {
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

fn overwrites(arguments: &[&str]) -> bool {
    has_option(arguments, 'f')
        || arguments.iter().any(|word| {
            *word == "--force"
                || *word == "--mirror"
                || word.starts_with("--force-with-lease")
                || (word.starts_with('+') && word.len() > 1)
        })
}

/// Whether it throws away what is not committed. A single file that is named is a choice; the whole tree is not.
fn throws_away(subcommand: &str, arguments: &[&str]) -> bool {
    let has = |wanted: &str| arguments.contains(&wanted);
    let whole_tree = || arguments.iter().any(|word| matches!(*word, "." | "./" | ":/" | "*"));
    match subcommand {
        "reset" => has("--hard"),
        "checkout" => whole_tree() || has("-f") || has("--force"),
        "switch" => has("--discard-changes") || has("-f") || has("--force"),
        "restore" => whole_tree() && (!has("--staged") || has("--worktree")) && !has("-S"),
        "clean" => (has_option(arguments, 'f') || has("--force")) && !has_option(arguments, 'n'),
        "stash" => has("drop") || has("clear"),
        _ => false,
    }
}
