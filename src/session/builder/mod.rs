//! Folds a transcript's rows, in file order, into a [`Session`]. Pure. Must not follow parent
//! chains (they are broken or cyclic in real files), trust the order of timestamps (they go back in
//! most) if nothing else shows that rows are out of order, or grow with the transcript
//! (`retention`).

mod calls;
mod pending;
mod queue;

use std::collections::{HashSet, VecDeque};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::client::prompt::Prompt;
use crate::client::row::{ASSISTANT, ATTACHMENT, Block, Content, Field, QUEUE, Row, USER};
use crate::client::tool_call::PlanText;
use crate::session::builder::pending::Pending;
use crate::session::builder::queue::Queue;
use crate::session::retention;
use crate::session::{ApprovedPlan, Ask, Remark, Session, Tail};
use crate::text::{last_part, start_and_end};

/// Whose transcript this is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The session's own. Sidechain rows in it are a subagent's (to 1.0.108).
    #[default]
    Main,
    /// A subagent's own file: all rows are sidechain rows, and its first prompt is the main
    /// agent's.
    Subagent,
}

/// How much is kept of an ask, a remark and a final message.
pub const ASK_CAP: usize = 8 << 10;
pub const REMARK_CAP: usize = 2 << 10;
pub(super) const MESSAGE_CAP: usize = 64 << 10;
/// The number of rows between two trims.
const ROWS_BETWEEN_TRIMS: usize = 64;

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
    /// The row before it was not there yet. The client can write rows while those before them are
    /// still being written, and overtake them.
    is_ahead: bool,
}

/// How many ids are kept.
const MOST_IDS: usize = 2_048;

/// The hashes of recent ids. A resumed or forked session can contain a row twice; in real files the
/// copies are close together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "VecDeque<u64>", into = "VecDeque<u64>")]
struct SeenIds {
    oldest_first: VecDeque<u64>,
    set: HashSet<u64>,
}

impl SeenIds {
    /// Adds an id; returns whether it is new.
    fn insert(&mut self, id: u64) -> bool {
        if !self.set.insert(id) {
            return false;
        }
        self.oldest_first.push_back(id);
        if self.oldest_first.len() > MOST_IDS
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.set.remove(&oldest);
        }
        true
    }

    fn contains(&self, id: u64) -> bool {
        self.set.contains(&id)
    }
}

impl From<VecDeque<u64>> for SeenIds {
    fn from(oldest_first: VecDeque<u64>) -> Self {
        Self { set: oldest_first.iter().copied().collect(), oldest_first }
    }
}

impl From<SeenIds> for VecDeque<u64> {
    fn from(seen: SeenIds) -> Self {
        seen.oldest_first
    }
}

/// A session that is being built. It can be saved, and continued later.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionBuilder {
    role: Role,
    session: Session,
    pending: Pending,
    /// The hashes of the ids of recent rows and calls.
    seen: SeenIds,
    /// The text itself is the session's final message, until something follows it.
    newest_text: Option<NewestText>,
    /// The hash of the newest ask: the text itself may be masked by now.
    last_ask: Option<u64>,
    /// What the person typed while the agent worked.
    queue: Queue,
}

impl SessionBuilder {
    /// Starts an empty session.
    pub fn new(role: Role) -> Self {
        Self { role, ..Self::default() }
    }

    /// Starts an empty session of the transcript at `path`.
    pub fn for_file(role: Role, path: &str) -> Self {
        let mut builder = Self::new(role);
        builder.session.sources.push(path.to_owned());
        builder
    }

