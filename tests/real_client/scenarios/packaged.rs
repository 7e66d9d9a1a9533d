//! Installed from the npm packages of this checkout, and by nothing else: a stop is held by the program in them.

use std::path::Path;

use super::held_once::{HeldOnce, held_and_let_go};
use crate::rig::client::Client;
use crate::script::Script;
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::{PUNCHLIST, Workspace};

pub(crate) struct Packaged;

/// npm's global folder, in the workspace.
const GLOBAL: &str = "global";

fn installed(workspace: &Workspace, args: &[&str]) -> Result<String, String> {
    let program = workspace.root().join(GLOBAL).join("bin/punchlist");
    workspace.output(&program.display().to_string(), args, &[])
}

impl Scenario for Packaged {
    fn name(&self) -> &'static str {
        "packaged"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        if !client.is_since("2.1.325") {
            return Some("the packages are the same for every client");
        }
        let is_missing = ["npm", "python3"].iter().any(|tool| which::which(tool).is_err());
        is_missing.then_some("no npm or no Python to pack and install it with")
    }

    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String> {
        workspace.register_nothing()?;
        let packages = workspace.root().join("packages");
        let out = packages.display().to_string();
        let build = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/build").display().to_string();
        workspace.output("python3", &[&build, "--binary", PUNCHLIST, "--level", "1", "--out", &out], &[])?;
        let prefix = workspace.root().join(GLOBAL).display().to_string();
        let mut install = vec!["install", "-g", "--prefix", &prefix, "--offline", "--omit=optional"];
        let tarballs: Vec<String> = workspace
            .names_in(&packages)
            .into_iter()
            .filter(|name| Path::new(name).extension().is_some_and(|end| end == "tgz"))
            .map(|name| format!("{out}/{name}"))
            .collect();
        ensure(tarballs.len() == 2, || format!("packed {tarballs:?}"))?;
        install.extend(tarballs.iter().map(String::as_str));
        workspace.output("npm", &install, &[])?;
        installed(workspace, &["install"])?;
        HeldOnce.prepare(client, workspace)
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        held_and_let_go(trip)?;
        let said = installed(&trip.workspace, &["uninstall", "--everywhere"])?;
        let wanted = "the program itself: `npm uninstall -g punchlist` removes it";
        ensure(said.contains("Took the hook out of") && said.contains(wanted), || {
            format!("uninstall says {said}")
        })
    }
}
