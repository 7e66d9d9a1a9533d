//! Takes session, plan, files and facts, gives the words that the auditor reads, each part within its share
//! of the prompt. Pure. Must not leave a file's name out, whatever becomes of its content.

use std::fmt::Write;

use super::budget::Budget;
use super::{Entered, FileEvidence, FileState, files_of_steps};
use crate::finding::{Finding, Status};
use crate::plan::{Mark, Plan};
use crate::session::{Command, CommandEnd, Delegation, Outcome, Session};

/// The parts of a prompt that do not depend on file contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sections {
    /// The plan as it stands.
    pub plan: String,
    /// What the person asked, in order.
    pub asks: String,
    /// The task list.
    pub todos: String,
    /// Commands and how they ended, the last ones first to stay.
    pub commands: String,
    /// What the agent says at the end.
    pub final_message: String,
}

impl Sections {
    /// How much of the prompt they take.
    pub fn bytes(&self) -> usize {
        [&self.plan, &self.asks, &self.todos, &self.commands, &self.final_message]
            .iter()
            .map(|part| part.len())
            .sum()
    }
}

/// Writes the parts, each with a share of `max_bytes` that it does not pass.
pub fn sections(session: &Session, plan: Option<&Plan>, max_bytes: usize) -> Sections {
    let mut budget = Budget::new(max_bytes);
    let final_message = session.final_message.as_deref().unwrap_or("(the agent ended without a word)");
    Sections {
        final_message: budget.end_of(final_message, max_bytes / 8).text,
        plan: budget.start_of(&plan_text(plan), max_bytes / 4).text,
        asks: asks_text(session, &mut budget, max_bytes / 8),
        todos: todos_text(session, &mut budget, max_bytes / 16),
        commands: commands_text(session, &mut budget, max_bytes / 8),
    }
}

fn plan_text(plan: Option<&Plan>) -> String {
    let Some(plan) = plan else { return "(no plan was in play)".to_owned() };
    let mut text = plan.text.trim_end().to_owned();
    if !plan.dropped.is_empty() {
        text.push_str("\n\n(These approved steps are no longer in the plan's file:)\n");
        for step in &plan.dropped {
            let _ = writeln!(text, "- {}", step.text);
        }
    }
    text
}

/// `none` where there is nothing.
fn or(text: String, none: &str) -> String {
    if text.is_empty() { none.to_owned() } else { text }
}

fn asks_text(session: &Session, budget: &mut Budget, max_bytes: usize) -> String {
    let newest = session.asks.iter().enumerate().rev();
    let newest = newest.map(|(at, ask)| format!("{}. {}\n", at + 1, ask.text));
    or(budget.newest_of(session.asks.len(), newest, max_bytes), "(none)")
}

fn todos_text(session: &Session, budget: &mut Budget, max_bytes: usize) -> String {
    let last = session.todos.iter().rev().map(|todo| format!("- [{}] {}\n", todo.status, todo.text));
    or(budget.newest_of(session.todos.len(), last, max_bytes), "(the session kept none)")
}

/// Each command on its own and how it ended, and what was handed on, the last ones first to stay.
fn commands_text(session: &Session, budget: &mut Budget, max_bytes: usize) -> String {
    let total = session.commands.len() + session.delegations.len();
    let newest = session.delegations.iter().rev().map(delegation_text);
    let newest = newest.chain(session.commands.iter().rev().map(command_text));
    or(budget.newest_of(total, newest, max_bytes), "(none)")
}

fn delegation_text(delegation: &Delegation) -> String {
    let end = match &delegation.outcome {
        Outcome::Done => "ended",
        Outcome::Failed(_) => "failed",
        Outcome::Unanswered => "no result recorded",
    };
    format!("subagent {} ({}) => {end}\n", delegation.description, delegation.agent_type)
}

/// A command with how it ended; of what a failed one printed, the end.
fn command_text(command: &Command) -> String {
    let end = match command.end {
        CommandEnd::Succeeded => "ok".to_owned(),
        CommandEnd::Failed(Some(code)) => format!("failed, exit code {code}"),
        CommandEnd::Failed(None) => "failed".to_owned(),
        CommandEnd::Interrupted => "interrupted".to_owned(),
        CommandEnd::Background => "sent to the background".to_owned(),
        CommandEnd::Unanswered => "no result recorded".to_owned(),
    };
    let by = command.agent.as_deref().map(|agent| format!(" (by {agent})")).unwrap_or_default();
    let mut text = format!("$ {}\n  => {end}{by}\n", command.line.trim());
    if matches!(command.end, CommandEnd::Failed(_)) {
        for line in command.output.lines().rev().take(6).collect::<Vec<_>>().into_iter().rev() {
            let _ = writeln!(text, "  | {line}");
        }
    }
    text
}

/// How much of a prompt is kept free for the tables of steps and facts.
pub fn tables_room(max_bytes: usize) -> usize {
    max_bytes / 8
}

