//! Takes a transcript's rows in file order, gives the [`Session`]. Pure. Must not follow parent chains (they
//! are broken or cyclic in real files), nor trust the order of timestamps (they go back in most).

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::asks::{Prompt, persons_words, prompt_of};
use super::lines::{Block, Content, Lenient, LenientText, Message, Row, is_idle, read};
use super::results::ToolResult;
use super::{
    ApprovedPlan, Ask, Change, Command, CommandEnd, Delegation, EditTool, Original, OtherCall, Outcome,
    Session, Tail, Todo, Touch,
};
use crate::text::{first_part, last_part};
use crate::words::is_markdown;

/// Whose transcript this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The session's own. Sidechain rows in it are a subagent's (to 1.0.108).
    Main,
    /// A subagent's own file: all rows are sidechain rows, and its first prompt is the main agent's.
    Subagent,
}

/// How much of one ask, one command line and one final message is kept.
const ASK_CAP: usize = 16 << 10;
const COMMAND_CAP: usize = 4 << 10;
/// How much is kept of what an edit took out and put in, each.
const CHANGE_CAP: usize = 8 << 10;
pub(super) const MESSAGE_CAP: usize = 64 << 10;

/// A call that waits for its result: which entry the result belongs to.
#[derive(Debug)]
enum Call {
    Touch(usize),
    Command(usize),
    Delegation(usize),
    Plan { text: Option<String>, path: Option<String> },
    Todos(Vec<Todo>),
    TaskCreate(String),
    TaskUpdate { id: String, status: Option<String>, subject: Option<String> },
    Other,
}

/// A session in the making.
#[derive(Debug)]
pub struct Ledger {
    role: Role,
    session: Session,
    calls: HashMap<String, Call>,
    /// Calls of the agent itself since its last words that still wait for a result.
    open: HashSet<String>,
    seen_rows: HashSet<String>,
    files_changed: HashMap<String, usize>,
    files_read: HashSet<String>,
    /// The message to which the newest words belong: its parts are rows of their own.
    words_of: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ToolInput<'a> {
    #[serde(borrow)]
    file_path: LenientText<'a>,
    #[serde(borrow)]
    notebook_path: LenientText<'a>,
    #[serde(borrow)]
    content: LenientText<'a>,
    #[serde(borrow)]
    old_string: LenientText<'a>,
    #[serde(borrow)]
    new_string: LenientText<'a>,
    #[serde(borrow)]
    edits: Lenient<Vec<Lenient<EditInput<'a>>>>,
    #[serde(borrow)]
    command: LenientText<'a>,
    #[serde(borrow)]
    description: LenientText<'a>,
    #[serde(borrow)]
    subagent_type: LenientText<'a>,
    #[serde(borrow)]
    plan: LenientText<'a>,
    /// A plan's text under another name, seen once, in 2.1.12.
    #[serde(borrow)]
    plan_content: LenientText<'a>,
    #[serde(borrow, rename = "planFilePath")]
    plan_file_path: LenientText<'a>,
    #[serde(borrow)]
    todos: Lenient<Vec<Lenient<TodoInput<'a>>>>,
    #[serde(borrow)]
    subject: LenientText<'a>,
    #[serde(borrow, rename = "taskId")]
    task_id: LenientText<'a>,
    #[serde(borrow)]
    status: LenientText<'a>,
}

/// One of the replacements of a `MultiEdit`.
#[derive(Deserialize, Default)]
#[serde(default)]
struct EditInput<'a> {
    #[serde(borrow)]
    old_string: LenientText<'a>,
    #[serde(borrow)]
    new_string: LenientText<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TodoInput<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    content: LenientText<'a>,
    #[serde(borrow)]
    status: LenientText<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow, rename = "planFilePath")]
    plan_file_path: LenientText<'a>,
    #[serde(borrow, rename = "planContent")]
    plan_content: LenientText<'a>,
    #[serde(borrow, rename = "commandMode")]
    command_mode: LenientText<'a>,
    #[serde(borrow)]
    prompt: Option<&'a serde_json::value::RawValue>,
}

fn owned(text: &LenientText<'_>) -> Option<String> {
    text.get().map(String::from)
}

impl Ledger {
    /// An empty one.
    pub fn new(role: Role) -> Self {
        Self {
            role,
            session: Session::default(),
            calls: HashMap::new(),
            open: HashSet::new(),
            seen_rows: HashSet::new(),
            files_changed: HashMap::new(),
            files_read: HashSet::new(),
            words_of: None,
        }
    }

