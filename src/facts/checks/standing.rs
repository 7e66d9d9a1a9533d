//! Takes the runs of one kind, in order, and a claim; gives the run that failed and that nothing made good. Pure. Doubt
//! goes to the session: a later pass makes good what it may have covered.

use super::runs::{Ended, Run, is_check};
use super::said::Said;
use crate::claims::kinds::Extent;
use crate::session::shell::Deed;
use crate::words::base_name;

/// What is printed by a runner that found nothing to run: a wrong name, not a failure.
const NEVER_STARTED: &[&str] = &[
    "command not found",
    "did not match any packages",
    "file or directory not found",
    "Missing script",
    "No module named",
    "no such file or directory",
    "No such file or directory",
    "no tests ran",
    "No test files found",
    "No tests found",
    "unknown option",
    "unrecognized arguments",
    "unexpected argument",
];

/// The newest run that failed and that no later run made good, if there is one. A helper's runs and the session's own
/// have no common order: a pass of one of them may have come last.
pub(super) fn standing_failure<'r>(runs: &[&'r Run<'r>], claim: &Said<'_>) -> Option<(&'r Run<'r>, &'r str)> {
    let mut standing: Vec<(&Run<'_>, &str)> = Vec::new();
    for run in runs {
        match &run.ended {
            Ended::Failed(how) => standing.push((run, how)),
            Ended::Passed | Ended::Unclear => {
                standing.retain(|(failed, _)| !is_other_stream(failed, run) && !makes_good(failed, run));
            }
            Ended::Masked => {}
        }
    }
    let has_passed = |failed: &Run<'_>, counts: &dyn Fn(&Run<'_>) -> bool| {
        runs.iter().any(|run| {
            matches!(run.ended, Ended::Passed | Ended::Unclear)
                && (is_other_stream(failed, run) || claim.extent == Extent::Part || counts(run))
        })
    };
    standing.into_iter().rev().find(|(failed, _)| match claim.deed {
        Deed::Check(_) | Deed::Commit => !has_passed(failed, &|_| false),
        // One of several was opened: which one is meant, nobody can say.
        Deed::PullRequest | Deed::Issue => !has_passed(failed, &|_| true),
        Deed::Push | Deed::Deploy | Deed::Install => {
            !has_passed(failed, &|run| is_of_another(failed, run) && !names_its_own(claim, failed, run))
        }
    })
}

fn is_other_stream(failed: &Run<'_>, run: &Run<'_>) -> bool {
    failed.command.agent != run.command.agent
}

/// Whether two runs of a deed were for different things: a branch and a tag.
fn is_of_another(failed: &Run<'_>, run: &Run<'_>) -> bool {
    failed.places.iter().any(|place| !run.places.contains(place))
}

/// Whether the claim names what only the failed one was for.
fn names_its_own(claim: &Said<'_>, failed: &Run<'_>, run: &Run<'_>) -> bool {
    let mut own = failed.places.iter().filter(|place| !run.places.contains(place));
    own.any(|place| claim.quote.contains(place.as_str()))
}

/// Whether a later run that passed covers one that failed. A run of a part does, unless both say what they are for and
/// that is not the same, or the failed one named what failed and the later one is plainly about something else.
fn makes_good(failed: &Run<'_>, later: &Run<'_>) -> bool {
    if failed.command.line == later.command.line || is_check(failed.deed).is_none() || never_started(failed) {
        return true;
    }
    if let (Some(one), Some(other)) = (&failed.folder, &later.folder)
        && !are_related(one, other)
    {
        return false;
    }
    if !failed.places.is_empty() && !later.places.is_empty() {
        return failed.places.iter().any(|one| later.places.iter().any(|other| are_related(one, other)));
    }
    if !later.is_narrow {
        return true;
    }
    let names = failing_names(&failed.command.output);
    let seen = format!("{} {}", later.command.line, later.command.output).to_lowercase();
    names.is_empty() || names.iter().all(|name| seen.contains(name.as_str()))
}

fn never_started(failed: &Run<'_>) -> bool {
    NEVER_STARTED.iter().any(|words| failed.command.output.contains(words))
}

/// Whether one place may be in the other: the same, one below the other, or called alike.
fn are_related(one: &str, other: &str) -> bool {
    let plain = |place: &str| {
        let place = place.split("::").next().unwrap_or(place).trim_end_matches("...").trim_end_matches('/');
        place.trim_start_matches("../").trim_start_matches("./").trim_start_matches('/').to_lowercase()
    };
    let (one, other) = (plain(one), plain(other));
    let is_below = |inner: &str, outer: &str| {
        outer.is_empty() || inner == outer || inner.starts_with(&format!("{outer}/"))
    };
    let stem = |place: &str| base_name(place).split('.').next().unwrap_or_default().to_owned();
    let (one_stem, other_stem) = (stem(&one), stem(&other));
    is_below(&one, &other)
        || is_below(&other, &one)
        || one.ends_with(&format!("/{other}"))
        || other.ends_with(&format!("/{one}"))
        || one_stem.contains(&other_stem)
        || other_stem.contains(&one_stem)
}

/// Files and tests that an output names as failed, by what they are called.
fn failing_names(output: &str) -> Vec<String> {
    let mut names: Vec<String> = output
        .lines()
        .filter_map(|line| {
            let line = line.trim();
            let rest = line
                .strip_prefix("FAILED ")
                .or_else(|| line.strip_prefix("ERROR "))
                .or_else(|| line.strip_prefix("FAIL "))
                .or_else(|| line.strip_prefix("--- FAIL: "))
                .or_else(|| line.strip_prefix("❯ "))
                .or_else(|| line.strip_suffix(" ... FAILED").and_then(|line| line.strip_prefix("test ")))?;
            let word = rest.split_whitespace().next()?;
            let file = word.split("::").next().unwrap_or(word);
            let name = if file.contains('.') {
                base_name(file).split('.').next()?
            } else {
                word.rsplit("::").next()?
            };
            (name.len() > 2).then(|| name.to_lowercase())
        })
        .collect();
    names.sort();
    names.dedup();
    names
}
