//! Takes one line of a transcript, gives its rows. Must not assume anything about a field but its name: a
//! field of another type than today's counts as absent, and the rest of the row is used.

use std::borrow::Cow;

use memchr::memmem::Finder;
use xxhash_rust::xxh3::xxh3_64;

use crate::client::json_scan::{Needle, Raw, Scan, Torn};

/// A field, if it is there.
#[derive(Debug, Clone, Copy, Default)]
pub struct Field<'a>(Option<Raw<'a>>);

impl<'a> Field<'a> {
    /// A field that holds this.
    pub fn of(raw: Raw<'a>) -> Self {
        Self(Some(raw))
    }

    /// The text, if it is text and not empty.
    pub fn text(self) -> Option<Cow<'a, str>> {
        self.0.and_then(Raw::text).filter(|text| !text.is_empty())
    }

    /// The same, as a text of its own.
    pub fn owned(self) -> Option<String> {
        self.text().map(Cow::into_owned)
    }

    /// The text, an id, in eight bytes.
    pub fn hash(self) -> Option<u64> {
        match self.0.and_then(Raw::plain) {
            Some(id) => (!id.is_empty()).then(|| xxh3_64(id)),
            None => self.text().map(|id| xxh3_64(id.as_bytes())),
        }
    }

    /// Whether it is this text.
    pub fn is(self, word: &str) -> bool {
        self.0.is_some_and(|raw| raw.is(word))
    }

    /// Whether it is `true`.
    pub fn is_true(self) -> bool {
        self.0.is_some_and(Raw::is_true)
    }

    /// The value as it stands.
    pub fn raw(self) -> Option<Raw<'a>> {
        self.0
    }

    /// Each item, if it is a list; a list that breaks off is given as far as it goes.
    pub fn each_item(self, mut each: impl FnMut(Raw<'a>)) {
        if let Some(raw) = self.0 {
            let _ = raw.scan().items(|scan| {
                each(scan.value()?);
                Ok::<_, Torn>(())
            });
        }
    }

    pub(crate) fn take(&mut self, scan: &mut Scan<'a>) -> Result<(), Torn> {
        // A key that stands twice counts as it stands first.
        let value = scan.value()?;
        self.0.get_or_insert(value);
        Ok(())
    }
}

/// Makes a struct of fields, by their names in JSON, and its reader.
macro_rules! record {
    ($(#[$about:meta])* $vis:vis $name:ident { $($(#[$doc:meta])* $field:ident = $key:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default)]
        $vis struct $name<'a> { $($(#[$doc])* $vis $field: $crate::client::row::Field<'a>,)* }

        impl<'a> $name<'a> {
            /// Reads what is there; anything but an object has no fields.
            $vis fn of(raw: Option<$crate::client::json_scan::Raw<'a>>) -> Self {
                let mut record = Self::default();
                if let Some(raw) = raw {
                    let _ = raw.scan().fields(|key, scan| record.take(key, scan));
                }
                record
            }

            fn take(
                &mut self,
                key: &[u8],
                scan: &mut $crate::client::json_scan::Scan<'a>,
            ) -> Result<(), $crate::client::json_scan::Torn> {
                match key {
                    $($key => self.$field.take(scan),)*
                    _ => scan.skip(),
                }
            }
        }
    };
}
pub(crate) use record;

