//! A ticked item names a file that does not exist, never did, and that nothing in the session
//! removed, moved or put on another branch.

use super::{Known, TickedItem, fact, stem};
use crate::evidence::{Evidence, FileEvidence, FileState};
use crate::finding::{Finding, Kind};
use crate::paths::base_name;

pub(super) fn missing(known: &Known<'_>, item: &TickedItem, file: &FileEvidence) -> Option<Finding> {
    let is_missing = !names_a_pattern(&item.text)
        && is_plainly_a_file(&item.paths[0])
        && never_was(known, file)
        && !has_another_ending(known, &file.name);
    let why = format!("It is ticked, and {} does not exist.", file.name);
    let settle = "Create the file, or take the tick back.";
    is_missing.then(|| fact(item, Kind::Missing, Some(&file.name), "", why, settle))
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
fn has_another_ending(known: &Known<'_>, name: &str) -> bool {
    stem(name).is_some_and(|stem| known.changed_stems.contains(stem))
}

/// Whether a file does not exist, never did, and nothing in the session has to do with it.
fn never_was(known: &Known<'_>, file: &FileEvidence) -> bool {
    let is_missing = file.state == FileState::Missing { elsewhere: None };
    let is_untouched = file.touches.is_empty() && !file.was_changed();
    is_missing && is_untouched && !is_on_another_branch(known, file) && !is_in_a_command(known.evidence, file)
}

fn is_on_another_branch(known: &Known<'_>, file: &FileEvidence) -> bool {
    let repository = known.evidence.repository.as_ref();
    repository.is_some_and(|git| {
        known.committed.contains(file.name.as_str())
            || git.changed.contains_key(&file.name)
            || !git.stashes.is_empty()
    })
}

/// Whether a command may have made, moved, removed or shipped it: it names the file, or works
/// elsewhere.
fn is_in_a_command(evidence: &Evidence, file: &FileEvidence) -> bool {
    let name = base_name(&file.name);
    let stem = name.split('.').next().unwrap_or(name);
    evidence.session.commands.iter().any(|command| {
        let effects = command.may_have_effects();
        effects && (command.line.contains(stem) || command.line.works_elsewhere())
            || command.line.contains("worktree")
    })
}
