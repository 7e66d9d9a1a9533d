//! A plan that was approved in plan mode, and never carried out in full: it is held like one in a
//! file.

use serde_json::json;

use super::held_once::{STANDS, held_and_let_go};
use super::{ALPHA, SECOND_WORDS, UPHELD, beta_is_missing, plan};
use crate::rig::client::{Client, Launch};
use crate::rig::message::{ToolCall, write};
use crate::rig::request::ApiRequest;
use crate::script::{Script, Turn};
use crate::trip::{Scenario, Trip};
use crate::workspace::Workspace;

pub(crate) struct PlanMode;

const PROMPT: &str = "Plan two greetings and, when I have agreed, carry the plan out.";

impl Scenario for PlanMode {
    fn name(&self) -> &'static str {
        "plan_mode"
    }

    fn launch(&self) -> Launch {
        Launch::Plan
    }

    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String> {
        let mut script = Script::new(PROMPT);
        // Before 2.1.42 a plan has no file.
        if client.is_since("2.1.42") {
            script = script.reads(write_the_plan_file);
        }
        Ok(script
            .calls([ToolCall { name: "ExitPlanMode".into(), input: json!({ "plan": plan(false) }) }])
            .calls([write(workspace.project().join("alpha.txt").display(), ALPHA)])
            .says("Done: alpha.txt and beta.txt are both written.")
            .proposed(&[beta_is_missing()])
            .judged(&[UPHELD])
            .says(SECOND_WORDS)
            .followed_up("stands", STANDS))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        held_and_let_go(trip)
    }
}

/// The client tells the agent which file the plan belongs in.
fn write_the_plan_file(request: &ApiRequest) -> Result<Turn, String> {
    Ok(Turn::Calls(vec![write(request.plan_file()?, &plan(false))]))
}
