//! Takes a session, gives every command that did something which can be claimed, with how it ended. Pure. Must not
//! call a run passed when something hides its end and its output does not tell.

use super::scripts::is_gutted;
use super::summaries::{Told, told};
use crate::session::shell::deeds::does;
use crate::session::shell::masks::{Mask, reach};
use crate::session::shell::parts::Part;
use crate::session::shell::wrappers::{flat_parts, program_words};
use crate::session::shell::{Check, Deed};
use crate::session::{Command, CommandEnd, Session};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ended {
    /// It passed.
    Passed,
    /// It failed; how that shows, in words.
    Failed(String),
    /// It ran, and how it ended does not show.
    Unclear,
    /// It ran in a way in which it could not fail: that is no run.
    Masked,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run<'a> {
    pub deed: Deed,
    pub ended: Ended,
    pub is_narrow: bool,
    /// Which part it is for, where that is a place. Of runs on one line, nobody knows which one printed what: they
    /// share their places.
    pub places: Vec<String>,
    /// The folder that the line changed into for it.
    pub folder: Option<String>,
    /// Whether it was not for this, and shows it all the same: `cargo test` builds.
    pub is_aside: bool,
    pub command: &'a Command,
}

/// What the client writes as the result of a call that was never made.
const NOT_MADE: &[&str] = &[
    "The user doesn't want to",
    "The user doesn't want to proceed",
    "was rejected",
    "requires approval",
    "haven't granted it yet",
    "Permission to use",
    "blocked by hook",
    "PreToolUse",
    "hook error",
    "InputValidationError",
    "Sibling tool call errored",
    "<tool_use_error>",
    "Request interrupted",
    "permission",
    "not allowed",
];

/// Every run of the session that did one of these deeds, in order: how the others ended nobody asks.
pub(super) fn runs<'a>(session: &'a Session, asked_for: &[Deed]) -> Vec<Run<'a>> {
    session.commands.iter().flat_map(|command| runs_of(command, session, asked_for)).collect()
}

/// Whether the call was never made: the person or a hook refused it.
pub(super) fn was_refused(command: &Command) -> bool {
    command.end == CommandEnd::Failed(None) && NOT_MADE.iter().any(|words| command.output.contains(words))
}

fn runs_of<'a>(command: &'a Command, session: &Session, asked_for: &[Deed]) -> Vec<Run<'a>> {
    if was_refused(command) {
        return Vec::new();
    }
    let parts = flat_parts(&command.line);
    let mut found = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let does = does(program_words(&part.words));
        let is_asked_for = |deed: &&Deed| asked_for.contains(deed);
        if !does.deeds.iter().chain(&does.shows).any(|deed| asked_for.contains(deed))
            || does.deeds.is_empty()
            || is_shadowed(&command.line, &part.words)
        {
            continue;
        }
        if does.script.as_deref().is_some_and(|script| is_gutted(session, script, command.at)) {
            continue;
        }
        let reach = reach(&parts, at);
        let is_mix = does.deeds.len() > 1;
        let run = |deed, is_aside| {
            // A commit that was not reached was not made; tests that were not reached may have passed before.
            let tells = if is_check(deed).is_some() { reach.failure_tells } else { reach.failure_denies };
            let ended = ended(command, deed, reach.mask, tells && !is_mix, is_aside);
            let (places, folder) = (does.places.clone(), folder(&parts[..at]));
            Run { deed, ended, is_narrow: does.is_narrow, places, folder, is_aside, command }
        };
        found.extend(does.deeds.iter().filter(is_asked_for).map(|deed| run(*deed, is_mix)));
        // Tests that fail say nothing of the build, not even that it was tried again.
        let has_failed = matches!(command.end, CommandEnd::Failed(_));
        let shown = does.shows.iter().filter(is_asked_for).map(|deed| run(*deed, true));
        found.extend(shown.filter(|run| !has_failed || run.ended == Ended::Passed));
    }
    share_places(&mut found);
    found
}

/// Whether the line itself gives the program's name to something else: `go() { echo ok; }; go test`.
fn is_shadowed(line: &str, words: &[String]) -> bool {
    if !["()", "function ", "alias "].iter().any(|sign| line.contains(sign)) {
        return false;
    }
    let Some(program) = program_words(words).first() else { return false };
    [
        format!("{program}()"),
        format!("{program} ()"),
        format!("function {program} "),
        format!("alias {program}="),
    ]
    .iter()
    .any(|other| line.contains(other.as_str()))
}

/// The folder that a line has changed into before a command.
fn folder(before: &[Part]) -> Option<String> {
    let into = before.iter().rev().find_map(|part| match part.words.as_slice() {
        [cd, folder, ..] if cd == "cd" || cd == "pushd" => Some(folder.as_str()),
        _ => None,
    })?;
    let names_one = !into.trim_end_matches('/').ends_with("..") && !into.contains('$') && into != ".";
    names_one.then(|| into.to_owned())
}