    /// Returns the session so far.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the session so far, for changes that do not add or remove entries.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Returns the texts in it that are never masked, since they are compared with the disk or the
    /// transcript.
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
            .chain(self.queue.texts())
    }

    /// Returns the finished session.
    pub fn into_session(self) -> Session {
        self.session
    }

    /// Folds one row. `line_at` is the offset of its line in the transcript, if the line is as the
    /// transcript has it.
    pub fn fold(&mut self, row: &Row<'_>, line_at: Option<u64>) {
        if row.kind.is(QUEUE) {
            return self.fold_queue(row);
        }
        let is_one_of = |kinds: &[&str]| kinds.iter().any(|kind| row.kind.is(kind));
        if !is_one_of(&[ASSISTANT, USER, ATTACHMENT]) {
            self.session.skipped.unknown += usize::from(!row.is_ignored());
            return;
        }
        // A resumed or forked session can contain a row twice.
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
        // By the number of rows, so that reading a session in pieces gives the same result as
        // reading it at once.
        if self.session.rows.is_multiple_of(ROWS_BETWEEN_TRIMS) {
            self.pending.renumber(&retention::trim(&mut self.session));
        }
    }

    /// Records what a row says about its session.
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

    /// Returns whether a row before the newest text is not there yet.
    pub fn lacks_rows(&self) -> bool {
        self.lacks_rows_before(self.newest_text.and_then(|newest| newest.parent))
    }

    fn lacks_rows_before(&self, parent: Option<u64>) -> bool {
        let lacks_start = self.session.asks.is_empty();
        let lacks_call = self.pending.has_early();
        lacks_start || lacks_call || parent.is_some_and(|parent| !self.seen.contains(parent))
    }

    /// Returns whether the newest text overtook the row at `position`. If so, it stays the newest,
    /// and is moved after that row.
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

    /// Returns whether the newest text belongs to another message than this one. A message that
    /// ends with text ends the turn.
    fn is_another_message(&self, message: Option<u64>) -> bool {
        let newest = self.newest_text.and_then(|newest| newest.message);
        newest.zip(message).is_some_and(|(newest, message)| newest != message)
    }

    /// Turns the newest text into a remark, since something followed it.
    fn end_text(&mut self, ends_turn: bool) {
        let Some((text, newest)) = self.session.final_message.take().zip(self.newest_text) else { return };
        self.add_remark(&text, newest.position, ends_turn);
    }

    fn add_remark(&mut self, text: &str, Position { at, time }: Position, ends_turn: bool) {
        let text = start_and_end(text.trim(), REMARK_CAP);
        self.session.remarks.push(Remark { text, at, time, ends_turn });
    }

    fn fold_user(&mut self, row: &Row<'_>, line_at: Option<u64>) {
        let Some(message) = row.message() else { return };
        if let Content::Blocks(blocks) = &message.content {
            let results: Vec<&Block<'_>> =
                blocks.iter().filter(|block| block.kind.is("tool_result")).collect();
            // One structured result can't belong to several blocks.
            let structured = if results.len() == 1 { row.tool_use_result } else { Field::default() };
            for block in &results {
                self.add_result(block, structured, row, line_at);
            }
            if !results.is_empty() {
                return;
            }
        }
        if !self.is_sidechain(row) {
            self.add_prompt(Prompt::in_row(row, &message.content), row);
        }
    }

    fn add_prompt(&mut self, prompt: Option<Prompt>, row: &Row<'_>) {
        match prompt {
            Some(Prompt::Ask(text)) => self.add_ask(&text, self.position(row)),
            Some(Prompt::PlanHandedOver(text)) => {
                self.add_ask("Implement the following plan.", self.position(row));
                self.approve_plan(PlanText { text: Some(text), path: None, slug: row.slug.owned() });
            }
            Some(Prompt::TaskEnded { task, report }) => self.add_report(&task, &report),
            None => {}
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
        let was_taken_up = self.queue.was_taken_up(hash);
        if self.last_ask.replace(hash) != Some(hash) && !was_taken_up {
            let Position { at, time } = position;
            self.session.asks.push(Ask { text, at, time });
        }
        if is_newest {
            self.session.tail = Tail::Prompt;
            self.pending.close_all();
        }
    }

    /// Folds an operation on the queue. A prompt that is taken up in the middle of a turn may be
    /// recorded nowhere else.
    fn fold_queue(&mut self, row: &Row<'_>) {
        if row.operation.is("enqueue") {
            self.queue.add(&row.content.text().unwrap_or_default());
        } else if row.operation.is("remove") {
            let Some(Prompt::Ask(text)) = self.queue.take().and_then(|text| Prompt::typed(&text)) else {
                return;
            };
            self.add_ask(&text, self.position(row));
            self.queue.note_taken_up(xxh3_64(start_and_end(&text, ASK_CAP).as_bytes()));
        } else if row.operation.is("dequeue") {
            // The person's own row follows.
            self.queue.take();
        } else {
            // `popAll`: the person got them back.
            self.queue.clear();
        }
    }

    fn fold_attachment(&mut self, row: &Row<'_>) {
        if self.is_sidechain(row) {
            return;
        }
        let attachment = row.attachment();
        let path = attachment.plan_file_path.owned();
        if attachment.kind.is("plan_file_reference") {
            let text = attachment.plan_content.owned();
            let is_known = self.session.plans.last().is_some_and(|plan| plan.text == text);
            let is_rejected = text.as_ref().is_some_and(|text| self.session.rejected_plans.contains(text));
            if !is_known && !is_rejected {
                self.approve_plan(PlanText { text, path, slug: row.slug.owned() });
            }
        } else if attachment.kind.is("plan_mode_exit") {
            // Written when plan mode ends, so after the approval, which may not have named a file.
            if let Some(plan) = self.session.plans.last_mut().filter(|plan| plan.path.is_none()) {
                plan.path = path;
            }
        } else if attachment.kind.is("queued_command") {
            self.add_prompt(Prompt::queued(&attachment), row);
        }
    }

    /// Adds a plan that the person accepted.
    fn approve_plan(&mut self, PlanText { text, path, slug }: PlanText) {
        self.session.rejected_plans.retain(|rejected| text.as_ref() != Some(rejected));
        self.session.plans.push(ApprovedPlan { text, path, slug, at: self.session.rows });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_ids_are_known_and_old_ones_are_not() {
        let mut seen = SeenIds::default();
        let most = MOST_IDS as u64;
        assert!((0..=most).all(|id| seen.insert(id)));
        assert!(seen.contains(most) && !seen.contains(0));
        assert!(!seen.insert(most) && !seen.insert(1), "recent");
        assert!(seen.insert(0), "too long ago");
        assert!(seen.insert(1), "dropped for it");
        assert_eq!(SeenIds::from(VecDeque::from(seen.clone())), seen);
    }
}
