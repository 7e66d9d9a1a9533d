//! Takes a transcript's rows in file order, gives the [`Session`]. Pure. Must not follow parent chains (they
//! are broken or cyclic in real files), nor trust the order of timestamps (they go back in most), nor grow with
//! the transcript: what it keeps is bounded (`bounds`).

mod calls;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

pub use self::calls::Tool;
use self::calls::{Call, Calls, ToolInput, change_of, todos_of};
use super::asks::{Prompt, persons_words, prompt_of};
use super::bounds::{self, Weights};
use super::lines::{ASSISTANT, ATTACHMENT, Block, Content, Field, Knows, Row, USER, is_idle, record};
use super::recent::Recent;
use super::results::{Before, ToolResult};
use super::{
    ApprovedPlan, Ask, Change, ChangeAt, Command, CommandEnd, Delegation, EditTool, Original, OtherCall,
    Outcome, Recorded, Session, Tail, Todo, Touch,
};
use crate::text::{first_part, last_part};
use crate::words::is_markdown;

/// Whose transcript this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The session's own. Sidechain rows in it are a subagent's (to 1.0.108).
    Main,
    /// A subagent's own file: all rows are sidechain rows, and its first prompt is the main agent's.
    Subagent,
}

/// How much of one ask, one command line and one final message is kept.
const ASK_CAP: usize = 16 << 10;
const COMMAND_CAP: usize = 4 << 10;
pub(super) const MESSAGE_CAP: usize = 64 << 10;
/// How long a file's text before the session may be to be held here, where its place in the transcript is not known.
const HELD_CAP: usize = 32 << 10;

/// A session in the making. What it holds can be kept, and gone on with later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    role: Role,
    session: Session,
    calls: Calls,
    /// Rows and calls that were folded lately, each by the hash of its id.
    seen: Recent,
    /// The message to which the newest words belong, by the hash of its id: its parts are rows of their own.
    words_of: Option<u64>,
    /// The newest ask, by its hash: the text itself may be masked by now.
    last_ask: Option<u64>,
    weights: Weights,
    #[serde(skip)]
    index: Index,
}

/// What can be told from the session itself, made when it is first asked for.
#[derive(Debug, Clone, Default)]
struct Index {
    /// The newest change of each file that was done.
    changed: Option<HashMap<String, usize>>,
    read: Option<HashSet<String>>,
}

/// The index says nothing that the session does not.
impl PartialEq for Index {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

record! {
    /// What an attachment row carries.
    Attachment {
        /// What it is.
        kind = b"type",
        /// A plan's file.
        plan_file_path = b"planFilePath",
        /// A plan's text.
        plan_content = b"planContent",
        /// Whether a queued command is a prompt.
        command_mode = b"commandMode",
        /// The prompt.
        prompt = b"prompt",
    }
}

impl Knows for Ledger {
    fn is_idle_result(&self, call: Field<'_>) -> bool {
        call.hash().is_some_and(|call| self.calls.is_idle(call))
    }

    fn has_enough(&self, row: &Row<'_>) -> bool {
        self.knows_frame() && row.is_of_results(|call| self.calls.wants_result_only(call))
    }
}

impl Ledger {
    /// An empty one.
    pub fn new(role: Role) -> Self {
        Self {
            role,
            session: Session::default(),
            calls: Calls::default(),
            seen: Recent::default(),
            words_of: None,
            last_ask: None,
            weights: Weights::default(),
            index: Index::default(),
        }
    }

