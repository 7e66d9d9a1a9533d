//! What is claimed of files against the disk: a file that is not there, that lacks the very thing it should hold,
//! that nothing has changed, or whose change is gone again. Pure. All of it is category A and confirmed; where a
//! doubt is left there is no finding.

use std::collections::{HashMap, HashSet};

use super::claimed::{Claim, How, claimed, says_all_is_done};
use super::doings::Doings;
use super::ordinary::{is_by_machine, is_reference};
use super::promises::{is_changed_by, is_put_into, promises};
use super::steps::{is_part_of_a_name, stand_in, written_as};
use crate::evidence::signs::Fate;
use crate::evidence::{Evidence, FileEvidence, FileState};
use crate::finding::{Category, Finding, Problem, Source, Status};
use crate::session::Outcome;
use crate::words::{base_name, has_any_words, names_file, normalised, padded};

/// Everything that is claimed of files and is not so. A file is told once, for the surest claim.
pub fn findings(evidence: &Evidence) -> Vec<Finding> {
    let claims = claimed(evidence);
    let doings = Doings::of(&evidence.session);
    let of_steps = evidence.files_of_steps();
    let mut told = HashSet::new();
    let mut findings = Vec::new();
    for claim in &claims {
        for file in files_of(claim, evidence, &of_steps) {
            let found = missing(claim, file, evidence, &doings)
                .or_else(|| lacking(claim, file, evidence, &doings))
                .or_else(|| undone(claim, file, evidence))
                .or_else(|| untouched(claim, file, evidence, &doings));
            if let Some(finding) = found
                && told.insert(file.name.as_str())
            {
                findings.push(finding);
            }
        }
    }
    findings.extend(lost(evidence, &mut told));
    findings
}

/// The files that a claim names.
fn files_of<'a>(
    claim: &Claim<'_>,
    evidence: &'a Evidence,
    of_steps: &HashMap<usize, Vec<&'a FileEvidence>>,
) -> Vec<&'a FileEvidence> {
    let is_named = |file: &&FileEvidence| claim.paths.iter().any(|path| written_as(path, &file.name));
    match claim.home.or(claim.step) {
        Some(step) => of_steps.get(&step.number).cloned().unwrap_or_default(),
        None => evidence.files.iter().filter(is_named).collect(),
    }
}

/// The paths in a claim's words that mean a file.
fn written<'a>(claim: &Claim<'a>, file: &FileEvidence) -> impl Iterator<Item = &'a str> {
    let name = file.name.clone();
    claim.paths.iter().map(String::as_str).filter(move |path| written_as(path, &name))
}

struct Found {
    problem: Problem,
    why: String,
    settle: String,
    verifier: &'static str,
    evidence: String,
}

fn finding(claim: &Claim<'_>, file: &FileEvidence, found: Found) -> Finding {
    Finding {
        category: Category::A,
        status: Status::Confirmed,
        source: Source::Facts,
        problem: found.problem,
        quote: claim.words.to_owned(),
        path: Some(file.name.clone()),
        why: found.why,
        settle: found.settle,
        verifier: found.verifier.to_owned(),
        step: claim.step.map(|step| step.number),
        evidence: vec![found.evidence],
    }
}

