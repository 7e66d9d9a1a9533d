//! Every model of one trial. Takes a [`Script`], gives the client its turns and keeps what the
//! client sent. It must not improvise: a request that it does not know, or one turn more than the
//! script has, is refused.

use serde_json::Value;

use crate::rig::message::{Message, ToolCall};
use crate::rig::messages_api::{self, MessagesApi};
use crate::rig::request::ApiRequest;
use crate::script::{Script, Turn};

/// The tool through which a client with `--json-schema` takes a reader's answer.
pub(crate) const VERDICT_TOOL: &str = "StructuredOutput";

/// A reader is known by its task, not by its lack of tools: a seal that lets tools through has to
/// be seen as that, and not as a second agent. Each task has a first line that no other text has.
const TASKS: [(Sender, &str); 5] = [
    (Sender::FirstReader, include_str!("../../prompts/first.md")),
    (Sender::SecondReader, include_str!("../../prompts/second.md")),
    (Sender::FollowUp, include_str!("../../prompts/settle.md")),
    (Sender::Checklist, include_str!("../../prompts/checklist.md")),
    (Sender::Features, include_str!("../../prompts/features.md")),
];

/// Who a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sender {
    Agent,
    Subagent,
    /// It is asked what drifts.
    FirstReader,
    /// It is asked to refute what the first found.
    SecondReader,
    /// It is asked what became of a block.
    FollowUp,
    /// It is asked which open items are claimed as done.
    Checklist,
    /// It is asked which features of a loop were built.
    Features,
    /// It has given its answer; clients before 2.1.221 want to hear that it is done.
    ReaderDone,
    /// The client itself.
    Side,
}

/// A request that was understood.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) sender: Sender,
    pub(crate) request: ApiRequest,
}

/// The script as far as it is still to be played, and what was asked for.
#[derive(Debug, Default)]
pub(crate) struct Models {
    script: Script,
    recorded: Vec<Recorded>,
}

impl Models {
    pub(crate) fn new(script: Script) -> Self {
        Self { script, recorded: Vec::new() }
    }

    /// Every request, in order.
    pub(crate) fn recorded(&self) -> Vec<Recorded> {
        self.recorded.clone()
    }

    /// Every request of that sender, in order.
    pub(crate) fn requests_of(&self, sender: Sender) -> Vec<ApiRequest> {
        self.recorded.iter().filter(|one| one.sender == sender).map(|one| one.request.clone()).collect()
    }

    /// What of the script was never asked for.
    fn left_over(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut left = |who: &str, turns: &dyn std::fmt::Debug, count: usize| {
            if count > 0 {
                problems.push(format!("{count} of the {who}'s turns were never asked for: {turns:?}"));
            }
        };
        left("agent", &self.script.agent, self.script.agent.len());
        left("subagent", &self.script.subagent, self.script.subagent.len());
        left("first reader", &self.script.proposals, self.script.proposals.len());
        left("second reader", &self.script.verdicts, self.script.verdicts.len());
        left("follow-up", &self.script.followups, self.script.followups.len());
        left("checklist's reader", &self.script.claims, self.script.claims.len());
        left("loop's reader", &self.script.built, self.script.built.len());
        problems
    }
}

/// What went against the script, and what of it was never asked for.
pub(crate) fn problems(api: &MessagesApi<Models>) -> Vec<String> {
    let mut problems = api.problems();
    problems.extend(api.models(|models| models.left_over()));
    problems
}

impl messages_api::Models for Models {
    fn reply(&mut self, _: usize, request: &ApiRequest) -> Result<Message, String> {
        let sender = sender(&self.script, request).ok_or_else(|| messages_api::nobody_knows(request))?;
        self.recorded.push(Recorded { sender, request: request.clone() });
        match next_turn(&mut self.script, sender, request)? {
            Turn::Says(text) => Ok(Message::says(text)),
            Turn::Calls(calls) => Ok(Message::calls(calls)),
            Turn::Reads(_) => Err("a turn made from the request made another such turn".into()),
        }
    }
}

/// Who sent it: each sender is known by something that only it has, and the rest is unknown.
fn sender(script: &Script, request: &ApiRequest) -> Option<Sender> {
    let texts = request.user_texts();
    let said = |words: &str| texts.iter().any(|text| text.contains(words));
    let is_asked = |(_, task): &&(Sender, &str)| task.lines().next().is_some_and(said);
    if let Some((reader, _)) = TASKS.iter().find(is_asked) {
        let done = request.tool_names().contains(&VERDICT_TOOL) && request.tool_results().next().is_some();
        return Some(if done { Sender::ReaderDone } else { *reader });
    }
    // What is asked on the side may quote the prompt.
    if messages_api::is_side_errand(request) {
        return Some(Sender::Side);
    }
    if said(&script.prompt) {
        return Some(Sender::Agent);
    }
    script.errand.as_deref().is_some_and(said).then_some(Sender::Subagent)
}

/// A reader's answer, in the form that its client asks for.
fn answer(answer: Value, request: &ApiRequest) -> Turn {
    if request.tool_names().contains(&VERDICT_TOOL) {
        return Turn::Calls(vec![ToolCall { name: VERDICT_TOOL.into(), input: answer }]);
    }
    Turn::Says(answer.to_string())
}

fn next_turn(script: &mut Script, sender: Sender, request: &ApiRequest) -> Result<Turn, String> {
    let ran_out = |who: &str| format!("the {who}'s script has run out; it was asked: {}", request.brief());
    let turn = match sender {
        Sender::Agent => script.agent.pop_front().ok_or_else(|| ran_out("agent"))?,
        Sender::Subagent => script.subagent.pop_front().ok_or_else(|| ran_out("subagent"))?,
        Sender::FirstReader => {
            answer(script.proposals.pop_front().ok_or_else(|| ran_out("first reader"))?, request)
        }
        Sender::SecondReader => {
            answer(script.verdicts.pop_front().ok_or_else(|| ran_out("second reader"))?, request)
        }
        Sender::FollowUp => {
            answer(script.followups.pop_front().ok_or_else(|| ran_out("follow-up"))?, request)
        }
        Sender::Checklist => {
            answer(script.claims.pop_front().ok_or_else(|| ran_out("checklist's reader"))?, request)
        }
        Sender::Features => {
            answer(script.built.pop_front().ok_or_else(|| ran_out("loop's reader"))?, request)
        }
        Sender::ReaderDone => Turn::Says("That is my answer.".into()),
        Sender::Side => Turn::Says("Nothing.".into()),
    };
    match turn {
        Turn::Reads(made) => made(request),
        turn => Ok(turn),
    }
}
