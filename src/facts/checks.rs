//! What is claimed of commands against the commands that ran: "all tests pass" after a run that failed, "pushed"
//! with no push. Takes the evidence, gives findings of category A and advisories. Pure: no disk, no model. A wrong
//! finding holds a good session, so doubt goes to the session.
//!
//! `said` gathers what is claimed; `runs` finds what ran and how it ended, by exit code and by the `summaries` that runners print; `standing`
//! tells which failure was never made good; `scripts` tells scripts that can only succeed; `doubts` tells what may
//! have been done unseen.

mod doubts;
mod runs;
mod said;
mod scripts;
mod standing;
mod summaries;

use crate::claims::kinds::Extent;
use crate::config::{AuditConfig, UnrunChecks};
use crate::evidence::Evidence;
use crate::finding::{Advisory, AdvisoryKind, Category, Finding, Problem, Source, Status};
use crate::session::shell::{Check, Deed};
use crate::session::{Command, Session};
use crate::words::base_name;
use runs::{Ended, Run, is_check};
use said::{Said, said};
use standing::standing_failure;

/// How much of a command line is shown.
const SHOWN_LINE: usize = 120;

/// Endings of files that checks look at.
const SOURCES: &[&str] = &[
    "astro", "c", "cc", "clj", "cpp", "cs", "cts", "dart", "elm", "erl", "ex", "exs", "fs", "go", "gleam",
    "groovy", "h", "hpp", "hs", "java", "jl", "js", "jsx", "kt", "kts", "lua", "m", "mjs", "cjs", "ml", "mm",
    "mts", "php", "pl", "proto", "py", "pyi", "rb", "rs", "scala", "sh", "sol", "sql", "svelte", "swift",
    "tf", "ts", "tsx", "vue", "zig",
];

/// What the session claims of commands and its commands do not bear out.
pub fn findings(evidence: &Evidence, config: &AuditConfig) -> (Vec<Finding>, Vec<Advisory>) {
    let said = said(evidence);
    let about = |finding: Finding, claim: &Said<'_>| said::pointed(finding, claim.deed, &said, evidence);
    if said.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let asked_for: Vec<Deed> = said.iter().map(|claim| claim.deed).collect();
    let runs = runs::runs(&evidence.session, &asked_for);
    let mut findings: Vec<Finding> = Vec::new();
    let mut advisories: Vec<Advisory> = Vec::new();
    let mut told: Vec<Deed> = Vec::new();
    for claim in &said {
        // What is wrong is told once, for the first that claims it; a step and a sentence are two claims of one thing.
        if told.contains(&claim.deed) {
            continue;
        }
        match judge(claim, &runs, evidence) {
            Judged::Fine => {}
            Judged::Wrong(finding) => {
                told.push(claim.deed);
                findings.push(about(*finding, claim));
            }
            Judged::Doubtful(kind, text, shown) => {
                told.push(claim.deed);
                if config.unrun_checks == UnrunChecks::Block {
                    findings.push(about(unrun(claim, &text, shown), claim));
                } else if !advisories.iter().any(|advisory| advisory.kind == kind) {
                    advisories.push(Advisory { kind, text, evidence: claim.quote.to_owned() });
                }
            }
        }
    }
    (findings, advisories)
}

enum Judged {
    Fine,
    Wrong(Box<Finding>),
    /// Never run, or not since the last edit: what to tell, and what shows it.
    Doubtful(AdvisoryKind, String, Vec<String>),
}

fn judge(claim: &Said<'_>, runs: &[Run<'_>], evidence: &Evidence) -> Judged {
    let session = &evidence.session;
    let of_kind: Vec<&Run<'_>> =
        runs.iter().filter(|run| run.deed == claim.deed && run.ended != Ended::Masked).collect();
    if let Some((run, how)) = standing_failure(&of_kind, claim) {
        let is_settled = is_check(claim.deed).is_none() && is_backed_otherwise(claim.deed, evidence);
        if is_settled || doubts::may_have_been_done_unseen(session, run.command.at + 1, false) {
            return Judged::Fine;
        }
        return Judged::Wrong(Box::new(failed(claim, run.command, how)));
    }
    if claim.extent == Extent::Loose {
        return Judged::Fine;
    }
    let is_backed = of_kind.iter().any(|run| matches!(run.ended, Ended::Passed | Ended::Unclear));
    match is_check(claim.deed) {
        // Which run a claim of a part is about, nobody can say.
        Some(_) if is_backed && claim.extent == Extent::Part => Judged::Fine,
        Some(check) if is_backed => stale(check, &of_kind, evidence),
        Some(check) => never_checked(check, claim, runs, session),
        None if is_backed => Judged::Fine,
        None => never_done(claim, evidence),
    }
}

