//! What a tool is to a session, and what it was called with. Pure.

use crate::client::json_scan::Raw;
use crate::client::row::{Field, record};
use crate::session::file_history::CHANGE_CAP;
use crate::session::{Change, ChangeAt, EditTool, Recorded, Todo};

/// What a tool is to a session, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
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
    /// Returns the tool of that name.
    pub(super) fn named(name: &str) -> Self {
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

    /// Returns whether it only changes the agent's own notes.
    pub(super) fn is_note(self) -> bool {
        matches!(self, Self::Todos | Self::TaskCreate | Self::TaskUpdate | Self::TaskLook)
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
    /// Returns the file of an edit.
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

/// Returns the texts that an edit takes out and puts in; a whole file takes nothing out. Of several replacements in one
/// call the last one counts. `None` where a text is missing or empty.
fn change_in<'a>(input: &ToolInput<'a>) -> Option<(Option<Raw<'a>>, Raw<'a>)> {
    let text = |field: Field<'a>| field.raw().filter(|raw| raw.is_text() && raw.json().len() > 2);
    if let Some(new) = text(input.content) {
        return Some((None, new));
    }
    let mut last = None;
    input.edits.each_item(|raw| {
        if raw.json().starts_with(b"{") {
            last = Some(EditInput::parse(Some(raw)));
        }
    });
    let (old, new) = match last {
        Some(edit) => (edit.old_string, edit.new_string),
        None => (input.old_string, input.new_string),
    };
    Some((Some(text(old)?), text(new)?))
}

/// Returns what an edit puts in the place of what: the position in the transcript, or, where `line_at` is not known, the
/// texts.
pub(super) fn change_of(input: &ToolInput<'_>, line_at: Option<u64>) -> (Option<Change>, Option<ChangeAt>) {
    let Some((old, new)) = change_in(input) else { return (None, None) };
    if let Some(line_at) = line_at {
        let (old, new) = (old.map(|old| Recorded::new(old, line_at)), Recorded::new(new, line_at));
        return (None, Some(ChangeAt { old, new }));
    }
    let start = |raw: Raw<'_>| raw.start(CHANGE_CAP);
    let old = old.map_or(Some(String::new()), start);
    (old.zip(start(new)).map(|(old, new)| Change { old, new }), None)
}

/// Returns the task list that a call sets.
pub(super) fn todos_of(input: &ToolInput<'_>) -> Vec<Todo> {
    let mut todos = Vec::new();
    input.todos.each_item(|raw| {
        if !raw.json().starts_with(b"{") {
            return;
        }
        let item = TodoInput::parse(Some(raw));
        todos.push(Todo {
            id: item.id.owned(),
            text: item.content.owned().unwrap_or_default(),
            status: item.status.owned().unwrap_or_default(),
        });
    });
    todos
}