    /// A line was not JSON.
    pub fn skip_unreadable(&mut self) {
        self.session.skipped.unreadable += 1;
    }

    /// A line was too long to hold.
    pub fn skip_oversized(&mut self) {
        self.session.skipped.oversized += 1;
    }

    /// A line had bytes that are not UTF-8.
    pub fn skip_repaired(&mut self) {
        self.session.skipped.repaired += 1;
    }

    /// A look at the session as it stands.
    pub fn peek(&self) -> &Session {
        &self.session
    }

    /// When the newest row was written, in the client's words.
    pub fn last_time(&self) -> Option<&str> {
        self.session.ended.as_deref()
    }

    /// The session, done with.
    pub fn into_session(self) -> Session {
        self.session
    }

    /// Takes in one row.
    pub fn fold(&mut self, row: &Row<'_>) {
        let Some(kind) = row.kind.get() else {
            self.session.skipped.unknown += 1;
            return;
        };
        if !matches!(kind, "user" | "assistant" | "attachment") {
            if !is_idle(kind) {
                self.session.skipped.unknown += 1;
            }
            return;
        }
        // A resumed or forked session can hold a row twice.
        if let Some(uuid) = row.uuid.get()
            && !self.seen_rows.insert(uuid.to_owned())
        {
            return;
        }
        self.session.rows += 1;
        if let Some(time) = row.timestamp.get() {
            self.session.ended = Some(time.to_owned());
        }
        let session = &mut self.session;
        for (field, value) in [
            (&mut session.id, &row.session_id),
            (&mut session.cwd, &row.cwd),
            (&mut session.version, &row.version),
            (&mut session.started, &row.timestamp),
        ] {
            if field.is_none() {
                *field = owned(value);
            }
        }
        match kind {
            "assistant" => self.fold_assistant(row),
            "user" => self.fold_user(row),
            _ => self.fold_attachment(row),
        }
    }

    /// Whether a row is some subagent's inside the main file.
    fn is_aside(&self, row: &Row<'_>) -> bool {
        self.role == Role::Main && row.is_sidechain.0 == Some(true)
    }

    fn fold_assistant(&mut self, row: &Row<'_>) {
        let Some(message) = read::<Message<'_>>(row.message) else { return };
        let aside = self.is_aside(row);
        let failed_request = row.is_api_error_message.0 == Some(true);
        match Content::of(message.content) {
            Content::Text(text) if !aside && !failed_request => self.add_words(owned(&message.id), &text),
            Content::Text(_) => {}
            Content::Blocks(blocks) => {
                for block in &blocks {
                    match block.kind.get() {
                        Some("text") if !aside && !failed_request => {
                            if let Some(text) = block.text.get() {
                                self.add_words(owned(&message.id), text);
                            }
                        }
                        Some("tool_use") => self.add_call(block, aside),
                        _ => {}
                    }
                }
            }
        }
    }

    fn add_words(&mut self, message: Option<String>, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let goes_on = self.session.tail == Tail::Words && message.is_some() && message == self.words_of;
        self.session.final_message = match self.session.final_message.take() {
            // What is claimed in the end stands at the end.
            Some(words) if goes_on => Some(last_part(&format!("{words}\n{text}"), MESSAGE_CAP)),
            _ => Some(last_part(text, MESSAGE_CAP)),
        };
        self.words_of = message;
        self.session.tail = Tail::Words;
        // Calls left unanswered before the agent spoke again were interrupted: nobody waits for them.
        self.open.clear();
    }

