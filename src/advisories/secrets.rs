//! Secrets that a session wrote into files that git may track: takes its newest edits, gives deeds. Pure. Examples,
//! tests and documents hold made-up secrets, and files that are made for secrets are seldom tracked.

use super::Action;
use crate::evidence::Evidence;
use crate::finding::AdvisoryKind;
use crate::paths::{is_test, seen_from};
use crate::redact::{Masked, is_secret_file, mask, masked};
use crate::shell;
use crate::text::normalise::base_name;

/// Parts of names of files whose secrets are made up.
const MADE_UP: &[&str] = &[
    "demo", "doc", "docs", "dummy", "example", "examples", "fake", "fixture", "fixtures", "mock", "mocks",
    "sample", "samples", "seed", "template", "templates",
];

/// What stands on the line of a secret that is none.
const PLACEHOLDERS: &[&str] = &[
    "changeme", "change-me", "change_me", "demo", "dummy", "example", "fake", "local", "mock", "placeholder",
    "postgres:", "process.env", "replace", "sample", "test", "todo", "xxx", "your", "environ", "env(", "${",
    "<", "secrets.",
];

pub(super) fn deeds(evidence: &Evidence) -> Vec<Action> {
    let cwd = evidence.session.cwd.as_deref();
    evidence
        .session
        .done_touches()
        .filter_map(|touch| {
            let change = touch.change.as_ref()?;
            // Seldom is there one, and whether git tracks the file is a look at every command.
            let line = new_secret(&change.old, &change.new)?;
            let is_tracked = may_be_tracked(seen_from(cwd, &touch.path), evidence);
            is_tracked.then(|| Action {
                kind: AdvisoryKind::SecretWritten,
                shown: super::short(&format!("{}: {line}", seen_from(cwd, &touch.path))),
            })
        })
        .collect()
}

/// The first masked line with a secret that the old text lacked.
fn new_secret(old: &str, new: &str) -> Option<String> {
    let masked = match masked(new) {
        None if !new.contains("[masked:") => return None,
        masked => masked.unwrap_or_else(|| Masked { text: new.to_owned(), count: 0 }),
    };
    let (now, before) = (masked.text.matches("[masked:").count(), mask(old).text.matches("[masked:").count());
    if now <= before {
        return None;
    }
    let lines = masked.text.lines().zip(new.lines());
    let mut secret = lines.filter(|(shown, _)| shown.contains("[masked:")).filter(|(_, written)| {
        let written = written.to_lowercase();
        !old.to_lowercase().contains(&written) && !PLACEHOLDERS.iter().any(|word| written.contains(word))
    });
    secret.next().map(|(shown, _)| shown.trim().to_owned())
}

fn may_be_tracked(path: &str, evidence: &Evidence) -> bool {
    let mut parts = path.split(['/', '.', '-', '_']);
    if is_test(path)
        || parts.any(|part| MADE_UP.contains(&part.to_lowercase().as_str()))
        || base_name(path).rsplit('.').next() == Some("md")
    {
        return false;
    }
    let file = evidence.files.iter().find(|f| path == f.name || path.ends_with(&format!("/{}", f.name)));
    let is_outside = file.is_some_and(|file| file.state == crate::evidence::FileState::Outside);
    let differs =
        evidence.repository.as_ref().map(|git| git.changed.keys().any(|name| path.ends_with(name.as_str())));
    let committed = || {
        evidence.session.commands.iter().any(|c| {
            shell::simple_commands(&c.line).iter().any(|words| {
                words.first().is_some_and(|program| base_name(program) == "git")
                    && words.iter().any(|word| word == "commit")
            })
        })
    };
    if is_outside {
        return false;
    }
    match differs {
        Some(true) => true,
        // Neither changed nor committed in this session: git ignores it.
        Some(false) => !is_secret_file(path.as_ref()) && committed(),
        None => !is_secret_file(path.as_ref()),
    }
}
