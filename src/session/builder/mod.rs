//! Folds a transcript's rows, in file order, into a [`Session`]. Pure. Must not follow parent chains (they are broken or
//! cyclic in real files), nor trust the order of timestamps (they go back in most) where nothing else says that rows are
//! out of order, nor grow with the transcript (`retention`).

mod calls;
mod pending_calls;
mod tool;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::client::row::{ASSISTANT, ATTACHMENT, Block, Content, Field, Row, USER, record};
use crate::session::asks::{Prompt, notification, persons_words, prompt_of};
use crate::session::builder::pending_calls::PendingCalls;
use crate::session::results::{EarlyResults, ToolResult};
use crate::session::retention::{self, Sizes};
use crate::session::seen_ids::SeenIds;
use crate::session::{ApprovedPlan, Ask, Remark, Session, Tail};
use crate::text::last_part;
use crate::text::start_and_end;

/// Whose transcript this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The session's own. Sidechain rows in it are a subagent's (to 1.0.108).
    Main,
    /// A subagent's own file: all rows are sidechain rows, and its first prompt is the main agent's.
    Subagent,
}

/// How much is kept of one ask, one remark and one final message.
const ASK_CAP: usize = 8 << 10;
const REMARK_CAP: usize = 2 << 10;
pub(super) const MESSAGE_CAP: usize = 64 << 10;

/// Where and when something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Position {
    /// The number of the row.
    at: usize,
    /// In milliseconds since 1970.
    time: Option<i64>,
}

/// Where the agent's newest text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct NewestText {
    /// The hash of the message's id. Its parts are rows of their own.
    message: Option<u64>,
    position: Position,
    /// The hash of the id of the row right before it.
    parent: Option<u64>,
    /// A row that it follows was not there yet. The client can write rows while those before them are still being
    /// written, and they overtake them.
    is_ahead: bool,
}

/// A session that is being built. It can be saved, and continued later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionBuilder {
    role: Role,
    session: Session,
    pending: PendingCalls,
    /// The hashes of the ids of recent rows and calls.
    seen: SeenIds,
    /// Results whose calls have not come yet.
    early: EarlyResults,
    /// The text itself is the session's final message, until something follows it.
    newest_text: Option<NewestText>,
    /// The hash of the newest ask: the text itself may be masked by now.
    last_ask: Option<u64>,
    sizes: Sizes,
}

record! {
    /// What an attachment row carries.
    Attachment {
        kind = b"type",
        /// A plan's file.
        plan_file_path = b"planFilePath",
        /// A plan's text.
        plan_content = b"planContent",
        /// Whether a queued command is a prompt.
        command_mode = b"commandMode",
        prompt = b"prompt",
    }
}

impl SessionBuilder {
    /// Starts an empty session.
    pub fn new(role: Role) -> Self {
        Self {
            role,
            session: Session::default(),
            pending: PendingCalls::default(),
            seen: SeenIds::default(),
            early: EarlyResults::default(),
            newest_text: None,
            last_ask: None,
            sizes: Sizes::default(),
        }
    }

    /// Starts an empty session of the transcript at `path`.
    pub fn for_file(role: Role, path: &str) -> Self {
        let mut builder = Self::new(role);
        builder.session.sources.push(path.to_owned());
        builder
    }

    /// Counts a line that was not JSON.
    pub fn skip_unreadable(&mut self) {
        self.session.skipped.unreadable += 1;
    }

    /// Counts a line that was too long to hold.
    pub fn skip_oversized(&mut self) {
        self.session.skipped.oversized += 1;
    }

    /// Counts a line that had bytes that are not UTF-8.
    pub fn skip_repaired(&mut self) {
        self.session.skipped.repaired += 1;
    }

    /// Returns the session so far.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the session so far for changes that do not add or remove entries.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Returns the texts in it that are never masked, since they are compared with the disk or the transcript.
    pub fn plain_texts(&self) -> impl Iterator<Item = &str> {
        let session = &self.session;
        let plans = session.plans.iter().filter_map(|plan| plan.text.as_deref());
        let rejected = session.rejected_plans.iter().map(String::as_str);
        let changes = session.touches.iter().filter_map(|touch| touch.change.as_ref());
        let changes = changes.flat_map(|change| [change.old.as_str(), change.new.as_str()]);
        let originals = session.touches.iter().filter_map(|touch| touch.original.text());
        let reads = session.reads.iter().filter_map(|read| read.text.text());
        plans
            .chain(rejected)
            .chain(session.final_message.as_deref())
            .chain(changes)
            .chain(originals)
            .chain(reads)
            .chain(self.pending.texts())
            .chain(self.early.texts())
    }

