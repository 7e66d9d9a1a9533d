//! Everybody who speaks in a case: the agent, its subagents, and the model that sums a conversation
//! up. Takes the script turn by turn, gives each request the next reply of who sent it. It must not
//! improvise: a request that the script has no reply for is refused, and so is what follows a tool
//! call that did not end as the script says.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use crate::case_file::{Agent, Reply};
use crate::places::Places;
use crate::rig::message::{Message, ToolCall, write};
use crate::rig::messages_api::{self, Models, call_id};
use crate::rig::request::{ApiRequest, ToolResult};

/// What every client says, from 1.0.98 on, when it wants a conversation summed up.
const SUM_UP: &str = "Your task is to create a detailed summary of";

/// What a shell command's failure may say without the script having failed: it ran.
const NOT_RUN: &[&str] =
    &["requires approval", "requested permissions", "InputValidationError", "No such tool"];

/// Somebody's conversation: the words that open it, and what is still to be said in it.
#[derive(Debug)]
struct Part {
    opening: String,
    replies: VecDeque<Reply>,
}

/// A call whose result is still to come.
#[derive(Debug)]
struct OpenCall {
    what: String,
    may_fail: MayFail,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MayFail {
    Never,
    /// A shell command may end as it likes, as long as it ran.
    Freely,
    Must,
}

/// Everybody, with what they have still to say.
#[derive(Debug)]
pub(crate) struct Cast {
    places: Places,
    agent: Option<Part>,
    subagents: Vec<Part>,
    summary: Option<String>,
    calls: BTreeMap<String, OpenCall>,
    /// One line for each request, for the report.
    pub(crate) asked: Vec<String>,
}

impl Cast {
    pub(crate) fn new(places: Places) -> Self {
        Self {
            places,
            agent: None,
            subagents: Vec::new(),
            summary: None,
            calls: BTreeMap::new(),
            asked: Vec::new(),
        }
    }

    /// The person's next words, and what the agent will say to them.
    pub(crate) fn turn(&mut self, prompt: &str, replies: &[Reply]) {
        self.agent = Some(Part { opening: prompt.to_owned(), replies: replies.to_vec().into() });
    }

    /// The conversation is about to be summed up.
    pub(crate) fn sum_up(&mut self, summary: String) {
        self.agent = None;
        self.summary = Some(summary);
    }

    /// What was never asked for, and which calls were never answered.
    pub(crate) fn left_over(&self) -> Vec<String> {
        let parts = self.agent.iter().chain(&self.subagents).filter(|part| !part.replies.is_empty());
        let parts = parts.map(|part| {
            let (count, opening) = (part.replies.len(), &part.opening);
            format!(
                "never asked for: the last {count} replies in {opening:?}, from {:?}",
                part.replies.front()
            )
        });
        let calls = self.calls.values().map(|call| format!("never answered: {}", call.what));
        let summary = self.summary.iter().map(|_| "the summary was never asked for".to_owned());
        parts.chain(calls).chain(summary).collect()
    }

    /// Whether the calls that were answered by now ended as the script says.
    fn look_at_results(&mut self, request: &ApiRequest) -> Result<(), String> {
        for result in request.tool_results() {
            if let Some(call) = self.calls.remove(result.call) {
                call.ended_as_it_may(&result)?;
            }
        }
        Ok(())
    }

    /// The next reply in the conversation that a request belongs to.
    fn next_reply(&mut self, request: &ApiRequest) -> Result<Reply, String> {
        let texts = request.user_texts();
        let opens = |part: &Part| texts.iter().any(|text| text.contains(&part.opening));
        let part = if let Some(agent) = self.agent.as_mut().filter(|part| opens(part)) {
            agent
        } else {
            // Of two errands that begin alike, the longer one is meant.
            let errands = self.subagents.iter_mut().filter(|part| opens(part));
            errands
                .max_by_key(|part| part.opening.len())
                .ok_or_else(|| messages_api::nobody_knows(request))?
        };
        part.replies.pop_front().ok_or_else(|| {
            format!(
                "the script has no further reply in {:?}; it was asked: {}",
                part.opening,
                request.brief()
            )
        })
    }

