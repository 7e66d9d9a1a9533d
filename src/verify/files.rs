//! A file that was promised and is called missing. Pure. The disk decides whether it is there; the session,
//! whether it was taken away, put elsewhere or written under another name.

use super::case::Case;
use super::names::{self, line_names};
use super::{Judged, Look, elsewhere, over, reason, tables, work};
use crate::claims;
use crate::evidence::{Evidence, FileState};
use crate::facts::ordinary::GENERATED;
use crate::facts::promises::promises;
use crate::facts::steps;
use crate::plan::{Mark, Plan, Step};
use crate::session::shell;
use crate::words::{base_name, has_any_words, normalised, padded};

pub(super) fn judge(case: &Case<'_>) -> Judged {
    let Some(look) = case.look else { return Judged::cannot_verify("it names no file to look for") };
    match &look.state {
        FileState::File { .. } | FileState::Folder => Judged::refuted("the file exists"),
        FileState::Missing { elsewhere: Some(there) } => {
            Judged::refuted(format!("the file exists, at {there}"))
        }
        FileState::Outside => Judged::cannot_verify(reason::OUTSIDE),
        FileState::Unreadable(why) => Judged::cannot_verify(format!("the path can't be read ({why})")),
        FileState::Missing { elsewhere: None } => not_there(case, look),
    }
}

fn not_there(case: &Case<'_>, look: &Look) -> Judged {
    let (evidence, name) = (case.evidence, look.name.as_str());
    if elsewhere::worked_there(case) {
        return Judged::cannot_verify(reason::REMOTE);
    }
    if promising_step(case, name).is_none() && !is_claimed_file(case, name) {
        return Judged::cannot_verify("nobody promised a file of that name");
    }
    if steps::was_removed(&evidence.session, name) || was_cleaned_up(evidence, name) {
        return Judged::cannot_verify("scratch: the session removed or moved it on purpose");
    }
    if says_removed(case.message(), name) {
        return Judged::cannot_verify(
            "scratch: the final message says that it was removed, renamed or merged",
        );
    }
    if let Some(there) = &look.lives_on {
        return Judged::refuted(format!("the file lives on as {there}"));
    }
    if let Some(there) = steps::stand_in(evidence, name).or_else(|| stand_in(evidence, name)) {
        return Judged::cannot_verify(format!("the session wrote {there}, perhaps in its place"));
    }
    if was_put_aside(evidence, name) {
        return Judged::cannot_verify(
            "the session wrote it; git may hold it on another branch or in a stash",
        );
    }
    if is_built(evidence, name) {
        return Judged::cannot_verify("it is generated: what builds it can make it again");
    }
    if let Some((symbol, there)) =
        promising_step(case, name).and_then(|step| written_elsewhere(evidence, step))
    {
        return Judged::cannot_verify(format!(
            "the session wrote `{symbol}` in {there}, perhaps in its place"
        ));
    }
    Judged::confirmed("no such file on disk; nothing in the session removed or moved it")
}

/// The step that promises a file: the quoted one or, when all is said to be done, any that counts. That a plan
/// names it somewhere is no promise.
pub(super) fn promising_step<'a>(case: &Case<'a>, name: &str) -> Option<&'a Step> {
    let written = as_written(case, name);
    let promises_it = |step: &&Step| {
        steps::is_promised(step, name) || (step.text.contains(&written) && promises(&step.text, &written))
    };
    let counts = |step: &&Step| {
        let was_ticked_before =
            case.plan().is_some_and(|plan| step.mark == Mark::Ticked && !plan.ticked_now(step));
        step.mark != Mark::Abandoned
            && !was_ticked_before
            && over::says_plan_is_over(case.evidence, Some(step))
    };
    let any = || case.evidence.plan.iter().flat_map(Plan::promised).filter(promises_it).find(counts);
    case.step.filter(promises_it).or_else(any)
}

/// How a file is likely to be written: a folder with its slash.
fn as_written(case: &Case<'_>, name: &str) -> String {
    let folder = if case.proposal.path.trim_end().ends_with('/') { "/" } else { "" };
    format!("{}{folder}", base_name(name))
}

