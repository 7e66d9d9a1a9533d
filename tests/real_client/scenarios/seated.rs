//! A person at a terminal. With the hook registered for the background, the prompt is back while
//! the audit runs; what it finds wakes the session, unless the person has typed on. `pictured`
//! looks at what a block looks like, `told` and `shown` at what else the person sees.

mod pictured;
mod shown;
mod told;

use std::path::PathBuf;

use serde_json::json;

use super::{ALL_DONE, BETA, BETA_STEP, PROMPT, UPHELD, beta_is_missing, half_done};
use crate::decision_log::{self, Record};
use crate::models::{self, Models, Sender};
use crate::rig::client::{Client, VERSIONS};
use crate::rig::message::{ToolCall, write};
use crate::rig::messages_api::MessagesApi;
use crate::rig::request::ApiRequest;
use crate::rig::terminal::{ROOMY, Size, Terminal};
use crate::script::Script;
use crate::trip::ensure;
use crate::workspace::Workspace;

/// Every such trial, by its name.
pub(crate) const ALL: [(&str, Trial); 13] = [
    ("woken", woken),
    ("typed_on", typed_on),
    ("pictured", pictured::pictured),
    ("told_ignored", told::ignored),
    ("told_still_failing", told::still_failing),
    ("shown_spent_budget", shown::spent_budget),
    ("shown_wrong_config", shown::wrong_config),
    ("shown_advisory", shown::advisory),
    ("shown_ignored_by_config", shown::ignored_by_config),
    ("shown_marks_set_back", shown::marks_set_back),
    ("shown_held_twice", shown::held_twice),
    ("shown_nothing_of_anothers_edit", shown::nothing_of_anothers_edit),
    ("shown_status_line_and_spinner", shown::status_line_and_spinner),
];

type Trial = fn(&Client) -> Result<(), String>;

/// Why a trial makes no sense on a client, where it does not.
pub(crate) fn pointless_on(name: &str, client: &Client) -> Option<&'static str> {
    let is_screen = ["pictured", "told", "shown"].iter().any(|kind| name.starts_with(kind));
    if is_screen && VERSIONS.last() != Some(&client.version) {
        return Some("the screens are of the newest client");
    }
    if !client.is_since("2.1.136") {
        return Some("this client does not know asyncRewake");
    }
    // Where everything has to be there, such a trial fails without a terminal.
    let is_required = std::env::var_os("PUNCHLIST_TEST_REQUIRE_CLIENTS").is_some_and(|value| value == "1");
    (!is_required && !Terminal::is_to_be_had()).then_some("no tmux to type into")
}

/// A session at a terminal, whose readers wait for a sign. The terminal goes first: its socket is
/// in the workspace.
struct Seat {
    terminal: Terminal,
    api: MessagesApi<Models>,
    workspace: Workspace,
}

const FIXED: &str = "Now both greetings are there.";
const THANKS: &str = "Thank you, that is all.";
const WELCOME: &str = "You are welcome.";

/// What became of the finding is shown at the next prompt: of a hook that the client did not wait
/// for it shows nothing.
fn woken(client: &Client) -> Result<(), String> {
    let script = |workspace: &Workspace| {
        half_done(workspace)
            .proposed(&[beta_is_missing()])
            .judged(&[UPHELD])
            .calls([write(workspace.project().join("beta.txt").display(), BETA)])
            .says(FIXED)
            .says(WELCOME)
            .proposed(&[])
    };
    behind(client, script, |seat| {
        seat.terminal.types(PROMPT)?;
        seat.is_free_while_audited(ALL_DONE, 1)?;
        ensure(seat.decisions()?.is_empty(), || "it was decided before a reader had answered".into())?;
        seat.answer()?;
        seat.terminal.shows("Stop hook feedback")?;
        seat.terminal.shows(FIXED)?;
        seat.decided(&["block findings", "allow loop-guard"])?;
        seat.woken_with_the_finding()?;
        let line = "punchlist: 1 finding, fixed";
        ensure(!seat.terminal.screen().contains(line), || "it is shown already".into())?;
        seat.terminal.types(THANKS)?;
        seat.terminal.shows(WELCOME)?;
        seat.terminal.shows(&format!("UserPromptSubmit says: {line}"))?;
        seat.shown("woken");
        seat.decided(&["block findings", "allow loop-guard", "allow clean"])
    })
}

const ASIDE: &str = "Which of the two is the shorter?";
const ASIDE_ANSWER: &str = "They are equally long, and both are done.";
const GO_ON: &str = "Then look at the second once more, and take your time.";
const LOOKED: &str = "I looked: the second greeting was not there, and now it is.";

