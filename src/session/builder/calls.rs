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

<<<<<<< HEAD
use crate::client::json_scan::Raw;
use crate::client::row::{Field, record};
use crate::session::file_history::CHANGE_CAP;
use crate::session::seen_ids::AsItIs;
use crate::session::{Change, ChangeAt, EditTool, Recorded, Todo};

/// How many calls may wait for a result at once; beyond that the oldest are given up.
const MOST_WAITING: usize = 512;

/// What a tool is to a session, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// It changes a file.
    Edit(EditTool),
    /// It runs a command.
    Command,
    /// It reads a file.
    Read,
    /// It hands work to a subagent.
    Delegation,
    /// It asks for a plan to be approved.
    Plan,
    /// It sets the task list.
    Todos,
    /// It adds a task.
    TaskCreate,
    /// It changes a task.
    TaskUpdate,
    TaskLook,
    Other,
}

impl Tool {
    /// The tool of that name.
    pub fn named(name: &str) -> Self {
        match name {
            "Bash" | "PowerShell" => Self::Command,
            "Read" => Self::Read,
            "Agent" | "Task" => Self::Delegation,
            "ExitPlanMode" | "exit_plan_mode" => Self::Plan,
            "TodoWrite" => Self::Todos,
            "TaskCreate" => Self::TaskCreate,
            "TaskUpdate" => Self::TaskUpdate,
            "TaskList" | "TaskGet" => Self::TaskLook,
            name => EditTool::named(name).map_or(Self::Other, Self::Edit),
        }
    }

    /// Whether a result of it tells nothing but that it has come.
    pub fn is_idle(self) -> bool {
        matches!(self, Self::Read | Self::TaskLook | Self::Other)
    }

    /// Whether it is a note to itself, not a deed.
    pub(super) fn is_note(self) -> bool {
        matches!(self, Self::Todos | Self::TaskCreate | Self::TaskUpdate | Self::TaskLook)
    }
}

/// What a call's result belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Call {
    Touch(usize),
    Command(usize),
    Delegation(usize),
    /// Of a file whose text would be the first that is known of it, by its number from the start of
    /// the session.
    Read {
        number: usize,
        at: usize,
        time: Option<i64>,
    },
    Plan {
        text: Option<String>,
        path: Option<String>,
    },
    Todos(Vec<Todo>),
    TaskCreate(String),
    TaskUpdate {
        id: String,
        status: Option<String>,
        subject: Option<String>,
    },
    Other,
}

/// A call that waits for its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Waiting {
    call: Call,
    /// The agent itself waits for it. Once it has spoken again, nobody does.
    is_open: bool,
    /// Where in the session.
    at: usize,
}

/// All calls that wait, by the hash of their id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Calls {
    waiting: HashMap<u64, Waiting, BuildHasherDefault<AsItIs>>,
    /// How many of them the agent itself waits for.
    open: usize,
}

impl Calls {
    /// A call was made.
    pub(super) fn add(&mut self, id: u64, call: Call, is_open: bool, at: usize) {
        if self.waiting.len() >= MOST_WAITING
            && let Some(oldest) =
                self.waiting.iter().min_by_key(|(id, one)| (one.at, **id)).map(|(id, _)| *id)
        {
            self.answer(oldest);
        }
        self.open += usize::from(is_open);
        self.waiting.insert(id, Waiting { call, is_open, at });
    }

    /// Its result has come.
    pub(super) fn answer(&mut self, id: u64) -> Option<Call> {
        let answered = self.waiting.remove(&id)?;
        self.open -= usize::from(answered.is_open);
        Some(answered.call)
    }

    /// Whether a call waits for its result.
    pub(super) fn is_waiting(&self, id: u64) -> bool {
        self.waiting.contains_key(&id)
    }

    /// Whether a call's result belongs to nothing.
    pub(super) fn is_idle(&self, id: u64) -> bool {
        self.waiting.get(&id).is_some_and(|one| one.call == Call::Other)
    }

    /// Whether the row around a call's result does not matter. It names a plan, and a call that is
    /// not known may still turn out to be one.
    pub(super) fn wants_result_only(&self, id: u64) -> bool {
        self.waiting.get(&id).is_some_and(|one| !matches!(one.call, Call::Plan { .. }))
    }

    /// Whether the agent itself waits for any.
    pub(super) fn any_open(&self) -> bool {
        self.open > 0
    }

    /// Calls left unanswered before the agent spoke again were interrupted: nobody waits for them.
    pub(super) fn close_all(&mut self) {
        if self.open > 0 {
            self.waiting.values_mut().for_each(|one| one.is_open = false);
            self.open = 0;
        }
    }

