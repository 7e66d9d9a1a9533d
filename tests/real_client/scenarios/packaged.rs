//! Installed from the packages of this checkout, npm's or the wheel, and by nothing else: an empty
//! home, no cargo on the PATH, the demo, `install`, a stop that is held by the program in them, and
//! `uninstall`.

use std::path::{Path, PathBuf};

use super::held_once::{HeldOnce, held_and_let_go};
use crate::rig::client::Client;
use crate::script::Script;
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::{PUNCHLIST, Workspace};

/// What npm packs.
pub(crate) struct Packaged;

/// What pip installs.
pub(crate) struct PackagedWheel;

/// Where it is installed, in the workspace: npm's global folder, or a virtual environment.
const GLOBAL: &str = "global";

fn installed(workspace: &Workspace, args: &[&str]) -> Result<String, String> {
    let program = workspace.root().join(GLOBAL).join("bin/punchlist");
    without_cargo(workspace, &program.display().to_string(), args)
}

/// Runs a program that finds no cargo.
fn without_cargo(workspace: &Workspace, program: &str, args: &[&str]) -> Result<String, String> {
    let found = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&found).filter(|folder| !folder.join("cargo").exists());
    let path = std::env::join_paths(folders).map_err(|error| format!("PATH: {error}"))?;
    let path = path.to_string_lossy();
    ensure(which::which_in("cargo", Some(&*path), "/").is_err(), || "there is a cargo".into())?;
    let program =
        which::which_in(program, Some(&*path), "/").map_err(|error| format!("{program}: {error}"))?;
    workspace.output(&program.display().to_string(), args, &[("PATH", &path)])
}

fn needs(client: &Client, tools: &[&str]) -> Option<&'static str> {
    if !client.is_since("2.1.325") {
        return Some("the packages are the same for every client");
    }
    let is_missing = tools.iter().any(|tool| which::which(tool).is_err());
    is_missing.then_some("no npm or no Python to pack and install it with")
}

/// Packs the program, and gives the files that end so.
fn packed(workspace: &Workspace, end: &str) -> Result<Vec<String>, String> {
    // As if nobody had ever started a client here.
    let own = workspace.home().join(".claude");
    std::fs::remove_dir_all(&own).map_err(|error| format!("{}: {error}", own.display()))?;
    ensure(workspace.names_in(workspace.home()).is_empty(), || "the home is not empty".into())?;
    let packages = workspace.root().join("packages");
    let out = packages.display().to_string();
    let build = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/build").display().to_string();
    workspace.output("python3", &[&build, "--binary", PUNCHLIST, "--level", "1", "--out", &out], &[])?;
    let names = workspace.names_in(&packages).into_iter().map(PathBuf::from);
    let meant = names.filter(|name| name.extension().is_some_and(|its| its == end));
    Ok(meant.map(|name| packages.join(name).display().to_string()).collect())
}

/// The demo and `install`, and then a session with drift.
fn begin(client: &Client, workspace: &Workspace) -> Result<Script, String> {
    let said = installed(workspace, &["demo"])?;
    ensure(said.contains("The stop is blocked (exit 2)"), || format!("the demo says {said}"))?;
    let said = installed(workspace, &["install"])?;
    ensure(said.contains("Registered the hook in"), || format!("install says {said}"))?;
    HeldOnce.prepare(client, workspace)
}

/// The stop was held, and what was registered is gone again.
fn end(trip: &Trip, how: &str) -> Result<(), String> {
    held_and_let_go(trip)?;
    let said = installed(&trip.workspace, &["uninstall", "--everywhere"])?;
    let own = said.lines().find(|line| line.contains("the program itself: `")).unwrap_or_default();
    let is_told = own.ends_with(&format!("{how}` removes it"));
    ensure(said.contains("Took the hook out of") && is_told, || format!("uninstall says {said}"))?;
    let settings = trip.workspace.project().join(".claude/settings.local.json");
    ensure(!settings.exists(), || "the registration is still there".into())
}

impl Scenario for Packaged {
    fn name(&self) -> &'static str {
        "packaged"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        needs(client, &["npm", "python3"])
    }

    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String> {
        let tarballs = packed(workspace, "tgz")?;
        ensure(tarballs.len() == 2, || format!("packed {tarballs:?}"))?;
        let prefix = workspace.root().join(GLOBAL).display().to_string();
        let mut install = vec!["install", "-g", "--prefix", &prefix, "--offline", "--omit=optional"];
        install.extend(tarballs.iter().map(String::as_str));
        without_cargo(workspace, "npm", &install)?;
        begin(client, workspace)
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        end(trip, "npm uninstall -g punchlist")
    }
}

impl Scenario for PackagedWheel {
    fn name(&self) -> &'static str {
        "packaged_wheel"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        needs(client, &["python3"])
    }

    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String> {
        let wheels = packed(workspace, "whl")?;
        let [wheel] = &wheels[..] else { return Err(format!("packed {wheels:?}")) };
        let folder = workspace.root().join(GLOBAL).display().to_string();
        without_cargo(workspace, "python3", &["-m", "venv", &folder])?;
        let pip = format!("{folder}/bin/python3");
        without_cargo(workspace, &pip, &["-m", "pip", "install", "--quiet", "--no-index", wheel])?;
        begin(client, workspace)
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        end(trip, "bin/python3 -m pip uninstall punchlist")
    }
}
