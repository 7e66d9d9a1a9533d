//! A session that is a worker: it is held while tasks of its own are not over, and let go when it
//! has completed them by the command that it was told; it stays at its queue while its time is not
//! up, and is let go then.

use serde_json::{Value, json};

use super::checked::only_the_ends;
use crate::models::Sender;
use crate::rig::client::{Client, VERSIONS};
use crate::rig::message::ToolCall;
use crate::rig::request::ApiRequest;
use crate::script::{Script, Turn};
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::{PUNCHLIST, Workspace};

const PROMPT: &str = "Be a worker: register, take a task, and do it.";
const TOO_EARLY: &str = "I have looked at the gate.";
const DONE: &str = "The gate is mended, and the task is completed.";
const TITLE: &str = "Mend the garden gate";

fn bash(command: &str) -> ToolCall {
    ToolCall { name: "Bash".into(), input: json!({ "command": command, "description": "Run punchlist" }) }
}

fn punchlist(args: &str) -> ToolCall {
    bash(&format!("'{PUNCHLIST}' {args}"))
}

/// The settings, and for a client that does not tell its session a name for the worker.
fn set(client: &Client, workspace: &Workspace, config: &str) -> Result<(), String> {
    workspace.write(workspace.home().join(".config/punchlist/config.toml"), config)?;
    if !client.is_since("2.1.136") {
        let settings = json!({ "env": { "PUNCHLIST_WORKER": "w1" } });
        workspace.write(workspace.project().join(".claude/settings.json"), &settings.to_string())?;
    }
    Ok(())
}

/// What the agent was told when it was held, oldest first.
fn holds(request: &ApiRequest) -> Vec<&str> {
    request.user_texts().into_iter().filter(|text| text.contains("Stop hook feedback:")).collect()
}

/// A command out of the newest hold, as it stands there; what is in capitals is filled in.
fn told_command(request: &ApiRequest, with: &str) -> Result<ToolCall, String> {
    let hold = holds(request).last().copied().ok_or("the agent was not held")?;
    let command = hold.split('`').skip(1).step_by(2).find(|command| command.contains(with));
    let command = command.ok_or_else(|| format!("no command with {with:?}: {hold}"))?;
    Ok(bash(&command.replace("ID", "t1").replace("60s", "1s")))
}

/// How the first task stands.
fn task(trip: &Trip) -> Result<Value, String> {
    let shown = trip.workspace.punchlist(&["tasks", "show", "t1", "--json"])?;
    serde_json::from_str(&shown).map_err(|error| format!("{error}: {shown}"))
}

pub(crate) struct PendingTasks;

impl Scenario for PendingTasks {
    fn name(&self) -> &'static str {
        "pending_tasks"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        only_the_ends(client)
    }

    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String> {
        set(client, workspace, "[tasks]\nsource = \"registry\"\n[audit]\nenabled = false\n")?;
        workspace.punchlist(&["tasks", "add", TITLE])?;
        Ok(Script::new(PROMPT)
            .calls([punchlist("worker register")])
            .calls([punchlist("tasks claim")])
            .says(TOO_EARLY)
            .reads(|request| Ok(Turn::Calls(vec![told_command(request, "tasks complete")?])))
            .says(DONE))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        let requests = trip.requests_of(Sender::Agent);
        let last = requests.last().ok_or("no request")?;
        let [hold] = holds(last)[..] else { return Err(format!("held {} times", holds(last).len())) };
        let wanted = format!("One of your tasks is not finished:\n- t1 (accepted): {TITLE}\n");
        ensure(hold.contains(&wanted), || format!("the agent was not told {wanted:?}: {hold}"))?;
        trip.ended_with(DONE)?;
        trip.decided(&["block pending-tasks", "allow loop-guard"])?;
        let task = task(trip)?;
        ensure(task["task"]["status"] == "completed" && task["task"]["assignee"] == "w1", || task.to_string())
    }
}

pub(crate) struct KeepAlive;

impl Scenario for KeepAlive {
    fn name(&self) -> &'static str {
        "keep_alive"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        let is_newest = VERSIONS.last() == Some(&client.version);
        (!is_newest).then_some("what differs between the versions is tried with the other scenarios")
    }

    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String> {
        set(client, workspace, "[worker]\nkeep_alive = true\nidle = \"10m\"\n[audit]\nenabled = false\n")?;
        let config = workspace.home().join(".config/punchlist/config.toml");
        // The person makes the time shorter meanwhile, so that it is up.
        let shorter = format!("sleep 1.1; sed -i s/10m/1s/ '{}'", config.display());
        Ok(Script::new(PROMPT)
            .calls([punchlist("worker register")])
            .says("There is nothing to do.")
            .calls([punchlist(&format!("tasks add '{TITLE}'"))])
            .reads(|request| Ok(Turn::Calls(vec![told_command(request, "tasks claim")?])))
            .reads(|request| Ok(Turn::Calls(vec![told_command(request, "tasks complete")?])))
            .says("The gate is mended.")
            .reads(|request| Ok(Turn::Calls(vec![told_command(request, "tasks claim")?])))
            .calls([bash(&shorter)])
            .says("There is nothing more."))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        let requests = trip.requests_of(Sender::Agent);
        let last = requests.last().ok_or("no request")?;
        let [first, second] = holds(last)[..] else {
            return Err(format!("held {} times", holds(last).len()));
        };
        for (hold, since) in [(first, "since you registered, "), (second, "since you completed a task, ")] {
            for wanted in ["You are worker w1, and keep working: ", since, " minutes are left."] {
                ensure(hold.contains(wanted), || format!("the agent was not told {wanted:?}: {hold}"))?;
            }
        }
        let answers: Vec<String> = last.tool_results().map(|result| result.text).collect();
        ensure(answers.iter().any(|text| text.contains("No open task in the queue default")), || {
            format!("the queue was not looked at: {answers:?}")
        })?;
        trip.ended_with("There is nothing more.")?;
        trip.decided(&["block keep-alive", "block keep-alive", "allow worker-idle"])?;
        let task = task(trip)?;
        ensure(task["task"]["status"] == "completed", || task.to_string())
    }
}