/// The second stop comes while the first is being audited; the third turn is under way when the
/// second audit ends.
fn typed_on(client: &Client) -> Result<(), String> {
    let script = |workspace: &Workspace| {
        let wait = format!("while [ ! -e '{}' ]; do sleep 0.1; done", sign(workspace, "go-on").display());
        let wait =
            ToolCall { name: "Bash".into(), input: json!({ "command": wait, "description": "Take time" }) };
        half_done(workspace)
            .says(ASIDE_ANSWER)
            .proposed(&[beta_is_missing()])
            .judged(&[UPHELD])
            .calls([wait])
            .calls([write(workspace.project().join("beta.txt").display(), BETA)])
            .says(LOOKED)
            .proposed(&[])
    };
    behind(client, script, |seat| {
        seat.terminal.types(PROMPT)?;
        seat.is_free_while_audited(ALL_DONE, 1)?;
        seat.terminal.types(ASIDE)?;
        seat.is_free_while_audited(ASIDE_ANSWER, 2)?;
        seat.decided(&["allow superseded"])?;
        seat.terminal.types(GO_ON)?;
        seat.terminal.wait_for("the third turn to be under way", |_| seat.turns_asked_for() == 5)?;
        seat.answer()?;
        seat.decided(&["allow superseded", "allow moved-on"])?;
        seat.workspace.write(sign(&seat.workspace, "go-on"), "")?;
        seat.terminal.shows(LOOKED)?;
        seat.decided(&["allow superseded", "allow moved-on", "allow clean"])?;
        let texts = seat.last_request().map(|last| last.user_texts().join("\n")).unwrap_or_default();
        ensure(!texts.contains("Stop hook"), || format!("the session was woken: {texts}"))
    })
}

fn sign(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.root().join(name)
}

/// Plays one trial with the hook in the background, and readers that wait.
fn behind(
    client: &Client,
    script: impl FnOnce(&Workspace) -> Script,
    play: impl FnOnce(&Seat) -> Result<(), String>,
) -> Result<(), String> {
    let mut workspace = Workspace::new()?;
    workspace.register_behind()?;
    let (asked, answer) = (sign(&workspace, "asked"), sign(&workspace, "answer"));
    let reader = workspace.program(
        "reader",
        &format!(
            "#!/bin/sh\n[ \"$1\" = --help ] || echo >> '{}'\n[ \"$1\" = --help ] || while [ ! -e '{}' ]; do sleep 0.1; done\n\
             exec '{}' \"$@\"\n",
            asked.display(),
            answer.display(),
            client.program().display()
        ),
    )?;
    workspace.set("PUNCHLIST_CLAUDE", reader);
    let script = script(&workspace);
    sit_down(client, workspace, ROOMY, script, play)
}

/// Plays one trial; tells the whole story where it does not go well.
fn sit_down(
    client: &Client,
    workspace: Workspace,
    size: Size,
    script: Script,
    play: impl FnOnce(&Seat) -> Result<(), String>,
) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime: {error}"))?;
    let api = runtime.block_on(MessagesApi::start(Models::new(script)));
    let terminal = client.at_a_terminal(&workspace, &api.url(), size)?;
    let mut seat = Seat { terminal, api, workspace };
    let played = seat.terminal.shows("bypass permissions on").and_then(|()| play(&seat));
    let by_the_script = || {
        let problems = models::problems(&seat.api);
        ensure(problems.is_empty(), || {
            format!("the models' script was not followed:\n{}", problems.join("\n"))
        })
    };
    played.and_then(|()| by_the_script()).map_err(|problem| {
        seat.workspace.stay();
        let log = decision_log::read(&seat.workspace).map_or_else(|problem| problem, |(_, log)| log);
        let (folder, screen) = (seat.workspace.root().display(), seat.terminal.screen());
        let refused = seat.api.problems().join("\n");
        format!(
            "{problem}\n--- folder (kept)\n{folder}\n--- screen\n{}\n--- refused\n{refused}\n--- decision log\n{log}",
            screen.trim_end()
        )
    })
}

impl Seat {
    /// Waits until the session's words are there and the person may type, while a reader is at
    /// work: so many were asked by then.
    fn is_free_while_audited(&self, words: &str, asked: usize) -> Result<(), String> {
        self.terminal.shows(words)?;
        self.terminal.wait_for("the turn to end", |screen| !screen.contains("esc to interrupt"))?;
        let file = sign(&self.workspace, "asked");
        self.terminal.wait_for(&format!("{asked} readers to be at work"), |_| {
            std::fs::read_to_string(&file).is_ok_and(|text| text.lines().count() == asked)
        })
    }

    /// Lets the readers answer.
    fn answer(&self) -> Result<(), String> {
        self.workspace.write(sign(&self.workspace, "answer"), "")
    }

    fn decisions(&self) -> Result<Vec<String>, String> {
        Ok(decision_log::read(&self.workspace)?.0.iter().map(Record::decision).collect())
    }

    /// Waits until the log says this, and no more than this.
    fn decided(&self, wanted: &[&str]) -> Result<(), String> {
        let is_enough = |_: &str| self.decisions().is_ok_and(|decisions| decisions.len() >= wanted.len());
        self.terminal.wait_for(&format!("the decisions {wanted:?}"), is_enough)?;
        let decisions = self.decisions()?;
        ensure(decisions == wanted, || format!("decided {decisions:?} in place of {wanted:?}"))
    }

    fn turns_asked_for(&self) -> usize {
        self.api.models(|models| models.requests_of(Sender::Agent)).len()
    }

    fn last_request(&self) -> Option<ApiRequest> {
        self.api.models(|models| models.requests_of(Sender::Agent)).pop()
    }

    /// The agent was told once, what and where.
    fn woken_with_the_finding(&self) -> Result<(), String> {
        let last = self.last_request().ok_or("no request of the agent")?;
        let texts = last.user_texts();
        let told: Vec<_> = texts.iter().filter(|text| text.contains("Stop hook blocking error")).collect();
        let [told] = told[..] else {
            return Err(format!("the agent was told {} times in place of once: {texts:?}", told.len()));
        };
        for wanted in ["beta.txt", BETA_STEP] {
            ensure(told.contains(wanted), || format!("the agent was not told of {wanted:?}: {told}"))?;
        }
        Ok(())
    }
}
