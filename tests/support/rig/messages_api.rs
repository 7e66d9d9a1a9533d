//! The Messages API on loopback. Takes [`Models`], who know what every model says, and gives the
//! client their messages as the real one would. It must not improvise: what the models do not know
//! is refused, and stays refused, so that the test that runs it fails.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use super::message::Message;
use super::request::ApiRequest;
use super::sse;

/// What older clients ask a small model on the side, with no tools: a text in the request that
/// gives it away.
const SIDE_ERRANDS: &[&str] = &[
    // Up to 2.1.42, at the start of a session in a git repository: which files to offer as
    // examples.
    "You are an expert at analyzing git history",
    // Up to 2.1.42, after a shell command: what to allow next time, and which files it named.
    "Your task is to process Bash commands that an AI coding agent wants to run",
    "Extract any file paths that this command reads or modifies",
    // To 2.1.221, at a terminal: what to call the session.
    "Generate a concise, sentence-case title",
    // 2.0.32, after a file was read.
    "You are a framework and library detection assistant",
];

/// The whole text of the requests that 2.0.32 sends at its start to warm up a cache.
const WARM_UP: &str = "Warmup";

/// Everybody who speaks behind the API.
pub(crate) trait Models: Send + 'static {
    /// What the model behind this request says, or what is wrong with the request. The requests are
    /// numbered, and the calls in a message are known by that number: see [`call_id`].
    fn reply(&mut self, number: usize, request: &ApiRequest) -> Result<Message, String>;
}

/// The id of a call, by the number of the request it answers and its place in the message.
pub(crate) fn call_id(number: usize, index: usize) -> String {
    format!("toolu_{number:04}_{index}")
}

/// Whether the client asks on its own account, for nothing that a session is made of.
pub(crate) fn is_side_errand(request: &ApiRequest) -> bool {
    let system = request.system();
    let warm_up = request.user_texts().iter().any(|text| text.trim() == WARM_UP);
    let errand = SIDE_ERRANDS.iter().any(|errand| system.contains(errand));
    request.tool_names().is_empty() && (warm_up || errand)
}

/// What to tell somebody whose request nobody knows.
pub(crate) fn nobody_knows(request: &ApiRequest) -> String {
    format!("nobody knows this request: {}\nsystem: {}", request.brief(), request.system())
}

#[derive(Debug)]
struct State<M> {
    models: M,
    answered: usize,
    problems: Vec<String>,
}

/// The running server. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct MessagesApi<M> {
    server: MockServer,
    state: Arc<Mutex<State<M>>>,
}

impl<M: Models> MessagesApi<M> {
    pub(crate) async fn start(models: M) -> Self {
        let state = Arc::new(Mutex::new(State { models, answered: 0, problems: Vec::new() }));
        // Binds to 127.0.0.1 and a free port. Who wants to look at the requests later keeps them.
        let server = MockServer::builder().disable_request_recording().start().await;
        Mock::given(any()).respond_with(Player(Arc::clone(&state))).mount(&server).await;
        Self { server, state }
    }

    pub(crate) fn url(&self) -> String {
        self.server.uri()
    }

    /// Speaks with the models between requests.
    pub(crate) fn models<T>(&self, speak: impl FnOnce(&mut M) -> T) -> T {
        speak(&mut lock(&self.state).models)
    }

    /// What was refused, in order.
    pub(crate) fn problems(&self) -> Vec<String> {
        lock(&self.state).problems.clone()
    }
}

fn lock<M>(state: &Mutex<State<M>>) -> MutexGuard<'_, State<M>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Player<M>(Arc<Mutex<State<M>>>);

impl<M: Models> Respond for Player<M> {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut state = lock(&self.0);
        // Clients ask again after a refusal. Whatever they get then would only blur what went
        // wrong.
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

fn answer<M: Models>(state: &mut State<M>, request: &Request) -> Result<ResponseTemplate, String> {
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
    let number = state.answered;
    state.answered += 1;
    let message = state.models.reply(number, &request)?;
    let body = sse::body(number, request.model(), &message);
    Ok(ResponseTemplate::new(200).set_body_raw(body, "text/event-stream"))
}
