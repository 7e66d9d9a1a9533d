//! Checks that a person set: one that fails sends the agent, or its subagent, back with what it
//! printed, and they are let go when they have mended it.

use super::BETA;
use super::subagent::errand;
use crate::decision_log::Record;
use crate::models::Sender;
use crate::rig::client::{Client, VERSIONS};
use crate::rig::message::write;
use crate::rig::request::ApiRequest;
use crate::script::{Script, Turn};
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::Workspace;

const PROMPT: &str = "Write the evening greeting into beta.txt.";
const DONE: &str = "Done: beta.txt is written.";
const MENDED: &str = "beta.txt had the wrong greeting, and is mended.";
const WRONG: &str = "Good morning.\n";

/// What a hold is and how an agent gets it is tried on every version elsewhere.
pub(super) fn only_the_ends(client: &Client) -> Option<&'static str> {
    let is_end = [VERSIONS.first(), VERSIONS.last()].contains(&Some(&client.version));
    (!is_end).then_some("what differs between the versions is tried with the other scenarios")
}

/// A project's check that wants the evening greeting, and a person who has allowed it.
fn set_the_check(workspace: &Workspace, on: &str) -> Result<(), String> {
    let config = format!(
        "[[check]]\nname = \"greeting\"\nrun = \"grep -q evening beta.txt || {{ echo error: no evening in beta.txt; exit 4; }}\"\n\
         when = [\"*.txt\"]\non = \"{on}\"\n"
    );
    workspace.write(workspace.project().join(".claude/punchlist.toml"), &config)?;
    let said = workspace.punchlist(&["allow", "--yes"])?;
    ensure(said.contains("greeting: grep -q evening beta.txt"), || format!("allow does not say what: {said}"))
}

/// The one hold among what was said to whoever made these requests.
fn the_hold(requests: &[ApiRequest]) -> Result<String, String> {
    let texts = requests.last().map(ApiRequest::user_texts).unwrap_or_default();
    let holds: Vec<_> = texts.iter().filter(|text| text.contains("top hook feedback:")).collect();
    let [hold] = holds[..] else { return Err(format!("held {} times in place of once", holds.len())) };
    for wanted in
        ["greeting: `grep -q evening beta.txt", "ended with exit code 4:", "| error: no evening in beta.txt"]
    {
        ensure(hold.contains(wanted), || format!("not told of {wanted:?}: {hold}"))?;
    }
    Ok(hold.to_string())
}

pub(crate) struct Checked;

impl Scenario for Checked {
    fn name(&self) -> &'static str {
        "checked"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        only_the_ends(client)
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        set_the_check(workspace, "stop")?;
        let beta = workspace.project().join("beta.txt");
        Ok(Script::new(PROMPT)
            .calls([write(beta.display(), WRONG)])
            .says(DONE)
            .proposed(&[])
            .calls([write(beta.display(), BETA)])
            .says(MENDED))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        the_hold(&trip.requests_of(Sender::Agent))?;
        trip.ended_with(MENDED)?;
        trip.decided(&["block check-failed", "allow clean"])
    }
}

const ERRAND: &str = "Write the evening greeting into beta.txt, and report.";

pub(crate) struct CheckedSubagent;

impl Scenario for CheckedSubagent {
    fn name(&self) -> &'static str {
        "checked_subagent"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        // 1.0.98 does not say where a subagent's transcript is, so that nothing is known of what it
        // touched.
        if client.is_since("2.0.32") {
            only_the_ends(client)
        } else {
            Some("subagents have no transcript here")
        }
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        workspace.register_nothing()?;
        workspace.punchlist(&["install", "--subagents"])?;
        set_the_check(workspace, "subagent")?;
        let beta = workspace.project().join("beta.txt");
        let mut script = Script::new("Have a helper write the evening greeting.")
            .reads(|request| errand(request, ERRAND, false))
            .says("The helper wrote it.")
            .subagent(ERRAND, vec![write(beta.display(), WRONG)], DONE)
            .proposed(&[])
            .proposed(&[]);
        script.subagent.push_back(Turn::Calls(vec![write(beta.display(), BETA)]));
        script.subagent.push_back(Turn::Says(MENDED.to_owned()));
        Ok(script)
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        the_hold(&trip.requests_of(Sender::Subagent))?;
        trip.ended_with("The helper wrote it.")?;
        let decisions: Vec<_> = trip.records.iter().map(Record::decision).collect();
        let wanted = ["block check-failed", "allow clean"];
        ensure(decisions.starts_with(&wanted.map(str::to_owned)), || {
            format!("decided {decisions:?} in place of {wanted:?} first")
        })
    }
}
