//! What the rules about git share: the `git` commands of a session that took effect, and their
//! options. Must not judge them.

use super::Line;
use crate::paths::is_scratch;
use crate::shell::SimpleCommand;

/// Returns the newest `git` command, as written, for which this holds, given its subcommand and the
/// words after it. Repositories in scratch folders do not count.
pub(super) fn newest(
    lines: &[Line<'_>],
    is_it: impl Fn(&str, &[String], &SimpleCommand) -> bool,
) -> Option<String> {
    lines.iter().rev().filter(|line| !was_rejected(line)).find_map(|line| {
        let mut folder = "";
        let mut found = None;
        for command in line.parsed.all() {
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
                found = Some(command.words.join(" "));
            }
        }
        found
    })
}

/// Whether git says that it did nothing: a pipe can hide that a push was rejected.
fn was_rejected(line: &Line<'_>) -> bool {
    ["! [rejected]", "! [remote rejected]", "fatal: ", "error: failed to push"]
        .iter()
        .any(|words| line.command.output.contains(words))
}

fn folder_option(command: &SimpleCommand) -> Option<&str> {
    let arguments = command.arguments();
    let at = arguments.iter().position(|word| word == "-C")?;
    arguments.get(at + 1).map(String::as_str)
}

/// Whether one of the words is this.
pub(super) fn has(arguments: &[String], wanted: &str) -> bool {
    arguments.iter().any(|word| word == wanted)
}

/// Whether a bundle of short options holds this one. What follows `m` in a bundle is the message.
pub(super) fn has_short(arguments: &[String], option: char) -> bool {
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