/// One row of a transcript: the fields that an audit may need, as they stand.
#[derive(Debug, Default)]
pub struct Row<'a> {
    /// What the row is. Everything else is read only after a look at this.
    pub kind: Field<'a>,
    /// The row's own id. A fork copies rows with theirs.
    pub uuid: Field<'a>,
    /// The id of the row that it follows, which may be in another file, or not there yet.
    pub parent_uuid: Field<'a>,
    /// The session's id.
    pub session_id: Field<'a>,
    /// Where the session stood.
    pub cwd: Field<'a>,
    /// The client's version.
    pub version: Field<'a>,
    /// The plan's short name.
    pub slug: Field<'a>,
    /// When.
    pub timestamp: Field<'a>,
    /// Not of the conversation itself: caveats, hook feedback, injected context.
    pub is_meta: Field<'a>,
    /// What compaction left of the conversation so far.
    pub is_compact_summary: Field<'a>,
    /// Shown to the person, never sent.
    pub is_visible_in_transcript_only: Field<'a>,
    /// A subagent's row inside the main file (to 1.0.108), or any row of a subagent's own file.
    pub is_sidechain: Field<'a>,
    /// The words are the client's own about a failed request.
    pub is_api_error_message: Field<'a>,
    /// `typed`, `sdk`, `system`, …
    pub prompt_source: Field<'a>,
    /// The plan with which a session was opened ("clear context and implement").
    pub plan_content: Field<'a>,
    /// Who wrote a prompt.
    pub origin: Field<'a>,
    /// The message of a user or assistant row.
    pub message: Option<Message<'a>>,
    /// A tool's result in the client's own shape: an object, a list, or plain text on failure.
    pub tool_use_result: Field<'a>,
    /// What an attachment row carries.
    pub attachment: Field<'a>,
    /// What was not read.
    pub left_out: LeftOut,
}

/// What was not read of a row, since somebody said that it does not matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Its one result.
    pub result: bool,
    /// All that stands behind its results.
    pub rest: bool,
}