/// How a claim is told.
fn told(claim: &Claim<'_>) -> &'static str {
    match (claim.step.is_some(), claim.how) {
        (true, How::Ticked) => "the step is ticked",
        (true, How::Said) => "the step is said to be done",
        (true, How::Whole) => "all is said to be done",
        (false, How::Ticked) => "the task is ticked off",
        (false, _) => "the final message says so",
    }
}

fn or_take_back(claim: &Claim<'_>) -> &'static str {
    match (claim.step.is_some(), claim.how) {
        (true, How::Ticked) => "untick the step",
        (true, _) => "say that the step is open",
        (false, How::Ticked) => "open the task again",
        (false, _) => "take the claim back",
    }
}

/// The file is not there, was not removed or moved in the session, and stands nowhere else in the workspace.
fn missing(
    claim: &Claim<'_>,
    file: &FileEvidence,
    evidence: &Evidence,
    doings: &Doings<'_>,
) -> Option<Finding> {
    if file.state != (FileState::Missing { elsewhere: None }) {
        return None;
    }
    let name = &file.name;
    let is_promised = written(claim, file).any(|path| promises(claim.words, path));
    if !is_promised
        || doings.removed(name)
        || is_part_of_a_name(name, evidence)
        || stand_in(evidence, name).is_some()
        || is_by_machine(name)
        || doings.worked_elsewhere_on(name)
    {
        return None;
    }
    let was_there = file.was_changed();
    let found = Found {
        problem: Problem::MissingFile,
        why: format!("{}, and there is no {name}", told(claim)),
        settle: format!("create {name}, or {}", or_take_back(claim)),
        verifier: "no such file on disk; nothing in the session removed or moved it",
        evidence: if was_there {
            format!("{name}: the session wrote it, and it is gone")
        } else {
            format!("{name}: no such file")
        },
    };
    Some(finding(claim, file, found))
}

/// The file is there and lacks a name that the claim puts into it, and so does every other file of the session; or
/// it holds nothing at all.
fn lacking(
    claim: &Claim<'_>,
    file: &FileEvidence,
    evidence: &Evidence,
    doings: &Doings<'_>,
) -> Option<Finding> {
    if !file.signs.read_whole || doings.worked_elsewhere_on(&file.name) {
        return None;
    }
    let mut paths = written(claim, file);
    if file.signs.hollow && paths.any(|path| promises(claim.words, path)) {
        let found = Found {
            problem: Problem::MissingContent,
            why: format!("{}, and {} holds nothing but comments and white space", told(claim), file.name),
            settle: format!("write what belongs into {}, or {}", file.name, or_take_back(claim)),
            verifier: "the file is there and holds nothing",
            evidence: format!("{}: nothing but comments and white space", file.name),
        };
        return Some(finding(claim, file, found));
    }
    // To use a name elsewhere is not to put it where it belongs; to define it there may be.
    let defined_elsewhere = |name: &String| {
        evidence.files.iter().any(|other| {
            let is_unseen = !other.signs.read_whole && is_there(other);
            let is_defined = || other.signs.defines.contains(name) || is_unseen;
            other.was_changed() && other.name != file.name && is_defined()
        })
    };
    // Most files hold what belongs to them.
    let held_somewhere = |name: &String| file.signs.holds.contains(name) || defined_elsewhere(name);
    let lacks = claim.names.iter().find(|name| {
        let is_put = || written(claim, file).any(|path| is_put_into(claim.words, name, path));
        !held_somewhere(name) && (is_put() || is_all_it_says(claim, name))
    })?;
    let found = Found {
        problem: Problem::MissingContent,
        why: format!("{}, and {} does not hold `{lacks}`", told(claim), file.name),
        settle: format!("put `{lacks}` into {}, or {}", file.name, or_take_back(claim)),
        verifier: "the file does not hold it in any form, nor does another file of the session",
        evidence: format!("{}: no `{lacks}`", file.name),
    };
    Some(finding(claim, file, found))
}

/// Whether an item below "Tests in `a_test.go`:" says nothing but this name.
fn is_all_it_says(claim: &Claim<'_>, name: &str) -> bool {
    claim.home.is_some_and(|home| home.text.trim_end().ends_with(':'))
        && claim.words.trim_start_matches('`').starts_with(name)
}

fn is_there(file: &FileEvidence) -> bool {
    matches!(file.state, FileState::File { .. })
}

/// The session changed it, and what was there before is back.
fn undone(claim: &Claim<'_>, file: &FileEvidence, evidence: &Evidence) -> Option<Finding> {
    if file.signs.fate != Fate::Undone
        || claim.step.is_some_and(is_reference)
        || takes_back(evidence, &file.name)
    {
        return None;
    }
    let found = Found {
        problem: Problem::MissingContent,
        why: format!("{}, and the session's change of {} is no longer there", told(claim), file.name),
        settle: format!("make the change again, or {}", or_take_back(claim)),
        verifier: "what the session put into the file is not in it, and what was there before is back",
        evidence: format!("{}: the newest edit is undone", file.name),
    };
    Some(finding(claim, file, found))
}

/// What the session wrote and is gone again, where a claim speaks of it by its name alone ("documented in the README"),
/// or all is said to be done.
fn lost<'a>(evidence: &'a Evidence, told: &mut HashSet<&'a str>) -> Vec<Finding> {
    let message = evidence.session.final_message.as_deref().unwrap_or_default();
    let said = crate::claims::sentences(message);
    // Its own change of a file is what a session speaks of when it names it in the end, whatever the words.
    let spoken: Vec<&str> =
        if said.is_empty() { Vec::new() } else { crate::claims::all_sentences(message).collect() };
    let of_all =
        said.iter().find(|words| crate::claims::says_all_is_done(words) && says_all_is_done(evidence));
    let undone_files =
        evidence.files.iter().filter(|file| file.was_changed() && file.signs.fate == Fate::Undone);
    undone_files
        .filter_map(|file| {
            let stem = base_name(&file.name).split('.').next().filter(|stem| stem.len() > 3)?;
            let speaks_of_it = |words: &&&str| names_file(&words.to_lowercase(), &stem.to_lowercase());
            let words =
                said.iter().find(speaks_of_it).or_else(|| spoken.iter().find(speaks_of_it)).or(of_all)?;
            let claim = Claim {
                words,
                step: None,
                how: How::Said,
                paths: &[],
                names: Vec::new(),
                listed: false,
                changed: false,
                home: None,
            };
            undone(&claim, file, evidence).filter(|_| told.insert(file.name.as_str()))
        })
        .collect()
}

/// Words with which a message says that it took a change back.
const TAKEN_BACK: &[&str] = &[
    "back out", "backed out", "discard", "restor", "revert", "roll", "undid", "undo", "undone", "as it was",
    "as they were", "put back", "threw away", "throw away", "thrown away",
];

fn takes_back(evidence: &Evidence, name: &str) -> bool {
    let message = evidence.session.final_message.as_deref().unwrap_or_default();
    // A paragraph, since what is taken back and that it is are often said in two sentences.
    message.lines().any(|line| {
        let speaks_of_it = names_file(line, base_name(name)) || !line.contains('.');
        let line = line.to_lowercase();
        speaks_of_it && TAKEN_BACK.iter().any(|word| line.contains(word))
    })
}

/// Whether the message says that a file needed no change.
fn is_said_to_be_as_it_was(evidence: &Evidence, name: &str) -> bool {
    let message = evidence.session.final_message.as_deref().unwrap_or_default();
    crate::claims::all_sentences(message).any(|sentence| {
        let words = padded(&normalised(sentence));
        let says_so = ["already", "as is", "as it was", "no change", "unchanged", "untouched"];
        names_file(sentence, base_name(name)) && has_any_words(&words, &says_so)
    })
}

/// It is said to be changed, and neither the session nor anybody else has changed it.
fn untouched(
    claim: &Claim<'_>,
    file: &FileEvidence,
    evidence: &Evidence,
    doings: &Doings<'_>,
) -> Option<Finding> {
    if claim.how == How::Whole || !file.signs.is_unchanged() || !is_there(file) {
        return None;
    }
    let is_changed = claim.changed || written(claim, file).any(|path| is_changed_by(claim.words, path));
    if !is_changed || doings.worked_elsewhere_on(&file.name) {
        return None;
    }
    if is_said_to_be_as_it_was(evidence, &file.name) {
        return None;
    }
    let tried = file.touches.iter().any(|touch| matches!(touch.outcome, Outcome::Failed(_)));
    let found = Found {
        problem: Problem::NoTrace,
        why: format!("{}, and nothing has changed {}", told(claim), file.name),
        settle: format!("change {}, or {}", file.name, or_take_back(claim)),
        verifier: "no edit and no command of the session changed the file, and it is as it was before",
        evidence: if tried {
            format!("{}: every edit of it failed", file.name)
        } else {
            format!("{}: not touched, and unchanged since the session began", file.name)
        },
    };
    Some(finding(claim, file, found))
}
