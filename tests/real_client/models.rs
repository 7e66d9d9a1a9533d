//! Every model of one trial. Takes a [`Script`], gives the client its turns and keeps what the client sent. It must
//! not improvise: a request that it does not know, or one turn more than the script has, is refused.

use crate::rig::message::{Message, ToolCall};
use crate::rig::messages_api::{self, MessagesApi};
use crate::rig::request::ApiRequest;
use crate::script::{Script, Turn};

/// The tool through which a client with `--json-schema` takes the auditor's answer.
pub(crate) const VERDICT_TOOL: &str = "StructuredOutput";

/// The auditor is known by its system prompt, not by its lack of tools: a seal that lets tools through has
/// to be seen as that, and not as a second agent.
const AUDITOR: &str = include_str!("../../prompts/system.md");

/// Who a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sender {
    Agent,
    Subagent,
    /// It asks for a verdict.
    Auditor,
    /// It has given its verdict; clients before 2.1.221 want to hear that it is done.
    AuditorDone,
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
        left("auditor", &self.script.verdicts, self.script.verdicts.len());
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
    let system = request.system();
    let texts = request.user_texts();
    let said = |words: &str| texts.iter().any(|text| text.contains(words));
    if AUDITOR.lines().next().is_some_and(|line| system.contains(line) || said(line)) {
        let done = request.tool_names().contains(&VERDICT_TOOL) && request.tool_results().next().is_some();
        return Some(if done { Sender::AuditorDone } else { Sender::Auditor });
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

fn next_turn(script: &mut Script, sender: Sender, request: &ApiRequest) -> Result<Turn, String> {
    let ran_out = |who: &str| format!("the {who}'s script has run out; it was asked: {}", request.brief());
    let turn = match sender {
        Sender::Agent => script.agent.pop_front().ok_or_else(|| ran_out("agent"))?,
        Sender::Subagent => script.subagent.pop_front().ok_or_else(|| ran_out("subagent"))?,
        Sender::Auditor => {
            let verdict = script.verdicts.pop_front().ok_or_else(|| ran_out("auditor"))?;
            if request.tool_names().contains(&VERDICT_TOOL) {
                Turn::Calls(vec![ToolCall { name: VERDICT_TOOL.into(), input: verdict }])
            } else {
                Turn::Says(verdict.to_string())
            }
        }
        Sender::AuditorDone => Turn::Says("That is my verdict.".into()),
        Sender::Side => Turn::Says("Nothing.".into()),
    };
    match turn {
        Turn::Reads(made) => made(request),
        turn => Ok(turn),
    }
}