    fn add_call(&mut self, block: &Block<'_>, aside: bool) {
        let (Some(id), Some(name)) = (block.id.get(), block.name.get()) else { return };
        if self.calls.contains_key(id) {
            return;
        }
        let at = self.session.rows;
        let agent = aside.then(|| "sidechain".to_owned());
        let input: ToolInput<'_> = read(block.input).unwrap_or_default();
        let session = &mut self.session;
        // A task list is a note to itself, not a deed.
        if !matches!(name, "TodoWrite" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet") {
            session.last_call = at;
        }
        let call = match name {
            "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => {
                let path = owned(&input.file_path).or_else(|| owned(&input.notebook_path));
                match (EditTool::named(name), path) {
                    (Some(tool), Some(path)) => {
                        let (outcome, original) = (Outcome::Unanswered, Original::Unknown);
                        let change = change_of(&input);
                        session.touches.push(Touch { path, tool, at, outcome, original, agent, change });
                        Call::Touch(session.touches.len() - 1)
                    }
                    _ => Call::Other,
                }
            }
            "Bash" | "PowerShell" => {
                let line = first_part(input.command.get().unwrap_or_default(), COMMAND_CAP);
                session.commands.push(Command {
                    line,
                    at,
                    end: CommandEnd::Unanswered,
                    output: String::new(),
                    agent,
                });
                Call::Command(session.commands.len() - 1)
            }
            "Read" => {
                if let Some(path) = input.file_path.get()
                    && self.files_read.insert(path.to_owned())
                {
                    session.reads.push(path.to_owned());
                }
                Call::Other
            }
            // A subagent's own list, plan and helpers are not the session's.
            _ if aside => Call::Other,
            "Agent" | "Task" => {
                session.delegations.push(Delegation {
                    description: owned(&input.description).unwrap_or_default(),
                    agent_type: owned(&input.subagent_type).unwrap_or_default(),
                    outcome: Outcome::Unanswered,
                    at,
                });
                Call::Delegation(session.delegations.len() - 1)
            }
            "ExitPlanMode" | "exit_plan_mode" => Call::Plan {
                text: owned(&input.plan).or_else(|| owned(&input.plan_content)),
                path: owned(&input.plan_file_path),
            },
            "TodoWrite" => Call::Todos(todos_of(&input)),
            "TaskCreate" => Call::TaskCreate(owned(&input.subject).unwrap_or_default()),
            "TaskUpdate" => Call::TaskUpdate {
                id: owned(&input.task_id).unwrap_or_default(),
                status: owned(&input.status),
                subject: owned(&input.subject),
            },
            "TaskList" | "TaskGet" => Call::Other,
            _ => {
                match session.other_calls.iter_mut().find(|call| call.tool == name) {
                    Some(known) => known.at = at,
                    None => session.other_calls.push(OtherCall { tool: name.to_owned(), at }),
                }
                Call::Other
            }
        };
        self.calls.insert(id.to_owned(), call);
        if !aside {
            self.open.insert(id.to_owned());
            self.session.tail = Tail::OpenCall;
            // What was said before a call was on the way, not final.
            self.session.final_message = None;
        }
    }

    fn fold_user(&mut self, row: &Row<'_>) {
        let aside = self.is_aside(row);
        let Some(message) = read::<Message<'_>>(row.message) else { return };
        if let Content::Blocks(blocks) = Content::of(message.content) {
            let results: Vec<_> = blocks.iter().filter(|b| b.kind.get() == Some("tool_result")).collect();
            if !results.is_empty() {
                // One structured result can't belong to several blocks.
                let structured = if results.len() == 1 { row.tool_use_result } else { None };
                for block in results {
                    self.add_result(row, ToolResult { block, structured }, aside);
                }
                return;
            }
        }
        if aside {
            return;
        }
        match prompt_of(row) {
            Some(Prompt::Ask(text)) => self.add_ask(&text),
            Some(Prompt::PlanHandedOver(text)) => {
                self.add_ask("Implement the following plan.");
                self.approve(row, Some(text), None);
            }
            None => {}
        }
    }

    fn add_ask(&mut self, text: &str) {
        let text = first_part(text, ASK_CAP);
        // A prompt typed while the agent worked is recorded when queued and again when taken up.
        if self.session.asks.last().is_none_or(|last| last.text != text) {
            self.session.asks.push(Ask { text, at: self.session.rows });
        }
        self.session.final_message = None;
        self.session.tail = Tail::Prompt;
        self.open.clear();
    }

    fn add_result(&mut self, row: &Row<'_>, result: ToolResult<'_, '_>, aside: bool) {
        let Some(id) = result.block.tool_use_id.get() else { return };
        if !aside {
            self.open.remove(id);
            if self.open.is_empty() && self.session.tail == Tail::OpenCall {
                self.session.tail = Tail::Result;
            }
        }
        let session = &mut self.session;
        match self.calls.get_mut(id).map(|call| std::mem::replace(call, Call::Other)) {
            Some(Call::Touch(index)) => {
                let (outcome, original) = result.of_edit();
                let touch = &mut session.touches[index];
                touch.outcome = outcome;
                if touch.outcome == Outcome::Done {
                    match self.files_changed.insert(touch.path.clone(), index) {
                        None => touch.original = original,
                        // Only the newest change of a file can be looked for on disk. What a plan was before
                        // it was changed counts as well.
                        Some(before) if !is_markdown(&session.touches[before].path) => {
                            session.touches[before].change = None;
                        }
                        Some(_) => {}
                    }
                } else {
                    touch.change = None;
                }
            }
            Some(Call::Command(index)) => {
                let (end, output) = result.of_command();
                let command = &mut session.commands[index];
                (command.end, command.output) = (end, output);
            }
            Some(Call::Delegation(index)) => session.delegations[index].outcome = result.of_other(),
            Some(Call::Plan { text, path }) => match result.of_plan() {
                Some((approved_text, approved_path)) => {
                    self.approve(row, approved_text.or(text), approved_path.or(path));
                }
                None => session.rejected_plans.extend(text),
            },
            Some(Call::Todos(todos)) if result.of_other() == Outcome::Done => session.todos = todos,
            Some(Call::TaskCreate(text)) if result.of_other() == Outcome::Done => {
                session.todos.push(Todo { id: result.of_task_create(), text, status: "pending".into() });
            }
            Some(Call::TaskUpdate { id, status, subject }) if result.of_other() == Outcome::Done => {
                session.update_task(&id, status, subject);
            }
            _ => {}
        }
    }

    fn approve(&mut self, row: &Row<'_>, text: Option<String>, path: Option<String>) {
        if let Some(text) = &text {
            self.session.rejected_plans.retain(|rejected| rejected != text);
        }
        self.session.plans.push(ApprovedPlan { text, path, slug: owned(&row.slug), at: self.session.rows });
    }

    fn fold_attachment(&mut self, row: &Row<'_>) {
        if self.is_aside(row) {
            return;
        }
        let attachment: Attachment<'_> = read(row.attachment).unwrap_or_default();
        match attachment.kind.get() {
            Some("plan_file_reference") => {
                let text = owned(&attachment.plan_content);
                let known = self.session.plans.last().is_some_and(|plan| plan.text == text);
                let rejected = text.as_ref().is_some_and(|text| self.session.rejected_plans.contains(text));
                if !known && !rejected {
                    self.approve(row, text, owned(&attachment.plan_file_path));
                }
            }
            // Written when plan mode is left, so after the approval, which may have named no file.
            Some("plan_mode_exit") => {
                if let Some(plan) = self.session.plans.last_mut().filter(|plan| plan.path.is_none()) {
                    plan.path = owned(&attachment.plan_file_path);
                }
            }
            Some("queued_command") if attachment.command_mode.get() == Some("prompt") => {
                let text = Content::of(attachment.prompt).text();
                if let Some(words) = persons_words(&text) {
                    self.add_ask(words);
                }
            }
            _ => {}
        }
    }
}

