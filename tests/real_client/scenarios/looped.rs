//! The feature loop: a session begins one, is held with the next feature until all pass, and is let
//! go. Another session in the same folder is left alone. `loop run` starts a fresh session where
//! the context of one is full, in print mode and in the person's own terminal.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::decision_log::{self, Record};
use crate::models::{self, Models, Sender};
use crate::rig::client::Client;
use crate::rig::message::ToolCall;
use crate::rig::messages_api::MessagesApi;
use crate::rig::request::ApiRequest;
use crate::rig::terminal::{ROOMY, Terminal};
use crate::script::Script;
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::{PUNCHLIST, Workspace};

const NEWEST: &str = "2.1.325";
const ASKED: &str = "Begin the feature loop here and build what the list asks for.";
const FIRST_WORDS: &str = "The first greeting is there.";
const LAST_WORDS: &str = "Both greetings are there.";

fn list(first: bool, second: bool) -> String {
    json!({ "features": [
        { "id": "F1", "description": "A greeting for the morning", "steps": ["Look into alpha.txt"], "passes": first },
        { "id": "F2", "description": "A greeting for the evening", "steps": ["Look into beta.txt"], "passes": second },
    ]})
    .to_string()
}

fn bash(command: &str) -> ToolCall {
    ToolCall { name: "Bash".into(), input: json!({ "command": command, "description": "Work" }) }
}

/// The agent edits the list. (Through the shell: clients up to 2.1.136 want a file to be read
/// before they write it.)
fn edits(first: bool, second: bool) -> ToolCall {
    bash(&format!("printf '%s' '{}' > feature_list.json", list(first, second)))
}

/// Two open features, and no other gate than the loop's.
fn lay_out(workspace: &Workspace, more: &str) -> Result<(), String> {
    workspace.write(workspace.project().join("feature_list.json"), &list(false, false))?;
    let config = workspace.home().join(".config/punchlist/config.toml");
    workspace.write(config, &format!("[audit]\nenabled = false\n{more}"))
}

fn progress_says(workspace: &Workspace, words: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(workspace.project().join("progress.txt")).unwrap_or_default();
    ensure(text.contains(words), || format!("progress.txt does not say {words:?}: {text}"))
}

/// A session that begins a loop.
pub(crate) struct Looped;

impl Scenario for Looped {
    fn name(&self) -> &'static str {
        "looped"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        let is_tried = [NEWEST, "1.0.98"].contains(&client.version);
        (!is_tried).then_some(
            "the same as on the newest client, or as on the oldest, which does not tell its session",
        )
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        lay_out(workspace, "")?;
        Ok(Script::new(ASKED)
            .calls([bash(&format!("'{PUNCHLIST}' loop init --max 5"))])
            .calls([bash("echo Good morning. > alpha.txt"), edits(true, false)])
            .says(FIRST_WORDS)
            .calls([bash("echo Good evening. > beta.txt"), edits(true, true)])
            .says(LAST_WORDS))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        the_hold_says(
            trip,
            &[
                "1 of 2 features pass. This is iteration 1 of 5.",
                "Next feature: F2",
                "1. Look into beta.txt",
                "feature_list.json",
            ],
        )?;
        trip.decided(&["block feature-open", "allow loop-over"])?;
        trip.ended_with(LAST_WORDS)?;
        progress_says(&trip.workspace, "iteration: 1\nmax: 5\nstatus: COMPLETE\npassing: 2 of 2\n")
    }
}

/// A session in a folder whose loop is another session's.
pub(crate) struct LoopedBeside;

impl Scenario for LoopedBeside {
    fn name(&self) -> &'static str {
        "looped_beside"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        (client.version != NEWEST).then_some("the same as on the newest client")
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        lay_out(workspace, "")?;
        workspace.punchlist(&["loop", "start", "--session", "somebody-else"])?;
        Ok(Script::new(ASKED).calls([bash("cat feature_list.json")]).says(FIRST_WORDS))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        trip.decided(&["allow off"])?;
        trip.ended_with(FIRST_WORDS)?;
        progress_says(&trip.workspace, "iteration: 0\n")
    }
}

/// A feature whose command is red, and then green, once the person has allowed it.
pub(crate) struct LoopedVerified;

