//! Parses the lines of a transcript into rows; the only parser of the client's rows. Must not
//! assume anything about a field but its name: a field of an unexpected type counts as absent, and
//! the rest of the row is used.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_64;

use crate::client::json_scan::{Raw, Scan, Torn};

/// A field that may be absent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Field<'a>(Option<Raw<'a>>);

impl<'a> Field<'a> {
    /// Returns the string, if there is one and it is not empty.
    pub fn text(self) -> Option<Cow<'a, str>> {
        self.0.and_then(Raw::text).filter(|text| !text.is_empty())
    }

    pub fn owned(self) -> Option<String> {
        self.text().map(Cow::into_owned)
    }

    /// Returns the hash of the string, which is an id.
    pub fn hash(self) -> Option<u64> {
        self.text().map(|id| xxh3_64(id.as_bytes()))
    }

    pub fn is(self, word: &str) -> bool {
        self.0.is_some_and(|raw| raw.is(word))
    }

    pub fn is_true(self) -> bool {
        self.0.is_some_and(Raw::is_true)
    }

    pub fn raw(self) -> Option<Raw<'a>> {
        self.0
    }

    /// Returns the objects in it, if it is a list. A list that breaks off is used as far as it
    /// goes.
    pub fn objects(self) -> Vec<Raw<'a>> {
        let mut objects = Vec::new();
        if let Some(raw) = self.0 {
            let _ = raw.scan().items(|scan| {
                objects.extend(Some(scan.value()?).filter(|raw| raw.json().starts_with(b"{")));
                Ok(())
            });
        }
        objects
    }

    /// Reads the value. If a key is repeated, the first value counts.
    pub(crate) fn read(&mut self, scan: &mut Scan<'a>) -> Result<(), Torn> {
        let value = scan.value()?;
        self.0.get_or_insert(value);
        Ok(())
    }
}

/// Defines a struct of fields by their JSON names, and its parser. A field is a [`Field`], or has a
/// type that reads itself.
macro_rules! record {
    (@type) => { $crate::client::row::Field<'a> };
    (@type $type:ty) => { $type };
    ($(#[$about:meta])* $vis:vis $name:ident { $($(#[$doc:meta])* $field:ident = $key:literal $(as $type:ty)?,)* }) => {
        $(#[$about])*
        #[derive(Debug, Default)]
        $vis struct $name<'a> { $($(#[$doc])* $vis $field: $crate::client::row::record!(@type $($type)?),)* }

        impl<'a> $name<'a> {
            /// Parses an object as far as it goes; anything else has no fields.
            $vis fn parse(raw: Option<$crate::client::json_scan::Raw<'a>>) -> Self {
                let mut record = Self::default();
                if let Some(raw) = raw {
                    let _ = raw.scan().fields(|key, scan| record.read_field(key, scan));
                }
                record
            }

            fn read_field(
                &mut self,
                key: &[u8],
                scan: &mut $crate::client::json_scan::Scan<'a>,
            ) -> Result<(), $crate::client::json_scan::Torn> {
                match key {
                    $($key => self.$field.read(scan),)*
                    _ => scan.skip(),
                }
            }
        }
    };
}
pub(crate) use record;

record! {
    /// One row of a transcript: the fields that a session may need, as they are written.
    pub Row {
        kind = b"type",
        /// The row's own id. A fork copies rows with their ids.
        uuid = b"uuid",
        /// The id of the row before it, which may be in another file, or not written yet.
        parent_uuid = b"parentUuid",
        session_id = b"sessionId",
        cwd = b"cwd",
        version = b"version",
        /// The plan's short name.
        slug = b"slug",
        timestamp = b"timestamp",
        /// Not part of the conversation: caveats, hook feedback, injected context.
        is_meta = b"isMeta",
        /// A compaction's summary of the conversation so far.
        is_compact_summary = b"isCompactSummary",
        /// Shown to the person, never sent.
        is_visible_in_transcript_only = b"isVisibleInTranscriptOnly",
        /// A subagent's row inside the main file (to 1.0.108), or any row of a subagent's own file.
        is_sidechain = b"isSidechain",
        /// The client's own text about a failed request.
        is_api_error_message = b"isApiErrorMessage",
        /// `typed`, `sdk`, `system`, …
        prompt_source = b"promptSource",
        /// The plan with which a session was opened ("clear context and implement").
        plan_content = b"planContent",
        /// Who wrote a prompt.
        origin = b"origin",
        /// The message of a user or assistant row.
        message = b"message" as Message<'a>,
        /// A tool's result in the client's own shape: an object, a list, or plain text on failure.
        tool_use_result = b"toolUseResult",
        attachment = b"attachment",
        /// The operation on the queue of prompts: `enqueue`, `dequeue`, `remove`, `popAll`.
        operation = b"operation",
        /// The prompt that was queued.
        content = b"content",
    }
}

pub const USER: &str = "user";
pub const ASSISTANT: &str = "assistant";
pub const ATTACHMENT: &str = "attachment";
pub const QUEUE: &str = "queue-operation";

/// Types that are of no use to a session. They are listed so that they don't count as unknown.
const IGNORED_TYPES: &[&str] = &[
    "agent-name", "agent-setting", "ai-title", "api-request", "api-request-blob", "api-response",
    "atis-latch", "bridge-session", "cost-state", "custom-title", "file-history-delta",
    "file-history-snapshot", "last-prompt", "mode", "permission-mode", "pr-link", "progress", "result",
    "summary", "system", "tag", "tools-used",
];

impl<'a> Row<'a> {
    /// Parses the next row of a line. Skips the rest of a row of an ignored type if its end is
    /// clear: those rows are a large part of a transcript.
    fn next(scan: &mut Scan<'a>) -> Result<Self, Torn> {
        let start = *scan;
        let mut row = Self::default();
        let mut is_ignored = false;
        let read = scan.fields(|key, scan| {
            row.read_field(key, scan)?;
            is_ignored |= key == b"type" && row.is_ignored();
            if is_ignored { Err(Torn) } else { Ok(()) }
        });
        if !is_ignored {
            return read.map(|()| row);
        }
        if !scan.skip_last_object() {
            *scan = start;
            scan.skip()?;
        }
        Ok(row)
    }

    /// Returns whether rows of this type are known to be of no use to a session.
    pub fn is_ignored(&self) -> bool {
        self.kind.text().is_some_and(|kind| IGNORED_TYPES.contains(&kind.as_ref()))
    }

    pub fn attachment(&self) -> Attachment<'a> {
        Attachment::parse(self.attachment.raw())
    }

    pub fn message(&self) -> Option<&Message<'a>> {
        Some(&self.message).filter(|message| message.is_there)
    }
}

/// A message, parsed in place: messages are most of a transcript, and each byte is scanned once.
#[derive(Debug, Default)]
pub struct Message<'a> {
    /// Shared by the rows of one message.
    pub id: Field<'a>,
    pub content: Content<'a>,
    is_there: bool,
}

