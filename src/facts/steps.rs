//! A promised file that is not where it was promised: whether the session removed it, moved it, or wrote another
//! in its place. Pure.

use crate::evidence::{Evidence, FileState};
use crate::facts::glances::{Glance, glance};
use crate::facts::promises::promises;
use crate::plan::Step;
use crate::session::{Command, Session};

/// Whether a file that is there has a space in its name and this as a part of it: prose that says "write
/// docs/my notes.md" seems to name a `notes.md`.
pub(super) fn is_part_of_a_name(name: &str, evidence: &Evidence) -> bool {
    evidence
        .files
        .iter()
        .filter(|file| matches!(file.state, FileState::File { .. }) && file.name.contains(' '))
        .any(|file| file.name.split(' ').any(|part| part == name))
}

/// A file that the session wrote in place of a promised one, if it did: of the same name in another folder
/// (or another worktree), or of the same name with another ending. A file that a step names itself is none.
pub fn stand_in<'a>(evidence: &'a Evidence, name: &str) -> Option<&'a str> {
    let unplanned = evidence.files.iter().filter(|file| {
        let is_there = matches!(file.state, FileState::File { .. } | FileState::Outside);
        file.steps.is_empty() && file.was_changed() && is_there
    });
    let mut names = unplanned.map(|file| file.name.as_str());
    names.find(|other| *other != name && stem(other) == stem(name))
}

/// What a file is called without its ending. `auth/mod.rs` is called after its folder.
fn stem(path: &str) -> String {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.split('.').find(|part| !part.is_empty()).unwrap_or(file);
    let is_entry = matches!(stem, "mod" | "index" | "__init__" | "main");
    let called =
        if is_entry && !folder.is_empty() { folder.rsplit('/').next().unwrap_or(folder) } else { stem };
    called.to_lowercase()
}

/// Whether a step promises that a file is there. `name` is its name in the workspace, which a step can write
/// in other ways.
pub fn is_promised(step: &Step, name: &str) -> bool {
    step.paths.iter().filter(|path| written_as(path, name)).any(|path| promises(&step.text, path))
}

/// Whether a path as written means the file of that name in the workspace.
pub fn written_as(written: &str, name: &str) -> bool {
    let written = written.trim_start_matches("./").trim_end_matches('/');
    let is_below = |path: &str, end: &str| path.strip_suffix(end).is_some_and(|rest| rest.ends_with('/'));
    written == name || is_below(written, name) || is_below(name, written)
}

/// Paths that commands of the session removed or moved away, as written.
fn removed_paths(session: &Session) -> impl Iterator<Item = String> {
    session.commands.iter().flat_map(|command| removed_by(command, glance(&command.line)))
}

/// Those that one command removed or moved away, which was looked at. Few do, and that is seen at a glance.
pub(super) fn removed_by(command: &Command, glance: Glance) -> Vec<String> {
    if glance.removed.is_empty() || !command.may_have_effects() { Vec::new() } else { glance.removed }
}

/// Whether a command of the session removed or moved away that path, or a folder above it.
pub fn was_removed(session: &Session, name: &str) -> bool {
    removed_paths(session).any(|removed| names_same(&removed, name))
}

/// Whether `removed`, as written on a command line somewhere in the workspace, is `name` or above it. Read
/// generously: a doubt here must not become a finding.
pub(super) fn names_same(removed: &str, name: &str) -> bool {
    let removed = removed.trim_start_matches("./").trim_end_matches('/');
    if removed.is_empty() {
        return false;
    }
    if removed.contains(['*', '$', '{', '?', '[']) {
        return true;
    }
    let is_above = |above: &str, below: &str| {
        below == above || below.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
    };
    is_above(removed, name)
        || removed.ends_with(&format!("/{name}"))
        || name.ends_with(&format!("/{removed}"))
        || (removed.starts_with('/')
            && name.split('/').next().is_some_and(|top| removed.ends_with(&format!("/{top}"))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Command, CommandEnd};

    fn session_with(line: &str) -> Session {
        let command = Command {
            line: line.into(),
            at: 1,
            end: CommandEnd::Succeeded,
            output: String::new(),
            agent: None,
        };
        Session { commands: vec![command].into(), ..Session::default() }
    }

    #[test]
    fn a_promised_file_that_was_written_under_another_name_is_not_missing() {
        let found = |promised: &str, written: &str| {
            let plan = format!("- [x] Create `{promised}`\n- [x] Add tests to `{promised}`\n");
            let evidence = Evidence {
                plan: Some(crate::plan::Plan {
                    source: crate::plan::PlanSource::TouchedFile,
                    path: None,
                    steps: crate::plan::steps::parse_steps(&plan),
                    text: plan,
                    dropped: Vec::new(),
                    ticked_before: Vec::new(),
                }),
                session: Session::default(),
                files: vec![
                    file(promised, FileState::Missing { elsewhere: None }, &[1, 2]),
                    file(written, FileState::File { bytes: 1 }, &[]),
                ],
                deeds: Vec::new(),
                todo_paths: Vec::new(),
                repository: None,
            };
            crate::facts::files::findings(&evidence).len()
        };
        for (promised, written) in [
            ("src/app.js", "src/app.ts"),
            ("src/auth.rs", "src/auth/mod.rs"),
            ("test/x.test.ts", "tests/x.test.ts"),
            ("src/a.rs", "/other/worktree/src/a.rs"),
        ] {
            assert_eq!(found(promised, written), 0, "{promised} {written}");
        }
        assert_eq!(found("src/app.js", "src/other.js"), 1);
    }

    fn file(name: &str, state: FileState, steps: &[usize]) -> crate::evidence::FileEvidence {
        let note = crate::evidence::TouchNote {
            tool: "Write".into(),
            outcome: crate::session::Outcome::Done,
            agent: None,
        };
        crate::evidence::FileEvidence {
            name: name.into(),
            touches: if steps.is_empty() { vec![note] } else { Vec::new() },
            steps: steps.to_vec(),
            state,
            entered: crate::evidence::Entered::Whole,
            text: String::new(),
            masked: 0,
            digest: String::new(),
            signs: crate::evidence::Signs::default(),
        }
    }

    #[test]
    fn removals_are_seen_however_they_are_written() {
        for line in [
            "rm src/a.rs",
            "rm -rf src",
            "rm /w/src/a.rs",
            "git mv src/a.rs src/b.rs",
            "cd src && rm a.rs",
            "rm src/*",
        ] {
            assert!(was_removed(&session_with(line), "src/a.rs"), "{line}");
        }
        for line in ["rm src/b.rs", "rm rc/a.rs.bak", "cat src/a.rs", "mv x src/a.rs"] {
            assert!(!was_removed(&session_with(line), "src/a.rs"), "{line}");
        }
    }
}
