//! An agent that was held writes what was missing: it is let go, and the log says that the finding
//! was fixed.

use super::{BETA, beta_is_forgotten};
use crate::rig::client::Client;
use crate::rig::message::write;
use crate::script::Script;
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::Workspace;

/// What the agent says when it has mended it.
const MENDED: &str = "beta.txt was missing, and is written now.";

pub(crate) struct Mended;

impl Scenario for Mended {
    fn name(&self) -> &'static str {
        "mended"
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        Ok(beta_is_forgotten(workspace)
            .calls([write(workspace.project().join("beta.txt").display(), BETA)])
            .says(MENDED))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        trip.read_twice()?;
        // The disk settles it: nobody is asked what became of it.
        trip.calls_of_readers(2)?;
        trip.decided(&["block findings", "allow loop-guard"])?;
        trip.ended_with(MENDED)?;
        let outcomes = trip.outcomes_of(0)?;
        let told: Vec<_> =
            outcomes.iter().map(|note| (note["outcome"].as_str(), note["why"].as_str())).collect();
        ensure(told == [(Some("fixed"), Some("beta.txt is there now"))], || format!("it became {told:?}"))?;
        let told_by = outcomes[0]["told_by"].as_str();
        ensure(told_by == trip.records[1].id(), || format!("told by {told_by:?}"))
    }
}
