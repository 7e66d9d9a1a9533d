//! What the person should know of a session, and what never holds a stop: takes the evidence, returns advisories, the newest
//! of each kind. Pure. A command counts where it ran and did not fail; what is only printed, searched for, quoted or written
//! into a document is no deed. Whether anybody wanted it is the person's to say: only a deed whose own name stands in their
//! words is left out.

mod databases;
mod disabled;
mod downloads;
mod git;
mod line;
mod secrets;
mod stale;
mod switch;

use crate::evidence::Evidence;
use crate::finding::{Advisory, AdvisoryKind};
use crate::session::{Command, CommandEnd, Session};
use crate::text::normalise::{base_name, has_any_words, normalised, padded};

use line::Simple;
pub use switch::SwitchFile;

/// So much of a command is shown.
const SHOWN: usize = 160;

/// A deed, and what shows it.
struct Action {
    kind: AdvisoryKind,
    /// The command or the file.
    shown: String,
}

impl Action {
    fn of(kind: AdvisoryKind, command: &Simple) -> Self {
        Self { kind, shown: command.shown() }
    }
}

/// What the person should know of the session's deeds: at most one of each kind.
pub fn advisories(evidence: &Evidence) -> Vec<Advisory> {
    let commands = evidence.session.commands.iter().filter(|command| was_made(command));
    let by_commands = commands.flat_map(|command| {
        let deeds = deeds_of(command);
        if deeds.is_empty() || was_turned_down(command) { Vec::new() } else { deeds }
    });
    let by_edits = disabled::deeds(evidence).into_iter().chain(secrets::deeds(evidence));
    let by_edits = by_edits.chain(switch::edits(&evidence.session)).chain(stale::deeds(evidence));
    let mut newest: Vec<Action> = Vec::new();
    for deed in by_commands.chain(by_edits).filter(|deed| !is_asked_for(deed, evidence)) {
        newest.retain(|known| known.kind != deed.kind);
        newest.push(deed);
    }
    newest.sort_by_key(|deed| deed.kind);
    newest.into_iter().map(advisory).collect()
}

/// Whether the person names the deed itself: the flag or the subcommand of the command, in their words or in a plan that
/// they approved.
fn is_asked_for(deed: &Action, evidence: &Evidence) -> bool {
    let names: &[&str] = match deed.kind {
        AdvisoryKind::ForcePush => &["force"],
        AdvisoryKind::HardReset => &["reset", "restore", "checkout", "clean", "discard", "stash"],
        AdvisoryKind::NoVerify => &["no verify", "husky"],
        AdvisoryKind::DroppedTable => &["drop", "truncate", "reset"],
        AdvisoryKind::DisabledTest => &["skip", "ignore", "disable", "xfail", "todo"],
        _ => return false,
    };
    let asks = evidence.session.asks.iter().map(|ask| ask.text.as_str());
    let approved = evidence.plan.iter().filter(|plan| plan.is_approved()).map(|plan| plan.text.as_str());
    asks.chain(approved).any(|text| has_any_words(&padded(&normalised(text)), names))
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

fn deeds_of(command: &Command) -> Vec<Action> {
    let simples = line::read(&command.line);
    let mut deeds: Vec<Action> = switch::written(&command.line).into_iter().collect();
    // Where the line has changed into, as far as it tells.
    let mut folder = String::new();
    for (at, simple) in simples.iter().enumerate() {
        match base_name(simple.program()) {
            "cd" | "pushd" => folder = simple.words.get(1).cloned().unwrap_or_default(),
            "git" => deeds.extend(git::deeds(simple, &folder)),
            _ => {}
        }
        deeds.extend(switch::deed(simple));
        deeds.extend(databases::deed(simple));
        deeds.extend(downloads::deed(simple, simples.get(at + 1)));
    }
    deeds
}

fn advisory(deed: Action) -> Advisory {
    let text = match deed.kind {
        AdvisoryKind::ForcePush => "The session overwrote a branch on a remote.",
        AdvisoryKind::HardReset => "The session ran a command that throws uncommitted work away.",
        AdvisoryKind::NoVerify => "The session went past the hooks of git.",
        AdvisoryKind::DroppedTable => "The session dropped or emptied a table or a database.",
        AdvisoryKind::PipedDownload => "The session ran a download in a shell unseen.",
        AdvisoryKind::DisabledTest => "The session switched a test off.",
        AdvisoryKind::SecretWritten => {
            "The session wrote what looks like a secret to a file that git may track."
        }
        AdvisoryKind::SwitchedOff => "The agent itself switched punchlist off.",
        AdvisoryKind::GaveLeave => {
            "The agent itself allowed what this project's config asks to run at a stop."
        }
        AdvisoryKind::StaleTests => "The tests ran before the last edit, and not again.",
        AdvisoryKind::StaleBuild => "It was built before the last edit, and not again.",
        AdvisoryKind::StaleLint => "The linter ran before the last edit, and not again.",
        // A reader's words, or only in older logs.
        AdvisoryKind::NotRun | AdvisoryKind::RecursiveDelete | AdvisoryKind::DeletedTest => deed.kind.title(),
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
