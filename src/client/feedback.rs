//! The rows with which the client hands a block to the agent. Must not say whose block it was.

use std::borrow::Cow;

use crate::client::row::{Content, Row, USER};

/// The start of such a row's text.
pub const FEEDBACK: &str = "Stop hook feedback:";

/// Returns the text of a row, where that is what a hook of a stop said.
pub fn feedback<'a>(row: &Row<'a>) -> Option<Cow<'a, str>> {
    let message = row.message().filter(|_| row.kind.is(USER))?;
    let is_feedback = |text: &Cow<'a, str>| text.starts_with(FEEDBACK);
    match &message.content {
        Content::Text(raw) => raw.text().filter(is_feedback),
        Content::Blocks(blocks) => blocks.iter().filter_map(|block| block.text.text()).find(is_feedback),
    }
}
