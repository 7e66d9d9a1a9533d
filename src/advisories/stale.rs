//! Checks that ran before the last edit and not again: "it passes" then speaks of something else. By the order of commands
//! and edits alone.

use super::{Action, short};
use crate::evidence::Evidence;
use crate::finding::AdvisoryKind;
use crate::paths::{is_document, is_generated, is_scratch, seen_from};
use crate::session::{Command, CommandEnd};
use crate::shell;
use crate::shell::Check;

pub(super) fn deeds(evidence: &Evidence) -> Vec<Action> {
    let session = &evidence.session;
    let root = session.cwd.as_deref();
    let is_code = |path: &str| !is_document(path) && !is_generated(path) && !is_scratch(path);
    let last_edit = session.done_touches().filter(|touch| is_code(seen_from(root, &touch.path))).last();
    let Some(edit) = last_edit else { return Vec::new() };
    let kinds = [
        (Check::Tests, AdvisoryKind::StaleTests),
        (Check::Build, AdvisoryKind::StaleBuild),
        (Check::Lint, AdvisoryKind::StaleLint),
    ];
    let stale = kinds.into_iter().filter_map(|(check, kind)| {
        let run = last_run(&session.commands, check)?;
        // Tests build what they test.
        let built_since = check == Check::Build && ran_since(&session.commands, Check::Tests, edit.at);
        let is_stale = run.at < edit.at && run.end == CommandEnd::Succeeded && !built_since;
        let shown = || short(&format!("{} ran before the edit of {}", run.line, seen_from(root, &edit.path)));
        is_stale.then(|| Action { kind, shown: shown() })
    });
    stale.collect()
}

fn ran_since(commands: &[Command], check: Check, at: usize) -> bool {
    last_run(commands, check).is_some_and(|run| run.at > at)
}

/// The newest run of a check.
fn last_run(commands: &[Command], wanted: Check) -> Option<&Command> {
    commands.iter().rfind(|command| shell::check(&command.line) == Some(wanted))
}
