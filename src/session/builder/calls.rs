//! Calls on their way to a result: takes a call's block, gives what it is and what its result belongs to. Pure.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use serde::{Deserialize, Serialize};

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
            return;
        }
        let item = TodoInput::of(Some(raw));
        todos.push(Todo {
            id: item.id.owned(),
            text: item.content.owned().unwrap_or_default(),
            status: item.status.owned().unwrap_or_default(),
        });
    });
    todos
}
