//! An agent does what the plan says: it is asked about once, and neither it nor the person notices.

use super::{ALL_DONE, ALPHA, BETA, PROMPT, plan};
use crate::models::Sender;
use crate::rig::client::Client;
use crate::rig::message::write;
use crate::script::Script;
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::Workspace;

pub(crate) struct Clean;

impl Scenario for Clean {
    fn name(&self) -> &'static str {
        "clean"
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        let project = workspace.project();
        let plan_file = project.join("PLAN.md");
        Ok(Script::new(PROMPT)
            .calls([write(plan_file.display(), &plan(false))])
            .calls([
                write(project.join("alpha.txt").display(), ALPHA),
                write(project.join("beta.txt").display(), BETA),
                write(plan_file.display(), &plan(true)),
            ])
            .says(ALL_DONE)
            .proposed(&[]))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        trip.read_once()?;
        trip.ended_with(ALL_DONE)?;
        nobody_was_told(trip)?;
        trip.asked_its_own_client()?;
        trip.decided(&["allow clean"])
    }
}

/// Neither the agent nor the person heard of the audit.
pub(super) fn nobody_was_told(trip: &Trip) -> Result<(), String> {
    for request in trip.requests_of(Sender::Agent) {
        ensure(!request.mentions("Stop hook feedback"), || "the agent was held".into())?;
    }
    // 2.1.325 prints a hook's message to the person as such an event.
    let told = trip.run.events().find(|event| event["subtype"] == "informational");
    ensure(told.is_none(), || format!("the person was told: {told:?}"))?;
    // 2.1.136 and later keep it in the transcript.
    ensure(!trip.workspace.transcripts().contains("hook_system_message"), || {
        "the transcript has a message of the hook to the person".into()
    })?;
    ensure(trip.run.stderr.is_empty(), || "the client had something to say on stderr".into())
}
