//! A tool call in an assistant's row: what kind of tool it is to a session, and its input. Must not
//! judge how the call ended.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::client::json_scan::Raw;
use crate::client::row::{Block, Field, record};

/// The tool that changed a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EditTool {
    /// A whole file.
    Write,
    /// One replacement.
    Edit,
    /// Several replacements at once (to 1.0.128).
    MultiEdit,
    /// A notebook's cell.
    NotebookEdit,
}

impl EditTool {
    /// Returns the client's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Write => "Write",
            Self::Edit => "Edit",
            Self::MultiEdit => "MultiEdit",
            Self::NotebookEdit => "NotebookEdit",
        }
    }
}

/// One entry of the session's own task list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// The client's id, if it has one.
    pub id: Option<String>,
    pub text: String,
    /// `pending`, `in_progress`, `completed`, …
    pub status: String,
}

/// A plan, as far as a call or its result names it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanText {
    pub text: Option<String>,
    /// Its file.
    pub path: Option<String>,
    /// The client's short name for it: the file is `<plans>/<slug>.md`.
    pub slug: Option<String>,
}

impl PlanText {
    /// Returns it with missing fields filled in from the other one.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            text: self.text.or(other.text),
            path: self.path.or(other.path),
            slug: self.slug.or(other.slug),
        }
    }
}

/// A change of the task list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskChange {
    SetAll(Vec<Todo>),
    Create(String),
    Update { id: String, status: Option<String>, subject: Option<String> },
}

/// A call, by what its tool means to a session.
#[derive(Debug)]
pub enum ToolCall<'a> {
    Edit {
        tool: EditTool,
        path: String,
        /// What is removed (nothing for a whole file) and what is inserted; the last of several
        /// replacements.
        change: Option<(Option<Raw<'a>>, Raw<'a>)>,
    },
    Command(Cow<'a, str>),
    Read(String),
    /// Work for a subagent.
    Delegation {
        description: String,
        agent_type: String,
    },
    /// A plan for the person to approve.
    Plan(PlanText),
    Tasks(TaskChange),
    TaskLook,
    /// An edit or a read that names no file.
    NoFile,
    Other,
}

record! {
    /// What a tool was called with.
    ToolInput {
        file_path = b"file_path",
        notebook_path = b"notebook_path",
        content = b"content",
        old_string = b"old_string",
        new_string = b"new_string",
        edits = b"edits",
        command = b"command",
        description = b"description",
        subagent_type = b"subagent_type",
        plan = b"plan",
        /// A plan's text under another name, seen once, in 2.1.12.
        plan_content = b"plan_content",
        plan_file_path = b"planFilePath",
        todos = b"todos",
        subject = b"subject",
        task_id = b"taskId",
        status = b"status",
    }
}

record! {
    /// One entry of a task list.
    TodoInput {
        id = b"id",
        content = b"content",
        status = b"status",
    }
}

impl<'a> ToolCall<'a> {
    /// Parses a block of the type `tool_use` with this tool's name.
    pub fn parse(name: &str, block: &Block<'a>) -> Self {
        let input = ToolInput::parse(block.input.raw());
        let text = |field: Field<'_>| field.owned().unwrap_or_default();
        let tool = match name {
            "Bash" | "PowerShell" => return Self::Command(input.command.text().unwrap_or_default()),
            "Read" => return input.file_path.owned().map_or(Self::NoFile, Self::Read),
            "Agent" | "Task" => {
                let (description, agent_type) = (text(input.description), text(input.subagent_type));
                return Self::Delegation { description, agent_type };
            }
            "ExitPlanMode" | "exit_plan_mode" => {
                let text = input.plan.owned().or_else(|| input.plan_content.owned());
                return Self::Plan(PlanText { text, path: input.plan_file_path.owned(), slug: None });
            }
            "TodoWrite" => return Self::Tasks(TaskChange::SetAll(input.todos())),
            "TaskCreate" => return Self::Tasks(TaskChange::Create(text(input.subject))),
            "TaskUpdate" => {
                let (status, subject) = (input.status.owned(), input.subject.owned());
                return Self::Tasks(TaskChange::Update { id: text(input.task_id), status, subject });
            }
            "TaskList" | "TaskGet" => return Self::TaskLook,
            "Write" => EditTool::Write,
            "Edit" => EditTool::Edit,
            "MultiEdit" => EditTool::MultiEdit,
            "NotebookEdit" => EditTool::NotebookEdit,
            _ => return Self::Other,
        };
        match input.file_path.owned().or_else(|| input.notebook_path.owned()) {
            Some(path) => Self::Edit { tool, path, change: input.change() },
            None => Self::NoFile,
        }
    }

    /// Returns whether it only changes or reads the agent's own notes.
    pub fn is_note(&self) -> bool {
        matches!(self, Self::Tasks(_) | Self::TaskLook)
    }
}

impl<'a> ToolInput<'a> {
    /// Returns what an edit removes and inserts; `None` if a text is missing or empty.
    fn change(&self) -> Option<(Option<Raw<'a>>, Raw<'a>)> {
        let text = |field: Field<'a>| field.raw().filter(|raw| raw.is_text() && raw.json().len() > 2);
        if let Some(new) = text(self.content) {
            return Some((None, new));
        }
        let last = self.edits.objects().pop().map(|edit| ToolInput::parse(Some(edit)));
        let edit = last.as_ref().unwrap_or(self);
        Some((Some(text(edit.old_string)?), text(edit.new_string)?))
    }

    fn todos(&self) -> Vec<Todo> {
        let todo = |raw| {
            let item = TodoInput::parse(Some(raw));
            let text = |field: Field<'_>| field.owned().unwrap_or_default();
            Todo { id: item.id.owned(), text: text(item.content), status: text(item.status) }
        };
        self.todos.objects().into_iter().map(todo).collect()
    }
}
