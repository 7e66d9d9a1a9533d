//! An agent that says that its plan is done while the boxes in it are open: it is sent back with
//! each of them and with the section that is wanted of it, settles them, and is let go.

use super::checked::only_the_ends;
use super::{ALPHA, BETA, BETA_STEP, PROMPT, plan};
use crate::models::Sender;
use crate::rig::client::Client;
use crate::rig::message::write;
use crate::rig::request::ApiRequest;
use crate::script::Script;
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::Workspace;

/// The gate, and no other.
const CONFIG: &str =
    "[audit]\nenabled = false\n\n[checklist]\nplan = true\nrequire_section = \"## Plan Completion Check\"\n";

const DONE: &str = "All steps of the plan are done.";
const SETTLED: &str = "All steps of the plan are done.\n\n## Plan Completion Check\n\n- alpha.txt: written\n- beta.txt: written";

pub(crate) struct Listed;

impl Scenario for Listed {
    fn name(&self) -> &'static str {
        "listed"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        only_the_ends(client)
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        let project = workspace.project();
        workspace.write(workspace.home().join(".config/punchlist/config.toml"), CONFIG)?;
        let file = |name: &str| project.join(name).display().to_string();
        Ok(Script::new(PROMPT)
            .calls([write(file("PLAN.md"), &plan(false)), write(file("alpha.txt"), ALPHA)])
            .says(DONE)
            .claimed(&[1, 2], true)
            .calls([write(file("beta.txt"), BETA), write(file("PLAN.md"), &plan(true))])
            .says(SETTLED))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        let requests = trip.requests_of(Sender::Agent);
        let texts = requests.last().map(ApiRequest::user_texts).unwrap_or_default();
        let holds: Vec<_> = texts.iter().filter(|text| text.contains("Stop hook feedback:")).collect();
        let [hold] = holds[..] else { return Err(format!("held {} times in place of once", holds.len())) };
        let open = format!("2. PLAN.md, line 4: - [ ] {BETA_STEP}");
        for wanted in [
            "1. PLAN.md, line 3: - [ ] Create `alpha.txt`",
            &open,
            "lacks the section `## Plan Completion Check`",
        ] {
            ensure(hold.contains(wanted), || format!("not told of {wanted:?}: {hold}"))?;
        }
        trip.ended_with(SETTLED)?;
        trip.decided(&["block open-items", "allow loop-guard"])
    }
}
