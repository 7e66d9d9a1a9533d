//! Registered by `punchlist install`, and by that alone: a stop really runs it. Registered twice, a stop is audited once.

use super::held_once::{HeldOnce, held_and_let_go};
use crate::decision_log::Record;
use crate::rig::client::Client;
use crate::script::Script;
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::Workspace;

/// In the project's settings for one person, beside settings that are there.
pub(crate) struct Installed;

impl Scenario for Installed {
    fn name(&self) -> &'static str {
        "installed"
    }

    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String> {
        workspace.register_nothing()?;
        let settings = workspace.project().join(".claude/settings.local.json");
        workspace.write(&settings, "{\n\t\"env\": { \"A\": \"1\" }\n}\n")?;
        workspace.punchlist(&["install"])?;
        HeldOnce.prepare(client, workspace)
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        held_and_let_go(trip)?;
        trip.workspace.punchlist(&["uninstall"])?;
        let settings = trip.workspace.project().join(".claude/settings.local.json");
        let left = std::fs::read_to_string(settings).unwrap_or_default();
        ensure(left == "{\n\t\"env\": { \"A\": \"1\" }\n}\n", || format!("uninstall left {left}"))
    }
}

/// In the person's own settings and in the project's: the client runs both at the same time.
pub(crate) struct Twice;

impl Scenario for Twice {
    fn name(&self) -> &'static str {
        "registered_twice"
    }

    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String> {
        let said = workspace.punchlist(&["install"])?;
        ensure(said.contains("! It is registered in "), || format!("not a word of the other: {said}"))?;
        HeldOnce.prepare(client, workspace)
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        trip.audit()?;
        let mut decisions: Vec<_> = trip.records.iter().map(Record::decision).collect();
        decisions.sort();
        let wanted = ["allow loop-guard", "allow loop-guard", "allow unchanged", "block findings"];
        ensure(decisions == wanted, || format!("decided {decisions:?} in place of {wanted:?}"))
    }
}