/// For every step that names files, what the disk shows of them, within a quarter of the tables' room.
pub fn steps_table(plan: Option<&Plan>, files: &[FileEvidence], max_bytes: usize) -> String {
    let named = files_of_steps(files);
    let promised = || plan.iter().flat_map(|plan| plan.promised());
    let lines = promised().filter_map(|step| {
        let mark = match step.mark {
            Mark::None => "unmarked",
            Mark::Open => "open",
            Mark::Ticked => "ticked",
            Mark::Abandoned => "abandoned",
        };
        let shows = named.get(&step.number)?.iter().map(|file| format!("{} {}", file.name, on_disk(file)));
        Some(format!("- step {} ({mark}): {}\n", step.number, shows.collect::<Vec<_>>().join("; ")))
    });
    let total = promised().filter(|step| named.contains_key(&step.number)).count();
    or(table_room(max_bytes).first_of(total, lines, usize::MAX), "(no step names a file)")
}

/// What there is for one table.
fn table_room(max_bytes: usize) -> Budget {
    Budget::new(tables_room(max_bytes) / 4)
}

fn cut_table(text: &str, max_bytes: usize) -> String {
    table_room(max_bytes).start_of(text, usize::MAX).text
}

fn on_disk(file: &FileEvidence) -> String {
    let state = match &file.state {
        FileState::File { bytes } => format!("exists ({bytes} bytes)"),
        FileState::Folder => "is a folder".to_owned(),
        FileState::Missing { elsewhere: None } => "does not exist".to_owned(),
        FileState::Missing { elsewhere: Some(there) } => format!("is not there, but {there} exists"),
        FileState::Outside => "is outside the workspace".to_owned(),
        FileState::Unreadable(why) => format!("can't be read ({why})"),
    };
    let touched = if file.was_changed() { "changed in this session" } else { "not changed in this session" };
    format!("{state}, {touched}")
}

/// What the facts say with this status, as the auditor's starting point, within a quarter of the tables' room.
pub fn facts_table(findings: &[Finding], status: Status, max_bytes: usize) -> String {
    let lines: Vec<_> = findings
        .iter()
        .filter(|finding| finding.status == status)
        .map(|finding| {
            let quote =
                Some(&finding.quote).filter(|quote| !quote.is_empty()).map(|quote| format!(" \"{quote}\""));
            let path = finding.path.as_ref().map(|path| format!(" [{path}]"));
            let category = finding.category.name();
            format!("- {category}{}{}: {}", quote.unwrap_or_default(), path.unwrap_or_default(), finding.why)
        })
        .collect();
    if lines.is_empty() { "(none)".to_owned() } else { cut_table(&lines.join("\n"), max_bytes) }
}

/// For each later ask the start of its words and what happened after it, within a quarter of the tables' room.
pub fn aftermath_table(asks: &[(String, String)], max_bytes: usize) -> String {
    let lines: Vec<_> = asks
        .iter()
        .map(|(ask, after)| {
            let start: String =
                ask.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(ASK_SHOWN).collect();
            format!("- \"{start}\": {after}")
        })
        .collect();
    if lines.is_empty() {
        "(they spoke only once)".to_owned()
    } else {
        cut_table(&lines.join("\n"), max_bytes)
    }
}

/// How much of an ask is repeated beside what happened after it: enough to know it again.
const ASK_SHOWN: usize = 120;

/// Room for what is said of a file beside its name and its content.
pub const FILE_HEADER: usize = 260;

/// Every file with how it was touched and as much of its content as went in, within `max_bytes`.
pub fn files_text(files: &[FileEvidence], fence: &str, max_bytes: usize) -> String {
    let mut text = String::new();
    for file in files {
        let touches: Vec<_> = file
            .touches
            .iter()
            .map(|touch| {
                let end = match &touch.outcome {
                    Outcome::Done => "done".to_owned(),
                    Outcome::Failed(why) => format!("failed: {why}"),
                    Outcome::Unanswered => "no result recorded".to_owned(),
                };
                let by = touch.agent.as_deref().map(|agent| format!(" by {agent}")).unwrap_or_default();
                format!("{} {end}{by}", touch.tool)
            })
            .collect();
        let by_tools =
            if touches.is_empty() { "never by an edit tool".to_owned() } else { touches.join(", ") };
        let shown = match &file.entered {
            Entered::Whole => "whole content".to_owned(),
            Entered::Diff => "unified diff against what it was before the session".to_owned(),
            Entered::Cut(missing) => {
                format!("cut, {missing} bytes are not shown: do not judge what is not shown")
            }
            Entered::LeftOut(why) => format!("content not shown: {}", why.words()),
        };
        let _ = writeln!(
            text,
            "file: {}\non disk: {}\ntouched: {by_tools}\nshown: {shown}",
            file.name,
            on_disk(file)
        );
        if !file.text.is_empty() {
            let _ = writeln!(text, "<<{fence} content>>\n{}\n<<{fence} end content>>", file.text.trim_end());
        }
        text.push('\n');
    }
    if text.is_empty() {
        return "(no file was touched, and the plan names none)".to_owned();
    }
    Budget::new(max_bytes).start_of(text.trim_end(), usize::MAX).text
}
