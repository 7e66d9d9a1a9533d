//! The first reader says that a step is not done, the second reader refutes it: the session ends,
//! nobody is told, and the log has what each of them said.

use super::clean::nobody_was_told;
use super::{ALL_DONE, beta_is_missing, half_done};
use crate::rig::client::Client;
use crate::script::Script;
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::Workspace;

const WHY: &str = "The person said that the evening's greeting comes from another team.";

pub(crate) struct Dismissed;

impl Scenario for Dismissed {
    fn name(&self) -> &'static str {
        "dismissed"
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        Ok(half_done(workspace).proposed(&[beta_is_missing()]).judged(&[(false, WHY)]))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        trip.read_twice()?;
        trip.calls_of_readers(2)?;
        trip.ended_with(ALL_DONE)?;
        nobody_was_told(trip)?;
        trip.asked_its_own_client()?;
        trip.decided(&["allow clean"])?;
        let finding = trip.records[0].finding(0);
        ensure(finding["status"] == "refuted" && finding["second"]["why"] == WHY, || {
            format!("the log does not say who dismissed it: {finding}")
        })
    }
}
