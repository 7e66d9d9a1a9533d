//! An agent that was held says why the finding is wrong: it is let go, and the log has its sentence.

use super::{ALL_DONE, ALPHA, PROMPT, beta_is_missing, plan};
use crate::rig::client::Client;
use crate::rig::message::write;
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
        let project = workspace.project();
        let plan_file = project.join("PLAN.md");
        Ok(Script::new(PROMPT)
            .calls([write(plan_file.display(), &plan(false))])
            .calls([
                write(project.join("alpha.txt").display(), ALPHA),
                write(plan_file.display(), &plan(true)),
            ])
            .says(ALL_DONE)
            .verdict(&[beta_is_missing()])
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
