//! A command that was claimed to succeed and is called failed. Pure. Its last run decides, and only where the
//! words really claim that it succeeded: a failed command on the way is part of any work.

use super::case::Case;
use super::elsewhere::works_elsewhere;
use super::{Judged, over, reason};
use crate::claims;
use crate::session::shell::deeds::does;
use crate::session::shell::masks::{Mask, reach};
use crate::session::shell::wrappers::{flat_parts, program_words};
use crate::session::shell::{self, Check, Deed};
use crate::session::{Command, CommandEnd};
use crate::words::{has_any_words, has_words, normalised, padded};

pub(super) fn judge(case: &Case<'_>) -> Judged {
    let commands = &case.session().commands;
    let Some(at) = last_run(commands, &case.proposal.needle) else {
        return Judged::cannot_verify("no such command in the session");
    };
    let command = &commands[at];
    let failed = match command.end {
        CommandEnd::Succeeded if hides_its_end(command) => {
            return Judged::cannot_verify("it was run in a way in which it can't fail");
        }
        CommandEnd::Succeeded => return Judged::refuted("the command succeeded when it was run last"),
        CommandEnd::Failed(Some(code)) => {
            format!("the command ended with exit code {code} when it was run last")
        }
        CommandEnd::Failed(None) => "the command failed when it was run last".to_owned(),
        CommandEnd::Interrupted | CommandEnd::Background | CommandEnd::Unanswered => {
            return Judged::cannot_verify("how the command ended is not recorded");
        }
    };
    if shell::only_looks(&command.line) {
        return Judged::cannot_verify("the command only looks: that it found nothing is no failure");
    }
    let kind = shell::check(&command.line);
    let later = || commands[at + 1..].iter().filter(|later| later.end == CommandEnd::Succeeded);
    let is_pass_of_kind =
        |later: &Command| kind.is_some() && shell::check(&later.line) == kind && !hides_its_end(later);
    if later().any(is_pass_of_kind) {
        return Judged::cannot_verify(reason::CHECKED_AFTER);
    }
    if later().any(|later| is_same_program(&command.line, &later.line) && !hides_its_end(later)) {
        return Judged::cannot_verify(reason::SUCCEEDED_AFTER);
    }
    if later()
        .any(|later| works_elsewhere(&later.line) && kind.is_some_and(|kind| speaks_of(&later.line, kind)))
    {
        return Judged::cannot_verify(reason::CHECKED_ELSEWHERE);
    }
    if !claims_success(case, &command.line, kind) {
        return Judged::cannot_verify("the words do not claim that this command succeeded");
    }
    Judged::confirmed(failed)
}

fn squeezed(text: &str) -> String {
    padded(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Where the command that is meant was run last, in a way in which it could fail: where it could not, how it ended
/// does not show. If it was never run so, where it was run last.
pub(super) fn last_run(commands: &[Command], needle: &str) -> Option<usize> {
    let wanted = squeezed(needle.trim().trim_matches('`').trim_start_matches("$ "));
    let is_meant = |command: &Command| {
        let line = squeezed(&command.line);
        wanted.len() > 4 && (line.contains(&wanted) || wanted.contains(&line))
    };
    let could_fail = |command: &&Command| is_meant(command) && !hides_its_end(command);
    commands.iter().rposition(|command| could_fail(&command)).or_else(|| commands.iter().rposition(is_meant))
}

/// Whether a line that succeeded does so whatever the check in it does: `pytest || true`.
fn hides_its_end(command: &Command) -> bool {
    let parts = flat_parts(&command.line);
    let is_masked = |at: usize| matches!(reach(&parts, at).mask, Some(Mask::Or | Mask::Next | Mask::Guard));
    let is_check = |at: usize| {
        let deeds = does(program_words(&parts[at].words)).deeds;
        deeds.iter().any(|deed| matches!(deed, Deed::Check(_)))
    };
    command.end == CommandEnd::Succeeded && (0..parts.len()).any(|at| is_check(at) && is_masked(at))
}

/// Whether two lines run the same program, with the same subcommand where it has one.
fn is_same_program(one: &str, other: &str) -> bool {
    let start = |line: &str| -> Option<(String, Option<String>)> {
        let words = shell::simple_commands(line)
            .into_iter()
            .find(|words| words.first().is_some_and(|w| w != "cd"))?;
        let subcommand = words.iter().skip(1).find(|word| !word.starts_with('-')).cloned();
        Some((words.first()?.clone(), subcommand))
    };
    start(one).is_some_and(|one| start(other) == Some(one))
}

/// Words by which people speak of a kind of check.
fn speaks_of(text: &str, kind: Check) -> bool {
    let words = padded(&normalised(text));
    let names: &[&str] = match kind {
        Check::Tests => &["green", "pytest", "spec", "specs", "suite", "test", "tested", "tests"],
        Check::Lint => &["clean", "clippy", "eslint", "lint", "linter", "linting", "lints", "ruff"],
        Check::Build => &["build", "builds", "built", "compile", "compiles", "compiling"],
        Check::Types => &["build", "mypy", "pyright", "tsc", "type", "typecheck", "typed", "types"],
        Check::Format => &["fmt", "format", "formatted", "formatting", "lint"],
    };
    has_any_words(&words, names)
}

/// Whether the claim is about this command: its words name it, or speak of the kind of check that it is.
fn claims_success(case: &Case<'_>, line: &str, kind: Option<Check>) -> bool {
    // "Everything else is green" leaves something out, and that may be this.
    let words = padded(&normalised(&case.proposal.quote));
    if ["apart from", "else", "except", "other", "others", "rest"].iter().any(|word| has_words(&words, word))
    {
        return false;
    }
    let claim = case.step.map_or(case.proposal.quote.as_str(), |step| step.text.as_str());
    let line = squeezed(line);
    let names_it = |text: &str| {
        let mut spans = text.split('`').skip(1).step_by(2).map(squeezed);
        spans.any(|span| span.len() > 4 && (line.contains(&span) || span.contains(&line)))
    };
    let is_about_it = |text: &str| names_it(text) || kind.is_some_and(|kind| speaks_of(text, kind));
    // A quote of a whole message: one of its claims has to be about it.
    let is_of_message = case.step.is_none()
        && claims::sentences(&case.proposal.quote).iter().any(|sentence| is_about_it(sentence));
    let is_meant = is_about_it(claim) || is_of_message;
    let is_denied = claims::all_sentences(case.message())
        .any(|sentence| is_about_it(sentence) && over::is_to_come(sentence) && !sentence.ends_with('?'));
    is_meant && !is_denied
}
