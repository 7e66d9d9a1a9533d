//! What the person should know about a session but never blocks it: takes evidence, returns the
//! newest advisory of each kind. A new rule is a function and its line in `RULES`. Pure. Must not
//! guess whether somebody wanted what was done: that takes a reader, and the person knows.

mod disabled_test;
mod dropped_table;
mod git;
mod piped_download;
mod secret_written;
mod stale;
mod switched_off;

use crate::evidence::Evidence;
use crate::finding::{Advisory, AdvisoryKind};
use crate::session::{Command, CommandEnd, Session};
use crate::shell::SimpleCommand;

/// Returns the text shown for the newest match of a rule. The commands are those that ran and did
/// not fail.
type Rule = fn(&Evidence, &[&Command]) -> Option<String>;

const RULES: &[(AdvisoryKind, &str, Rule)] = &[
    (AdvisoryKind::StaleTests, "The tests ran before the last edit, and not again.", stale::tests),
    (AdvisoryKind::StaleBuild, "It was built before the last edit, and not again.", stale::build),
    (AdvisoryKind::StaleLint, "The linter ran before the last edit, and not again.", stale::lint),
    (AdvisoryKind::ForcePush, "The session overwrote a branch on a remote.", git::force_push),
    (AdvisoryKind::HardReset, "The session ran a command that throws uncommitted work away.", git::lost_work),
    (AdvisoryKind::NoVerify, "The session skipped git hooks.", git::skipped_hooks),
    (
        AdvisoryKind::DroppedTable,
        "The session dropped or emptied a table or a database.",
        dropped_table::find,
    ),
    (AdvisoryKind::PipedDownload, "The session piped a download into a shell.", piped_download::find),
    (AdvisoryKind::DisabledTest, "The session disabled a test.", disabled_test::find),
    (
        AdvisoryKind::SecretWritten,
        "The session wrote what looks like a secret to a file that git may track.",
        secret_written::find,
    ),
    (AdvisoryKind::SwitchedOff, switched_off::TEXT, switched_off::find),
    (
        AdvisoryKind::GaveLeave,
        "The agent itself allowed what this project's config asks to run at a stop.",
        switched_off::gave_leave,
    ),
    (AdvisoryKind::LimitReached, "Not everything was checked, and the rest may be wrong.", limit_reached),
];

fn limit_reached(evidence: &Evidence, _: &[&Command]) -> Option<String> {
    let reached: Vec<String> = evidence.limits.iter().map(|limit| limit.describe()).collect();
    (!reached.is_empty()).then(|| reached.join("; "))
}

/// Returns whether an advisory may depend on what git tracks: an edit wrote what looks like a
/// secret.
pub fn need_git(evidence: &Evidence) -> bool {
    secret_written::has_secret(evidence)
}

/// Returns at most one advisory of each kind.
pub fn advisories(evidence: &Evidence) -> Vec<Advisory> {
    let commands = commands_that_ran(&evidence.session);
    let found = RULES.iter().filter_map(|(kind, text, rule)| {
        rule(evidence, &commands).map(|shown| advisory(*kind, text, &shown))
    });
    found.collect()
}

/// Returns the commands that ran and did not fail. A command sent to the background counts: it was
/// at least started.
fn commands_that_ran(session: &Session) -> Vec<&Command> {
    let has_run = |command: &&Command| matches!(command.end, CommandEnd::Succeeded | CommandEnd::Background);
    session.commands.iter().filter(has_run).collect()
}

/// Returns the newest matching simple command, as written.
fn newest(commands: &[&Command], is_it: impl Fn(&SimpleCommand) -> bool) -> Option<String> {
    let simple =
        |command: &&Command| command.line.all().into_iter().rfind(|simple| is_it(simple)).map(written);
    commands.iter().rev().find_map(simple)
}

fn written(command: &SimpleCommand) -> String {
    command.words.join(" ")
}

fn advisory(kind: AdvisoryKind, text: &str, evidence: &str) -> Advisory {
    Advisory { kind, text: text.to_owned(), evidence: short(evidence) }
}

/// Returns a text on one line, shortened if it is long.
fn short(text: &str) -> String {
    const LONGEST: usize = 160;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    let start: String = line.chars().take(LONGEST - 1).collect();
    format!("{start}…")
}
