//! An agent that was held says why the finding is wrong: it is let go, and the log has its sentence.

use super::beta_is_forgotten;
use crate::rig::client::Client;
use crate::script::Script;
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::Workspace;

const SENTENCE: &str = "The finding on `beta.txt` is wrong: the evening's greeting comes from another team.";

pub(crate) struct Disputed;

impl Scenario for Disputed {
    fn name(&self) -> &'static str {
        "disputed"
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        Ok(beta_is_forgotten(workspace)
            .says(&format!("I have looked again. {SENTENCE} Nothing is left to do.")))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        trip.audit()?;
        trip.decided(&["block findings", "allow loop-guard"])?;
        let outcomes = trip.outcomes_of(0)?;
        let told: Vec<_> =
            outcomes.iter().map(|note| (note["outcome"].as_str(), note["sentence"].as_str())).collect();
        ensure(told == [(Some("disputed"), Some(SENTENCE))], || format!("it became {told:?}"))
    }
}
