//! The agent switched punchlist off: by `punchlist off` or `punchlist uninstall`, by
//! `PUNCHLIST_OFF` for other commands, or in a file that an edit or a command wrote: the client's
//! settings, or a config of ours.

use super::{advisory, commands_that_ran, newest};
use crate::env::{OFF, is_no};
use crate::evidence::Evidence;
use crate::finding::{Advisory, AdvisoryKind};
use crate::paths::seen_from;
use crate::session::{Command, Original, Session, Touch};
use crate::shell::SimpleCommand;

pub(super) const TEXT: &str = "The agent itself switched punchlist off.";

pub(super) fn find(evidence: &Evidence, commands: &[&Command]) -> Option<String> {
    let by_command = |command: &&Command| {
        newest(&[command], switches_off).or_else(|| writes_switch(command).then(|| command.line.to_string()))
    };
    newest_edit(&evidence.session).or_else(|| commands.iter().rev().find_map(by_command))
}

/// The agent ran `punchlist allow --yes` in the person's place. Without the flag the command asks,
/// and only the person can answer.
pub(super) fn gave_leave(_: &Evidence, commands: &[&Command]) -> Option<String> {
    newest(commands, |command| own_subcommand(command) == Some("allow") && command.has("--yes"))
}

/// Returns the newest command with which a session's agents switched punchlist off.
pub fn switched_off_by(session: &Session) -> Option<Advisory> {
    let shown = newest(&commands_that_ran(session), switches_off)?;
    Some(advisory(AdvisoryKind::SwitchedOff, TEXT, &shown))
}

/// Returns the newest edit or command with which they wrote that into a file. The texts that the
/// edits replaced have to be in the session.
pub fn switched_off_in_a_file_by(session: &Session) -> Option<Advisory> {
    let by_command = || {
        let command = commands_that_ran(session).into_iter().rfind(|command| writes_switch(command))?;
        Some(command.line.to_string())
    };
    let shown = newest_edit(session).or_else(by_command)?;
    Some(advisory(AdvisoryKind::SwitchedOff, TEXT, &shown))
}

/// A file in which punchlist can be switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchFile {
    /// The client's settings.
    Settings,
    /// A config of ours.
    Config,
}

/// The names of such files, each with its folder.
const FILES: [(&str, SwitchFile); 4] = [
    (".claude/settings.json", SwitchFile::Settings),
    (".claude/settings.local.json", SwitchFile::Settings),
    (".claude/punchlist.toml", SwitchFile::Config),
    ("punchlist/config.toml", SwitchFile::Config),
];

/// Programs that write the files that they are given.
const WRITERS: [&str; 7] = ["cp", "dd", "ed", "ex", "install", "mv", "tee"];
/// Programs that run any text.
const INTERPRETERS: [&str; 5] = ["node", "perl", "python", "python3", "ruby"];

impl SwitchFile {
    /// Returns which of them a path names, if any.
    pub fn at(path: &str) -> Option<Self> {
        let is_at = |(name, _): &&(&str, Self)| {
            path.strip_suffix(name).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
        };
        FILES.iter().find(is_at).map(|(_, kind)| *kind)
    }

    /// Returns the line of a text that switches punchlist off, if one does.
    pub fn line_that_switches_off(self, text: &str) -> Option<&str> {
        let switches_off = |line: &&str| match self {
            Self::Settings => {
                values(line, OFF).any(|value| !is_no(value))
                    || values(line, "disableAllHooks").any(|value| value == "true")
            }
            Self::Config => {
                let said = line.split('#').next().unwrap_or_default();
                values(said, "enabled").any(|value| value == "false")
            }
        };
        text.lines().find(switches_off).map(str::trim)
    }
}

/// Returns what a key is set to, wherever it is in a text: JSON, TOML, or a command that writes
/// them.
fn values<'a>(text: &'a str, key: &'static str) -> impl Iterator<Item = &'a str> {
    text.match_indices(key).filter_map(move |(at, _)| {
        let rest = &text[at + key.len()..];
        let value = rest.trim_start_matches(['"', '\'', '\\', ' ', '\t', ':', '=']);
        // A longer key is another one.
        let is_set = rest[..rest.len() - value.len()].contains([':', '=']);
        let end = value.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(value.len());
        is_set.then(|| &value[..end])
    })
}

/// Returns the newest edit that switched punchlist off, as it is shown.
fn newest_edit(session: &Session) -> Option<String> {
    session.done_touches().filter_map(|touch| edit_that_switches_off(touch, session.cwd.as_deref())).last()
}

fn edit_that_switches_off(touch: &Touch, cwd: Option<&str>) -> Option<String> {
    let file = SwitchFile::at(&touch.path)?;
    let change = touch.change.as_ref()?;
    let line = file.line_that_switches_off(&change.new)?;
    let before = match &touch.original {
        Original::Text(text) if change.old.is_empty() => text,
        _ => &change.old,
    };
    let is_new = file.line_that_switches_off(before).is_none();
    is_new.then(|| format!("{}: {line}", seen_from(cwd, &touch.path)))
}

/// Whether a command writes into such a file that punchlist is off.
fn writes_switch(command: &Command) -> bool {
    let line = &command.line;
    let mut files = line.commands().iter().filter_map(|command| file_written_by(command, line));
    files.next().is_some_and(|file| file.line_that_switches_off(line).is_some())
}

fn file_written_by(command: &SimpleCommand, line: &str) -> Option<SwitchFile> {
    let program = command.program();
    if INTERPRETERS.contains(&program) {
        return FILES.iter().find(|(name, _)| line.contains(name)).map(|(_, file)| *file);
    }
    let in_place = |word: &String| word.starts_with("-i") || word.starts_with("--in-place");
    let is_writer =
        WRITERS.contains(&program) || program == "sed" && command.arguments().iter().any(in_place);
    let arguments = if is_writer { command.arguments() } else { &[] };
    command.writes.iter().chain(arguments).find_map(|word| SwitchFile::at(word))
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
        // Set for a command of our own it is for that command alone, and no hook sees it.
        || program != "punchlist" && command.assignments().any(is_set)
        || matches!(program, "export" | "setx" | "declare") && command.arguments().iter().any(|it| is_set(it))
}
