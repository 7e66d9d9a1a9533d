//! A subagent works on in the background while the agent's turn ends: that stop is let go unseen,
//! and the one after the subagent's report is audited.

use serde_json::json;

use super::clean::nobody_was_told;
use super::subagent::{errand, the_helpers_file_was_seen};
use super::{ALPHA, BETA, plan};
use crate::rig::client::Client;
use crate::rig::message::{ToolCall, write};
use crate::rig::request::ApiRequest;
use crate::script::{Script, Turn};
use crate::trip::{Scenario, Trip};
use crate::workspace::Workspace;

pub(crate) struct Background;

const PROMPT: &str =
    "Write a plan for two greetings into PLAN.md, and have a helper do the second meanwhile.";
const ERRAND: &str = "Take your time, then write the evening greeting where the plan wants it, and report.";
const LAST_WORDS: &str = "Done: the helper wrote the second, and the plan is ticked.";

impl Scenario for Background {
    fn name(&self) -> &'static str {
        "background"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        // The stop's input has no `background_tasks` there, and a subagent is always waited for.
        (!client.is_since("2.1.221")).then_some("this client has no subagents in the background")
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        let project = workspace.project();
        let plan_file = project.join("PLAN.md");
        // Longer than the agent's turn takes to end on a loaded machine.
        let nap =
            ToolCall { name: "Bash".into(), input: json!({ "command": "sleep 3", "description": "Wait" }) };
        Ok(Script::new(PROMPT)
            .calls([write(plan_file.display(), &plan(false))])
            .calls([write(project.join("alpha.txt").display(), ALPHA)])
            .reads(send_the_helper)
            .says("The first is written; the helper is still at the second.")
            .calls([write(plan_file.display(), &plan(true))])
            .says(LAST_WORDS)
            .subagent(ERRAND, vec![nap, write(project.join("beta.txt").display(), BETA)], "It is written.")
            .proposed(&[]))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        the_helpers_file_was_seen(trip)?;
        trip.ended_with(LAST_WORDS)?;
        nobody_was_told(trip)?;
        trip.decided(&["allow background-work", "allow clean"])
    }
}

fn send_the_helper(request: &ApiRequest) -> Result<Turn, String> {
    errand(request, ERRAND, true)
}
