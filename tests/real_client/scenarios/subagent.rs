//! A subagent writes the second file: its edit is in its own transcript, or on its own lines, and
//! counts as the session's.

use serde_json::json;

use super::clean::nobody_was_told;
use super::{ALPHA, BETA, plan};
use crate::rig::client::Client;
use crate::rig::message::{ToolCall, write};
use crate::rig::request::ApiRequest;
use crate::script::{Script, Turn};
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::Workspace;

pub(crate) struct Subagent;

const PROMPT: &str = "Write a plan for two greetings into PLAN.md, and have a helper do the second.";
const ERRAND: &str = "Write the evening greeting where the plan wants it, and report.";
const LAST_WORDS: &str = "Done: I wrote the first, the helper wrote the second, and the plan is ticked.";

impl Scenario for Subagent {
    fn name(&self) -> &'static str {
        "subagent"
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        let project = workspace.project();
        let plan_file = project.join("PLAN.md");
        Ok(Script::new(PROMPT)
            .calls([write(plan_file.display(), &plan(false))])
            .reads(send_the_helper)
            .calls([
                write(project.join("alpha.txt").display(), ALPHA),
                write(plan_file.display(), &plan(true)),
            ])
            .says(LAST_WORDS)
            .subagent(ERRAND, vec![write(project.join("beta.txt").display(), BETA)], "It is written.")
            .proposed(&[]))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        the_helpers_file_was_seen(trip)?;
        trip.ended_with(LAST_WORDS)?;
        nobody_was_told(trip)?;
        trip.decided(&["allow clean"])
    }
}

/// What the helper wrote counts as touched by the session, and was shown.
pub(super) fn the_helpers_file_was_seen(trip: &Trip) -> Result<(), String> {
    let audit = trip.read_once()?;
    ensure(audit.mentions(BETA.trim()), || "the reader was not shown what the helper wrote".into())?;
    let touched = trip.records.last().map(|record| record.touched("beta.txt")).unwrap_or_default();
    ensure(touched == ["Write"], || format!("beta.txt was touched with {touched:?} in place of Write"))
}

/// From 2.1.221 on a subagent runs in the background unless it is told not to.
fn send_the_helper(request: &ApiRequest) -> Result<Turn, String> {
    errand(request, ERRAND, false)
}

/// A call of the tool that starts a subagent.
pub(super) fn errand(request: &ApiRequest, words: &str, in_background: bool) -> Result<Turn, String> {
    let tool = request.subagent_tool()?;
    let mut input =
        json!({ "description": "The second greeting", "prompt": words, "subagent_type": "general-purpose" });
    if request.tool_takes(tool, "run_in_background") {
        input["run_in_background"] = json!(in_background);
    }
    Ok(Turn::Calls(vec![ToolCall { name: tool.into(), input }]))
}