    /// Commands have moved: `to` gives the new place of each, `None` for one that is gone.
    pub(super) fn renumber_commands(&mut self, to: impl Fn(usize) -> Option<usize>) {
        self.renumber(|call| match call {
            Call::Command(at) => to(at).map_or(Call::Other, Call::Command),
            other => other,
        });
    }

    /// Touches have moved.
    pub(super) fn renumber_touches(&mut self, to: impl Fn(usize) -> Option<usize>) {
        self.renumber(|call| match call {
            Call::Touch(at) => to(at).map_or(Call::Other, Call::Touch),
            other => other,
        });
    }

    /// Texts that wait with their calls.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.waiting.values().flat_map(|one| match &one.call {
            Call::Plan { text, .. } => text.iter().map(String::as_str).collect(),
            Call::Todos(todos) => todos.iter().map(|todo| todo.text.as_str()).collect(),
            Call::TaskCreate(text) => vec![text.as_str()],
            Call::TaskUpdate { subject, .. } => subject.iter().map(String::as_str).collect(),
            Call::Touch(_) | Call::Command(_) | Call::Delegation(_) | Call::Read { .. } | Call::Other => {
                Vec::new()
            }
        })
    }

    fn renumber(&mut self, new: impl Fn(Call) -> Call) {
        for one in self.waiting.values_mut() {
            one.call = new(std::mem::replace(&mut one.call, Call::Other));
        }
    }
}

record! {
    /// What a tool was called with.
    pub(super) ToolInput {
        file_path = b"file_path",
        notebook_path = b"notebook_path",
        /// A whole file's text.
        content = b"content",
        /// What an edit takes out.
        old_string = b"old_string",
        /// What it puts in.
        new_string = b"new_string",
        /// Several edits at once.
        edits = b"edits",
        /// A shell command.
        command = b"command",
        /// A subagent's title.
        description = b"description",
        /// A subagent's type.
        subagent_type = b"subagent_type",
        /// A plan's text.
        plan = b"plan",
        /// A plan's text under another name, seen once, in 2.1.12.
        plan_content = b"plan_content",
        /// A plan's file.
        plan_file_path = b"planFilePath",
        /// A task list.
        todos = b"todos",
        /// A task's words.
        subject = b"subject",
        /// A task's id.
        task_id = b"taskId",
        /// A task's state.
        status = b"status",
    }
}

impl ToolInput<'_> {
    /// The file that an edit is of.
    pub(super) fn path(&self) -> Option<String> {
        self.file_path.owned().or_else(|| self.notebook_path.owned())
    }
}

record! {
    /// One of the replacements of a `MultiEdit`.
    pub(super) EditInput {
        /// What it takes out.
        old_string = b"old_string",
        /// What it puts in.
        new_string = b"new_string",
    }
}

record! {
    /// One entry of a task list.
    pub(super) TodoInput {
        id = b"id",
        /// Its words.
        content = b"content",
        /// Its state.
        status = b"status",
    }
}

/// The texts that an edit takes out and puts in. Of several replacements in one call the last one counts; a whole file
/// takes nothing out. Where a text is missing or empty nothing can be told.
fn change_in<'a>(input: &ToolInput<'a>) -> Option<(Option<Raw<'a>>, Raw<'a>)> {
    let text = |field: Field<'a>| field.raw().filter(|raw| raw.is_text() && raw.json().len() > 2);
    if let Some(new) = text(input.content) {
        return Some((None, new));
    }
    let mut last = None;
    input.edits.each_item(|raw| {
        if raw.json().starts_with(b"{") {
            last = Some(EditInput::of(Some(raw)));
        }
    });
    let (old, new) = match last {
        Some(edit) => (edit.old_string, edit.new_string),
        None => (input.old_string, input.new_string),
    };
    Some((Some(text(old)?), text(new)?))
}

/// What an edit puts in the place of what: where the transcript says so, or, where its line is not as it stands there,
/// what it says.
pub(super) fn change_of(input: &ToolInput<'_>, line_at: Option<u64>) -> (Option<Change>, Option<ChangeAt>) {
    let Some((old, new)) = change_in(input) else { return (None, None) };
    if let Some(line_at) = line_at {
        let (old, new) = (old.map(|old| Recorded::of(old, line_at)), Recorded::of(new, line_at));
        return (None, Some(ChangeAt { old, new }));
    }
    let start = |raw: Raw<'_>| raw.start(CHANGE_CAP);
    let old = old.map_or(Some(String::new()), start);
    (old.zip(start(new)).map(|(old, new)| Change { old, new }), None)
}

/// The task list that a call sets.
pub(super) fn todos_of(input: &ToolInput<'_>) -> Vec<Todo> {
    let mut todos = Vec::new();
    input.todos.each_item(|raw| {
        if !raw.json().starts_with(b"{") {
=======
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
>>>>>>> trunk
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
                let line = first_part(&input.command.text().unwrap_or_default(), COMMAND_CAP);
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
