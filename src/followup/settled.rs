//! Whether disk, session or plan settle a finding by themselves: takes the finding as it held and the evidence as it is now,
//! returns how it is settled. Pure, and reads no prose: what can't be told this way is for a reader.

use super::Held;
use crate::evidence::{Evidence, FileState};
use crate::finding::{Category, ClaimedIn, Kind};
use crate::plan::Mark;
use crate::session::CommandEnd;
use crate::session::shell::hides_exit_code;
use crate::words::{bare, normalised};

/// Returns how a finding is settled, if it is. `state` is what stands at its path now.
pub fn settled(held: &Held, state: Option<&FileState>, evidence: &Evidence, since: usize) -> Option<String> {
    by_disk(held, state)
        .or_else(|| by_command(held, evidence, since))
        .or_else(|| by_plan(held, evidence))
        .or_else(|| by_task_list(held, evidence))
}

fn by_disk(held: &Held, state: Option<&FileState>) -> Option<String> {
    let finding = &held.finding;
    let path = finding.path.as_deref().filter(|_| finding.kind == Kind::Missing)?;
    match state? {
        FileState::File { bytes } if *bytes > 0 => Some(format!("{path} is there now")),
        FileState::Folder => Some(format!("{path} is there now")),
        _ => None,
    }
}

/// A command that failed, or was not run, has succeeded since, by the very line that the finding quotes.
fn by_command(held: &Held, evidence: &Evidence, since: usize) -> Option<String> {
    let finding = &held.finding;
    if !matches!(finding.kind, Kind::Failed | Kind::NotRun) {
        return None;
    }
    let commands = &evidence.session.commands;
    let proof = bare(&finding.proof);
    let is_quoted = |line: &str, output: &str| {
        let (line, output) = (bare(line), bare(output));
        !proof.is_empty()
            && !line.is_empty()
            && (proof.contains(&line) || line.contains(&proof) || output.contains(&proof))
    };
    let failed = commands.iter().filter(|command| command.at <= since);
    let failed = failed.rev().find(|command| is_quoted(&command.line, &command.output))?;
    let line = normalised(&failed.line);
    let last = commands.iter().rfind(|command| command.at > since && normalised(&command.line) == line)?;
    let passed = last.end == CommandEnd::Succeeded && !hides_exit_code(&last.line);
    passed.then(|| format!("`{}` succeeded since", last.line.lines().next().unwrap_or_default()))
}

/// What the plan itself says now of the step that a finding quotes.
fn by_plan(held: &Held, evidence: &Evidence) -> Option<String> {
    let finding = &held.finding;
    let (then, plan) = (held.mark?, evidence.plan.as_ref()?);
    if finding.claimed_in != ClaimedIn::Plan {
        return None;
    }
    let words = bare(&finding.claim);
    let now = plan.steps.iter().find(|step| bare(&step.text).contains(&words))?;
    match (finding.category, now.mark) {
        (Category::A, Mark::None | Mark::Open) if then == Mark::Ticked => {
            Some("the step is no longer ticked".to_owned())
        }
        (Category::A | Category::C, Mark::Abandoned) => {
            Some("the plan marks the step as left out".to_owned())
        }
        _ => None,
    }
}

fn by_task_list(held: &Held, evidence: &Evidence) -> Option<String> {
    let finding = &held.finding;
    let words = bare(&finding.claim);
    let todos = &evidence.session.todos;
    let is_gone = finding.claimed_in == ClaimedIn::Tasks
        && !todos.is_empty()
        && !todos.iter().any(|todo| bare(&todo.text).contains(&words));
    is_gone.then(|| "it is no longer on the task list".to_owned())
}