/// Whether a check that passed did so before the last edit.
fn stale(check: Check, runs: &[&Run<'_>], evidence: &Evidence) -> Judged {
    let session = &evidence.session;
    let helped = runs.iter().any(|run| run.command.agent.is_some())
        || session.touches.iter().any(|touch| touch.agent.is_some());
    let Some(last) = runs.last().filter(|_| !helped) else { return Judged::Fine };
    let edits = session
        .done_touches()
        .filter(|touch| touch.at > last.command.at && is_source(&touch.path, session, evidence));
    // What is built has no tests in it.
    let mut edits = edits.filter(|touch| check != Check::Build || !is_test(&touch.path));
    let Some(edit) = edits.by_ref().last() else { return Judged::Fine };
    if doubts::may_have_been_done_unseen(session, edit.at, false) {
        return Judged::Fine;
    }
    let name = base_name(&edit.path);
    let (kind, noun) = match check {
        Check::Tests => (AdvisoryKind::StaleTests, "the tests"),
        Check::Build => (AdvisoryKind::StaleBuild, "the build"),
        Check::Lint => (AdvisoryKind::StaleLint, "the linter"),
        Check::Types => (AdvisoryKind::StaleLint, "the type check"),
        Check::Format => (AdvisoryKind::StaleLint, "the format check"),
    };
    let text = format!("{noun} ran last before {name} was changed: `{}`", shown(&last.command.line));
    Judged::Doubtful(kind, text.clone(), vec![text])
}

/// Whether a file is one that checks look at: code, inside the workspace, and not a plan.
fn is_source(path: &str, session: &Session, evidence: &Evidence) -> bool {
    let ending = base_name(path).rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_inside = !path.starts_with('/') || session.cwd.as_deref().is_none_or(|cwd| path.starts_with(cwd));
    let is_plan =
        evidence.plan.as_ref().and_then(|plan| plan.path.as_deref()).is_some_and(|plan| plan == path);
    SOURCES.contains(&ending) && is_inside && !is_plan && !path.contains("/.claude/")
}

fn is_test(path: &str) -> bool {
    let path = path.to_lowercase();
    path.contains("test") || path.contains("spec")
}

fn never_checked(check: Check, claim: &Said<'_>, runs: &[Run<'_>], session: &Session) -> Judged {
    if doubts::may_have_been_done_unseen(session, 0, true) {
        return Judged::Fine;
    }
    let (kind, noun) = match check {
        Check::Tests => (AdvisoryKind::UnrunTests, "tests are"),
        Check::Build => (AdvisoryKind::UnrunBuild, "the build is"),
        Check::Lint => (AdvisoryKind::UnrunLint, "the linter is"),
        Check::Types => (AdvisoryKind::UnrunLint, "the types are"),
        Check::Format => (AdvisoryKind::UnrunLint, "the format is"),
    };
    let said = if claim.step.is_some() { "run, by a ticked step" } else { "fine" };
    let hidden = runs.iter().rev().find(|run| run.deed == claim.deed && run.ended == Ended::Masked);
    let text = match hidden {
        Some(run) => format!(
            "{noun} said to be {said}, and `{}` can't fail, whatever they do",
            shown(&run.command.line)
        ),
        None => format!("{noun} said to be {said}, and nothing in this session ran such a check"),
    };
    Judged::Doubtful(kind, text.clone(), vec![text])
}

/// A commit, a push and so on that nothing in the session did.
fn never_done(claim: &Said<'_>, evidence: &Evidence) -> Judged {
    let session = &evidence.session;
    let may_be_one = session
        .commands
        .iter()
        .any(|command| !runs::was_refused(command) && doubts::may_be(command, claim.deed));
    if is_backed_otherwise(claim.deed, evidence)
        || may_be_one
        || doubts::may_have_been_done_unseen(session, 0, false)
    {
        return Judged::Fine;
    }
    // In a session that ran nothing at all the claim may be about an earlier one.
    if session.commands.is_empty() && session.touches.is_empty() {
        return Judged::Fine;
    }
    let what = noun(claim.deed);
    Judged::Wrong(Box::new(Finding {
        category: Category::A,
        status: Status::Confirmed,
        source: Source::Facts,
        problem: Problem::NoTrace,
        quote: claim.quote.to_owned(),
        path: None,
        why: format!("nothing in this session made {what}"),
        settle: format!("make {what}, or say that there is none"),
        verifier: format!("no command of the session makes {what}, and nothing else in it could have"),
        step: claim.step,
        evidence: Vec::new(),
    }))
}

/// Whether git, or the session, shows it though no command does.
fn is_backed_otherwise(deed: Deed, evidence: &Evidence) -> bool {
    let Some(repository) = &evidence.repository else { return false };
    let started = evidence.session.started.as_deref().and_then(|time| time.parse::<jiff::Timestamp>().ok());
    let committed_since = match (repository.last_commit, started) {
        (Some(commit), Some(started)) => commit >= started.as_second(),
        (Some(_), None) => true,
        (None, _) => false,
    };
    deed == Deed::Commit
        && (committed_since || (repository.last_commit.is_some() && repository.changed.is_empty()))
}

fn noun(deed: Deed) -> &'static str {
    match deed {
        Deed::Check(_) => "a run",
        Deed::Commit => "a commit",
        Deed::Push => "a push",
        Deed::PullRequest => "a pull request",
        Deed::Issue => "an issue",
        Deed::Deploy => "a deployment",
        Deed::Install => "an installation",
    }
}

fn failed(claim: &Said<'_>, command: &Command, how: &str) -> Finding {
    let line = shown(&command.line);
    Finding {
        category: Category::A,
        status: Status::Confirmed,
        source: Source::Facts,
        problem: Problem::FailedCommand,
        quote: claim.quote.to_owned(),
        path: None,
        why: format!("`{line}` {how}, and nothing like it succeeded after that"),
        settle: "make it succeed, or say that it does not".to_owned(),
        verifier: "the last such command of the session failed".to_owned(),
        step: claim.step,
        evidence: vec![format!("`{line}` {how}")],
    }
}

fn unrun(claim: &Said<'_>, text: &str, shown: Vec<String>) -> Finding {
    Finding {
        category: Category::A,
        status: Status::Confirmed,
        source: Source::Facts,
        problem: Problem::NoTrace,
        quote: claim.quote.to_owned(),
        path: None,
        why: text.to_owned(),
        settle: "run it, or say that it was not run".to_owned(),
        verifier: "no run in the session shows it".to_owned(),
        step: claim.step,
        evidence: shown,
    }
}

/// A command line on one line, cut to size.
fn shown(line: &str) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SHOWN_LINE {
        line
    } else {
        format!("{}…", line.chars().take(SHOWN_LINE).collect::<String>())
    }
}

#[cfg(test)]
mod tests;
