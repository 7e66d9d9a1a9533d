//! A secret was written to a file that git may track. Examples, tests and documents contain made-up
//! secrets, and files meant for secrets are seldom tracked.

use crate::evidence::{Evidence, FileState};
use crate::paths::{is_markdown, is_test, seen_from, without_shared_folders};
use crate::redact::{is_secret_file, mask};
use crate::session::Command;

/// Parts of paths to files whose secrets are made up.
const MADE_UP: &[&str] = &[
    "demo", "doc", "docs", "dummy", "example", "examples", "fake", "fixture", "fixtures", "mock", "mocks",
    "sample", "samples", "seed", "template", "templates",
];

/// Words on a line that only looks like a secret.
const PLACEHOLDERS: &[&str] = &[
    "changeme", "change-me", "change_me", "demo", "dummy", "example", "fake", "local", "mock", "placeholder",
    "postgres:", "process.env", "replace", "sample", "test", "todo", "xxx", "your", "environ", "env(", "${",
    "<", "secrets.",
];

pub(super) fn find(evidence: &Evidence, _: &[&Command]) -> Option<String> {
    let root = evidence.session.cwd.as_deref();
    let mut shown = evidence.session.done_touches().filter_map(|touch| {
        let change = touch.change.as_ref()?;
        let line = new_secret(&change.old, &change.new)?;
        may_be_tracked(without_shared_folders(root, &touch.path), evidence)
            .then(|| format!("{}: {line}", seen_from(root, &touch.path)))
    });
    shown.next_back()
}

/// Returns whether any edit wrote what looks like a secret.
pub(super) fn has_secret(evidence: &Evidence) -> bool {
    let mut changes = evidence.session.done_touches().filter_map(|touch| touch.change.as_ref());
    changes.any(|change| new_secret(&change.old, &change.new).is_some())
}

/// Returns the first masked line with a secret that the old text lacked.
fn new_secret(old: &str, new: &str) -> Option<String> {
    let masked = mask(new).text;
    let secrets = |text: &str| text.matches("[masked:").count();
    if secrets(&masked) == 0 || secrets(&masked) <= secrets(&mask(old).text) {
        return None;
    }
    let old = old.to_lowercase();
    let mut lines = masked.lines().zip(new.lines()).filter(|(shown, _)| shown.contains("[masked:"));
    let secret = lines.find(|(_, written)| {
        let written = written.to_lowercase();
        !old.contains(&written) && !PLACEHOLDERS.iter().any(|word| written.contains(word))
    });
    secret.map(|(shown, _)| shown.trim().to_owned())
}

fn may_be_tracked(path: &str, evidence: &Evidence) -> bool {
    let mut parts = path.split(['/', '.', '-', '_']);
    if is_test(path) || is_markdown(path) || parts.any(|part| MADE_UP.contains(&part.to_lowercase().as_str()))
    {
        return false;
    }
    let file = evidence.files.iter().find(|f| path == f.name || path.ends_with(&format!("/{}", f.name)));
    if file.is_some_and(|file| file.state == FileState::Outside) {
        return false;
    }
    let differs =
        evidence.repository.as_ref().map(|git| git.changed.keys().any(|name| path.ends_with(name.as_str())));
    match differs {
        Some(true) => true,
        // Neither changed nor committed in this session, so git ignores it.
        Some(false) => !is_secret_file(path.as_ref()) && has_committed(evidence),
        None => !is_secret_file(path.as_ref()),
    }
}

fn has_committed(evidence: &Evidence) -> bool {
    let mut commands = evidence.session.commands.iter();
    commands.any(|command| command.line.commands().iter().any(|it| matches!(it.git(), Some(("commit", _)))))
}
