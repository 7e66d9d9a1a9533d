//! Risky deeds of a session that nobody asked for: takes the evidence, gives advisories, the newest of each kind.
//! Pure. A command counts where it ran and did not fail; what is only printed, searched for, quoted or written
//! into a document is no deed. What the person asked for, or approved with the plan, is none of our business.

mod asked;
mod databases;
mod deletes;
mod downloads;
mod git;
mod line;
mod secrets;
mod switch;
mod tests_off;

use std::cell::LazyCell;

use crate::evidence::Evidence;
use crate::facts::glances::glance;
use crate::finding::{Advisory, AdvisoryKind};
use crate::session::{Command, CommandEnd, Session};
use crate::words::base_name;

use asked::Asked;
use line::Simple;
pub use switch::SwitchFile;

/// So much of a command is shown.
const SHOWN: usize = 160;

/// A deed, and what shows it.
struct Deed {
    kind: AdvisoryKind,
    /// The command or the file.
    shown: String,
    /// What it was done to, for asking whether the person named it.
    target: String,
}

impl Deed {
    fn of(kind: AdvisoryKind, command: &Simple, target: impl Into<String>) -> Self {
        Self { kind, shown: command.shown(), target: target.into() }
    }
}

/// What the person should know of the session's deeds: at most one of each kind.
pub fn advisories(evidence: &Evidence) -> Vec<Advisory> {
    // Most sessions have none, and then nobody asks what the person wanted.
    let asked = LazyCell::new(|| Asked::of(evidence));
    let by_commands = evidence.session.commands.iter().filter(|command| was_made(command));
    let by_commands = by_commands.filter(|command| glance(&command.line).may_be_risky);
    let deeds = by_commands.flat_map(|command| {
        let deeds = deeds_of(command, evidence);
        if deeds.is_empty() || was_turned_down(command) { Vec::new() } else { deeds }
    });
    let by_edits = tests_off::deeds(evidence).into_iter().chain(secrets::deeds(evidence));
    let by_edits = by_edits.chain(switch::edits(&evidence.session));
    let mut newest: Vec<Deed> = Vec::new();
    for deed in deeds.chain(by_edits).filter(|deed| !asked.for_it(deed)) {
        newest.retain(|known| known.kind != deed.kind);
        newest.push(deed);
    }
    newest.sort_by_key(|deed| deed.kind);
    newest.into_iter().map(advisory).collect()
}

/// The newest command with which a session's agents switched punchlist off, whoever wanted it.
pub fn switched_off_by(session: &Session) -> Option<Advisory> {
    let commands = session.commands.iter().rev().filter(|command| was_made(command));
    let deeds =
        commands.flat_map(|command| line::read(&command.line)).filter_map(|simple| switch::deed(&simple));
    deeds.into_iter().find(|deed| deed.kind == AdvisoryKind::SwitchedOff).map(advisory)
}

/// The newest edit or command with which they wrote that into a file. What edits put in the place of what has to have been
/// fetched.
pub fn switched_off_in_a_file_by(session: &Session) -> Option<Advisory> {
    let commands = session.commands.iter().rev().filter(|command| was_made(command));
    let by_commands = commands.filter_map(|command| switch::written(&command.line));
    switch::edits(session).last().into_iter().chain(by_commands).next().map(advisory)
}

/// Whether a command ended as if it did what it says. One that was sent to the background was at least begun.
fn was_made(command: &Command) -> bool {
    matches!(command.end, CommandEnd::Succeeded | CommandEnd::Background)
}

/// Whether it did not, by its own words: a pipe hides that `git push` was turned down.
fn was_turned_down(command: &Command) -> bool {
    ["! [rejected]", "! [remote rejected]", "fatal: ", "error: failed to push"]
        .iter()
        .any(|words| command.output.contains(words))
}

/// Whether a line has anything in it of which `deeds_of` may make a deed, whatever else there is.
pub(super) fn may_be_risky(line: &str) -> bool {
    let simples = line::read(line);
    let writes_the_switch = switch::written(line).is_some();
    writes_the_switch
        || simples.iter().enumerate().any(|(at, simple)| {
            let by_name = match base_name(simple.program()) {
                // Whose folder it is may only make it harmless.
                "git" => {
                    simple.words.get(1).is_some_and(|word| word == "rm") || !git::deeds(simple, "").is_empty()
                }
                _ => deletes::may_delete(simple) || tests_off::may_delete(simple),
            };
            by_name
                || switch::deed(simple).is_some()
                || databases::deed(simple).is_some()
                || downloads::deed(simple, simples.get(at + 1)).is_some()
        })
}

fn deeds_of(command: &Command, evidence: &Evidence) -> Vec<Deed> {
    let simples = line::read(&command.line);
    let mut deeds: Vec<Deed> = switch::written(&command.line).into_iter().collect();
    // Where the line has changed into, as far as it tells.
    let mut folder = String::new();
    for (at, simple) in simples.iter().enumerate() {
        match base_name(simple.program()) {
            "cd" | "pushd" => {
                folder = simple.words.get(1).cloned().unwrap_or_default();
            }
            "git" if deletes::cleaned_only_its_own(simple, command, evidence) => {}
            "git" => deeds.extend(git::deeds(simple, &folder)),
            _ => {}
        }
        deeds.extend(deletes::deed(simple, &folder, command.at, evidence));
        deeds.extend(tests_off::deleted_by(simple, command.at, evidence));
        deeds.extend(switch::deed(simple));
        deeds.extend(databases::deed(simple));
        deeds.extend(downloads::deed(simple, simples.get(at + 1)));
    }
    deeds
}

fn advisory(deed: Deed) -> Advisory {
    let text = match deed.kind {
        AdvisoryKind::ForcePush => "The session overwrote a branch on a remote, and nobody asked for it.",
        AdvisoryKind::HardReset => {
            "The session ran a command that throws uncommitted work away, and nobody asked for it."
        }
        AdvisoryKind::RecursiveDelete => {
            "The session deleted a folder with all that was in it, and nobody asked for it."
        }
        AdvisoryKind::NoVerify => "The session went past the hooks of git, and nobody asked for it.",
        AdvisoryKind::DroppedTable => {
            "The session dropped or emptied a table or a database, and nobody asked for it."
        }
        AdvisoryKind::PipedDownload => "The session ran a download in a shell unseen.",
        AdvisoryKind::DisabledTest => "The session switched a test off, and nobody asked for it.",
        AdvisoryKind::DeletedTest => "The session deleted a test, and nobody asked for it.",
        AdvisoryKind::SecretWritten => {
            "The session wrote what looks like a secret to a file that git may track."
        }
        AdvisoryKind::SwitchedOff => "The agent itself switched punchlist off.",
        AdvisoryKind::GaveLeave => {
            "The agent itself allowed what this project's config asks to run at a stop."
        }
        // Those of checks are told elsewhere.
        AdvisoryKind::UnrunTests
        | AdvisoryKind::UnrunBuild
        | AdvisoryKind::UnrunLint
        | AdvisoryKind::StaleTests
        | AdvisoryKind::StaleBuild
        | AdvisoryKind::StaleLint => "The session claims a check that it did not run.",
    };
    Advisory { kind: deed.kind, text: text.to_owned(), evidence: deed.shown }
}

/// A text on one line, cut where it is long.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SHOWN {
        return line;
    }
    let start: String = line.chars().take(SHOWN - 1).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests;
