//! The scripted Messages API: a server on loopback that plays every model of one trial. Takes a [`Script`],
//! gives the client its turns and keeps what the client sent. It must not improvise: a request that it does
//! not know, or one turn more than the script has, is refused and makes the trial fail.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::request::ApiRequest;
use crate::script::{Script, ToolCall, Turn};
use crate::sse;

/// The tool through which a client with `--json-schema` takes the auditor's answer.
pub(crate) const VERDICT_TOOL: &str = "StructuredOutput";

/// The auditor is known by its system prompt, not by its lack of tools: a seal that lets tools through has
/// to be seen as that, and not as a second agent.
const AUDITOR: &str = include_str!("../../prompts/system.md");

/// What older clients ask a small model on the side, with no tools: a text in the request that gives it away.
const SIDE_ERRANDS: &[&str] = &[
    // Up to 2.1.42, at the start of a session in a git repository: which files to offer as examples.
    "You are an expert at analyzing git history",
];

/// The whole text of the requests that 2.0.32 sends at its start to warm up a cache.
const WARM_UP: &str = "Warmup";

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

#[derive(Debug, Default)]
struct State {
    script: Script,
    recorded: Vec<Recorded>,
    problems: Vec<String>,
}

/// The running server. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct MessagesApi {
    server: MockServer,
    state: Arc<Mutex<State>>,
}

impl MessagesApi {
    pub(crate) async fn start(script: Script) -> Self {
        let state = Arc::new(Mutex::new(State { script, ..State::default() }));
        // Binds to 127.0.0.1 and a free port. What comes in is recorded here, as what it is.
        let server = MockServer::builder().disable_request_recording().start().await;
        Mock::given(any()).respond_with(Player(Arc::clone(&state))).mount(&server).await;
        Self { server, state }
    }

    pub(crate) fn url(&self) -> String {
        self.server.uri()
    }

    /// Every request of that sender, in order.
    pub(crate) fn requests_of(&self, sender: Sender) -> Vec<ApiRequest> {
        let state = lock(&self.state);
        state.recorded.iter().filter(|one| one.sender == sender).map(|one| one.request.clone()).collect()
    }

    /// Every request, in order.
    pub(crate) fn recorded(&self) -> Vec<Recorded> {
        lock(&self.state).recorded.clone()
    }

    /// What went against the script, and what of it was never asked for.
    pub(crate) fn problems(&self) -> Vec<String> {
        let state = lock(&self.state);
        let mut problems = state.problems.clone();
        let mut left = |who: &str, turns: &dyn std::fmt::Debug, count: usize| {
            if count > 0 {
                problems.push(format!("{count} of the {who}'s turns were never asked for: {turns:?}"));
            }
        };
        left("agent", &state.script.agent, state.script.agent.len());
        left("subagent", &state.script.subagent, state.script.subagent.len());
        left("auditor", &state.script.verdicts, state.script.verdicts.len());
        problems
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Player(Arc<Mutex<State>>);

impl Respond for Player {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut state = lock(&self.0);
        // Clients ask again after a refusal. Whatever they get then would only blur what went wrong.
        let answer = match state.problems.first() {
            Some(problem) => Err(problem.clone()),
            None => answer(&mut state, request).inspect_err(|problem| state.problems.push(problem.clone())),
        };
        match answer {
            Ok(response) => response,
            Err(problem) => ResponseTemplate::new(400).set_body_json(json!({
                "type": "error",
                "error": { "type": "invalid_request_error", "message": format!("scripted API: {problem}") },
            })),
        }
    }
}

fn answer(state: &mut State, request: &Request) -> Result<ResponseTemplate, String> {
    let (method, path) = (request.method.as_str(), request.url.path());
    match (method, path) {
        // Whether there is a network at all.
        ("HEAD" | "GET", _) => return Ok(ResponseTemplate::new(200).set_body_json(json!({}))),
        ("POST", "/v1/messages/count_tokens") => {
            return Ok(ResponseTemplate::new(200).set_body_json(json!({ "input_tokens": 10 })));
        }
        ("POST", "/v1/messages") => {}
        _ => return Err(format!("nobody answers {method} {path}")),
    }
    let request =
        ApiRequest::parse(&request.body).map_err(|error| format!("a body that is not JSON: {error}"))?;
    if !request.is_streamed() {
        return Err(format!("a request that is not streamed: {}", request.brief()));
    }
    let sender = sender(&state.script, &request).ok_or_else(|| {
        format!("nobody knows this request: {}\nsystem: {}", request.brief(), request.system())
    })?;
    let id = state.recorded.len();
    state.recorded.push(Recorded { sender, request: request.clone() });
    let turn = next_turn(&mut state.script, sender, &request)?;
    let body = match turn {
        Turn::Says(text) => sse::text(id, request.model(), &text),
        Turn::Calls(calls) => sse::tool_calls(id, request.model(), &calls),
        Turn::Reads(_) => return Err("a turn made from the request made another such turn".into()),
    };
    Ok(ResponseTemplate::new(200).set_body_raw(body, "text/event-stream"))
}

/// Who sent it: each sender is known by something that only it has, and the rest is unknown.
fn sender(script: &Script, request: &ApiRequest) -> Option<Sender> {
    let system = request.system();
    let texts = request.user_texts();
    let said = |words: &str| texts.iter().any(|text| text.contains(words));
    if AUDITOR.lines().next().is_some_and(|line| system.contains(line) || said(line)) {
        let done = request.tool_names().contains(&VERDICT_TOOL) && request.has_tool_result();
        return Some(if done { Sender::AuditorDone } else { Sender::Auditor });
    }
    if said(&script.prompt) {
        return Some(Sender::Agent);
    }
    if script.errand.as_deref().is_some_and(said) {
        return Some(Sender::Subagent);
    }
    let warm_up = texts.iter().any(|text| text.trim() == WARM_UP);
    let errand = SIDE_ERRANDS.iter().any(|errand| system.contains(errand));
    (request.tool_names().is_empty() && (warm_up || errand)).then_some(Sender::Side)
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
