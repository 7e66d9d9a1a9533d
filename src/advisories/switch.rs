//! The person's switch in the agent's hand: `punchlist off`, `punchlist uninstall`, `punchlist allow --yes`, `PUNCHLIST_OFF` set for others, or a file
//! that says so, written by an edit or a command: the client's settings, or a config of ours. Pure.

use super::line::Simple;
use super::{Action, short};
use crate::env::{OFF, is_no};
use crate::finding::AdvisoryKind;
use crate::paths::seen_from;
use crate::session::{Original, Session, Touch};
use crate::shell::parse::{Part, parts};
use crate::shell::wrappers::program_words;
use crate::text::normalise::base_name;

/// A file in which the switch can be thrown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchFile {
    /// The client's settings.
    Settings,
    /// A config of ours.
    Config,
}

/// What such files are named, each with its folder.
const FILES: [(&str, SwitchFile); 4] = [
    (".claude/settings.json", SwitchFile::Settings),
    (".claude/settings.local.json", SwitchFile::Settings),
    (".claude/punchlist.toml", SwitchFile::Config),
    ("punchlist/config.toml", SwitchFile::Config),
];

/// Programs that write the files that they are given.
const WRITERS: [&str; 7] = ["cp", "dd", "ed", "ex", "install", "mv", "tee"];
/// Programs that do whatever a text says.
const INTERPRETERS: [&str; 5] = ["node", "perl", "python", "python3", "ruby"];

impl SwitchFile {
    /// Which one a path is of, if of any.
    pub fn at(path: &str) -> Option<Self> {
        let is_at = |(name, _): &&(&str, Self)| {
            path.strip_suffix(name).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
        };
        FILES.iter().find(is_at).map(|(_, kind)| *kind)
    }

    /// The line of a text that throws the switch, if one does.
    pub fn thrown_in(self, text: &str) -> Option<&str> {
        let is_thrown = |line: &&str| match self {
            Self::Settings => {
                values(line, OFF).any(|value| !is_no(value))
                    || values(line, "disableAllHooks").any(|value| value == "true")
            }
            Self::Config => {
                let said = line.split('#').next().unwrap_or_default();
                values(said, "enabled").any(|value| value == "false")
            }
        };
        text.lines().find(is_thrown).map(str::trim)
    }
}

/// What a key is set to, wherever it stands in a text: JSON, TOML and what shells and editors make them of.
fn values<'a>(text: &'a str, key: &'static str) -> impl Iterator<Item = &'a str> {
    text.match_indices(key).filter_map(move |(at, _)| {
        let rest = &text[at + key.len()..];
        let value = rest.trim_start_matches(['"', '\'', '\\', ' ', '\t', ':', '=']);
        // A key that only begins like it is another.
        let is_set = rest[..rest.len() - value.len()].contains([':', '=']);
        let end = value.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(value.len());
        is_set.then(|| &value[..end])
    })
}

/// What a session's edits threw.
pub(super) fn edits(session: &Session) -> impl Iterator<Item = Action> {
    session.done_touches().filter_map(|touch| thrown_by(touch, session.cwd.as_deref()))
}

fn thrown_by(touch: &Touch, cwd: Option<&str>) -> Option<Action> {
    let file = SwitchFile::at(&touch.path)?;
    let change = touch.change.as_ref()?;
    let line = file.thrown_in(&change.new)?;
    let before = match &touch.original {
        Original::Text(text) if change.old.is_empty() => text,
        _ => &change.old,
    };
    if file.thrown_in(before).is_some() {
        return None;
    }
    let shown = short(&format!("{}: {line}", seen_from(cwd, &touch.path)));
    Some(Action { kind: AdvisoryKind::SwitchedOff, shown })
}

/// What a command line wrote into such a file.
pub(super) fn written(line: &str) -> Option<Action> {
    let may_be = |(name, _): &(&str, SwitchFile)| line.contains(base_name(name));
    if !FILES.iter().any(may_be) {
        return None;
    }
    let file = parts(line).iter().find_map(|part| written_by(part, line))?;
    file.thrown_in(line)?;
    Some(Action { kind: AdvisoryKind::SwitchedOff, shown: short(line) })
}

fn written_by(part: &Part, line: &str) -> Option<SwitchFile> {
    let words = program_words(&part.words);
    let program = base_name(words.first()?);
    let in_place = || words.iter().any(|word| word.starts_with("-i") || word.starts_with("--in-place"));
    let named = |words: &[String]| words.iter().find_map(|word| SwitchFile::at(word));
    if INTERPRETERS.contains(&program) {
        return FILES.iter().find(|(name, _)| line.contains(name)).map(|(_, file)| *file);
    }
    let is_writer = WRITERS.contains(&program) || program == "sed" && in_place();
    named(&part.writes).or_else(|| is_writer.then(|| named(words))?)
}

pub(super) fn deed(command: &Simple) -> Option<Action> {
    let is_set = |word: &String| {
        let value = word.strip_prefix(OFF).and_then(|rest| rest.strip_prefix('='));
        value.is_some_and(|value| !is_no(value))
    };
    let program = base_name(command.program());
    let is_ours = program.trim_end_matches(".exe") == "punchlist";
    let is_harmless = ["--help", "-h", "--dry-run", "--revoke"].iter().any(|flag| command.has(flag));
    let asked_for = command.words.get(1).filter(|_| is_ours && !is_harmless).map(String::as_str);
    if asked_for == Some("allow") {
        // Without the flag it asks, and nobody is there to answer but the person.
        return command.has("--yes").then(|| Action::of(AdvisoryKind::GaveLeave, command));
    }
    let throws = matches!(asked_for, Some("off" | "uninstall"));
    // Before a command of our own it is that command's, and no hook sees it.
    let sets = program != "punchlist" && command.assignments.iter().any(is_set)
        || matches!(program, "export" | "setx" | "declare") && command.words.iter().any(is_set);
    (throws || sets).then(|| Action::of(AdvisoryKind::SwitchedOff, command))
}
