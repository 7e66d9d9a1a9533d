//! An agent ticks a step that it has not done: it is held once, with the finding, and then let go.

use super::{ALPHA, BETA_STEP, beta_is_missing, plan};
use crate::client::Client;
use crate::messages_api::Sender;
use crate::request::ApiRequest;
use crate::script::{Script, write};
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::Workspace;

pub(crate) struct HeldOnce;

const PROMPT: &str = "Write a plan for two greetings into PLAN.md and carry it out.";
const SECOND_WORDS: &str = "You are right: beta.txt is not there, I only wrote alpha.txt.";

impl Scenario for HeldOnce {
    fn name(&self) -> &'static str {
        "held_once"
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        let project = workspace.project();
        let plan_file = project.join("PLAN.md");
        Ok(Script::new(PROMPT)
            .calls([write(plan_file.display(), &plan(false))])
            .calls([
                write(project.join("alpha.txt").display(), ALPHA),
                write(plan_file.display(), &plan(true)),
            ])
            .says("Done: alpha.txt and beta.txt are both written, and the plan is ticked.")
            .verdict(&[beta_is_missing()])
            .says(SECOND_WORDS))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        trip.audit()?;
        held_with_the_finding(trip)?;
        trip.ended_with(SECOND_WORDS)?;
        trip.decided(&["block findings", "allow loop-guard"])
    }
}

/// The agent was sent back once, and told what and where.
pub(super) fn held_with_the_finding(trip: &Trip) -> Result<(), String> {
    let requests = trip.requests_of(Sender::Agent);
    // Every block stays in the conversation, so the last request has them all.
    let texts = requests.last().map(ApiRequest::user_texts).unwrap_or_default();
    let blocks: Vec<_> = texts.iter().filter(|text| text.contains("Stop hook feedback:")).collect();
    let [block] = blocks[..] else {
        return Err(format!("the agent was held {} times in place of once", blocks.len()));
    };
    for wanted in ["beta.txt", BETA_STEP] {
        ensure(block.contains(wanted), || format!("the agent was not told of {wanted:?}: {block}"))?;
    }
    Ok(())
}
