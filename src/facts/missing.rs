//! A ticked item names a file that does not exist, never did, and that nothing in the session
//! removed, moved or put on another branch.

use jiff::Timestamp;

use super::{FactIndex, TickedItem, fact, stem};
use crate::evidence::{Evidence, FileEvidence, FileState};
use crate::finding::{Finding, Kind};
use crate::paths::base_name;
use crate::shell::{CommandLine, SimpleCommand};
use crate::workspace::git::Stash;

pub(super) fn missing(known: &FactIndex<'_>, item: &TickedItem, file: &FileEvidence) -> Option<Finding> {
    let is_missing = !names_a_pattern(&item.text)
        && is_plainly_a_file(&item.paths[0])
        && never_was(known, file)
        && !has_another_ending(known, &file.name);
    let why = format!("It is ticked, and {} does not exist.", file.name);
    let settle = "Create the file, or take the tick back.";
    is_missing.then(|| fact(item, Kind::Missing, Some(&file.name), "", why, settle))
}

/// Returns whether a path has a folder and an extension, and only path characters. A bare name may
/// refer to something created elsewhere; `app:src/a.ts` is a path in another place.
fn is_plainly_a_file(path: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '@' | '+');
    let name = base_name(path);
    path.contains('/')
        && !path.ends_with('/')
        && path.chars().all(is_plain)
        && name.rsplit_once('.').is_some_and(|(stem, _)| !stem.is_empty())
}

/// Returns whether an item has a path pattern in backticks, in which case a path beside it may be
/// an example.
fn names_a_pattern(text: &str) -> bool {
    let mut spans = text.split('`').skip(1).step_by(2);
    spans.any(|span| span.contains('/') && span.contains(['*', '<', '{', '…']))
}

/// Returns whether the session changed a file of the same name with another extension:
/// `src/retry.ts` is the plan's `src/retry.js`.
fn has_another_ending(known: &FactIndex<'_>, name: &str) -> bool {
    stem(name).is_some_and(|stem| known.changed_stems.contains(stem))
}

/// Returns whether a file does not exist, never did, and is not mentioned by anything in the
/// session.
fn never_was(known: &FactIndex<'_>, file: &FileEvidence) -> bool {
    let is_missing = file.state == FileState::Missing { elsewhere: None };
    let is_untouched = file.touches.is_empty() && !file.was_changed();
    is_missing && is_untouched && !is_on_another_branch(known, file) && !is_in_a_command(known.evidence, file)
}

fn is_on_another_branch(known: &FactIndex<'_>, file: &FileEvidence) -> bool {
    let repository = known.evidence.repository.as_ref();
    let began = known.evidence.session.started.as_deref().and_then(|time| time.parse::<Timestamp>().ok());
    // An older stash has nothing of this session's.
    let is_newer = |stash: &Stash| began.is_none_or(|began| stash.time >= began.as_second());
    repository.is_some_and(|git| {
        known.committed.contains(file.name.as_str())
            || git.changed.contains_key(&file.name)
            || git.stashes.iter().any(is_newer)
    })
}

/// Returns whether a command may have made, moved, removed or shipped it: it names the file, or
/// works elsewhere.
fn is_in_a_command(evidence: &Evidence, file: &FileEvidence) -> bool {
    let name = base_name(&file.name);
    let stem = name.split('.').next().unwrap_or(name);
    evidence.session.commands.iter().any(|command| {
        let effects = command.may_have_effects();
        effects && (has_word(&command.line, stem) || command.line.works_elsewhere())
            || uses_worktrees(&command.line)
    })
}

/// Whether a text has a word that is no part of a longer one: `make alphabeta` does not name
/// `beta`.
fn has_word(text: &str, word: &str) -> bool {
    let mut found = text.match_indices(word);
    found.any(|(at, _)| {
        let is_inner = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        !is_inner(text[..at].chars().next_back()) && !is_inner(text[at + word.len()..].chars().next())
    })
}

/// Whether a line works in other worktrees of the repository: it asks git for them, or goes to one.
fn uses_worktrees(line: &CommandLine) -> bool {
    let goes = |command: &&SimpleCommand| matches!(command.program(), "git" | "cd" | "pushd");
    let names = |command: &SimpleCommand| command.arguments().iter().any(|word| word.contains("worktree"));
    line.contains("worktree") && line.all().into_iter().filter(goes).any(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_of_their_own_and_commands_of_git_have_to_do_with_a_file() {
        assert!(has_word("touch notes/beta.txt", "beta") && has_word("gen --out=beta", "beta"));
        assert!(!has_word("make alphabeta", "beta") && !has_word("make betas", "beta"));
        for (line, uses) in [
            ("git worktree add ../b", true),
            ("cd a && git -C b worktree list", true),
            ("cd ../side-worktree && ls", true),
            ("ls worktree", false),
        ] {
            assert_eq!(uses_worktrees(&CommandLine::from(line)), uses, "{line}");
        }
    }
}