    /// Ends the building.
    pub fn into_session(self) -> Session {
        self.session
    }

    /// Folds one row. `line_at` is the offset of its line in the transcript, if the line is as the transcript has it.
    pub fn fold(&mut self, row: &Row<'_>, line_at: Option<u64>) {
        let is_one_of = |kinds: &[&str]| kinds.iter().any(|kind| row.kind.is(kind));
        if !is_one_of(&[ASSISTANT, USER, ATTACHMENT]) {
            self.session.skipped.unknown += usize::from(!row.is_ignored());
            return;
        }
        // A resumed or forked session can hold a row twice.
        if row.uuid.hash().is_some_and(|uuid| !self.seen.insert(uuid)) {
            return;
        }
        self.session.rows += 1;
        self.note_header(row);
        if row.kind.is(ASSISTANT) {
            self.fold_assistant(row, line_at);
        } else if row.kind.is(USER) {
            self.fold_user(row, line_at);
        } else {
            self.fold_attachment(row);
        }
    }

    /// Notes what every row says of its session.
    fn note_header(&mut self, row: &Row<'_>) {
        let session = &mut self.session;
        if let Some(time) = row.timestamp.owned() {
            session.ended = Some(time);
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

    /// Returns whether a row is a subagent's inside the main file.
    fn is_sidechain(&self, row: &Row<'_>) -> bool {
        self.role == Role::Main && row.is_sidechain.is_true()
    }

    /// Returns the position of the row that is being folded.
    fn position(&self, row: &Row<'_>) -> Position {
        let time = row.timestamp.text().and_then(|time| time.parse::<Timestamp>().ok());
        Position { at: self.session.rows, time: time.map(Timestamp::as_millisecond) }
    }

    fn fold_assistant(&mut self, row: &Row<'_>, line_at: Option<u64>) {
        let Some(message) = row.message() else { return };
        let is_sidechain = self.is_sidechain(row);
        let speaks = !is_sidechain && !row.is_api_error_message.is_true();
        let position = self.position(row);
        let id = message.id.hash();
        let parent = row.parent_uuid.hash();
        match &message.content {
            Content::Text(raw) if speaks => {
                self.add_text(id, &raw.text().unwrap_or_default(), parent, position);
            }
            Content::Text(_) => {}
            Content::Blocks(blocks) => {
                for block in blocks {
                    if speaks && block.kind.is("text") {
                        if let Some(text) = block.text.text() {
                            self.add_text(id, &text, parent, position);
                        }
                    } else if block.kind.is("tool_use") {
                        self.add_call(block, id, is_sidechain, line_at, position);
                    }
                }
            }
        }
    }

    /// Returns whether a row that the newest text follows is not there yet.
    pub fn lacks_rows(&self) -> bool {
        self.lacks_rows_before(self.newest_text.and_then(|newest| newest.parent))
    }

    fn lacks_rows_before(&self, parent: Option<u64>) -> bool {
        let lacks_start = self.session.asks.is_empty();
        let lacks_call = !self.early.is_empty();
        lacks_start || lacks_call || parent.is_some_and(|parent| !self.seen.contains(parent))
    }

    /// Returns whether the newest text overtook what stands at `position`. Then it stays the newest, and is moved behind
    /// it.
    fn was_overtaken(&mut self, position: Position) -> bool {
        let is_last = self.session.tail == Tail::Words;
        let Some(newest) = self.newest_text.as_mut().filter(|newest| is_last && newest.is_ahead) else {
            return false;
        };
        let is_older = position.time.zip(newest.position.time).is_some_and(|(time, newest)| time < newest);
        if is_older {
            newest.position.at = position.at;
        }
        is_older
    }

    fn add_text(&mut self, message: Option<u64>, text: &str, parent: Option<u64>, position: Position) {
        if text.trim().is_empty() {
            return;
        }
        let newest = self.newest_text.filter(|newest| {
            self.session.tail == Tail::Words && message.is_some() && newest.message == message
        });
        if newest.is_none() {
            if self.was_overtaken(position) {
                return self.add_remark(text, position, false);
            }
            self.end_text(self.is_another_message(message));
        }
        let is_ahead = self.lacks_rows_before(parent) || newest.is_some_and(|newest| newest.is_ahead);
        // The claims are at the end of a message.
        self.session.final_message = Some(match self.session.final_message.take() {
            Some(before) => last_part(&format!("{before}\n{text}"), MESSAGE_CAP),
            None => last_part(text, MESSAGE_CAP),
        });
        self.newest_text = Some(NewestText { message, position, parent, is_ahead });
        self.session.tail = Tail::Words;
        self.pending.close_all();
    }

    /// Returns whether the newest text belongs to another message than this one. A message that ends on text ends the
    /// turn.
    fn is_another_message(&self, message: Option<u64>) -> bool {
        let newest = self.newest_text.and_then(|newest| newest.message);
        newest.zip(message).is_some_and(|(newest, message)| newest != message)
    }

    /// Makes the newest text a remark, since something followed it.
    fn end_text(&mut self, ends_turn: bool) {
        let Some((text, newest)) = self.session.final_message.take().zip(self.newest_text) else { return };
        self.add_remark(&text, newest.position, ends_turn);
    }

    fn add_remark(&mut self, text: &str, Position { at, time }: Position, ends_turn: bool) {
        let text = start_and_end(text.trim(), REMARK_CAP);
        self.sizes.remarks += text.len();
        self.session.remarks.push(Remark { text, at, time, ends_turn });
        retention::trim_remarks(&mut self.session, &mut self.sizes);
    }

    fn fold_user(&mut self, row: &Row<'_>, line_at: Option<u64>) {
        let is_sidechain = self.is_sidechain(row);
        let Some(message) = row.message() else { return };
        if let Content::Blocks(blocks) = &message.content {
            let is_result = |block: &&Block<'_>| block.kind.is("tool_result");
            let results = blocks.iter().filter(is_result).count();
            // One structured result can't belong to several blocks.
            let structured = if results == 1 { row.tool_use_result } else { Field::default() };
            for block in blocks.iter().filter(is_result) {
                self.add_result(&ToolResult { block, structured, slug: row.slug, line_at }, is_sidechain);
            }
            if results > 0 {
                return;
            }
        }
        if is_sidechain {
            return;
        }
        match prompt_of(row, &message.content) {
            Some(Prompt::Ask(text)) => self.add_ask(&text, self.position(row)),
            Some(Prompt::PlanHandedOver(text)) => {
                self.add_ask("Implement the following plan.", self.position(row));
                self.approve_plan(row.slug.owned(), Some(text), None);
            }
            None => {
                if let Some((task, report)) = notification(&message.content.text()) {
                    self.add_report(task, report);
                }
            }
        }
    }

    fn add_ask(&mut self, text: &str, position: Position) {
        let text = start_and_end(text, ASK_CAP);
        let is_newest = !self.was_overtaken(position);
        if is_newest {
            self.end_text(true);
        }
        // A prompt typed while the agent worked is recorded when queued and again when taken up.
        let hash = xxh3_64(text.as_bytes());
        if self.last_ask.replace(hash) != Some(hash) {
            self.sizes.asks += text.len();
            let Position { at, time } = position;
            self.session.asks.push(Ask { text, at, time });
            retention::trim_asks(&mut self.session, &mut self.sizes);
        }
        if is_newest {
            self.session.tail = Tail::Prompt;
            self.pending.close_all();
        }
    }

    fn fold_attachment(&mut self, row: &Row<'_>) {
        if self.is_sidechain(row) {
            return;
        }
        let attachment = Attachment::parse(row.attachment.raw());
        if attachment.kind.is("plan_file_reference") {
            let text = attachment.plan_content.owned();
            let is_known = self.session.plans.last().is_some_and(|plan| plan.text == text);
            let is_rejected = text.as_ref().is_some_and(|text| self.session.rejected_plans.contains(text));
            if !is_known && !is_rejected {
                self.approve_plan(row.slug.owned(), text, attachment.plan_file_path.owned());
            }
        } else if attachment.kind.is("plan_mode_exit") {
            // Written when plan mode is left, so after the approval, which may have named no file.
            if let Some(plan) = self.session.plans.last_mut().filter(|plan| plan.path.is_none()) {
                plan.path = attachment.plan_file_path.owned();
            }
        } else if attachment.kind.is("queued_command") {
            let text = Content::parse(attachment.prompt).text();
            if let Some((task, report)) = notification(&text) {
                self.add_report(task, report);
            } else if attachment.command_mode.is("prompt")
                && let Some(ask) = persons_words(&text)
            {
                self.add_ask(&ask, self.position(row));
            }
        }
    }

    /// Adds a plan that the person accepted.
    fn approve_plan(&mut self, slug: Option<String>, text: Option<String>, path: Option<String>) {
        if let Some(text) = &text {
            self.session.rejected_plans.retain(|rejected| rejected != text);
        }
        self.session.plans.push(ApprovedPlan { text, path, slug, at: self.session.rows });
    }
}

#[cfg(test)]
mod tests;
