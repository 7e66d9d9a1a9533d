//! One trip: a scenario played on one client, from an empty scratch folder to the decision log.
//! Takes both, gives nothing where all went as the scenario says, else the whole story.

use std::fmt::Write as _;

use crate::decision_log::{self, Record};
use crate::models::{self, Models, Sender, VERDICT_TOOL};
use crate::rig::client::{Client, Launch, Run};
use crate::rig::messages_api::MessagesApi;
use crate::rig::request::ApiRequest;
use crate::script::Script;
use crate::workspace::Workspace;

/// Something that is tried on every version.
pub(crate) trait Scenario: Sync {
    fn name(&self) -> &'static str;

    /// Why it makes no sense on this client, where it does not.
    fn pointless_on(&self, _: &Client) -> Option<&'static str> {
        None
    }

    /// How the client is started.
    fn launch(&self) -> Launch {
        Launch::Bypass
    }

    /// Lays out the workspace, and gives what the models will say in it.
    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String>;

    /// Says what is wrong with how it went.
    fn check(&self, trip: &Trip) -> Result<(), String>;
}

/// A session that is over, and everything it left.
#[derive(Debug)]
pub(crate) struct Trip {
    pub(crate) client: Client,
    pub(crate) workspace: Workspace,
    pub(crate) run: Run,
    pub(crate) records: Vec<Record>,
    api: MessagesApi<Models>,
    log: String,
}

/// Plays a scenario on a client.
pub(crate) fn play(scenario: &dyn Scenario, client: &Client) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime: {error}"))?;
    runtime.block_on(async {
        let mut trip = travel(scenario, client).await?;
        let verdict = trip.went_by_the_script().and_then(|()| scenario.check(&trip));
        verdict.map_err(|problem| {
            trip.workspace.stay();
            format!("{problem}\n{}", trip.story())
        })
    })
}

async fn travel(scenario: &dyn Scenario, client: &Client) -> Result<Trip, String> {
    let workspace = Workspace::new()?;
    let script = scenario.prepare(client, &workspace)?;
    let prompt = script.prompt.clone();
    let api = MessagesApi::start(Models::new(script)).await;
    let run = client.run(&workspace, &api.url(), (scenario.launch(), None), &prompt).await?;
    // A log that can't be read is told with the rest of the story.
    let (records, log) = decision_log::read(&workspace).unwrap_or_else(|problem| (Vec::new(), problem));
    Ok(Trip { client: client.clone(), workspace, run, records, api, log })
}

impl Trip {
    fn went_by_the_script(&self) -> Result<(), String> {
        let problems = models::problems(&self.api);
        ensure(problems.is_empty(), || {
            format!("the models' script was not followed:\n{}", problems.join("\n"))
        })?;
        ensure(self.run.succeeded(), || "the client did not end well".into())
    }

    pub(crate) fn requests_of(&self, sender: Sender) -> Vec<ApiRequest> {
        self.api.models(|models| models.requests_of(sender))
    }

    /// The one request of the first reader, where nothing would hold: no other call of a reader was
    /// made.
    pub(crate) fn read_once(&self) -> Result<ApiRequest, String> {
        self.calls_of_readers(1)?;
        self.the_one(Sender::FirstReader)
    }

    /// The one request of each reader, where something would hold.
    pub(crate) fn read_twice(&self) -> Result<(ApiRequest, ApiRequest), String> {
        Ok((self.the_one(Sender::FirstReader)?, self.the_one(Sender::SecondReader)?))
    }

    fn the_one(&self, sender: Sender) -> Result<ApiRequest, String> {
        let mut requests = self.requests_of(sender);
        ensure(requests.len() == 1, || {
            format!("{} requests of the {sender:?} in place of one", requests.len())
        })?;
        requests.pop().ok_or_else(|| "no request".into())
    }

    /// So many calls of a reader were made, by what the wire shows and not by what they ask: no
    /// tool but the one that takes the answer.
    pub(crate) fn calls_of_readers(&self, wanted: usize) -> Result<(), String> {
        let is_sealed = |request: &ApiRequest| request.tool_names().iter().all(|tool| *tool == VERDICT_TOOL);
        let recorded = self.api.models(|models| models.recorded());
        let calls = recorded.iter().filter(|one| !matches!(one.sender, Sender::Side | Sender::ReaderDone));
        let calls: Vec<_> = calls.filter(|one| is_sealed(&one.request)).map(|one| one.sender).collect();
        ensure(calls.len() == wanted, || format!("calls of readers: {calls:?} in place of {wanted}"))
    }

    /// The log says exactly this, in this order.
    pub(crate) fn decided(&self, wanted: &[&str]) -> Result<(), String> {
        let decisions: Vec<_> = self.records.iter().map(Record::decision).collect();
        ensure(decisions == wanted, || format!("decided {decisions:?} in place of {wanted:?}"))
    }

    /// What became of the findings of a decision, by its place in the log.
    pub(crate) fn outcomes_of(&self, place: usize) -> Result<Vec<serde_json::Value>, String> {
        let id = self.records.get(place).and_then(Record::id).ok_or("no such record")?;
        decision_log::outcomes(&self.workspace, id)
    }

    /// The answers came from the client that runs the session, not from another one on the machine.
    pub(crate) fn asked_its_own_client(&self) -> Result<(), String> {
        let asked: Vec<_> = self.records.iter().flat_map(Record::asked).collect();
        let own = !asked.is_empty() && asked.iter().all(|program| self.client.is_at(program));
        ensure(own, || format!("asked {asked:?} in place of the session's own client"))
    }

    /// The session's last words reach the person as they are.
    pub(crate) fn ended_with(&self, words: &str) -> Result<(), String> {
        let result = self.run.result();
        ensure(result.as_deref() == Some(words), || format!("the result is {result:?} in place of {words:?}"))
    }

    /// Everything there is to know about a trip that went wrong.
    fn story(&self) -> String {
        let mut story = String::new();
        let mut tell = |title: &str, text: &str| {
            // Writing to a string cannot fail.
            let _ = write!(story, "\n--- {title}\n{}\n", text.trim_end());
        };
        tell("command", &self.run.command);
        tell("folder (kept)", &self.workspace.root().display().to_string());
        tell("status", &self.run.ending.to_string());
        tell("stdout", &cut_lines(&self.run.lines));
        tell("stderr", &self.run.stderr);
        for (at, one) in self.api.models(|models| models.recorded()).iter().enumerate() {
            tell(&format!("request {at} of the {:?}", one.sender), &one.request.brief());
        }
        tell("decision log", &self.log);
        story
    }
}

/// Events without their long tails: the client opens with one that lists everything it can do.
fn cut_lines(lines: &[String]) -> String {
    const LONGEST: usize = 1_000;
    let cut = |line: &String| match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}… ({} bytes more)\n", &line[..at], line.len() - at),
        None => format!("{line}\n"),
    };
    lines.iter().map(cut).collect()
}

/// `Ok` where it holds, else the words.
pub(crate) fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
