//! Adds tool calls and their results to the session. Pure.

use crate::client::row::{Block, Field, Row};
use crate::client::tool_call::{TaskChange, ToolCall};
use crate::client::tool_result::{REPORT_CAP, ToolResult};
use crate::paths::is_markdown;
use crate::session::builder::pending::{Call, CallResult};
use crate::session::builder::{Position, SessionBuilder};
use crate::session::file_history::change_of;
use crate::session::{
    Command, CommandEnd, Delegation, Original, OtherCall, Outcome, ReadFile, Session, Tail, Todo, Touch,
};
use crate::text::{first_part, start_and_end};

/// How much of one command line is kept.
const COMMAND_CAP: usize = 4 << 10;

impl SessionBuilder {
    pub(super) fn add_call(
        &mut self,
        block: &Block<'_>,
        message: Option<u64>,
        is_sidechain: bool,
        line_at: Option<u64>,
        position: Position,
    ) {
        let (Some(id), Some(name)) = (block.id.hash(), block.name.text()) else { return };
        if !self.seen.insert(id) {
            return;
        }
        let call = ToolCall::parse(&name, block);
        if !call.is_note() {
            self.session.last_call = position.at;
        }
        let is_newest = !is_sidechain && !self.was_overtaken(position);
        if is_newest {
            // Text before a call is not the final message.
            self.end_text(self.is_another_message(message));
            self.session.tail = Tail::OpenCall;
        }
        let call = self.session.add_call(call, &name, is_sidechain, line_at, position);
        match self.pending.take_early(id) {
            Some(result) => self.finish_call(Some(call), result, is_sidechain),
            None => self.pending.add_call(id, call, is_newest, position.at),
        }
    }

    /// Adds a result, which may come before its call. `structured` is the row's structured result
    /// for it.
    pub(super) fn add_result(
        &mut self,
        block: &Block<'_>,
        structured: Field<'_>,
        row: &Row<'_>,
        line_at: Option<u64>,
    ) {
        let Some(id) = block.tool_use_id.hash() else { return };
        let is_sidechain = self.is_sidechain(row);
        let call = self.pending.take_call(id);
        let time = match &call {
            None | Some(Call::Command(_)) => self.position(row).time,
            Some(_) => None,
        };
        let result = |call| CallResult {
            time,
            ..CallResult::new(&ToolResult::new(block, structured, row.slug), line_at, call)
        };
        match &call {
            // A second result of a recent call is ignored; it is not an early one.
            None if !self.seen.contains(id) => self.pending.add_early(id, result(None)),
            None | Some(Call::Other) => self.finish_call(call, CallResult::default(), is_sidechain),
            Some(_) => {
                let result = result(call.as_ref());
                self.finish_call(call, result, is_sidechain);
            }
        }
    }

    /// Completes a call with its result.
    fn finish_call(&mut self, call: Option<Call>, result: CallResult, is_sidechain: bool) {
        if !is_sidechain && !self.pending.any_open() && self.session.tail == Tail::OpenCall {
            self.session.tail = Tail::Result;
        }
        let session = &mut self.session;
        match call {
            Some(Call::Touch(index)) => session.end_touch(index, result.edit),
            Some(Call::Command(index)) => {
                let command = &mut session.commands[index];
                (command.end, command.output) = result.command;
                command.ended = result.time;
                // Its output needs masking, too.
                session.masked.commands = session.masked.commands.min(index);
            }
            Some(Call::Delegation(index)) => {
                let delegation = &mut session.delegations[index];
                (delegation.outcome, delegation.agent_id) = (result.outcome, result.report.agent_id);
                session.set_report(index, result.report.text);
            }
            Some(Call::Read { index, at, time }) => {
                let read = &mut session.reads[index];
                if read.text == Original::Unknown && result.read != Original::Unknown {
                    (read.text, read.at, read.time) = (result.read, at, time);
                }
            }
            Some(Call::Plan(plan)) => match result.plan {
                Some(approved) => self.approve_plan(approved.or(plan)),
                None => session.rejected_plans.extend(plan.text),
            },
            Some(Call::Tasks(change)) if result.outcome == Outcome::Done => {
                session.change_tasks(change, result.task_id);
            }
            Some(Call::Tasks(_) | Call::Other) | None => {}
        }
    }

    /// Adds the report of a subagent that worked in the background.
    pub(super) fn add_report(&mut self, agent_id: &str, report: &str) {
        let delegations = &self.session.delegations;
        if let Some(index) = delegations.iter().rposition(|one| one.agent_id.as_deref() == Some(agent_id)) {
            self.session.set_report(index, start_and_end(report, REPORT_CAP));
        }
    }
}

