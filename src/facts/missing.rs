//! A ticked item names a file that does not exist, never did, and that nothing in the session
//! removed, moved or put on another branch.

use super::{TickedItem, fact};
use crate::evidence::{Evidence, FileEvidence, FileState};
use crate::finding::{Finding, Kind};
use crate::paths::base_name;

/// Returns the files that are missing.
pub(super) fn findings(evidence: &Evidence, ticked: &[TickedItem]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for item in ticked {
        // One that names several paths may name examples and old names beside what it promises.
        let [path] = item.paths.as_slice() else { continue };
        if names_a_pattern(&item.text) || !is_plainly_a_file(path) {
            continue;
        }
        let Some(file) = file_of(evidence, path) else { continue };
        let is_known = findings.iter().any(|known| known.path.as_deref() == Some(file.name.as_str()));
        if is_known || !never_was(evidence, file) || has_another_ending(evidence, &file.name) {
            continue;
        }
        let why = format!("It is ticked, and {} does not exist.", file.name);
        let settle = "Create the file, or take the tick back.";
        findings.push(fact(item, Kind::Missing, Some(&file.name), "", why, settle));
    }
    findings
}

fn file_of<'a>(evidence: &'a Evidence, path: &str) -> Option<&'a FileEvidence> {
    let plain = path.trim_start_matches("./");
    evidence.files.iter().find(|file| file.name == plain || file.name == path)
}

/// Whether a path has a folder and an extension, and only characters of paths. A bare name may be
/// of something that is made elsewhere; `app:src/a.ts` is a path in another place.
fn is_plainly_a_file(path: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '@' | '+');
    let name = base_name(path);
    path.contains('/')
        && !path.ends_with('/')
        && path.chars().all(is_plain)
        && name.rsplit_once('.').is_some_and(|(stem, _)| !stem.is_empty())
}

/// Whether an item has a pattern of paths in backticks: then a path beside it may be an example.
fn names_a_pattern(text: &str) -> bool {
    let mut spans = text.split('`').skip(1).step_by(2);
    spans.any(|span| span.contains('/') && span.contains(['*', '<', '{', '…']))
}

/// Whether the session changed a file of the same name with another extension: `src/retry.ts` is
/// the `src/retry.js` of the plan.
fn has_another_ending(evidence: &Evidence, name: &str) -> bool {
    let stem = |name: &str| name.rsplit_once('.').map(|(stem, _)| stem.to_owned());
    let wanted = stem(name);
    let is_there = |file: &FileEvidence| matches!(file.state, FileState::File { .. }) && file.was_changed();
    wanted.is_some() && evidence.files.iter().any(|file| is_there(file) && stem(&file.name) == wanted)
}

/// Whether a file does not exist, never did, and nothing in the session has to do with it.
fn never_was(evidence: &Evidence, file: &FileEvidence) -> bool {
    let is_missing = file.state == FileState::Missing { elsewhere: None };
    let is_untouched = file.touches.is_empty() && !file.was_changed();
    is_missing && is_untouched && !is_on_another_branch(evidence, file) && !is_in_a_command(evidence, file)
}

fn is_on_another_branch(evidence: &Evidence, file: &FileEvidence) -> bool {
    let repository = evidence.repository.as_ref();
    repository.is_some_and(|git| {
        git.has_committed(&file.name) || git.changed.contains_key(&file.name) || !git.stashes.is_empty()
    })
}

/// Whether a command may have made, moved, removed or shipped it: it names the file, or works
/// elsewhere.
fn is_in_a_command(evidence: &Evidence, file: &FileEvidence) -> bool {
    let name = base_name(&file.name);
    let stem = name.split('.').next().unwrap_or(name);
    evidence.session.commands.iter().any(|command| {
        let effects = command.may_have_effects();
        effects && (command.line.contains(stem) || command.parsed().works_elsewhere())
            || command.line.contains("worktree")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::FileChange;
    use crate::facts::ticked::ticked;
    use crate::testing::{evidence, missing, plan, session, shown};

    /// The paths that are called missing in a plan of this one step.
    fn missing_in(step: &str, files: Vec<FileEvidence>) -> Vec<String> {
        let evidence =
            Evidence { plan: Some(plan(&format!("- [x] {step}\n"))), files, ..evidence(session()) };
        let ticked = ticked(&evidence);
        findings(&evidence, &ticked).into_iter().filter_map(|finding| finding.path).collect()
    }

    #[test]
    fn a_ticked_step_with_a_file_that_never_was_is_found() {
        assert_eq!(missing_in("Create `src/retry.js`", vec![missing("src/retry.js")]), ["src/retry.js"]);
        let other = shown("src/retries.ts", "x");
        let files = vec![missing("src/retry.js"), FileEvidence { change: FileChange::Created, ..other }];
        assert_eq!(missing_in("Create `src/retry.js`", files), ["src/retry.js"]);
    }

    #[test]
    fn a_file_that_was_written_with_another_ending_is_not_missing() {
        let written = FileEvidence { change: FileChange::Created, ..shown("src/retry.ts", "x") };
        let step = "`src/retry.js` with backoff (as `.ts`, like the rest)";
        assert_eq!(missing_in(step, vec![missing("src/retry.js"), written]), [""; 0]);
    }

    #[test]
    fn a_path_beside_a_pattern_and_a_path_of_another_place_are_not_missing() {
        let step = "The tests (`test/**/*.test.js`) are like `path/to/your.test.js`";
        assert_eq!(missing_in(step, vec![missing("path/to/your.test.js")]), [""; 0]);
        assert_eq!(missing_in("`till:src/Total.tsx` shows it", vec![missing("till:src/Total.tsx")]), [""; 0]);
    }
}
