//! One case played on the real client, turn by turn. Takes a case and its folder, gives the stage
//! as the session has left it and the session's name. It must not let anything pass that the script
//! does not say.

use std::fmt::Write as _;
use std::path::Path;

use crate::case_file::{CaseFile, Mode, Turn};
use crate::cast::Cast;
use crate::places::Places;
use crate::rig::client::{Client, Earlier, Launch, Run};
use crate::rig::messages_api::MessagesApi;
use crate::rig::scratch::Scratch;
use crate::stage;

/// What the person types to have the conversation compacted.
const COMPACT: &str = "/compact";

/// A session that is over.
#[derive(Debug)]
pub(crate) struct Performance {
    pub(crate) scratch: Scratch,
    pub(crate) places: Places,
    pub(crate) session: String,
}

/// A session that did not go by the script, and where.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) problem: String,
    scratch: Option<Box<Scratch>>,
}

impl Refusal {
    /// The whole story for who wants to look: the scratch folder stays.
    pub(crate) fn told(self) -> String {
        let Self { problem, scratch } = self;
        let Some(mut scratch) = scratch else { return problem };
        scratch.stay();
        format!("{problem}\n--- folder (kept)\n{}\n", scratch.root().display())
    }
}

impl From<String> for Refusal {
    fn from(problem: String) -> Self {
        Self { problem, scratch: None }
    }
}

/// Plays a case.
pub(crate) fn play(case: &CaseFile, folder: &Path, client: &Client) -> Result<Performance, Refusal> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime: {error}"))?;
    let (scratch, places) = stage::lay_out(case, folder)?;
    let played = runtime.block_on(async {
        let api = MessagesApi::start(Cast::new(places.clone())).await;
        let mut session = None;
        for (at, turn) in case.script.turns.iter().enumerate() {
            let playing = Playing { client, scratch: &scratch, places: &places, api: &api };
            let ended = playing.turn(turn, &case.script.turns[..at], session.take()).await;
            session = Some(ended.map_err(|problem| format!("turn {}: {problem}", at + 1))?);
        }
        session.ok_or_else(|| "no turn".to_owned())
    });
    match played {
        Ok(session) => Ok(Performance { scratch, places, session }),
        Err(problem) => Err(Refusal { problem, scratch: Some(Box::new(scratch)) }),
    }
}

/// A case in the middle of being played.
struct Playing<'a> {
    client: &'a Client,
    scratch: &'a Scratch,
    places: &'a Places,
    api: &'a MessagesApi<Cast>,
}

impl Playing<'_> {
    /// Plays one turn, and gives the session's name after it.
    async fn turn(&self, turn: &Turn, before: &[Turn], session: Option<String>) -> Result<String, String> {
        let mut earlier = session.map(|session| Earlier { session, fork: false });
        if turn.compact {
            let summary = turn.summary.clone().unwrap_or_else(|| summary_of(before));
            self.api.models(|cast| cast.sum_up(self.places.fill(&summary)));
            let session = self.run(Launch::Bypass, earlier.as_ref(), COMPACT).await?;
            earlier = Some(Earlier { session, fork: false });
        }
        if let Some(earlier) = &mut earlier {
            earlier.fork = turn.fork;
        }
        let prompt = self.places.fill(&turn.prompt);
        self.api.models(|cast| cast.turn(&prompt, &turn.replies));
        let launch = match turn.mode {
            Some(Mode::Plan) => Launch::Plan,
            None => Launch::Bypass,
        };
        self.run(launch, earlier.as_ref(), &prompt).await
    }

    async fn run(&self, launch: Launch, earlier: Option<&Earlier>, prompt: &str) -> Result<String, String> {
        let run = self.client.run(self.scratch, &self.api.url(), (launch, earlier), prompt).await?;
        let mut problems = self.api.problems();
        problems.extend(self.api.models(|cast| cast.left_over()));
        if !run.succeeded() {
            problems.push("the client did not end well".into());
        }
        if let Some(session) = run.session().filter(|_| problems.is_empty()) {
            return Ok(session);
        }
        let asked = self.api.models(|cast| cast.asked.clone());
        Err(format!("the script was not followed\n{}", story(&problems, &run, &asked)))
    }
}

/// A summary for who gives none: what the person has asked for, and nothing that is not so.
fn summary_of(turns: &[Turn]) -> String {
    let asks: String = turns.iter().map(|turn| format!("- {}\n", turn.prompt.trim())).collect();
    format!(
        "<summary>\nThe person has asked for this so far:\n{asks}\nThe work goes on from here.\n</summary>"
    )
}

/// What there is to know about a run that went wrong.
fn story(problems: &[String], run: &Run, asked: &[String]) -> String {
    const LONGEST: usize = 1_000;
    let mut story = String::new();
    let mut tell = |title: &str, text: &str| {
        let cut: String = text.trim_end().chars().take(LONGEST).collect();
        // Writing to a string cannot fail.
        let _ = write!(story, "--- {title}\n{cut}\n");
    };
    for problem in problems {
        tell("problem", problem);
    }
    tell("command", &run.command);
    tell("status", &run.ending.to_string());
    tell("stderr", &run.stderr);
    if let Some(last) = run.lines.last() {
        tell("the last event", last);
    }
    if let Some(last) = asked.last() {
        tell("the last request", last);
    }
    story
}