impl Session {
    /// Adds a call to the list of its kind; returns what its result completes.
    fn add_call(
        &mut self,
        call: ToolCall<'_>,
        name: &str,
        is_sidechain: bool,
        line_at: Option<u64>,
        Position { at, time }: Position,
    ) -> Call {
        // A subagent whose rows are in the main file has no other name.
        let agent = is_sidechain.then(|| "sidechain".to_owned());
        match call {
            ToolCall::Edit { tool, path, change } => {
                let (change, change_at) = change_of(change, line_at);
                let (outcome, original) = (Outcome::Unanswered, Original::Unknown);
                let touch = Touch { path, tool, at, time, outcome, original, agent, change, change_at };
                Call::Touch(push(&mut self.touches, touch))
            }
            ToolCall::Command(line) => {
                let (line, end) = (first_part(&line, COMMAND_CAP), CommandEnd::Unanswered);
                let (line, output, ended) = (line.into(), String::new(), None);
                let command = Command { line, at, time, ended, end, output, agent };
                Call::Command(push(&mut self.commands, command))
            }
            ToolCall::Read(path) => {
                let known = self.reads.iter().rposition(|read| read.path == path);
                let index = known.unwrap_or_else(|| {
                    push(&mut self.reads, ReadFile { path, at, time, text: Original::Unknown })
                });
                // The result matters if it may be the first complete text of a Markdown file.
                let read = &self.reads[index];
                let is_wanted = is_markdown(&read.path) && read.text == Original::Unknown;
                if is_wanted { Call::Read { index, at, time } } else { Call::Other }
            }
            // A subagent's own list, plan and helpers are not the session's.
            _ if is_sidechain => Call::Other,
            ToolCall::Delegation { description, agent_type } => {
                let (outcome, report, agent_id) = (Outcome::Unanswered, String::new(), None);
                let delegation = Delegation { description, agent_type, outcome, report, agent_id, at, time };
                Call::Delegation(push(&mut self.delegations, delegation))
            }
            ToolCall::Plan(plan) => Call::Plan(plan),
            ToolCall::Tasks(change) => Call::Tasks(change),
            ToolCall::TaskLook | ToolCall::NoFile => Call::Other,
            ToolCall::Other => {
                match self.other_calls.iter_mut().find(|call| call.tool == name) {
                    Some(known) => known.at = at,
                    None => self.other_calls.push(OtherCall { tool: name.to_owned(), at }),
                }
                Call::Other
            }
        }
    }

    fn end_touch(&mut self, index: usize, (outcome, original): (Outcome, Original)) {
        let touches = &mut self.touches;
        let path = touches[index].path.clone();
        let is_done = |touch: &Touch| touch.outcome == Outcome::Done && touch.path == path;
        let newest = touches.iter().rposition(is_done);
        if outcome != Outcome::Done {
            self.masked.touches = self.masked.touches.min(index);
            touches[index].forget_change();
        } else if let Some(newest) = newest {
            // Only the newest change of a file can be found on disk. For a plan the older ones
            // count, too.
            if !is_markdown(&path) {
                touches[index.min(newest)].forget_change();
            }
        } else {
            touches[index].original = original;
        }
        touches[index].outcome = outcome;
    }

    fn set_report(&mut self, index: usize, report: String) {
        self.delegations[index].report = report;
        self.masked.delegations = self.masked.delegations.min(index);
    }

    fn change_tasks(&mut self, change: TaskChange, new_id: Option<String>) {
        match change {
            TaskChange::SetAll(todos) => self.todos = todos,
            TaskChange::Create(text) => {
                self.todos.push(Todo { id: new_id, text, status: "pending".into() });
            }
            TaskChange::Update { id, status, .. } if status.as_deref() == Some("deleted") => {
                self.todos.retain(|todo| todo.id.as_ref() != Some(&id));
            }
            TaskChange::Update { id, status, subject } => {
                if let Some(todo) = self.todos.iter_mut().find(|todo| todo.id.as_ref() == Some(&id)) {
                    todo.status = status.unwrap_or_else(|| std::mem::take(&mut todo.status));
                    todo.text = subject.unwrap_or_else(|| std::mem::take(&mut todo.text));
                }
            }
        }
    }
}

/// Adds an entry to a list; returns its index.
fn push<T>(list: &mut Vec<T>, entry: T) -> usize {
    list.push(entry);
    list.len() - 1
}
