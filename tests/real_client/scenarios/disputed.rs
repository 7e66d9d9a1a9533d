//! An agent that was held says why the finding is wrong: it is let go, a reader that is asked again
//! agrees, and the log has its words.

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
        Ok(beta_is_forgotten(workspace).says(&said()).followed_up("wrong", "The person agreed to that."))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        trip.read_twice()?;
        trip.decided(&["block findings", "allow loop-guard"])?;
        let outcomes = trip.outcomes_of(0)?;
        let told: Vec<_> = outcomes
            .iter()
            .map(|note| (note["outcome"].as_str(), note["sentence"].as_str(), note["was_wrong"].as_bool()))
            .collect();
        ensure(told == [(Some("disputed"), Some(&*said()), Some(true))], || format!("it became {told:?}"))
    }
}

fn said() -> String {
    format!("I have looked again. {SENTENCE} Nothing is left to do.")
}
