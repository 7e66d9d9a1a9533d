//! Adds tool calls and their results to the session. Pure.

use crate::client::row::Block;
use crate::paths::is_markdown;
use crate::session::builder::pending_calls::Call;
use crate::session::builder::tool::{Tool, ToolInput, change_of, todos_of};
use crate::session::builder::{Position, SessionBuilder};
use crate::session::results::{CallResult, EarlyResult, REPORT_CAP, ToolResult};
use crate::session::retention;
use crate::session::{
    Change, ChangeAt, Command, CommandEnd, Delegation, EditTool, Original, OtherCall, Outcome, ReadFile,
    Session, Tail, Todo, Touch,
};
use crate::text::first_part;
use crate::text::start_and_end;

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
        let tool = Tool::named(&name);
        if !tool.is_note() {
            self.session.last_call = position.at;
        }
        let is_newest = !is_sidechain && !self.was_overtaken(position);
        if is_newest {
            // Text before a call is not final.
            self.end_text(self.is_another_message(message));
        }
        let input = ToolInput::parse(block.input.raw());
        let call = match tool {
            Tool::Edit(tool) => match input.path() {
                Some(path) => self.add_touch(path, tool, change_of(&input, line_at), is_sidechain, position),
                None => Call::Other,
            },
            tool => self.add_other(tool, &name, &input, is_sidechain, position),
        };
        self.pending.add(id, call, is_newest, position.at);
        if is_newest {
            self.session.tail = Tail::OpenCall;
        }
        retention::trim_lists(&mut self.session, &mut self.sizes);
        if let Some(result) = self.early.take(id) {
            self.finish_call(id, &result, is_sidechain);
        }
    }

    /// Adds a call of any tool but those that edit files.
    fn add_other(
        &mut self,
        tool: Tool,
        name: &str,
        input: &ToolInput<'_>,
        is_sidechain: bool,
        position: Position,
    ) -> Call {
        let Position { at, time } = position;
        let session = &mut self.session;
        match tool {
            Tool::Command => {
                let line = first_part(&input.command.text().unwrap_or_default(), COMMAND_CAP).into();
                let (end, output, agent) =
                    (CommandEnd::Unanswered, String::new(), sidechain_name(is_sidechain));
                self.add_command(Command { line, at, time, end, output, agent })
            }
            Tool::Read => match input.file_path.text() {
                Some(path) => self.add_read(&path, position),
                None => Call::Other,
            },
            // A subagent's own list, plan and helpers are not the session's.
            _ if is_sidechain => Call::Other,
            Tool::Delegation => {
                session.delegations.push(Delegation {
                    description: input.description.owned().unwrap_or_default(),
                    agent_type: input.subagent_type.owned().unwrap_or_default(),
                    outcome: Outcome::Unanswered,
                    report: String::new(),
                    agent_id: None,
                    at,
                    time,
                });
                Call::Delegation(self.sizes.dropped_delegations + session.delegations.len() - 1)
            }
            Tool::Plan => Call::Plan {
                text: input.plan.owned().or_else(|| input.plan_content.owned()),
                path: input.plan_file_path.owned(),
            },
            Tool::Todos => Call::Todos(todos_of(input)),
            Tool::TaskCreate => Call::TaskCreate(input.subject.owned().unwrap_or_default()),
            Tool::TaskUpdate => Call::TaskUpdate {
                id: input.task_id.owned().unwrap_or_default(),
                status: input.status.owned(),
                subject: input.subject.owned(),
            },
            Tool::Edit(_) | Tool::TaskLook => Call::Other,
            Tool::Other => {
                match session.other_calls.iter_mut().find(|call| call.tool == name) {
                    Some(known) => known.at = at,
                    None => session.other_calls.push(OtherCall { tool: name.to_owned(), at }),
                }
                Call::Other
            }
        }
    }

    fn add_touch(
        &mut self,
        path: String,
        tool: EditTool,
        (change, change_at): (Option<Change>, Option<ChangeAt>),
        is_sidechain: bool,
        Position { at, time }: Position,
    ) -> Call {
        self.sizes.changes += change.as_ref().map_or(0, |change| change.old.len() + change.new.len());
        let (outcome, original, agent) =
            (Outcome::Unanswered, Original::Unknown, sidechain_name(is_sidechain));
        self.session.touches.push(Touch {
            path,
            tool,
            at,
            time,
            outcome,
            original,
            agent,
            change,
            change_at,
        });
        if let Some(moved) = retention::trim_touches(&mut self.session, &mut self.sizes) {
            self.pending.renumber_touches(|at| moved[at]);
        }
        Call::Touch(self.session.touches.len() - 1)
    }

    fn add_command(&mut self, command: Command) -> Call {
        self.sizes.commands += command.line.len();
        self.session.commands.push(command);
        if let Some(moved) = retention::trim_commands(&mut self.session, &mut self.sizes) {
            self.pending.renumber_commands(|at| moved[at]);
        }
        Call::Command(self.session.commands.len() - 1)
    }

    /// Adds a file that is read. The result matters where it may be the first whole text of a Markdown file.
    fn add_read(&mut self, path: &str, Position { at, time }: Position) -> Call {
        let reads = &mut self.session.reads;
        let index = reads.iter().rposition(|read| read.path == path).unwrap_or_else(|| {
            reads.push(ReadFile { path: path.to_owned(), at, time, text: Original::Unknown });
            reads.len() - 1
        });
        if is_markdown(path) && reads[index].text == Original::Unknown {
            Call::Read { number: self.sizes.dropped_reads + index, at, time }
        } else {
            Call::Other
        }
    }

    /// Adds a result, which may come before its call.
    pub(super) fn add_result(&mut self, result: &ToolResult<'_, '_>, is_sidechain: bool) {
        let Some(id) = result.block.tool_use_id.hash() else { return };
        // A second result of a recent call belongs to nothing, and is not an early one either.
        if self.pending.contains(id) || self.seen.contains(id) {
            self.finish_call(id, result, is_sidechain);
        } else {
            self.early.add(id, EarlyResult::new(result));
        }
    }

    /// Completes a call with its result.
    pub(super) fn finish_call(&mut self, id: u64, result: &impl CallResult, is_sidechain: bool) {
        let call = self.pending.take(id);
        if !is_sidechain && !self.pending.any_open() && self.session.tail == Tail::OpenCall {
            self.session.tail = Tail::Result;
        }
        let session = &mut self.session;
        match call {
            Some(Call::Touch(index)) => self.end_touch(index, result),
            Some(Call::Command(index)) => {
                let (end, output) = result.command();
                let command = &mut session.commands[index];
                self.sizes.commands += output.len();
                (command.end, command.output) = (end, output);
                // Its output has to be masked, too.
                session.masked.commands = session.masked.commands.min(index);
            }
            Some(Call::Delegation(number)) => {
                let index = number.checked_sub(self.sizes.dropped_delegations);
                if let Some(index) = index.filter(|index| *index < session.delegations.len()) {
                    let report = result.report();
                    session.delegations[index].outcome = result.outcome();
                    session.delegations[index].agent_id = report.agent_id;
                    self.set_report(index, report.text);
                }
            }
            Some(Call::Read { number, at, time }) => {
                let index = number.checked_sub(self.sizes.dropped_reads);
                let text = result.read();
                if let Some(read) = index.and_then(|index| session.reads.get_mut(index))
                    && read.text == Original::Unknown
                    && text != Original::Unknown
                {
                    (read.text, read.at, read.time) = (text, at, time);
                }
            }
            Some(Call::Plan { text, path }) => match result.plan() {
                Some((approved_text, approved_path)) => {
                    self.approve_plan(result.slug(), approved_text.or(text), approved_path.or(path));
                }
                None => session.rejected_plans.extend(text),
            },
            Some(Call::Todos(todos)) if result.outcome() == Outcome::Done => session.todos = todos,
            Some(Call::TaskCreate(text)) if result.outcome() == Outcome::Done => {
                session.todos.push(Todo { id: result.task_id(), text, status: "pending".into() });
            }
            Some(Call::TaskUpdate { id, status, subject }) if result.outcome() == Outcome::Done => {
                session.update_task(&id, status, subject);
            }
            _ => {}
        }
    }

    fn end_touch(&mut self, index: usize, result: &impl CallResult) {
        let touches = &mut self.session.touches;
        let path = touches[index].path.clone();
        let is_done = |touch: &Touch| touch.outcome == Outcome::Done && touch.path == path;
        let newest = touches.iter().rposition(is_done);
        let (outcome, original) = result.edit();
        if outcome != Outcome::Done {
            self.session.masked.touches = self.session.masked.touches.min(index);
            touches[index].forget_change();
        } else if let Some(newest) = newest {
            // Only the newest change of a file can be looked for on disk. For a plan the older ones count, too.
            if !is_markdown(&path) {
                touches[index.min(newest)].forget_change();
            }
        } else {
            touches[index].original = original;
        }
        touches[index].outcome = outcome;
    }

    /// Adds the report of a subagent that worked in the background.
    pub(super) fn add_report(&mut self, agent_id: &str, report: &str) {
        let delegations = &self.session.delegations;
        if let Some(index) = delegations.iter().rposition(|one| one.agent_id.as_deref() == Some(agent_id)) {
            self.set_report(index, start_and_end(report, REPORT_CAP));
        }
    }

    fn set_report(&mut self, index: usize, report: String) {
        self.sizes.reports += report.len();
        self.session.delegations[index].report = report;
        self.session.masked.delegations = self.session.masked.delegations.min(index);
        retention::trim_reports(&mut self.session, &mut self.sizes);
    }
}

/// Returns the name of a subagent whose rows are in the main file; it has no other.
fn sidechain_name(is_sidechain: bool) -> Option<String> {
    is_sidechain.then(|| "sidechain".to_owned())
}

impl Session {
    fn update_task(&mut self, id: &str, status: Option<String>, subject: Option<String>) {
        if status.as_deref() == Some("deleted") {
            self.todos.retain(|todo| todo.id.as_deref() != Some(id));
            return;
        }
        if let Some(todo) = self.todos.iter_mut().find(|todo| todo.id.as_deref() == Some(id)) {
            todo.status = status.unwrap_or_else(|| std::mem::take(&mut todo.status));
            todo.text = subject.unwrap_or_else(|| std::mem::take(&mut todo.text));
        }
    }
}