fn share_places(runs: &mut [Run<'_>]) {
    let all: Vec<_> = runs.iter().map(|run| (run.deed, run.places.clone(), run.folder.clone())).collect();
    for run in runs {
        let of_deed = || all.iter().filter(|(deed, ..)| *deed == run.deed);
        // One of them for all there is: then so are the others.
        let is_of_all = of_deed().any(|(_, places, _)| places.is_empty());
        run.places = of_deed().filter(|_| !is_of_all).flat_map(|(_, places, _)| places.clone()).collect();
        if of_deed().any(|(.., folder)| *folder != run.folder) {
            run.folder = None;
        }
    }
}

fn ended(command: &Command, deed: Deed, mask: Option<Mask>, failure_tells: bool, is_aside: bool) -> Ended {
    let summary = match deed {
        Deed::Check(check) => told(check, &command.output),
        _ => told_of_deed(deed, &command.output),
    };
    if is_there_already(deed, &command.output) {
        return Ended::Unclear;
    }
    let failure = match &summary {
        Told::Failure(words) if !is_aside => Some(words),
        _ => None,
    };
    match (command.end, failure) {
        (CommandEnd::Failed(Some(code)), Some(_)) if mask.is_none() => Ended::Failed(ended_with(Some(code))),
        (CommandEnd::Failed(_) | CommandEnd::Succeeded | CommandEnd::Interrupted, Some(words)) => {
            Ended::Failed(format!("printed: {words}"))
        }
        // A signal ended it.
        (
            CommandEnd::Failed(Some(130 | 137 | 143))
            | CommandEnd::Interrupted
            | CommandEnd::Background
            | CommandEnd::Unanswered,
            _,
        ) => Ended::Unclear,
        (CommandEnd::Failed(code), _) if failure_tells && !is_aside => Ended::Failed(ended_with(code)),
        (CommandEnd::Failed(_), _) if summary == Told::Pass => Ended::Passed,
        (CommandEnd::Failed(_), _) => Ended::Unclear,
        (CommandEnd::Succeeded, _) if mask == Some(Mask::Pipe) && is_silent_test(deed, &summary, command) => {
            Ended::Masked
        }
        (CommandEnd::Succeeded, _) => succeeded(mask, summary == Told::Pass),
    }
}

/// Whether tests printed something, and nothing of how they ended. Their runners sum up; builds and linters that find
/// nothing are often silent.
fn is_silent_test(deed: Deed, summary: &Told, command: &Command) -> bool {
    deed == Deed::Check(Check::Tests) && *summary == Told::Nothing && !command.output.trim().is_empty()
}

/// Whether a failure says that it was done before: "nothing to commit".
fn is_there_already(deed: Deed, output: &str) -> bool {
    match deed {
        Deed::Commit => output.contains("nothing to commit"),
        Deed::PullRequest | Deed::Issue => output.contains("already exists"),
        _ => false,
    }
}

fn ended_with(code: Option<i32>) -> String {
    code.map_or_else(|| "failed".to_owned(), |code| format!("ended with exit code {code}"))
}

/// What a line that succeeded says of a run in it. Agents pipe to `tail` all the time: such a run is unclear at
/// worst. One that could not fail is none, whatever it printed.
fn succeeded(mask: Option<Mask>, says_passed: bool) -> Ended {
    match mask {
        None => Ended::Passed,
        Some(Mask::Or) => Ended::Masked,
        Some(Mask::Background) => Ended::Unclear,
        Some(_) if says_passed => Ended::Passed,
        Some(Mask::Pipe) => Ended::Unclear,
        Some(Mask::Next | Mask::Guard) => Ended::Masked,
    }
}

/// What the output tells of other deeds.
fn told_of_deed(deed: Deed, output: &str) -> Told {
    let has =
        |words: &[&str]| words.iter().find(|words| output.contains(**words)).map(|words| (*words).to_owned());
    let failure = match deed {
        Deed::Push => has(&["! [rejected]", "! [remote rejected]", "error: failed to push"]),
        _ => None,
    };
    let pass = match deed {
        // `[main 1a2b3c4] words`
        Deed::Commit => output.lines().any(|line| {
            line.starts_with('[')
                && line
                    .split(']')
                    .next()
                    .and_then(|head| head.rsplit(' ').next())
                    .is_some_and(|hash| hash.len() >= 7 && hash.chars().all(|c| c.is_ascii_hexdigit()))
        }),
        Deed::Push => has(&["Everything up-to-date", "* [new branch]", "..", "set up to track"]).is_some(),
        Deed::PullRequest => has(&["/pull/", "/merge_requests/", "already exists"]).is_some(),
        Deed::Issue => has(&["/issues/"]).is_some(),
        _ => false,
    };
    match failure {
        Some(words) => Told::Failure(words),
        None if pass => Told::Pass,
        None => Told::Nothing,
    }
}

/// Whether a check's summary or exit may be read as one of these.
pub(super) fn is_check(deed: Deed) -> Option<Check> {
    match deed {
        Deed::Check(check) => Some(check),
        _ => None,
    }
}