impl Scenario for LoopedVerified {
    fn name(&self) -> &'static str {
        "looped_verified"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        (client.version != NEWEST).then_some("the same as on the newest client")
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        lay_out(workspace, "")?;
        let list = json!([{ "id": "F1", "description": "A greeting for the morning",
            "verify": "grep morning alpha.txt", "passes": false }]);
        workspace.write(workspace.project().join("feature_list.json"), &list.to_string())?;
        let said = workspace.punchlist(&["allow", "--yes"])?;
        ensure(said.contains("  grep morning alpha.txt\n"), || format!("allow does not say what: {said}"))?;
        let mark = "sed -i s/false/true/ feature_list.json";
        Ok(Script::new(ASKED)
            .calls([bash(&format!("'{PUNCHLIST}' loop init --max 5"))])
            .calls([bash(&format!("echo Good evening. > alpha.txt && {mark}"))])
            .says(FIRST_WORDS)
            .calls([bash(&format!("echo Good morning. > alpha.txt && {mark}"))])
            .says(LAST_WORDS))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        the_hold_says(trip, &["set back to open:", "- F1: `grep morning alpha.txt` ended with exit code 1"])?;
        trip.decided(&["block feature-open", "allow loop-over"])?;
        trip.ended_with(LAST_WORDS)?;
        progress_says(&trip.workspace, "status: COMPLETE\npassing: 1 of 1\n")
    }
}

/// Two features that are set to pass at once: a reader says which of them was built.
pub(crate) struct LoopedJudged;

impl Scenario for LoopedJudged {
    fn name(&self) -> &'static str {
        "looped_judged"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        (client.version != NEWEST).then_some("the same as on the newest client")
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        lay_out(workspace, "")?;
        Ok(Script::new(ASKED)
            .calls([bash(&format!("'{PUNCHLIST}' loop init --max 5"))])
            .calls([bash("echo Good morning. > alpha.txt"), edits(true, true)])
            .says(FIRST_WORDS)
            .built(&[(true, "alpha.txt has it."), (false, "There is no beta.txt.")])
            .calls([bash("echo Good evening. > beta.txt"), edits(true, true)])
            .says(LAST_WORDS))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        let asked = trip.requests_of(Sender::Features);
        let is_shown = asked.iter().any(|one| one.mentions("A greeting for the evening"));
        ensure(asked.len() == 1 && is_shown, || format!("{} questions", asked.len()))?;
        trip.calls_of_readers(1)?;
        the_hold_says(
            trip,
            &[
                "1 of 2 features pass.",
                "set back to open:",
                "- F2: a reader finds no work for it: There is no beta.txt.",
            ],
        )?;
        trip.decided(&["block feature-open", "allow loop-over"])?;
        trip.ended_with(LAST_WORDS)
    }
}

/// The agent was held once, in these words.
fn the_hold_says(trip: &Trip, wanted: &[&str]) -> Result<(), String> {
    let requests = trip.requests_of(Sender::Agent);
    let texts = requests.last().map(ApiRequest::user_texts).unwrap_or_default();
    let holds: Vec<_> = texts.iter().filter(|text| text.contains("Stop hook feedback:")).collect();
    let [hold] = holds[..] else { return Err(format!("held {} times in place of once", holds.len())) };
    let missing = wanted.iter().find(|words| !hold.contains(**words));
    missing.map_or(Ok(()), |words| Err(format!("the agent was not told {words:?}: {hold}")))
}

/// Every trial that the client is no part of the outside of, by its name.
pub(crate) const RUNS: [(&str, Run); 2] = [("loop_run", in_print), ("loop_run_seated", in_a_terminal)];

type Run = fn(&Client) -> Result<(), String>;

/// Why these make no sense on a client, where they do not.
pub(crate) fn pointless_on(client: &Client) -> Option<&'static str> {
    if client.version != NEWEST {
        return Some("the same as on the newest client");
    }
    (!Terminal::is_to_be_had()).then_some("no tmux to type into")
}

/// A context that is 88 % full after one answer of the scripted API, which counts 15 tokens.
const SMALL: &str = "[loop]\nwindow = 17\n";
/// How the prompt of every session of a run begins.
const PROMPT: &str = "You work on a list of features";

fn script() -> Script {
    Script::new(PROMPT)
        .calls([bash("echo Good morning. > alpha.txt"), edits(true, false)])
        .says(FIRST_WORDS)
        .calls([bash("echo Good evening. > beta.txt"), edits(true, true)])
        .says(LAST_WORDS)
}