    /// A reply as a message to this client.
    fn message(&mut self, number: usize, reply: &Reply, request: &ApiRequest) -> Result<Message, String> {
        let mut calls = Vec::new();
        let mut add = |call: ToolCall, fails: bool| calls.push((call, fails));
        if let (Some(name), Some(input)) = (&reply.tool, &reply.input) {
            add(self.places.call(name, input), reply.fails);
        }
        for call in &reply.tools {
            add(self.places.call(&call.name, &call.input), call.fails || reply.fails);
        }
        if let Some(plan) = &reply.plan_file {
            add(write(request.plan_file()?, plan), reply.fails);
        }
        for agent in reply.agents() {
            let opening = self.places.fill(&agent.prompt);
            if self.subagents.iter().any(|part| part.opening == opening) {
                return Err(format!("two subagents have the same errand: {opening:?}"));
            }
            add(errand(request, agent, &opening)?, reply.fails);
            self.subagents.push(Part { opening, replies: agent.replies.clone().into() });
        }
        for (index, (call, fails)) in calls.iter().enumerate() {
            self.calls.insert(call_id(number, index), OpenCall::new(call, *fails));
        }
        let text = reply.text.as_deref().map(|text| self.places.fill(text));
        Ok(Message { text, calls: calls.into_iter().map(|(call, _)| call).collect() })
    }
}

impl Models for Cast {
    fn reply(&mut self, number: usize, request: &ApiRequest) -> Result<Message, String> {
        self.asked.push(request.brief());
        self.look_at_results(request)?;
        if request.user_texts().iter().any(|text| text.contains(SUM_UP)) {
            let summary = self.summary.take().ok_or("the client sums up, and the script does not say so")?;
            return Ok(Message::says(summary));
        }
        if messages_api::is_side_errand(request) {
            return Ok(Message::says("Nothing."));
        }
        let reply = self.next_reply(request)?;
        self.message(number, &reply, request)
    }
}

impl OpenCall {
    fn new(call: &ToolCall, fails: bool) -> Self {
        let may_fail = match (fails, call.name.as_str()) {
            (true, _) => MayFail::Must,
            (false, "Bash") => MayFail::Freely,
            (false, _) => MayFail::Never,
        };
        let input: String = call.input.to_string().chars().take(200).collect();
        Self { what: format!("{} {input}", call.name), may_fail }
    }

    fn ended_as_it_may(&self, result: &ToolResult<'_>) -> Result<(), String> {
        let ran = !NOT_RUN.iter().any(|words| result.text.contains(words));
        let fine = match self.may_fail {
            MayFail::Never => !result.failed,
            MayFail::Freely => !result.failed || ran,
            MayFail::Must => result.failed,
        };
        if fine {
            return Ok(());
        }
        let how = if result.failed { "failed" } else { "was meant to fail and did not" };
        Err(format!("this call {how}: {}\nit answered: {}", self.what, result.text))
    }
}

/// The call that starts a subagent.
fn errand(request: &ApiRequest, agent: &Agent, prompt: &str) -> Result<ToolCall, String> {
    let tool = request.subagent_tool()?;
    let kind = agent.kind.as_deref().unwrap_or("general-purpose");
    let mut input = json!({ "description": agent.description, "prompt": prompt, "subagent_type": kind });
    // From 2.1.221 on a subagent runs in the background unless it is told not to.
    if request.tool_takes(tool, "run_in_background") {
        input["run_in_background"] = Value::Bool(agent.background);
    } else if agent.background {
        return Err("this client has no subagents in the background".into());
    }
    Ok(ToolCall { name: tool.into(), input })
}