    /// An empty one for the transcript at that path.
    pub fn of_file(role: Role, path: &str) -> Self {
        let mut ledger = Self::new(role);
        ledger.session.sources.push(path.to_owned());
        ledger
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

    /// The session as it stands, to be worked on. What is changed in it must not add or remove entries.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Texts in it that nobody has masked: they are compared with what stands on disk or in the transcript.
    pub fn plain_texts(&self) -> impl Iterator<Item = &str> {
        let session = &self.session;
        let plans = session.plans.iter().filter_map(|plan| plan.text.as_deref());
        let rejected = session.rejected_plans.iter().map(String::as_str);
        let changes = session.touches.iter().filter_map(|touch| touch.change.as_ref());
        let changes = changes.flat_map(|change| [change.old.as_str(), change.new.as_str()]);
        let originals = session.touches.iter().filter_map(|touch| match &touch.original {
            Original::Text(text) => Some(text.as_str()),
            Original::Unknown | Original::Absent | Original::Recorded(_) => None,
        });
        plans
            .chain(rejected)
            .chain(session.final_message.as_deref())
            .chain(changes)
            .chain(originals)
            .chain(self.calls.texts())
    }

    /// When the newest row was written, in the client's words.
    pub fn last_time(&self) -> Option<&str> {
        self.session.ended.as_deref()
    }

    /// The session, done with.
    pub fn into_session(self) -> Session {
        self.session
    }

    /// Whether what stands around every row is known.
    pub fn knows_frame(&self) -> bool {
        let session = &self.session;
        session.id.is_some() && session.cwd.is_some() && session.version.is_some()
    }

    /// Takes in one row. `line_at` is where its line starts in the transcript, if it is read as it stands there.
    pub fn fold(&mut self, row: &Row<'_>, line_at: Option<u64>) {
        let kind = match &row.kind {
            kind if kind.is(ASSISTANT) => ASSISTANT,
            kind if kind.is(USER) => USER,
            kind if kind.is(ATTACHMENT) => ATTACHMENT,
            kind => {
                let is_known = kind.text().is_some_and(|kind| is_idle(&kind));
                self.session.skipped.unknown += usize::from(!is_known);
                return;
            }
        };
        // A resumed or forked session can hold a row twice.
        if let Some(uuid) = row.uuid.hash()
            && !self.seen.is_new(uuid)
        {
            return;
        }
        self.session.rows += 1;
        self.note_frame(row);
        match kind {
            ASSISTANT => self.fold_assistant(row, line_at),
            USER => self.fold_user(row, line_at),
            _ => self.fold_attachment(row),
        }
    }

    /// Notes what stands around every row.
    fn note_frame(&mut self, row: &Row<'_>) {
        let session = &mut self.session;
        if let Some(time) = row.timestamp.text() {
            let ended = session.ended.get_or_insert_default();
            ended.clear();
            ended.push_str(&time);
        }
        for (field, value) in [
            (&mut session.id, row.session_id),
            (&mut session.cwd, row.cwd),
            (&mut session.version, row.version),
            (&mut session.started, row.timestamp),
        ] {
            if field.is_none() {
                *field = value.owned();
            }
        }
    }

    /// Whether a row is some subagent's inside the main file.
    fn is_aside(&self, row: &Row<'_>) -> bool {
        self.role == Role::Main && row.is_sidechain.is_true()
    }

    fn fold_assistant(&mut self, row: &Row<'_>, line_at: Option<u64>) {
        let Some(message) = &row.message else { return };
        let aside = self.is_aside(row);
        let speaks = !aside && !row.is_api_error_message.is_true();
        match &message.content {
            Content::Text(raw) if speaks => self.add_words(message.id, &raw.text().unwrap_or_default()),
            Content::Text(_) => {}
            Content::Blocks(blocks) => {
                for block in blocks {
                    if speaks && block.kind.is("text") {
                        if let Some(text) = block.text.text() {
                            self.add_words(message.id, &text);
                        }
                    } else if block.kind.is("tool_use") {
                        self.add_call(block, aside, line_at);
                    }
                }
            }
        }
    }

    fn add_words(&mut self, message: Field<'_>, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let message = message.hash();
        let goes_on = self.session.tail == Tail::Words && message.is_some() && message == self.words_of;
        self.session.final_message = match self.session.final_message.take() {
            // What is claimed in the end stands at the end.
            Some(words) if goes_on => Some(last_part(&format!("{words}\n{text}"), MESSAGE_CAP)),
            _ => Some(last_part(text, MESSAGE_CAP)),
        };
        self.words_of = message;
        self.session.tail = Tail::Words;
        self.calls.close_all();
    }

    fn add_call(&mut self, block: &Block<'_>, aside: bool, line_at: Option<u64>) {
        let (Some(id), Some(name)) = (block.id.hash(), block.name.text()) else { return };
        if !self.seen.is_new(id) {
            return;
        }
        let at = self.session.rows;
        let tool = Tool::named(&name);
        if !tool.is_note() {
            self.session.last_call = at;
        }
        let input = ToolInput::of(block.input.raw());
        let call = match tool {
            Tool::Edit(tool) => match input.path() {
                Some(path) => self.add_touch(path, tool, change_of(&input, line_at), aside, at),
                None => Call::Other,
            },
            tool => self.call_of(tool, &name, &input, aside, at),
        };
        self.calls.add(id, call, !aside, at);
        if !aside {
            self.session.tail = Tail::OpenCall;
            // What was said before a call was on the way, not final.
            self.session.final_message = None;
        }
        if bounds::tidy_lists(&mut self.session, &mut self.weights) {
            self.index.read = None;
        }
    }

    /// Enters a call where it belongs.
    fn call_of(&mut self, tool: Tool, name: &str, input: &ToolInput<'_>, aside: bool, at: usize) -> Call {
        let session = &mut self.session;
        match tool {
            Tool::Command => {
                let line = first_part(&input.command.text().unwrap_or_default(), COMMAND_CAP);
                let (end, output, agent) = (CommandEnd::Unanswered, String::new(), agent_of(aside));
                self.add_command(Command { line, at, end, output, agent })
            }
            Tool::Read => {
                if let Some(path) = input.file_path.text() {
                    self.add_read(&path);
                }
                Call::Other
            }
            // A subagent's own list, plan and helpers are not the session's.
            _ if aside => Call::Other,
            Tool::Delegation => {
                session.delegations.push(Delegation {
                    description: input.description.owned().unwrap_or_default(),
                    agent_type: input.subagent_type.owned().unwrap_or_default(),
                    outcome: Outcome::Unanswered,
                    at,
                });
                Call::Delegation(self.weights.delegations + session.delegations.len() - 1)
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
        aside: bool,
        at: usize,
    ) -> Call {
        self.weights.changes += change.as_ref().map_or(0, |change| change.old.len() + change.new.len());
        let (outcome, original, agent) = (Outcome::Unanswered, Original::Unknown, agent_of(aside));
        self.session.counted.done = None;
        self.session.touches.push(Touch { path, tool, at, outcome, original, agent, change, change_at });
        if let Some(moved) = bounds::tidy_touches(&mut self.session, &mut self.weights) {
            self.calls.renumber_touches(|at| moved[at]);
            self.index.changed = None;
        }
        Call::Touch(self.session.touches.len() - 1)
    }

    fn add_command(&mut self, command: Command) -> Call {
        self.weights.commands += command.line.len();
        self.session.commands.push(command);
        if let Some(moved) = bounds::tidy_commands(&mut self.session, &mut self.weights) {
            self.calls.renumber_commands(|at| moved[at]);
        }
        Call::Command(self.session.commands.len() - 1)
    }

    fn add_read(&mut self, path: &str) {
        let reads = &mut self.session.reads;
        let known = self.index.read.get_or_insert_with(|| reads.iter().cloned().collect());
        if !known.contains(path) {
            known.insert(path.to_owned());
            reads.push(path.to_owned());
        }
    }

    fn fold_user(&mut self, row: &Row<'_>, line_at: Option<u64>) {
        let aside = self.is_aside(row);
        let Some(message) = &row.message else { return };
        if let Content::Blocks(blocks) = &message.content {
            let is_result = |block: &&Block<'_>| block.kind.is("tool_result");
            let results = blocks.iter().filter(is_result).count();
            // One structured result can't belong to several blocks.
            let structured = if results == 1 { row.tool_use_result } else { Field::default() };
            for block in blocks.iter().filter(is_result) {
                self.add_result(row, ToolResult { block, structured }, aside, line_at);
            }
            if results > 0 {
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
        let name = xxh3_64(text.as_bytes());
        if self.last_ask.replace(name) != Some(name) {
            self.weights.asks += text.len();
            self.session.asks.push(Ask { text, at: self.session.rows });
            bounds::tidy_asks(&mut self.session, &mut self.weights);
        }
        self.session.final_message = None;
        self.session.tail = Tail::Prompt;
        self.calls.close_all();
    }

    fn add_result(&mut self, row: &Row<'_>, result: ToolResult<'_, '_>, aside: bool, line_at: Option<u64>) {
        let Some(id) = result.block.tool_use_id.hash() else { return };
        let call = self.calls.answer(id);
        if !aside && !self.calls.any_open() && self.session.tail == Tail::OpenCall {
            self.session.tail = Tail::Result;
        }
        let session = &mut self.session;
        match call {
            Some(Call::Touch(index)) => self.end_touch(index, result, line_at),
            Some(Call::Command(index)) => {
                let (end, output) = result.of_command();
                let command = &mut session.commands[index];
                self.weights.commands += output.len();
                (command.end, command.output) = (end, output);
                // What was counted and masked before it had ended is not done with.
                let counted = index < session.counted.commands && command.may_have_effects();
                session.counted.effects += usize::from(counted);
                session.masked.commands = session.masked.commands.min(index);
            }
            Some(Call::Delegation(number)) => {
                let listed = number.checked_sub(self.weights.delegations);
                if let Some(delegation) = listed.and_then(|at| session.delegations.get_mut(at)) {
                    delegation.outcome = result.of_other();
                }
            }
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

    fn end_touch(&mut self, index: usize, result: ToolResult<'_, '_>, line_at: Option<u64>) {
        self.session.counted.done = None;
        let touches = &mut self.session.touches;
        let changed = self.index.changed.get_or_insert_with(|| {
            let done = touches.iter().enumerate().filter(|(_, touch)| touch.outcome == Outcome::Done);
            done.map(|(at, touch)| (touch.path.clone(), at)).collect()
        });
        let path = touches[index].path.as_str();
        let newest = changed.get_mut(path);
        let (outcome, before) = result.of_edit(newest.is_none());
        if outcome != Outcome::Done {
            self.session.masked.touches = self.session.masked.touches.min(index);
            touches[index].outcome = outcome;
            touches[index].forget_change();
            return;
        }
        if let Some(newest) = newest {
            // Only the newest change of a file can be looked for on disk. What a plan was before it was changed
            // counts as well.
            let older = index.min(*newest);
            *newest = index.max(*newest);
            if !is_markdown(path) {
                touches[older].forget_change();
            }
        } else {
            changed.insert(path.to_owned(), index);
            touches[index].original = original_of(before, line_at);
        }
        touches[index].outcome = outcome;
    }

    fn approve(&mut self, row: &Row<'_>, text: Option<String>, path: Option<String>) {
        if let Some(text) = &text {
            self.session.rejected_plans.retain(|rejected| rejected != text);
        }
        self.session.plans.push(ApprovedPlan { text, path, slug: row.slug.owned(), at: self.session.rows });
    }

    fn fold_attachment(&mut self, row: &Row<'_>) {
        if self.is_aside(row) {
            return;
        }
        let attachment = Attachment::of(row.attachment.raw());
        if attachment.kind.is("plan_file_reference") {
            let text = attachment.plan_content.owned();
            let known = self.session.plans.last().is_some_and(|plan| plan.text == text);
            let rejected = text.as_ref().is_some_and(|text| self.session.rejected_plans.contains(text));
            if !known && !rejected {
                self.approve(row, text, attachment.plan_file_path.owned());
            }
        } else if attachment.kind.is("plan_mode_exit") {
            // Written when plan mode is left, so after the approval, which may have named no file.
            if let Some(plan) = self.session.plans.last_mut().filter(|plan| plan.path.is_none()) {
                plan.path = attachment.plan_file_path.owned();
            }
        } else if attachment.kind.is("queued_command") && attachment.command_mode.is("prompt") {
            let text = Content::of(attachment.prompt).text();
            if let Some(words) = persons_words(&text) {
                self.add_ask(words);
            }
        }
    }
}

/// Who made a call: a subagent whose rows stand in the main file has no other name.
fn agent_of(aside: bool) -> Option<String> {
    aside.then(|| "sidechain".to_owned())
}

/// What a file was before: where the transcript says so, or, where that place is not known, what it says.
fn original_of(before: Before<'_>, line_at: Option<u64>) -> Original {
    match (before, line_at) {
        (Before::Absent, _) => Original::Absent,
        (Before::Text(raw), Some(line_at)) => Original::Recorded(Recorded::of(raw, line_at)),
        (Before::Text(raw), None) if raw.json().len() <= HELD_CAP => {
            raw.text().map_or(Original::Unknown, |text| Original::Text(text.into_owned()))
        }
        (Before::Unknown, _) | (Before::Text(_), None) => Original::Unknown,
    }
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
        self.counted.done = None;
        let sources = self.sources.len();
        self.sources.extend(subagent.sources);
        self.touches.extend(subagent.touches.into_iter().map(|touch| Touch {
            at: after,
            agent: Some(name.to_owned()),
            original: match touch.original {
                Original::Recorded(place) => Original::Recorded(place.moved_by(sources)),
                known => known,
            },
            change_at: touch.change_at.map(|at| ChangeAt {
                old: at.old.map(|old| old.moved_by(sources)),
                new: at.new.moved_by(sources),
            }),
            ..touch
        }));
        self.commands.extend(subagent.commands.into_iter().map(|command| Command {
            at: after,
            agent: Some(name.to_owned()),
            ..command
        }));
        self.skipped += subagent.skipped;
        self.forgotten.work += subagent.forgotten.work;
        self.forgotten.files |= subagent.forgotten.files;
        self.forgotten.commands |= subagent.forgotten.commands;
    }
}

#[cfg(test)]
mod tests;
