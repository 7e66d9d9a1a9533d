//! B: done, and the plan does not mention it. Did the session really change the file, and does really no step
//! cover it? Pure. A plan covers more than it names: folders, stems, symbols, the tests of what it names.

use super::case::Case;
use super::names::{self, is_test, same_path, subject_of_test};
use super::tables::{GENERATED_FOLDERS, GENERATED_WORDS, KINDS, MORE_COMPANIONS, ROOM_FOR_ALL};
use super::{Judged, reason, work};
use crate::evidence::{Entered, Evidence, FileEvidence, FileState};
use crate::facts::ordinary::{COMPANIONS, GENERATED};
use crate::plan::{Mark, Plan, Step};
use crate::session::Original;
use crate::words::{base_name, has_any_words, has_words, normalised, padded};

/// Up to so many lines a file that planned work uses is a helper of it.
const SMALL: usize = 40;

pub(super) fn judge(case: &Case<'_>) -> Judged {
    let Some(plan) = case.plan() else { return Judged::refuted(reason::NO_PLAN) };
    let Some(look) = case.look else { return Judged::cannot_verify("it names no file") };
    let (evidence, name) = (case.evidence, look.name.as_str());
    let Some(file) = work::file(evidence, name).filter(|file| file.was_changed()) else {
        return Judged::refuted("the session did not change it");
    };
    if !matches!(look.state, FileState::File { .. }) {
        return Judged::refuted("it is not there any more");
    }
    if plan.path.as_deref().is_some_and(|path| path.ends_with(&format!("/{name}")) || same_path(path, name)) {
        return Judged::refuted("it is the plan itself");
    }
    if is_generated(file) {
        return Judged::refuted("it is generated");
    }
    if is_as_before(evidence, file) {
        return Judged::refuted("it is as it was before the session");
    }
    if let Some(how) = covered(plan, file) {
        return Judged::refuted(how);
    }
    if evidence.session.asks.iter().any(|ask| speaks_of(&ask.text, name)) {
        return Judged::refuted("the person asked for it");
    }
    if COMPANIONS.contains(&base_name(name)) || MORE_COMPANIONS.contains(&base_name(name)) {
        return Judged::cannot_verify("it goes along with almost any work");
    }
    match perhaps_covered(plan, evidence, file) {
        Some(why) => Judged::cannot_verify(why),
        None => Judged::confirmed("the session changed it, and no step names it or its folder"),
    }
}

fn is_generated(file: &FileEvidence) -> bool {
    let by_folder = file.name.split('/').rev().skip(1).any(|part| GENERATED_FOLDERS.contains(&part));
    let start: String = file.text.lines().take(5).collect::<Vec<_>>().join("\n").to_lowercase();
    by_folder
        || GENERATED.iter().any(|end| file.name.ends_with(end))
        || GENERATED_WORDS.iter().any(|words| start.contains(words))
}

fn is_as_before(evidence: &Evidence, file: &FileEvidence) -> bool {
    let mut touches = evidence.session.done_touches();
    file.entered == Entered::Whole
        && file.masked == 0
        && touches.any(|touch| {
            touch.path.ends_with(&file.name) && touch.original == Original::Text(file.text.clone())
        })
}

/// How the plan covers a file, if it does.
fn covered(plan: &Plan, file: &FileEvidence) -> Option<String> {
    let name = file.name.as_str();
    if mentions(&plan.text, name) || plan.dropped.iter().any(|step| mentions(&step.text, name)) {
        return Some("the plan mentions it".into());
    }
    let by = |step: &Step, how: &str| format!("step {} of the plan covers it, {how}", step.number);
    let by_symbol = |step: &&Step| step.symbols.iter().any(|symbol| names::defines(&file.text, symbol));
    if let Some(step) = promised(plan).find(by_symbol) {
        return Some(by(step, "by what it names"));
    }
    if let Some(step) = promised(plan).find(|step| is_test(name) && speaks_of_tests(step)) {
        return Some(by(step, "which speaks of tests"));
    }
    let subject = subject_of_test(name).or_else(|| is_test(name).then(|| names::bare(names::stem(name))))?;
    let is_subject = |path: &String| names::root(&names::bare(names::stem(path))) == names::root(&subject);
    let tested = |step: &&Step| step.paths.iter().any(is_subject) || step.symbols.iter().any(is_subject);
    promised(plan).find(tested).map(|step| by(step, "whose work it tests"))
}