/// The scripted API, the workspace and the runtime that they need.
fn stage(client: &Client) -> Result<(Workspace, MessagesApi<Models>, tokio::runtime::Runtime), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime: {error}"))?;
    let mut workspace = Workspace::new()?;
    lay_out(&workspace, SMALL)?;
    workspace.set("PUNCHLIST_CLAUDE", client.program());
    let api = runtime.block_on(MessagesApi::start(Models::new(script())));
    Ok((workspace, api, runtime))
}

/// Two sessions, each let go by the gate: the first for a fresh one, the second because all is
/// done.
fn went_well(workspace: &Workspace, api: &MessagesApi<Models>) -> Result<(), String> {
    let problems = models::problems(api);
    ensure(problems.is_empty(), || format!("the models' script was not followed:\n{}", problems.join("\n")))?;
    let (records, log) = decision_log::read(workspace)?;
    let decisions: Vec<_> = records.iter().map(Record::decision).collect();
    ensure(decisions == ["allow loop-over", "allow loop-over"], || format!("decided {decisions:?}\n{log}"))?;
    let requests = api.models(|models| models.requests_of(Sender::Agent));
    let fresh = requests.last().map(|last| last.user_texts().join("\n")).unwrap_or_default();
    ensure(fresh.contains("This is iteration 2 of 50.") && fresh.contains("Your feature: F2"), || {
        format!("the second session was not told where things stand: {fresh}")
    })?;
    ensure(!fresh.contains(FIRST_WORDS), || "the second session's context is not fresh".into())?;
    progress_says(workspace, "iteration: 2\nmax: 50\nstatus: COMPLETE\npassing: 2 of 2\n")
}

fn in_print(client: &Client) -> Result<(), String> {
    let (mut workspace, api, _runtime) = stage(client)?;
    let output = Command::new(PUNCHLIST)
        .args(["loop", "run", "--max-cost", "5", "--", "--permission-mode", "bypassPermissions"])
        .current_dir(workspace.project())
        .env_clear()
        .envs(client.variables(&workspace, &api.url()))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("punchlist: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let check = || {
        ensure(output.status.success() && output.stderr.is_empty(), || format!("{output:?}"))?;
        let starts = [
            "iteration 1 of 50  F1 A greeting for the morning  1 of 2 pass",
            "iteration 2 of 50  F2 A greeting for the evening  2 of 2 pass",
            "COMPLETE: all 2 features pass, after 2 iterations (2 sessions, $0.",
        ];
        let is_told = said.lines().count() == 3
            && said.lines().zip(starts).all(|(line, start)| line.starts_with(start));
        ensure(is_told, || format!("it printed:\n{said}"))?;
        went_well(&workspace, &api)
    };
    check().map_err(|problem| {
        workspace.stay();
        format!("{problem}\n--- printed\n{said}\n--- folder (kept)\n{}", workspace.root().display())
    })
}

fn in_a_terminal(client: &Client) -> Result<(), String> {
    let (mut workspace, api, _runtime) = stage(client)?;
    Client::settle(&workspace)?;
    let args = ["loop", "run", "--interactive", "--", "--permission-mode", "bypassPermissions"];
    let shell = format!(
        "'{PUNCHLIST}' {}; echo \"ended with $?\"; stty -a | grep -o ' [-]*icanon'; exec sleep 60",
        args.join(" ")
    );
    let terminal = Terminal::open(
        workspace.root(),
        &workspace.project(),
        ROOMY,
        (std::path::Path::new("/bin/sh"), &["-c", &shell]),
        client.variables(&workspace, &api.url()),
    )?;
    let play = || {
        // The first session makes room by itself; the last one stays for the person to read.
        terminal.shows("next session in")?;
        terminal.shows(LAST_WORDS)?;
        terminal.types("/exit")?;
        terminal.shows("COMPLETE: all 2 features pass, after 2 iterations (2 sessions")?;
        terminal.shows("ended with 0")?;
        terminal.wait_for("the terminal to be as it was", |screen| {
            screen.contains(" icanon") && !screen.contains("-icanon")
        })?;
        went_well(&workspace, &api)
    };
    play()
        .map_err(|problem| {
            let screen = terminal.screen();
            let folder = workspace.root().display().to_string();
            format!("{problem}\n--- screen\n{}\n--- folder (kept)\n{folder}", screen.trim_end())
        })
        .inspect_err(|_| workspace.stay())
}
