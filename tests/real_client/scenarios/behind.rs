//! The hook registered for the background, under `-p`: the client waits for it all the same, and so
//! do clients that do not know `asyncRewake`. The agent is held once, with the finding, and then
//! let go.

use super::held_once::{HeldOnce, held_and_let_go};
use crate::rig::client::Client;
use crate::script::Script;
use crate::trip::{Scenario, Trip};
use crate::workspace::Workspace;

pub(crate) struct Behind;

impl Scenario for Behind {
    fn name(&self) -> &'static str {
        "behind"
    }

    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String> {
        workspace.register_behind()?;
        HeldOnce.prepare(client, workspace)
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        held_and_let_go(trip)
    }
}