/// Whoever knows what does not matter.
pub trait RowNeeds {
    /// Whether the result of a call tells nothing but that it has come.
    fn is_idle_result(&self, call: Field<'_>) -> bool;
    /// Whether what is known of a row with results, up to them, is all that matters but for the results themselves.
    fn has_enough(&self, row: &Row<'_>) -> bool;

    /// Whether nothing was left out of a row that matters.
    fn agrees_with(&self, row: &Row<'_>) -> bool {
        let LeftOut { result, rest } = row.left_out;
        (!result || row.blocks().first().is_some_and(|block| self.is_idle_result(block.tool_use_id)))
            && (!rest || self.has_enough(row))
    }
}

/// Whoever takes rows in.
pub trait RowSink: RowNeeds {
    /// A row.
    fn take(&mut self, row: &Row<'_>);
}

/// Takes rows whole.
struct Whole<F>(F);

impl<F> RowNeeds for Whole<F> {
    fn is_idle_result(&self, _: Field<'_>) -> bool {
        false
    }

    fn has_enough(&self, _: &Row<'_>) -> bool {
        false
    }
}

impl<F: FnMut(&Row<'_>)> RowSink for Whole<F> {
    fn take(&mut self, row: &Row<'_>) {
        (self.0)(row);
    }
}

/// Keys to which a row is read on at once, and those that must not stand before them.
static UUID: Needle = Needle::new(|| Finder::new("\"uuid\":"));
static RESULT: Needle = Needle::new(|| Finder::new("\"tool_use_id\":"));
static AGENTS: Needle = Needle::new(|| Finder::new("\"type\":\"assistant\""));
static API_ERROR: Needle = Needle::new(|| Finder::new("\"isApiErrorMessage\":"));

/// Why a row is not read on.
enum Halt {
    Torn,
    /// The rest of it does not matter.
    Enough,
    /// Its one result does not matter.
    IdleResult,
    /// Its words and calls are read: what else its message holds does not matter.
    Said,
}

impl From<Torn> for Halt {
    fn from(_: Torn) -> Self {
        Self::Torn
    }
}

impl<'a> Row<'a> {
    /// Reads a row, until it shows that nothing in it matters, or nothing more to the taker.
    fn read(&mut self, scan: &mut Scan<'a>, taker: &impl RowNeeds) -> Result<(), Halt> {
        let ended = scan.fields(|key, scan| self.take(key, scan, Some(taker)));
        match ended {
            // The client writes the row's own id behind a message with results, and the type and the id behind one with
            // words. Where that is not so, the row is read whole.
            Err(Halt::IdleResult) => {
                self.left_out.result = true;
                scan.jump_to(&UUID, &RESULT)?;
                scan.fields_from_here(|key, scan| self.take(key, scan, Some(taker)))
            }
            Err(Halt::Said) => {
                scan.jump_to(&AGENTS, &API_ERROR)?;
                scan.fields_from_here(|key, scan| self.take(key, scan, Some(taker)))
            }
            ended => ended,
        }
    }

    /// The same, and past the end of the row; `false` where only the plain way tells where that is.
    fn read_past(&mut self, scan: &mut Scan<'a>, known: &impl RowNeeds) -> bool {
        match self.read(scan, known) {
            Ok(()) => true,
            Err(Halt::Enough) => scan.pass_to_the_end(),
            Err(Halt::Torn | Halt::IdleResult | Halt::Said) => false,
        }
    }

    /// Reads a row to its end.
    fn read_whole(&mut self, scan: &mut Scan<'a>) -> Result<(), Halt> {
        scan.fields(|key, scan| self.take(key, scan, None::<&Whole<()>>))
    }

    /// Takes the field of that name; a `taker` may have enough of the row with it.
    fn take(&mut self, key: &[u8], scan: &mut Scan<'a>, taker: Option<&impl RowNeeds>) -> Result<(), Halt> {
        match key {
            b"type" => {
                self.kind.take(scan)?;
                return if taker.is_some() && self.is_known_idle() { Err(Halt::Enough) } else { Ok(()) };
            }
            // The longest part of most rows, and the last one of which anything matters.
            b"toolUseResult" if taker.is_some_and(|taker| taker.has_enough(self)) => {
                self.tool_use_result = Field(Some(scan.rest()));
                self.left_out.rest = true;
                return Err(Halt::Enough);
            }
            // Read at once where it stands: whatever else is long in a row stands in its message.
            b"message" if scan.peek() == Some(b'{') => {
                let message = self.message.insert(Message::default());
                let is_idle = |call| taker.is_some_and(|taker| taker.is_idle_result(call));
                // A person's message comes behind the row's type.
                let is_agents = taker.is_some() && self.kind.raw().is_none();
                message.read(scan, is_agents, &is_idle)?;
            }
            b"uuid" => self.uuid.take(scan)?,
            b"parentUuid" => self.parent_uuid.take(scan)?,
            b"sessionId" => self.session_id.take(scan)?,
            b"cwd" => self.cwd.take(scan)?,
            b"version" => self.version.take(scan)?,
            b"slug" => self.slug.take(scan)?,
            b"timestamp" => self.timestamp.take(scan)?,
            b"isMeta" => self.is_meta.take(scan)?,
            b"isCompactSummary" => self.is_compact_summary.take(scan)?,
            b"isVisibleInTranscriptOnly" => self.is_visible_in_transcript_only.take(scan)?,
            b"isSidechain" => self.is_sidechain.take(scan)?,
            b"isApiErrorMessage" => self.is_api_error_message.take(scan)?,
            b"promptSource" => self.prompt_source.take(scan)?,
            b"planContent" => self.plan_content.take(scan)?,
            b"origin" => self.origin.take(scan)?,
            b"toolUseResult" => self.tool_use_result.take(scan)?,
            b"attachment" => self.attachment.take(scan)?,
            _ => scan.skip()?,
        }
        Ok(())
    }

    /// Whether it is known by now that nothing in it matters.
    fn is_known_idle(&self) -> bool {
        // Most rows are of the conversation; those are told by a look.
        if [USER, ASSISTANT, ATTACHMENT].iter().any(|kind| self.kind.is(kind)) {
            return false;
        }
        self.kind.text().is_some_and(|kind| is_idle(&kind))
    }

    /// Gives each of its own fields, in order.
    pub fn each_field(&mut self, each: &mut dyn FnMut(&mut Field<'a>)) {
        for field in [
            &mut self.kind,
            &mut self.uuid,
            &mut self.parent_uuid,
            &mut self.session_id,
            &mut self.cwd,
            &mut self.version,
            &mut self.slug,
            &mut self.timestamp,
            &mut self.is_meta,
            &mut self.is_compact_summary,
            &mut self.is_visible_in_transcript_only,
            &mut self.is_sidechain,
            &mut self.is_api_error_message,
            &mut self.prompt_source,
            &mut self.plan_content,
            &mut self.origin,
            &mut self.tool_use_result,
            &mut self.attachment,
        ] {
            each(field);
        }
    }

    /// Whether it brings nothing but results, of calls that want nothing else, and all that every row must tell is
    /// known of it.
    pub fn is_of_results(&self, wants_result_only: impl Fn(u64) -> bool) -> bool {
        let has = |field: Field<'_>| field.raw().is_some();
        let blocks = self.blocks();
        [self.kind, self.uuid, self.timestamp, self.is_sidechain].into_iter().all(has)
            && !blocks.is_empty()
            && blocks.iter().all(|block| {
                block.kind.is("tool_result") && block.tool_use_id.hash().is_some_and(&wants_result_only)
            })
    }

    /// The blocks of its message.
    pub fn blocks(&self) -> &[Block<'a>] {
        match self.message.as_ref().map(|message| &message.content) {
            Some(Content::Blocks(blocks)) => blocks,
            _ => &[],
        }
    }
}

/// Rows with prompts and results.
pub const USER: &str = "user";
/// Rows with words and calls.
pub const ASSISTANT: &str = "assistant";
/// Rows with what the client adds.
pub const ATTACHMENT: &str = "attachment";

/// A user's or assistant's message.
#[derive(Debug, Default)]
pub struct Message<'a> {
    /// Shared by the rows of one message.
    pub id: Field<'a>,
    /// What it says.
    pub content: Content<'a>,
}

impl<'a> Message<'a> {
    fn read(
        &mut self,
        scan: &mut Scan<'a>,
        is_agents: bool,
        is_idle: &impl Fn(Field<'a>) -> bool,
    ) -> Result<(), Halt> {
        scan.fields(|key, scan| {
            match key {
                b"id" => self.id.take(scan)?,
                b"content" => {
                    self.content.read(scan, is_idle)?;
                    // Behind it stand the counts of tokens, which are as long as most of what is said.
                    if is_agents && self.id.raw().is_some() {
                        return Err(Halt::Said);
                    }
                }
                _ => scan.skip()?,
            }
            Ok(())
        })
    }
}

record! {
    /// One block of a message.
    pub Block {
        /// `text`, `tool_use`, `tool_result`, `thinking`, `image`, …
        kind = b"type",
        /// A text block's words.
        text = b"text",
        /// A tool call's id.
        id = b"id",
        /// A tool call's tool.
        name = b"name",
        /// A tool call's input.
        input = b"input",
        /// A result's call.
        tool_use_id = b"tool_use_id",
        /// A result's content: text or a list of blocks.
        content = b"content",
        /// A result of a call that failed.
        is_error = b"is_error",
    }
}

impl<'a> Block<'a> {
    /// Gives each field, in order.
    pub fn each_field(&mut self, each: &mut dyn FnMut(&mut Field<'a>)) {
        for field in [
            &mut self.kind, &mut self.text, &mut self.id, &mut self.name, &mut self.input,
            &mut self.tool_use_id, &mut self.content, &mut self.is_error,
        ] {
            each(field);
        }
    }

    /// Reads a block, unless it turns out to be a result that does not matter.
    fn read_unless(&mut self, scan: &mut Scan<'a>, is_idle: &impl Fn(Field<'a>) -> bool) -> Result<(), Halt> {
        scan.fields(|key, scan| {
            if key == b"content" && self.kind.is("tool_result") && is_idle(self.tool_use_id) {
                return Err(Halt::IdleResult);
            }
            Ok(self.take(key, scan)?)
        })
    }
}

/// The content of a message: text, or blocks.
#[derive(Debug)]
pub enum Content<'a> {
    /// Plain text.
    Text(Raw<'a>),
    /// Blocks, those that can be read.
    Blocks(Vec<Block<'a>>),
}

impl Default for Content<'_> {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl<'a> Content<'a> {
    /// Reads it; a shape that we do not know is empty.
    pub fn of(field: Field<'a>) -> Self {
        let mut content = Self::default();
        if let Some(raw) = field.raw() {
            if raw.is_text() {
                return Self::Text(raw);
            }
            let _ = content.read(&mut raw.scan(), &|_| false);
        }
        content
    }

    fn read(&mut self, scan: &mut Scan<'a>, is_idle: &impl Fn(Field<'a>) -> bool) -> Result<(), Halt> {
        let mut blocks = Vec::new();
        let ended = match scan.peek() {
            Some(b'"') => {
                *self = Self::Text(scan.value()?);
                return Ok(());
            }
            Some(b'[') => scan.items(|scan| {
                if scan.peek() != Some(b'{') {
                    return Ok(scan.skip()?);
                }
                let mut block = Block::default();
                let ended = block.read_unless(scan, is_idle);
                blocks.push(block);
                // Of several results each may matter.
                if matches!(ended, Err(Halt::IdleResult)) && blocks.len() > 1 {
                    Err(Halt::Torn)
                } else {
                    ended
                }
            }),
            _ => scan.skip().map_err(Halt::from),
        };
        *self = Self::Blocks(blocks);
        ended
    }

    /// The start of its text: `cap` bytes, or all of it.
    pub fn start(&self, cap: usize) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(raw) => raw.start(cap).map(Cow::Owned),
            Self::Blocks(_) => Some(self.text()),
        }
    }

    /// All its text in one.
    pub fn text(&self) -> Cow<'a, str> {
        match self {
            Self::Text(raw) => raw.text().unwrap_or_default(),
            Self::Blocks(blocks) => {
                let mut texts = blocks.iter().filter_map(|block| block.text.text());
                let first = texts.next().unwrap_or_default();
                texts.fold(first, |all, text| Cow::Owned(format!("{all}\n{text}")))
            }
        }
    }
}

