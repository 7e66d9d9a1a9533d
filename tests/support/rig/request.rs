//! One request of a client to the Messages API, read as far as the tests need. Takes the body as it
//! came, gives what it carries. Must not decide who sent it.

use serde_json::Value;

/// A request's body.
#[derive(Debug, Clone)]
pub(crate) struct ApiRequest {
    body: Value,
}

impl ApiRequest {
    pub(crate) fn parse(body: &[u8]) -> Result<Self, serde_json::Error> {
        Ok(Self { body: serde_json::from_slice(body)? })
    }

    pub(crate) fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    pub(crate) fn is_streamed(&self) -> bool {
        self.body["stream"] == true
    }

    pub(crate) fn tool_names(&self) -> Vec<&str> {
        items(&self.body["tools"]).filter_map(|tool| tool["name"].as_str()).collect()
    }

    /// The tools as they are offered.
    pub(crate) fn tools(&self) -> &Value {
        &self.body["tools"]
    }

    /// Whether a tool takes an input of that name.
    pub(crate) fn tool_takes(&self, tool: &str, input: &str) -> bool {
        items(&self.body["tools"])
            .any(|offered| offered["name"] == tool && !offered["input_schema"]["properties"][input].is_null())
    }

    /// The system prompt, in one piece.
    pub(crate) fn system(&self) -> String {
        texts(&self.body["system"]).join("\n")
    }

    /// What the user's side of the conversation says, tool results left out.
    pub(crate) fn user_texts(&self) -> Vec<&str> {
        items(&self.body["messages"])
            .filter(|message| message["role"] == "user")
            .flat_map(|message| texts(&message["content"]))
            .collect()
    }

    /// Everything that the model is told, by whoever. Newer clients put their own notes into
    /// messages of the system among those of the user.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let messages = items(&self.body["messages"]).map(|message| &message["content"]);
        std::iter::once(&self.body["system"]).chain(messages).flat_map(texts).collect()
    }

    /// What the tools that were called have answered by now.
    pub(crate) fn tool_results(&self) -> impl Iterator<Item = ToolResult<'_>> {
        items(&self.body["messages"])
            .flat_map(|message| items(&message["content"]))
            .filter(|block| block["type"] == "tool_result")
            .map(|block| ToolResult {
                call: block["tool_use_id"].as_str().unwrap_or_default(),
                failed: block["is_error"] == true,
                text: texts(&block["content"]).join("\n"),
            })
    }

    /// The tool that starts a subagent: `Task` up to 2.1.62, then `Agent`.
    pub(crate) fn subagent_tool(&self) -> Result<&'static str, String> {
        ["Agent", "Task"]
            .into_iter()
            .find(|name| self.tool_names().contains(name))
            .ok_or_else(|| format!("no tool starts a subagent: {:?}", self.tool_names()))
    }

    /// The file that the client wants the plan in. Before 2.1.42 a plan has none.
    pub(crate) fn plan_file(&self) -> Result<&str, String> {
        self.texts().into_iter().find_map(plan_file).ok_or_else(|| "the client names no plan file".into())
    }

    /// Whether a text stands anywhere in it, tool results and schemas included. For plain words:
    /// what JSON escapes is not found.
    pub(crate) fn mentions(&self, text: &str) -> bool {
        self.body.to_string().contains(text)
    }

    /// One line for a failed test's report, and the newest words of the user's side.
    pub(crate) fn brief(&self) -> String {
        let said = self.user_texts().last().copied().unwrap_or_default().to_owned();
        let said: String = said.chars().take(2_000).collect();
        format!(
            "{} messages={} tools=[{}]\n{said}",
            self.model(),
            items(&self.body["messages"]).count(),
            self.tool_names().join(" "),
        )
    }
}

/// What a tool answered.
#[derive(Debug)]
pub(crate) struct ToolResult<'a> {
    /// The call's id.
    pub(crate) call: &'a str,
    pub(crate) failed: bool,
    pub(crate) text: String,
}

/// The first path in a text that looks like `…/plans/<name>.md`; a full stop may follow it.
fn plan_file(text: &str) -> Option<&str> {
    text.split(|character: char| character.is_whitespace() || "\"'`()".contains(character))
        .filter(|word| word.contains("/plans/"))
        .find_map(|word| word.find(".md").map(|at| &word[..at + ".md".len()]))
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Content is a string or a list of blocks, in either place.
fn texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        blocks => items(blocks).filter_map(|block| block["text"].as_str()).collect(),
    }
}
