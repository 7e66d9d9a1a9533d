//! What the person should know about a session and what never blocks it: evidence in, advisories
//! out, the newest of each kind. One file a rule; a new one is its file and its line in [`RULES`].
//! Pure. Must not guess whether somebody wanted what was done: that takes a reader of words, and
//! the person knows.

mod disabled_test;
mod dropped_table;
mod force_push;
mod gave_leave;
mod git;
mod lost_work;
mod piped_download;
mod secret_written;
mod skipped_hooks;
mod stale;
mod switched_off;
#[cfg(test)]
mod tests;

use crate::evidence::Evidence;
use crate::finding::{Advisory, AdvisoryKind};
use crate::session::{Command, CommandEnd, Session};
use crate::shell::{CommandLine, SimpleCommand};

pub use switched_off::{SwitchFile, switched_off_by, switched_off_in_a_file_by};

/// A rule: returns the newest thing that it is about.
type Rule = fn(&Evidence, &[Line<'_>]) -> Option<Advisory>;

const RULES: &[Rule] = &[
    stale::tests,
    stale::build,
    stale::lint,
    force_push::find,
    lost_work::find,
    skipped_hooks::find,
    dropped_table::find,
    piped_download::find,
    disabled_test::find,
    secret_written::find,
    switched_off::find,
    gave_leave::find,
];

/// Whether an advisory may depend on what git tracks: an edit wrote what looks like a secret.
pub fn need_git(evidence: &Evidence) -> bool {
    secret_written::has_secret(evidence)
}

/// Returns what the person should know: at most one of each kind.
pub fn advisories(evidence: &Evidence) -> Vec<Advisory> {
    let lines = lines(&evidence.session);
    let mut found: Vec<Advisory> = RULES.iter().filter_map(|rule| rule(evidence, &lines)).collect();
    found.sort_by_key(|advisory| advisory.kind);
    found
}

/// A command that ran and did not fail, with its line parsed.
struct Line<'a> {
    command: &'a Command,
    parsed: CommandLine,
}

/// Returns the commands that ran and did not fail. One that was sent to the background was at least
/// begun.
fn lines(session: &Session) -> Vec<Line<'_>> {
    let has_run = |command: &&Command| matches!(command.end, CommandEnd::Succeeded | CommandEnd::Background);
    let commands = session.commands.iter().filter(has_run);
    commands.map(|command| Line { command, parsed: command.parsed() }).collect()
}

/// Returns the newest simple command for which this holds.
fn newest<'a>(lines: &'a [Line<'_>], is_it: impl Fn(&SimpleCommand) -> bool) -> Option<&'a SimpleCommand> {
    lines.iter().rev().find_map(|line| line.parsed.all().into_iter().rfind(|command| is_it(command)))
}

fn advisory(kind: AdvisoryKind, text: &str, evidence: &str) -> Advisory {
    Advisory { kind, text: text.to_owned(), evidence: short(evidence) }
}

/// Returns a text on one line, cut where it is long.
fn short(text: &str) -> String {
    const LONGEST: usize = 160;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    let start: String = line.chars().take(LONGEST - 1).collect();
    format!("{start}…")
}
