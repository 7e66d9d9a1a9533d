//! Takes a transcript's rows in file order, gives the [`Session`]. Pure. Must not follow parent chains (they
//! are broken or cyclic in real files), nor trust the order of timestamps (they go back in most) where nothing
//! else says that rows are out of order, nor grow with the transcript: what it keeps is bounded (`bounds`).

mod calls;
mod finish;

use std::collections::HashMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::client::row::{
    ASSISTANT, ATTACHMENT, Block, Content, Field, Row, RowNeeds, USER, is_idle, record,
};
use crate::session::asks::{Prompt, notification, persons_words, prompt_of};
pub use crate::session::builder::calls::Tool;
use crate::session::builder::calls::{Call, Calls, ToolInput, change_of, todos_of};
use crate::session::early_results::EarlyResults;
use crate::session::results::ToolResult;
use crate::session::retention;
use crate::session::retention::Weights;
use crate::session::seen_ids::SeenIds;
use crate::session::{
    Ask, Change, ChangeAt, Command, CommandEnd, Delegation, EditTool, Original, OtherCall, Outcome, ReadFile,
    Remark, Session, Tail, Touch,
};
use crate::text::excerpt::start_and_end;
use crate::text::normalise::is_markdown;
use crate::text::{first_part, last_part};

/// Whose transcript this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The session's own. Sidechain rows in it are a subagent's (to 1.0.108).
    Main,
    /// A subagent's own file: all rows are sidechain rows, and its first prompt is the main agent's.
    Subagent,
}

/// How much of one ask, one remark, one command line and one final message is kept.
const ASK_CAP: usize = 8 << 10;
const REMARK_CAP: usize = 2 << 10;
const COMMAND_CAP: usize = 4 << 10;
pub(super) const MESSAGE_CAP: usize = 64 << 10;

/// Where and when something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment {
    at: usize,
    /// In milliseconds since 1970.
    time: Option<i64>,
}

/// To which message the newest words of the agent belong, and where they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Words {
    /// The hash of the message's id. Its parts are rows of their own.
    message: Option<u64>,
    at: usize,
    time: Option<i64>,
    /// Something that comes before them was not there yet. The client can write rows while those before them are
    /// still being written, and they overtake them.
    is_ahead: bool,
}

/// A session in the making. What it holds can be kept, and gone on with later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionBuilder {
    role: Role,
    session: Session,
    calls: Calls,
    /// Rows and calls that were folded lately, each by the hash of its id.
    seen: SeenIds,
    /// Results whose calls have not come yet.
    early: EarlyResults,
    /// Where the newest words come from; the words are the session's final message, until something
    /// follows them.
    words: Option<Words>,
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
    /// The files that were read, each with its number from the start of the session.
    read: Option<HashMap<String, usize>>,
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

impl RowNeeds for SessionBuilder {
    fn is_idle_result(&self, call: Field<'_>) -> bool {
        call.hash().is_some_and(|call| self.calls.is_idle(call))
    }

    fn has_enough(&self, row: &Row<'_>) -> bool {
        self.knows_frame() && row.is_of_results(|call| self.calls.wants_result_only(call))
    }
}