impl<'a> Message<'a> {
    fn read(&mut self, scan: &mut Scan<'a>) -> Result<(), Torn> {
        if self.is_there || scan.peek() != Some(b'{') {
            return scan.skip();
        }
        self.is_there = true;
        scan.fields(|key, scan| match key {
            b"id" => self.id.read(scan),
            b"content" => self.content.read(scan),
            _ => scan.skip(),
        })
    }
}

record! {
    pub Block {
        /// `text`, `tool_use`, `tool_result`, `thinking`, `image`, …
        kind = b"type",
        text = b"text",
        id = b"id",
        name = b"name",
        input = b"input",
        /// The call that a result belongs to.
        tool_use_id = b"tool_use_id",
        /// A result's content: text or a list of blocks.
        content = b"content",
        /// A result of a call that failed.
        is_error = b"is_error",
    }
}

record! {
    pub Attachment {
        /// `plan_file_reference`, `plan_mode_exit`, `queued_command`, …
        kind = b"type",
        plan_file_path = b"planFilePath",
        plan_content = b"planContent",
        /// `prompt` if a queued command is one.
        command_mode = b"commandMode",
        prompt = b"prompt",
    }
}

/// The content of a message: text, or blocks.
#[derive(Debug)]
pub enum Content<'a> {
    Text(Raw<'a>),
    /// The blocks that can be parsed.
    Blocks(Vec<Block<'a>>),
}

impl Default for Content<'_> {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl<'a> Content<'a> {
    /// Parses it; an unknown shape is empty, and a broken list is used as far as it goes.
    pub fn parse(field: Field<'a>) -> Self {
        let mut content = Self::default();
        if let Some(raw) = field.raw() {
            let _ = content.read(&mut raw.scan());
        }
        content
    }

    fn read(&mut self, scan: &mut Scan<'a>) -> Result<(), Torn> {
        match (scan.peek(), self) {
            (Some(b'"'), content) => {
                *content = Self::Text(scan.value()?);
                Ok(())
            }
            (Some(b'['), Self::Blocks(blocks)) => scan.items(|scan| {
                if scan.peek() != Some(b'{') {
                    return scan.skip();
                }
                let mut block = Block::default();
                scan.fields(|key, scan| block.read_field(key, scan))?;
                blocks.push(block);
                Ok(())
            }),
            _ => scan.skip(),
        }
    }

    /// Returns all its text, with blocks joined by newlines.
    pub fn text(&self) -> Cow<'a, str> {
        match self {
            Self::Text(raw) => raw.text().unwrap_or_default(),
            Self::Blocks(blocks) => {
                let texts: Vec<_> = blocks.iter().filter_map(|block| block.text.text()).collect();
                texts.join("\n").into()
            }
        }
    }
}