fn promised(plan: &Plan) -> impl Iterator<Item = &Step> {
    plan.promised().filter(|step| step.mark != Mark::Abandoned)
}

fn speaks_of_tests(step: &Step) -> bool {
    let words = padded(&normalised(&step.text));
    ["coverage", "spec", "specs", "test", "tested", "testing", "tests"]
        .iter()
        .any(|word| has_words(&words, word))
}

/// Whether a plan speaks of a file: by name, by stem, or by a folder above it that it names as a folder.
fn mentions(plan: &str, name: &str) -> bool {
    let mut folder = name;
    while let Some((above, _)) = folder.rsplit_once('/') {
        if names_folder(plan, above) {
            return true;
        }
        folder = above;
    }
    plan.lines().any(|line| speaks_of(line, name))
}

/// Whether a text names a folder itself: `src/`, `src/*`, `src/api` at the end of a path. A file in it does not.
fn names_folder(text: &str, folder: &str) -> bool {
    text.match_indices(folder).any(|(at, _)| {
        let before = &text[..at];
        let after = &text[at + folder.len()..];
        let is_whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-' || c == '.');
        let is_folder = after.strip_prefix('/').map_or_else(
            || folder.contains('/') && !after.starts_with(|c: char| c.is_alphanumeric() || "_-.".contains(c)),
            |rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.'),
        );
        is_whole && is_folder
    })
}

/// Whether a text speaks of a file: by name or by stem.
fn speaks_of(text: &str, name: &str) -> bool {
    let stem_words = normalised(names::stem(name));
    names::line_names(text, base_name(name))
        || (stem_words.len() > 3 && has_words(&padded(&normalised(text)), &stem_words))
        || work::is_called_like(name, text)
}

/// Why a plan may well cover a file, if it may.
fn perhaps_covered(plan: &Plan, evidence: &Evidence, file: &FileEvidence) -> Option<String> {
    let name = file.name.as_str();
    let is_kind = |signs: &[&str]| {
        signs
            .iter()
            .any(|sign| name.ends_with(sign) || name.starts_with(sign) || name.contains(&format!("/{sign}")))
    };
    let says = |step: &Step, words: &[&str]| {
        let said = padded(&normalised(&step.text));
        has_any_words(&said, words)
    };
    let kinds: Vec<_> = KINDS.iter().filter(|(signs, _)| is_kind(signs)).collect();
    let by_kind = |step: &&Step| kinds.iter().any(|(_, words)| says(step, words));
    if let Some(step) = promised(plan).find(by_kind) {
        return Some(format!("step {} speaks of such files", step.number));
    }
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_telling = !folder.is_empty() && !ROOM_FOR_ALL.contains(&folder);
    let is_beside = |path: &String| path.rsplit_once('/').is_some_and(|(beside, _)| beside == folder);
    if let Some(step) = promised(plan).find(|step| is_telling && step.paths.iter().any(is_beside)) {
        return Some(format!("step {} works in its folder", step.number));
    }
    let stem = names::stem(name);
    let is_small = file.text.lines().count() <= SMALL && matches!(file.entered, Entered::Whole);
    let mut planned = evidence.files.iter().filter(|other| !other.steps.is_empty() && other.was_changed());
    let uses_it = |other: &FileEvidence| stem.len() > 2 && names::line_names(&other.text, stem);
    planned.find(|other| is_small && uses_it(other)).map(|other| format!("a small helper of {}", other.name))
}