impl SessionBuilder {
    /// An empty one.
    pub fn new(role: Role) -> Self {
        Self {
            role,
            session: Session::default(),
            calls: Calls::default(),
            seen: SeenIds::default(),
            early: EarlyResults::default(),
            words: None,
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
        let originals = session.touches.iter().filter_map(|touch| touch.original.held());
        let reads = session.reads.iter().filter_map(|read| read.text.held());
        plans
            .chain(rejected)
            .chain(session.final_message.as_deref())
            .chain(changes)
            .chain(originals)
            .chain(reads)
            .chain(self.calls.texts())
            .chain(self.early.texts())
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

    /// Where and when the row stands that is being folded.
    fn moment(&self, row: &Row<'_>) -> Moment {
        let time = row.timestamp.text().and_then(|time| time.parse::<Timestamp>().ok());
        Moment { at: self.session.rows, time: time.map(Timestamp::as_millisecond) }
    }

    fn fold_assistant(&mut self, row: &Row<'_>, line_at: Option<u64>) {
        let Some(message) = &row.message else { return };
        let aside = self.is_aside(row);
        let speaks = !aside && !row.is_api_error_message.is_true();
        let moment = self.moment(row);
        let id = message.id.hash();
        let is_ahead = speaks && self.is_ahead(row);
        match &message.content {
            Content::Text(raw) if speaks => {
                self.add_words(id, &raw.text().unwrap_or_default(), is_ahead, moment);
            }
            Content::Text(_) => {}
            Content::Blocks(blocks) => {
                for block in blocks {
                    if speaks && block.kind.is("text") {
                        if let Some(text) = block.text.text() {
                            self.add_words(id, &text, is_ahead, moment);
                        }
                    } else if block.kind.is("tool_use") {
                        self.add_call(block, id, aside, line_at, moment);
                    }
                }
            }
        }
    }

    /// Whether something that comes before a row is not there yet.
    fn is_ahead(&self, row: &Row<'_>) -> bool {
        let lacks_start = self.session.asks.is_empty();
        let lacks_call = !self.early.is_empty();
        lacks_start || lacks_call || row.parent_uuid.hash().is_some_and(|parent| !self.seen.contains(parent))
    }

    /// Whether what stands here comes before the newest words all the same. Then they stay the newest, and stand
    /// behind it.
    fn was_overtaken(&mut self, Moment { at, time }: Moment) -> bool {
        let is_last = self.session.tail == Tail::Words;
        let Some(words) = self.words.as_mut().filter(|words| is_last && words.is_ahead) else { return false };
        let is_older = time.zip(words.time).is_some_and(|(time, words)| time < words);
        if is_older {
            words.at = at;
        }
        is_older
    }

    fn add_words(&mut self, message: Option<u64>, text: &str, is_ahead: bool, moment: Moment) {
        if text.trim().is_empty() {
            return;
        }
        let goes_on = self.session.tail == Tail::Words
            && message.is_some()
            && self.words.is_some_and(|words| words.message == message);
        if !goes_on {
            if self.was_overtaken(moment) {
                return self.add_remark(text, moment, false);
            }
            self.end_words(self.is_another_message(message));
        }
        let is_ahead = is_ahead || goes_on && self.words.is_some_and(|words| words.is_ahead);
        // What is claimed in the end stands at the end.
        self.session.final_message = Some(match self.session.final_message.take() {
            Some(words) => last_part(&format!("{words}\n{text}"), MESSAGE_CAP),
            None => last_part(text, MESSAGE_CAP),
        });
        let Moment { at, time } = moment;
        self.words = Some(Words { message, at, time, is_ahead });
        self.session.tail = Tail::Words;
        self.calls.close_all();
    }

    /// Whether the newest words belong to another message than this one. A message that ends on
    /// words ends the turn.
    fn is_another_message(&self, message: Option<u64>) -> bool {
        let words = self.words.and_then(|words| words.message);
        words.zip(message).is_some_and(|(words, message)| words != message)
    }

    /// Something came after the newest words: they were a remark.
    fn end_words(&mut self, ends_turn: bool) {
        let Some((text, words)) = self.session.final_message.take().zip(self.words) else { return };
        self.add_remark(&text, Moment { at: words.at, time: words.time }, ends_turn);
    }

    fn add_remark(&mut self, text: &str, Moment { at, time }: Moment, ends_turn: bool) {
        let text = start_and_end(text.trim(), REMARK_CAP);
        self.weights.remarks += text.len();
        self.session.remarks.push(Remark { text, at, time, ends_turn });
        retention::tidy_remarks(&mut self.session, &mut self.weights);
    }

    fn add_call(
        &mut self,
        block: &Block<'_>,
        message: Option<u64>,
        aside: bool,
        line_at: Option<u64>,
        moment: Moment,
    ) {
        let (Some(id), Some(name)) = (block.id.hash(), block.name.text()) else { return };
        if !self.seen.is_new(id) {
            return;
        }
        let tool = Tool::named(&name);
        if !tool.is_note() {
            self.session.last_call = moment.at;
        }
        let is_newest = !aside && !self.was_overtaken(moment);
        if is_newest {
            // What was said before a call was on the way, not final.
            self.end_words(self.is_another_message(message));
        }
        let input = ToolInput::of(block.input.raw());
        let call = match tool {
            Tool::Edit(tool) => match input.path() {
                Some(path) => self.add_touch(path, tool, change_of(&input, line_at), aside, moment),
                None => Call::Other,
            },
            tool => self.call_of(tool, &name, &input, aside, moment),
        };
        self.calls.add(id, call, is_newest, moment.at);
        if is_newest {
            self.session.tail = Tail::OpenCall;
        }
        if retention::tidy_lists(&mut self.session, &mut self.weights) {
            self.index.read = None;
        }
        if let Some(result) = self.early.take(id) {
            self.finish_call(id, &result, aside);
        }
    }

    /// Enters a call where it belongs.
    fn call_of(
        &mut self,
        tool: Tool,
        name: &str,
        input: &ToolInput<'_>,
        aside: bool,
        moment: Moment,
    ) -> Call {
        let Moment { at, time } = moment;
        let session = &mut self.session;
        match tool {
            Tool::Command => {
                let line = first_part(&input.command.text().unwrap_or_default(), COMMAND_CAP);
                let (end, output, agent) = (CommandEnd::Unanswered, String::new(), agent_of(aside));
                self.add_command(Command { line, at, time, end, output, agent })
            }
            Tool::Read => match input.file_path.text() {
                Some(path) => self.add_read(&path, moment),
                None => Call::Other,
            },
            // A subagent's own list, plan and helpers are not the session's.
            _ if aside => Call::Other,
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
        Moment { at, time }: Moment,
    ) -> Call {
        self.weights.changes += change.as_ref().map_or(0, |change| change.old.len() + change.new.len());
        let (outcome, original, agent) = (Outcome::Unanswered, Original::Unknown, agent_of(aside));
        self.session.counted.done = None;
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
        if let Some(moved) = retention::tidy_touches(&mut self.session, &mut self.weights) {
            self.calls.renumber_touches(|at| moved[at]);
            self.index.changed = None;
        }
        Call::Touch(self.session.touches.len() - 1)
    }

    fn add_command(&mut self, command: Command) -> Call {
        self.weights.commands += command.line.len();
        self.session.commands.push(command);
        if let Some(moved) = retention::tidy_commands(&mut self.session, &mut self.weights) {
            self.calls.renumber_commands(|at| moved[at]);
        }
        Call::Command(self.session.commands.len() - 1)
    }

    /// Enters a file that is read. The result matters where it may be the first whole text of a
    /// Markdown file.
    fn add_read(&mut self, path: &str, Moment { at, time }: Moment) -> Call {
        let (reads, gone) = (&mut self.session.reads, self.weights.reads);
        let known = self.index.read.get_or_insert_with(|| {
            reads.iter().enumerate().map(|(index, read)| (read.path.clone(), gone + index)).collect()
        });
        if !is_markdown(path) {
            if !known.contains_key(path) {
                known.insert(path.to_owned(), gone + reads.len());
                reads.push(ReadFile { path: path.to_owned(), at, time, text: Original::Unknown });
            }
            return Call::Other;
        }
        let number = *known.entry(path.to_owned()).or_insert_with(|| {
            reads.push(ReadFile { path: path.to_owned(), at, time, text: Original::Unknown });
            gone + reads.len() - 1
        });
        let is_known = reads[number - gone].text != Original::Unknown;
        if is_known { Call::Other } else { Call::Read { number, at, time } }
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
                self.add_result(&ToolResult { block, structured, slug: row.slug, line_at }, aside);
            }
            if results > 0 {
                return;
            }
        }
        if aside {
            return;
        }
        match prompt_of(row) {
            Some(Prompt::Ask(text)) => self.add_ask(&text, self.moment(row)),
            Some(Prompt::PlanHandedOver(text)) => {
                self.add_ask("Implement the following plan.", self.moment(row));
                self.approve(row.slug.owned(), Some(text), None);
            }
            None => {
                if let Some((task, report)) = notification(&message.content.text()) {
                    self.add_report(task, report);
                }
            }
        }
    }

    fn add_ask(&mut self, text: &str, moment: Moment) {
        let text = start_and_end(text, ASK_CAP);
        let is_newest = !self.was_overtaken(moment);
        if is_newest {
            self.end_words(true);
        }
        // A prompt typed while the agent worked is recorded when queued and again when taken up.
        let name = xxh3_64(text.as_bytes());
        if self.last_ask.replace(name) != Some(name) {
            self.weights.asks += text.len();
            let Moment { at, time } = moment;
            self.session.asks.push(Ask { text, at, time });
            retention::tidy_asks(&mut self.session, &mut self.weights);
        }
        if is_newest {
            self.session.tail = Tail::Prompt;
            self.calls.close_all();
        }
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
                self.approve(row.slug.owned(), text, attachment.plan_file_path.owned());
            }
        } else if attachment.kind.is("plan_mode_exit") {
            // Written when plan mode is left, so after the approval, which may have named no file.
            if let Some(plan) = self.session.plans.last_mut().filter(|plan| plan.path.is_none()) {
                plan.path = attachment.plan_file_path.owned();
            }
        } else if attachment.kind.is("queued_command") {
            let text = Content::of(attachment.prompt).text();
            if let Some((task, report)) = notification(&text) {
                self.add_report(task, report);
            } else if attachment.command_mode.is("prompt")
                && let Some(words) = persons_words(&text)
            {
                self.add_ask(&words, self.moment(row));
            }
        }
    }
}

/// Who made a call: a subagent whose rows stand in the main file has no other name.
fn agent_of(aside: bool) -> Option<String> {
    aside.then(|| "sidechain".to_owned())
}

#[cfg(test)]
mod tests;
