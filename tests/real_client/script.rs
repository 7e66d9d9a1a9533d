//! What the models of one trial say: the agent's turns in order, its subagent's, the auditor's verdicts.
//! Plain data; it must not know a client or a server.

use std::collections::VecDeque;
use std::fmt;

use serde_json::{Value, json};

use crate::rig::message::ToolCall;
use crate::rig::request::ApiRequest;

/// One turn of a model.
pub(crate) enum Turn {
    /// Words, and the turn is over.
    Says(String),
    /// Tool calls, all in one message.
    Calls(Vec<ToolCall>),
    /// A turn that depends on what the client sent: tool names and plan files differ by version.
    Reads(fn(&ApiRequest) -> Result<Turn, String>),
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Says(text) => write!(f, "says {text:?}"),
            Self::Calls(calls) => write!(f, "calls {calls:?}"),
            Self::Reads(_) => write!(f, "a turn made from the request"),
        }
    }
}

/// Everything that the models say in one trial.
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// The person's words that open the session. A request that holds them is the agent's own.
    pub(crate) prompt: String,
    pub(crate) agent: VecDeque<Turn>,
    /// The words that open the subagent's conversation, and its turns.
    pub(crate) errand: Option<String>,
    pub(crate) subagent: VecDeque<Turn>,
    /// One verdict for each audit.
    pub(crate) verdicts: VecDeque<Value>,
}

impl Script {
    pub(crate) fn new(prompt: &str) -> Self {
        Self { prompt: prompt.to_owned(), ..Self::default() }
    }

    pub(crate) fn says(mut self, text: &str) -> Self {
        self.agent.push_back(Turn::Says(text.to_owned()));
        self
    }

    pub(crate) fn calls(mut self, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        self.agent.push_back(Turn::Calls(calls.into_iter().collect()));
        self
    }

    pub(crate) fn reads(mut self, turn: fn(&ApiRequest) -> Result<Turn, String>) -> Self {
        self.agent.push_back(Turn::Reads(turn));
        self
    }

    /// The subagent that is opened with `errand`: it makes these calls and then reports.
    pub(crate) fn subagent(mut self, errand: &str, calls: Vec<ToolCall>, report: &str) -> Self {
        self.errand = Some(errand.to_owned());
        self.subagent = [Turn::Calls(calls), Turn::Says(report.to_owned())].into();
        self
    }

    /// What the subagent does when it was held: the same once more.
    pub(crate) fn held_subagent(mut self, calls: Vec<ToolCall>, report: &str) -> Self {
        self.subagent.extend([Turn::Calls(calls), Turn::Says(report.to_owned())]);
        self
    }

    /// What the auditor answers to the next audit.
    pub(crate) fn verdict(mut self, findings: &[Value]) -> Self {
        self.verdicts.push_back(json!({ "findings": findings }));
        self
    }
}
