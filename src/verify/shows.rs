//! What disk and session show of a finding, in one or two short lines. Takes a case, gives words. Must not
//! judge, and must not say more than was seen.

use super::case::Case;
use super::{commands, work};
use crate::evidence::FileState;
use crate::finding::{Category, Problem};
use crate::session::CommandEnd;

/// The lines for one proposal.
pub(super) fn lines(case: &Case<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    match (case.proposal.category, case.proposal.problem) {
        (Category::A, Problem::FailedCommand) => lines.extend(command_line(case)),
        (Category::D, _) => lines.extend(task_line(case)),
        _ => {}
    }
    lines.extend(file_line(case));
    if lines.is_empty()
        && let Some(step) = case.step
    {
        lines.push(format!("step {} is {:?} in the plan", step.number, step.mark).to_lowercase());
    }
    lines
}

fn command_line(case: &Case<'_>) -> Option<String> {
    let commands = &case.session().commands;
    let command = &commands[commands::last_run(commands, &case.proposal.needle)?];
    let end = match command.end {
        CommandEnd::Succeeded => "succeeded".to_owned(),
        CommandEnd::Failed(Some(code)) => format!("exit code {code}"),
        CommandEnd::Failed(None) => "failed".to_owned(),
        CommandEnd::Interrupted => "interrupted".to_owned(),
        CommandEnd::Background => "in the background".to_owned(),
        CommandEnd::Unanswered => "no result recorded".to_owned(),
    };
    Some(format!("`{}`, run last: {end}", work::short(&command.line)))
}

fn task_line(case: &Case<'_>) -> Option<String> {
    let mut todos = case.session().todos.iter();
    let todo = todos.find(|todo| super::quotes::stands_in(&case.proposal.quote, &todo.text))?;
    Some(format!("on the task list as {}", todo.status))
}

fn file_line(case: &Case<'_>) -> Option<String> {
    let look = case.look?;
    let state = match &look.state {
        FileState::File { bytes } => format!("on disk, {bytes} bytes"),
        FileState::Folder => "a folder on disk".to_owned(),
        FileState::Missing { elsewhere: None } => "not on disk".to_owned(),
        FileState::Missing { elsewhere: Some(there) } => format!("not there; {there} is"),
        FileState::Outside => "outside the workspace".to_owned(),
        FileState::Unreadable(why) => format!("can't be read ({why})"),
    };
    let touched = if work::changed(case.evidence, &look.name) { "changed" } else { "not changed" };
    Some(format!("{}: {state}, {touched} in this session", look.name))
}
