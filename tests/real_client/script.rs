//! What the models of one trial say: the agent's turns in order, its subagent's, the readers'
//! answers. Plain data; it must not know a client or a server.

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
    /// What the first reader answers, one for each audit.
    pub(crate) proposals: VecDeque<Value>,
    /// What the second reader answers, one for each audit that would hold.
    pub(crate) verdicts: VecDeque<Value>,
    /// What the reader answers that is asked, at the stop after a block, what became of it.
    pub(crate) followups: VecDeque<Value>,
    /// What the reader answers that the checklist gate asks.
    pub(crate) claims: VecDeque<Value>,
    /// What the reader answers that is asked of features that were set to pass at once.
    pub(crate) built: VecDeque<Value>,
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

    /// What the first reader proposes at the next audit.
    pub(crate) fn proposed(mut self, findings: &[Value]) -> Self {
        self.proposals.push_back(json!({ "findings": findings, "candidates": [], "verdicts": [] }));
        self
    }

    /// What the second reader says of each finding it is asked about: whether it survives, and why.
    pub(crate) fn judged(mut self, findings: &[(bool, &str)]) -> Self {
        let verdict = |(at, (uphold, why)): (usize, &(bool, &str))| json!({ "number": at + 1, "uphold": uphold, "why": why });
        let verdicts: Vec<Value> = findings.iter().enumerate().map(verdict).collect();
        self.verdicts.push_back(json!({ "findings": [], "candidates": [], "verdicts": verdicts }));
        self
    }

    /// What a reader says of the finding that held, at the next stop: `fixed`, `wrong` or `stands`.
    pub(crate) fn followed_up(mut self, state: &str, why: &str) -> Self {
        self.followups.push_back(json!({ "findings": [{ "number": 1, "state": state, "why": why }] }));
        self
    }

    /// Which features a reader takes for built, each with why.
    pub(crate) fn built(mut self, features: &[(bool, &str)]) -> Self {
        let verdict = |(at, (built, why)): (usize, &(bool, &str))| json!({ "number": at + 1, "built": built, "why": why });
        let verdicts: Vec<Value> = features.iter().enumerate().map(verdict).collect();
        self.built.push_back(json!({ "features": verdicts }));
        self
    }

    /// Which open items a reader takes for claimed, and whether all of the work is.
    pub(crate) fn claimed(mut self, items: &[usize], finished: bool) -> Self {
        self.claims.push_back(json!({ "claimed": items, "finished": finished }));
        self
    }
}