/// Whether the final message claims the file. Under "all done" a list or a table of files claims them, with no
/// verb of its own.
fn is_claimed_file(case: &Case<'_>, name: &str) -> bool {
    let (written, message) = (as_written(case, name), case.message());
    let is_over = over::says_plan_is_over(case.evidence, None);
    let claimed = claims::sentences(message).into_iter();
    let listed = claims::all_sentences(message).filter(|sentence| is_over && !over::is_to_come(sentence));
    claimed.chain(listed).any(|sentence| line_names(sentence, &written) && promises(sentence, &written))
}

/// Words for a file that is gone on purpose.
const GONE: &[&str] = &[
    "deleted", "dropped", "folded", "inlined", "merged", "moved", "removed", "renamed", "replaced",
    "temporary", "throwaway",
];

fn says_removed(message: &str, name: &str) -> bool {
    claims::all_sentences(message).any(|sentence| {
        let words = padded(&normalised(sentence));
        line_names(sentence, base_name(name)) && has_any_words(&words, GONE)
    })
}

/// Programs that clear away what they name, beside those that the shell has.
const CLEANERS: &[&str] = &["-delete", "del", "rimraf", "shred", "trash-put", "unlink"];

/// Whether a command that clears away names the file, or clears all that the session wrote.
fn was_cleaned_up(evidence: &Evidence, name: &str) -> bool {
    let cleaners = work::effects(&evidence.session).flat_map(|command| shell::simple_commands(&command.line));
    cleaners.into_iter().any(|words| {
        let has = |wanted: &str| words.iter().any(|word| base_name(word) == wanted);
        let line = words.join(" ");
        let names_it = line_names(&line, base_name(name)) || line_names(&line, &ending_glob(name));
        let clears_all = (has("git") && has("clean")) || (words.len() < 5 && has("clean"));
        (CLEANERS.iter().any(|cleaner| has(cleaner)) && names_it)
            || (clears_all && work::changed(evidence, name))
    })
}

/// `*.txt` for `notes.txt`.
fn ending_glob(name: &str) -> String {
    format!("*.{}", name.rsplit('.').next().unwrap_or_default())
}

/// A file that the session wrote and that is called alike, but for joints, plurals and marks of tests. One that
/// a step names itself is none.
fn stand_in<'a>(evidence: &'a Evidence, name: &str) -> Option<&'a str> {
    let unplanned = evidence.files.iter().filter(|file| {
        let is_there = matches!(file.state, FileState::File { .. } | FileState::Outside);
        file.steps.is_empty() && file.was_changed() && is_there
    });
    let mut written = unplanned.map(|file| file.name.as_str());
    written.find(|other| names::called_alike(other, name))
}

/// Whether the session wrote the file, and then a git command took the working tree elsewhere.
fn was_put_aside(evidence: &Evidence, name: &str) -> bool {
    const MOVERS: &[&str] = &["checkout", "reset", "restore", "revert", "stash", "switch", "worktree"];
    let touched = evidence.session.done_touches().filter(|touch| touch.path.ends_with(name));
    let Some(at) = touched.map(|touch| touch.at).max() else { return false };
    work::effects(&evidence.session).filter(|command| command.at >= at).any(|command| {
        shell::simple_commands(&command.line).iter().any(|words| {
            words.first().is_some_and(|program| program == "git")
                && words.iter().any(|word| MOVERS.contains(&word.as_str()))
        })
    })
}

/// Whether a program writes such a file, and one that may have done it ran.
fn is_built(evidence: &Evidence, name: &str) -> bool {
    let by_folder = name.split('/').rev().skip(1).any(|part| tables::GENERATED_FOLDERS.contains(&part));
    let is_generated = by_folder || GENERATED.iter().any(|end| name.ends_with(end));
    let is_builder =
        |line: &str| shell::check(line) == Some(shell::Check::Build) || shell::may_change_anything(line);
    is_generated && work::effects(&evidence.session).any(|command| is_builder(&command.line))
}

/// What the step names besides files, where all of it stands in files that no step names.
fn written_elsewhere<'a>(evidence: &'a Evidence, step: &'a Step) -> Option<(&'a str, &'a str)> {
    let mut found = step.symbols.iter().map(|symbol| {
        work::definer(evidence, symbol)
            .filter(|file| evidence.file(file).is_some_and(|file| file.steps.is_empty()))
            .map(|file| (symbol.as_str(), file))
    });
    let first = found.next()??;
    found.all(|other| other.is_some()).then_some(first)
}
