//! An agent ticks a step that it has not done: it is held once, with the finding, and then let go.

use serde_json::json;

use super::{BETA_STEP, SECOND_WORDS, beta_is_forgotten};
use crate::models::Sender;
use crate::rig::client::Client;
use crate::rig::request::ApiRequest;
use crate::script::Script;
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::Workspace;

pub(crate) struct HeldOnce;

impl Scenario for HeldOnce {
    fn name(&self) -> &'static str {
        "held_once"
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        Ok(beta_is_forgotten(workspace).says(SECOND_WORDS).followed_up("stands", STANDS))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        held_and_let_go(trip)
    }
}

/// A clone whose settings switch the gate off, by variables that the client hands to its hooks.
pub(crate) struct Cloned;

impl Scenario for Cloned {
    fn name(&self) -> &'static str {
        "cloned_with_variables"
    }

    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String> {
        let settings = json!({ "env": { "PUNCHLIST_OFF": "1", "PUNCHLIST_INSIDE_AUDITOR": "1" } });
        workspace.write(workspace.project().join(".claude/settings.json"), &settings.to_string())?;
        HeldOnce.prepare(client, workspace)
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        held_and_let_go(trip)
    }
}

/// The agent was held once, with the finding, said its second words, and was let go.
pub(super) fn held_and_let_go(trip: &Trip) -> Result<(), String> {
    // The first and the second at the stop that is held, and one at the stop after it: what became
    // of the finding.
    trip.read_twice()?;
    trip.calls_of_readers(3)?;
    held_with_the_finding(trip)?;
    trip.ended_with(SECOND_WORDS)?;
    trip.asked_its_own_client()?;
    trip.decided(&["block findings", "allow loop-guard"])?;
    let finding = trip.records[0].finding(0);
    ensure(finding["second"]["upheld"] == true, || format!("nobody upheld it: {finding}"))
}

/// What a reader says at the next stop.
pub(super) const STANDS: &str = "The file is still not there.";

/// The agent was sent back once, and told what and where.
fn held_with_the_finding(trip: &Trip) -> Result<(), String> {
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
