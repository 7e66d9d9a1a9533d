//! Takes one line of a transcript, gives its rows. Must not assume anything about a field but its name: a
//! field of another type than today's counts as absent, and the rest of the row is used.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A field that counts as absent when it is not what we expect.
#[derive(Debug, Clone)]
pub struct Lenient<T>(pub Option<T>);

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        Ok(Self(serde_json::from_str(raw.get()).ok()))
    }
}

/// Text that borrows from the line where it has no escapes.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// A text field, read leniently.
pub type LenientText<'a> = Lenient<Text<'a>>;

impl LenientText<'_> {
    /// The text, if there is one and it is not empty.
    pub fn get(&self) -> Option<&str> {
        self.0.as_ref().map(|text| text.0.as_ref()).filter(|text| !text.is_empty())
    }
}

/// One row of a transcript: the fields that an audit may need, the large ones unparsed.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Row<'a> {
    /// What the row is. Everything else is read only after a look at this.
    #[serde(borrow, rename = "type")]
    pub kind: LenientText<'a>,
    /// The row's own id. A fork copies rows with theirs.
    #[serde(borrow)]
    pub uuid: LenientText<'a>,
    /// The session's id.
    #[serde(borrow)]
    pub session_id: LenientText<'a>,
    /// Where the session stood.
    #[serde(borrow)]
    pub cwd: LenientText<'a>,
    /// The client's version.
    #[serde(borrow)]
    pub version: LenientText<'a>,
    /// The plan's short name.
    #[serde(borrow)]
    pub slug: LenientText<'a>,
    /// When.
    #[serde(borrow)]
    pub timestamp: LenientText<'a>,
    /// Not of the conversation itself: caveats, hook feedback, injected context.
    pub is_meta: Lenient<bool>,
    /// What compaction left of the conversation so far.
    pub is_compact_summary: Lenient<bool>,
    /// Shown to the person, never sent.
    pub is_visible_in_transcript_only: Lenient<bool>,
    /// A subagent's row inside the main file (to 1.0.108), or any row of a subagent's own file.
    pub is_sidechain: Lenient<bool>,
    /// The words are the client's own about a failed request.
    pub is_api_error_message: Lenient<bool>,
    /// `typed`, `sdk`, `system`, …
    #[serde(borrow)]
    pub prompt_source: LenientText<'a>,
    /// The plan with which a session was opened ("clear context and implement").
    #[serde(borrow)]
    pub plan_content: LenientText<'a>,
    /// Who wrote a prompt.
    #[serde(borrow)]
    pub origin: Option<&'a RawValue>,
    /// The message of a user or assistant row.
    #[serde(borrow)]
    pub message: Option<&'a RawValue>,
    /// A tool's result in the client's own shape: an object, a list, or plain text on failure.
    #[serde(borrow)]
    pub tool_use_result: Option<&'a RawValue>,
    /// What an attachment row carries.
    #[serde(borrow)]
    pub attachment: Option<&'a RawValue>,
}

/// A user's or assistant's message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Message<'a> {
    /// Shared by the rows of one message.
    #[serde(borrow)]
    pub id: LenientText<'a>,
    /// Text, or a list of blocks.
    #[serde(borrow)]
    pub content: Option<&'a RawValue>,
}

/// One block of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Block<'a> {
    /// `text`, `tool_use`, `tool_result`, `thinking`, `image`, …
    #[serde(borrow, rename = "type")]
    pub kind: LenientText<'a>,
    /// A text block's words.
    #[serde(borrow)]
    pub text: LenientText<'a>,
    /// A tool call's id.
    #[serde(borrow)]
    pub id: LenientText<'a>,
    /// A tool call's tool.
    #[serde(borrow)]
    pub name: LenientText<'a>,
    /// A tool call's input.
    #[serde(borrow)]
    pub input: Option<&'a RawValue>,
    /// A result's call.
    #[serde(borrow)]
    pub tool_use_id: LenientText<'a>,
    /// A result's content: text or a list of blocks.
    #[serde(borrow)]
    pub content: Option<&'a RawValue>,
    /// A result of a call that failed.
    pub is_error: Lenient<bool>,
}

/// The content of a message: text, or blocks.
#[derive(Debug)]
pub enum Content<'a> {
    /// Plain text.
    Text(Cow<'a, str>),
    /// Blocks, those that can be read.
    Blocks(Vec<Block<'a>>),
}

impl<'a> Content<'a> {
    /// Reads it; a shape that we do not know is empty.
    pub fn of(raw: Option<&'a RawValue>) -> Self {
        let Some(json) = raw.map(RawValue::get) else { return Self::Blocks(Vec::new()) };
        if let Ok(Text(text)) = serde_json::from_str::<Text<'a>>(json) {
            return Self::Text(text);
        }
        let blocks = serde_json::from_str::<Vec<&'a RawValue>>(json).unwrap_or_default();
        Self::Blocks(blocks.into_iter().filter_map(|block| serde_json::from_str(block.get()).ok()).collect())
    }

    /// All its text in one.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone().into_owned(),
            Self::Blocks(blocks) => {
                blocks.iter().filter_map(|block| block.text.get()).collect::<Vec<_>>().join("\n")
            }
        }
    }
}

/// Reads a raw value as whatever type is wanted, or not at all.
pub fn read<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
}

/// Gives every row on a line to `each`, and says whether the line was readable to its end. A line may hold
/// two objects; what can be read before a fault is used.
pub fn rows_of(line: &str, mut each: impl FnMut(&Row<'_>)) -> bool {
    let mut stream = serde_json::Deserializer::from_str(line).into_iter::<Row<'_>>();
    for row in &mut stream {
        match row {
            Ok(row) => each(&row),
            Err(_) => return false,
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
    KNOWN_AND_IDLE.binary_search(&kind).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_idle_types_are_sorted_for_the_search() {
        assert!(KNOWN_AND_IDLE.is_sorted());
    }

    #[test]
    fn a_field_of_another_type_is_absent_and_the_rest_is_used() {
        let mut kinds = Vec::new();
        let whole = rows_of(r#"{"type":"user","uuid":7,"isMeta":null,"slug":["x"],"cwd":"/w"}"#, |row| {
            kinds.push((
                row.kind.get().map(String::from),
                row.uuid.get().is_none(),
                row.cwd.get() == Some("/w"),
            ));
        });
        assert!(whole);
        assert_eq!(kinds, [(Some("user".into()), true, true)]);
    }

    #[test]
    fn two_objects_on_one_line_are_two_rows() {
        let mut rows = 0;
        assert!(rows_of(r#"{"type":"user"}{"type":"assistant"}"#, |_| rows += 1));
        assert_eq!(rows, 2);
    }

    #[test]
    fn what_stands_before_a_tear_is_used() {
        let mut rows = 0;
        assert!(!rows_of(r#"{"type":"user"}{"type":"assis"#, |_| rows += 1));
        assert_eq!(rows, 1);
    }

    #[test]
    fn escapes_are_decoded() {
        let mut seen = String::new();
        rows_of(r#"{"type":"user","message":{"content":"a\n\"b\" \u00e9"}}"#, |row| {
            let message: Message<'_> = read(row.message).expect("a message");
            seen = Content::of(message.content).text();
        });
        assert_eq!(seen, "a\n\"b\" é");
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(line in ".{0,300}") {
            rows_of(&line, |_| ());
        }
    }
}