/// What an edit puts in the place of what. Of several replacements in one call the last one counts.
fn change_of(input: &ToolInput<'_>) -> Option<Change> {
    let cut = |text: &str| text[..text.floor_char_boundary(CHANGE_CAP)].to_owned();
    if let Some(content) = input.content.get() {
        return Some(Change { old: String::new(), new: cut(content) });
    }
    let last =
        input.edits.0.as_deref().unwrap_or_default().iter().filter_map(|edit| edit.0.as_ref()).next_back();
    let (old, new) = match last {
        Some(edit) => (&edit.old_string, &edit.new_string),
        None => (&input.old_string, &input.new_string),
    };
    Some(Change { old: cut(old.get()?), new: cut(new.get()?) })
}

fn todos_of(input: &ToolInput<'_>) -> Vec<Todo> {
    let items = input.todos.0.as_deref().unwrap_or_default();
    items
        .iter()
        .filter_map(|item| item.0.as_ref())
        .map(|item| Todo {
            id: owned(&item.id),
            text: owned(&item.content).unwrap_or_default(),
            status: owned(&item.status).unwrap_or_default(),
        })
        .collect()
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

    /// Takes in what a subagent did: its changes and commands, under its name.
    pub fn absorb(&mut self, subagent: Session, name: &str) {
        let after = self.rows;
        self.touches.extend(subagent.touches.into_iter().map(|touch| Touch {
            at: after,
            agent: Some(name.to_owned()),
            ..touch
        }));
        self.commands.extend(subagent.commands.into_iter().map(|command| Command {
            at: after,
            agent: Some(name.to_owned()),
            ..command
        }));
        self.skipped += subagent.skipped;
    }
}

#[cfg(test)]
mod tests;
