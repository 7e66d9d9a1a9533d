//! The program was deleted and its registration was not: the session goes on, and the client has
//! nothing to say of it.

use super::{ALL_DONE, ALPHA, PROMPT};
use crate::rig::client::Client;
use crate::rig::message::write;
use crate::script::Script;
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::{PUNCHLIST, Workspace};

pub(crate) struct Gone;

impl Scenario for Gone {
    fn name(&self) -> &'static str {
        "program_gone"
    }

    fn prepare(&self, _: &Client, workspace: &Workspace) -> Result<Script, String> {
        workspace.register_nothing()?;
        let folder = workspace.root().join("elsewhere");
        std::fs::create_dir_all(&folder).map_err(|error| format!("a folder: {error}"))?;
        let program = folder.join("punchlist").display().to_string();
        // Copied by another process: a file that this one has open for writing can't be executed.
        workspace.output("cp", &[PUNCHLIST, &program], &[])?;
        workspace.output(&program, &["install"], &[])?;
        std::fs::remove_file(&program).map_err(|error| format!("{program}: {error}"))?;
        let file = workspace.project().join("alpha.txt").display().to_string();
        Ok(Script::new(PROMPT).calls([write(file, ALPHA)]).says(ALL_DONE))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        trip.ended_with(ALL_DONE)?;
        trip.decided(&[])?;
        ensure(trip.run.stderr.is_empty(), || format!("the client says {}", trip.run.stderr))?;
        // Of a hook that fails, 2.1.136 and later keep what it printed, and with which exit code.
        let transcripts = trip.workspace.transcripts();
        let told = ["not found", "hook_non_blocking_error", "No such file"];
        let told = told.into_iter().find(|words| transcripts.contains(words));
        ensure(told.is_none(), || format!("the person is told: {told:?}"))
    }
}
