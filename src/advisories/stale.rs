//! A check ran before the last edit and was not repeated, so its result is about older code.
//! Decided from the order of commands and edits alone.

use crate::evidence::Evidence;
use crate::paths::{is_document, is_generated, is_scratch, seen_from, without_shared_folders};
use crate::session::{Command, CommandEnd, Session, Touch};
use crate::shell::Action;

pub(super) fn tests(evidence: &Evidence, _: &[&Command]) -> Option<String> {
    stale_run(&evidence.session, Action::Test)
}

/// Tests build what they test.
pub(super) fn build(evidence: &Evidence, _: &[&Command]) -> Option<String> {
    let (tested, edit) = (last_run(&evidence.session, Action::Test), last_edit(&evidence.session)?);
    let is_tested = tested.is_some_and(|run| run.at > edit.at);
    if is_tested { None } else { stale_run(&evidence.session, Action::Build) }
}

pub(super) fn lint(evidence: &Evidence, _: &[&Command]) -> Option<String> {
    stale_run(&evidence.session, Action::Lint)
}

/// Returns the text shown for the last run of a check that succeeded before the last edit.
fn stale_run(session: &Session, check: Action) -> Option<String> {
    let edit = last_edit(session)?;
    let run = last_run(session, check)?;
    let is_stale = run.at < edit.at && run.end == CommandEnd::Succeeded;
    let path = seen_from(session.cwd.as_deref(), &edit.path);
    is_stale.then(|| format!("{} ran before the edit of {path}", run.line))
}

/// Returns the last edit of code.
fn last_edit(session: &Session) -> Option<&Touch> {
    let root = session.cwd.as_deref();
    let is_code = |touch: &&Touch| {
        let path = without_shared_folders(root, &touch.path);
        !is_document(path) && !is_generated(path) && !is_scratch(seen_from(root, &touch.path))
    };
    session.done_touches().rfind(is_code)
}

fn last_run(session: &Session, check: Action) -> Option<&Command> {
    session.commands.iter().rfind(|command| command.line.check() == Some(check))
}