/// Returns a line without white space and padding at its ends, and its start. A crash of the client
/// was seen to leave NUL bytes.
pub fn trim(line: &[u8]) -> (&[u8], usize) {
    let is_content = |byte: &u8| *byte != 0 && !byte.is_ascii_whitespace();
    let start = line.iter().position(is_content).unwrap_or(line.len());
    let end = line.iter().rposition(is_content).map_or(start, |at| at + 1);
    (&line[start..end], start)
}

/// Calls `each` for every row on a line, and returns whether the line was readable to its end. A
/// line may have two objects; rows before a fault are used.
pub fn rows_of(line: &[u8], mut each: impl FnMut(&Row<'_>)) -> bool {
    let mut scan = Scan::new(line);
    while scan.peek().is_some() {
        match Row::next(&mut scan) {
            Ok(row) => each(&row),
            Err(Torn) => return false,
        }
    }
    true
}

/// Returns whether a line consists of complete rows.
pub fn is_whole(line: &[u8]) -> bool {
    let mut scan = Scan::new(line);
    while let Some(first) = scan.peek() {
        if first != b'{' || scan.skip().is_err() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_field_of_another_type_is_absent_and_the_rest_is_used() {
        let mut kinds = Vec::new();
        let whole = rows_of(br#"{"type":"user","uuid":7,"isMeta":null,"slug":["x"],"cwd":"/w"}"#, |row| {
            kinds.push((row.kind.is("user"), row.uuid.text().is_none(), row.cwd.is("/w")));
        });
        assert!(whole);
        assert_eq!(kinds, [(true, true, true)]);
    }

    #[test]
    fn two_objects_on_one_line_are_two_rows() {
        let mut rows = 0;
        assert!(rows_of(br#"{"type":"user"}{"type":"assistant"}"#, |_| rows += 1));
        assert_eq!(rows, 2);
    }

    #[test]
    fn a_line_that_is_being_written_is_not_whole_before_its_end() {
        let line = r#"{"type":"progress","data":{"a":{"b":1}}}{"type":"user"}"#;
        let whole: Vec<usize> = (1..=line.len()).filter(|end| is_whole(&line.as_bytes()[..*end])).collect();
        assert_eq!(whole, [line.len() - 15, line.len()]);
    }

    #[test]
    fn what_stands_before_a_tear_is_used() {
        let mut rows = 0;
        assert!(!rows_of(br#"{"type":"user"}{"type":"assis"#, |_| rows += 1));
        assert_eq!(rows, 1);
    }

    #[test]
    fn an_ignored_row_hides_no_other_row() {
        let kinds = |line: &str| {
            let mut kinds = Vec::new();
            assert!(rows_of(line.as_bytes(), |row| kinds.extend(row.kind.owned())), "{line}");
            kinds
        };
        let user = r#"{"type":"user","uuid":"1","toolUseResult":{"a":"x"},"more":[1]}"#;
        let ignored = r#"{"type":"progress","data":{"type":"user","message":{"content":"no"}}}"#;
        assert_eq!(kinds(ignored), ["progress"]);
        assert_eq!(kinds(&format!("{ignored}{user}")), ["progress", "user"]);
        assert_eq!(kinds(&format!("{user} {ignored}")), ["user", "progress"]);
        assert_eq!(kinds(&ignored.replace(':', " : ")), ["progress"]);
    }

    fn said(json: &str) -> Option<String> {
        let mut said = None;
        rows_of(json.as_bytes(), |row| {
            said = row.message().map(|message| message.content.text().into_owned());
        });
        said
    }

    #[test]
    fn escapes_are_decoded_and_blocks_are_joined() {
        let text = r#"{"type":"user","message":{"content":"a\n\"b\" \u00e9"}}"#;
        assert_eq!(said(text).as_deref(), Some("a\n\"b\" é"));
        let blocks =
            r#"{"type":"user","message":{"content":["x",{"text":"a"},{"type":"image"},{"text":"b"}]}}"#;
        assert_eq!(said(blocks).as_deref(), Some("a\nb"));
        assert_eq!(said(r#"{"type":"user","message":{"content":7}}"#).as_deref(), Some(""));
        assert_eq!(said(r#"{"type":"user","message":"x"}"#), None);
    }

    #[test]
    fn spaces_and_another_order_of_keys_lose_nothing() {
        let spaced =
            r#"{ "message" : { "content" : [ { "text" : "a" , "type" : "text" } ] } , "type" : "user" }"#;
        assert_eq!(said(spaced).as_deref(), Some("a"));
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(line in ".{0,300}") {
            rows_of(line.as_bytes(), |_| ());
        }
    }
}
