//! One message of a model: words, tool calls, or both. Plain data; it must not know a client or a
//! server.

use std::fmt;

use serde_json::{Value, json};

/// What a model says in one go.
#[derive(Debug, Clone, Default)]
pub(crate) struct Message {
    /// Words; where there are no calls, they end the model's turn.
    pub(crate) text: Option<String>,
    pub(crate) calls: Vec<ToolCall>,
}

impl Message {
    pub(crate) fn says(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), calls: Vec::new() }
    }

    pub(crate) fn calls(calls: Vec<ToolCall>) -> Self {
        Self { text: None, calls }
    }
}

/// One call of a tool.
#[derive(Debug, Clone)]
pub(crate) struct ToolCall {
    pub(crate) name: String,
    pub(crate) input: Value,
}

/// A call of `Write`.
pub(crate) fn write(path: impl fmt::Display, content: &str) -> ToolCall {
    ToolCall { name: "Write".into(), input: json!({ "file_path": path.to_string(), "content": content }) }
}