/// NUL padding was seen after a crash of the writer.
fn is_padding(byte: u8) -> bool {
    byte == 0 || byte.is_ascii_whitespace()
}

/// The line without what stands around its rows, and where that starts.
pub fn without_padding(line: &[u8]) -> (&[u8], usize) {
    let start = line.iter().position(|byte| !is_padding(*byte)).unwrap_or(line.len());
    let end = line.iter().rposition(|byte| !is_padding(*byte)).map_or(start, |at| at + 1);
    (&line[start..end], start)
}

/// Gives every row on a line to `each`, and says whether the line was readable to its end. A line may hold
/// two objects; what can be read before a fault is used.
pub fn rows_of(line: &[u8], each: impl FnMut(&Row<'_>)) -> bool {
    take_rows(line, &mut Whole(each))
}

/// The same, for one who may have enough of a row before its end: what comes after that is not looked at, unless
/// it may be another row.
pub fn take_rows(line: &[u8], taker: &mut impl RowSink) -> bool {
    let mut scan = Scan::new(line);
    while scan.peek().is_some() {
        let start = scan;
        let mut row = Row::default();
        if !row.read_past(&mut scan, taker) {
            // Another row on the same line, an unusual order of keys, or a fault: the plain way tells.
            (scan, row) = (start, Row::default());
            if row.read_whole(&mut scan).is_err() {
                return false;
            }
        }
        taker.take(&row);
    }
    true
}

/// The row of a line that holds one and no more, by what is known of what does not matter. `None` is for a line that
/// has to be read in the plain way.
pub fn lone_row<'a>(line: &'a [u8], known: &impl RowNeeds) -> Option<Row<'a>> {
    let mut scan = Scan::new(line);
    let mut row = Row::default();
    (row.read_past(&mut scan, known) && scan.peek().is_none()).then_some(row)
}

/// Whether a line holds rows to its end, none of them cut off.
pub fn is_whole(line: &[u8]) -> bool {
    let mut scan = Scan::new(line);
    while let Some(first) = scan.peek() {
        if first != b'{' || scan.skip().is_err() {
            return false;
        }
    }
    true
}

/// Types that carry nothing for an audit. They are known, so they are not counted as unknown.
const KNOWN_AND_IDLE: &[&str] = &[
    "agent-name", "agent-setting", "ai-title", "api-request", "api-request-blob", "api-response",
    "atis-latch", "bridge-session", "cost-state", "custom-title", "file-history-delta",
    "file-history-snapshot", "last-prompt", "mode", "permission-mode", "pr-link", "progress",
    "queue-operation", "result", "summary", "system", "tag", "tools-used",
];

/// Whether rows of this type are known to carry nothing for an audit.
pub fn is_idle(kind: &str) -> bool {
    // What most rows are is known at once.
    !matches!(kind, "user" | "assistant") && KNOWN_AND_IDLE.binary_search(&kind).is_ok()
}

#[cfg(test)]
mod tests;
