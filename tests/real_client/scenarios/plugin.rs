//! The plugin of this repository, checked, added and installed by the client itself, with nobody
//! but this machine to ask: where the program is, a stop runs it; where it is not, the session goes
//! on and the person is told once.

use std::path::Path;

use serde_json::Value;

use super::held_once::{HeldOnce, held_and_let_go};
use super::{ALL_DONE, ALPHA, BETA, PROMPT, plan};
use crate::rig::client::Client;
use crate::rig::message::write;
use crate::script::Script;
use crate::trip::{Scenario, Trip, ensure};
use crate::workspace::{PUNCHLIST, Workspace};

/// What of a checkout the client reads for it. Copied, so that the checkout itself stays as it is.
const PARTS: [&str; 4] = [".claude-plugin", "plugin/.claude-plugin", "plugin/commands", "plugin/hooks"];

/// A file of the checkout that is none of the plugin's.
const OTHER: &str = "target/large";

const ALONE: [(&str, &str); 3] = [
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
];

fn has_plugins(client: &Client) -> Option<&'static str> {
    (!client.is_since("2.0.32")).then_some("this version has no plugins")
}

/// Installs it in place of any registration.
fn install(client: &Client, workspace: &Workspace) -> Result<(), String> {
    workspace.register_nothing()?;
    let copy = workspace.root().join("checkout");
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    for part in PARTS {
        for entry in std::fs::read_dir(own.join(part)).map_err(|error| format!("{part}: {error}"))?.flatten()
        {
            let text = std::fs::read_to_string(entry.path()).map_err(|error| format!("{part}: {error}"))?;
            workspace.write(copy.join(part).join(entry.file_name()), &text)?;
        }
    }
    workspace.write(copy.join(OTHER), "12 GB, once everything is built")?;
    let (program, copy) = (client.program().display().to_string(), copy.display().to_string());
    let run = |args: &[&str]| workspace.output(&program, args, &ALONE);
    let manifest = format!("{copy}/plugin/.claude-plugin/plugin.json");
    for checked in [&copy, &manifest] {
        if client.is_since("2.1.325") {
            run(&["plugin", "validate", "--strict", checked])?;
        } else {
            run(&["plugin", "validate", checked])?;
        }
    }
    // As the README says it, in the checkout: from 2.0.32 to 2.1.325 `.` alone is refused.
    let there = format!("cd '{copy}' && exec '{program}' plugin marketplace add ./");
    workspace.output("sh", &["-c", &there], &ALONE)?;
    run(&["plugin", "install", "punchlist@punchlist"])?;
    // The client keeps a copy of a plugin's folder; seen with that of the whole checkout, with all
    // that was built in it.
    let other = Path::new(OTHER).file_name().unwrap_or_default();
    let is_copied =
        walkdir::WalkDir::new(workspace.home()).into_iter().flatten().any(|one| one.file_name() == other);
    ensure(!is_copied, || "the client copied more than the plugin".into())?;
    let said = workspace.punchlist(&["install", "--dry-run"])?;
    ensure(said.contains("the plugin punchlist@punchlist on"), || format!("install sees no plugin: {said}"))?;
    // Without the program the doctor has to complain, of that alone.
    on_the_path(workspace)?;
    let found = workspace.output("sh", &["-c", "punchlist doctor --json || true"], &ALONE)?;
    let is_fault = |check: &Value| check["name"] == "hook" && check["mark"] != "fine";
    let found: Value = serde_json::from_str(&found).map_err(|error| format!("{error}: {found}"))?;
    let faults: Vec<_> =
        found["checks"].as_array().into_iter().flatten().filter(|one| is_fault(one)).collect();
    std::fs::remove_file(workspace.root().join("bin/punchlist")).map_err(|error| error.to_string())?;
    ensure(faults.is_empty(), || format!("the doctor finds fault with the plugin: {faults:?}"))
}

fn on_the_path(workspace: &Workspace) -> Result<(), String> {
    workspace.program("bin/punchlist", &format!("#!/bin/sh\nexec '{PUNCHLIST}' \"$@\"\n")).map(drop)
}

/// With the program on the PATH.
pub(crate) struct Plugin;

impl Scenario for Plugin {
    fn name(&self) -> &'static str {
        "plugin"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        has_plugins(client)
    }

    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String> {
        install(client, workspace)?;
        on_the_path(workspace)?;
        HeldOnce.prepare(client, workspace)
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        held_and_let_go(trip)?;
        let program = trip.client.program().display().to_string();
        let variables = [&ALONE[..], &[("PUNCHLIST_CLAUDE", program.as_str())]].concat();
        let all = ["uninstall", "--everywhere", "--purge", "--yes"];
        let said = trip.workspace.output(PUNCHLIST, &all, &variables)?;
        let removed = "The client removed the plugin punchlist@punchlist.\n";
        ensure(said.contains(removed) && said.ends_with("Removed these files.\n"), || {
            format!("uninstall says {said}")
        })?;
        let of_home = |name: &str| {
            std::fs::read_to_string(trip.workspace.home().join(".claude").join(name)).unwrap_or_default()
        };
        let settings: Value = serde_json::from_str(&of_home("settings.json")).unwrap_or_default();
        let switch = settings["enabledPlugins"].get("punchlist@punchlist");
        // 2.0.32 leaves it switched off.
        let is_on = switch.is_some_and(|switch| *switch == true || trip.client.is_since("2.1.42"));
        let is_listed = of_home("plugins/installed_plugins.json").contains("punchlist@punchlist");
        ensure(!is_on && !is_listed, || format!("the plugin is still there: {settings}"))?;
        let is_state_gone = !trip.workspace.root().join("state").exists();
        ensure(is_state_gone, || "the state is still there".into())
    }
}

/// Without it.
pub(crate) struct PluginAlone;

impl Scenario for PluginAlone {
    fn name(&self) -> &'static str {
        "plugin_alone"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        let is_there = which::which("punchlist").is_ok();
        has_plugins(client).or(is_there.then_some("there is a punchlist on the PATH of this machine"))
    }

    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String> {
        install(client, workspace)?;
        let file = |name: &str| workspace.project().join(name).display().to_string();
        Ok(Script::new(PROMPT)
            .calls([
                write(file("PLAN.md"), &plan(true)),
                write(file("alpha.txt"), ALPHA),
                write(file("beta.txt"), BETA),
            ])
            .says(ALL_DONE))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        trip.ended_with(ALL_DONE)?;
        trip.decided(&[])?;
        let is_noted = |folder: &Path| {
            walkdir::WalkDir::new(folder)
                .into_iter()
                .flatten()
                .any(|entry| entry.file_name() == "punchlist-is-missing")
        };
        ensure(is_noted(trip.workspace.root()), || "the plugin's hook did not run".into())
    }
}

/// The person's switch as a slash command. From outside it can't be told from the agent's hand, so
/// it is told of, in words that accuse nobody.
pub(crate) struct PluginOff;

impl Scenario for PluginOff {
    fn name(&self) -> &'static str {
        "plugin_off"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        has_plugins(client)
    }

    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String> {
        install(client, workspace)?;
        on_the_path(workspace)?;
        Ok(Script::new("/punchlist:off").says("It is off; `punchlist on` switches it on again."))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        trip.decided(&["allow off"])?;
        let said = trip.workspace.punchlist(&["on"])?;
        let wanted = format!("On: {}\n", trip.workspace.project().display());
        ensure(said == wanted, || format!("it was not off: {said}"))?;
        let records = trip.workspace.punchlist(&["log", "list", "--json"])?;
        let is_told = records.contains("it was switched off during this session, from within it");
        ensure(is_told && !records.contains("agent itself"), || format!("told in other words: {records}"))
    }
}

/// And back on.
pub(crate) struct PluginOn;

impl Scenario for PluginOn {
    fn name(&self) -> &'static str {
        "plugin_on"
    }

    fn pointless_on(&self, client: &Client) -> Option<&'static str> {
        has_plugins(client)
    }

    fn prepare(&self, client: &Client, workspace: &Workspace) -> Result<Script, String> {
        install(client, workspace)?;
        on_the_path(workspace)?;
        workspace.punchlist(&["off"])?;
        Ok(Script::new("/punchlist:on").says("It is on again."))
    }

    fn check(&self, trip: &Trip) -> Result<(), String> {
        trip.decided(&["allow nothing-to-audit"])?;
        let said = trip.workspace.punchlist(&["on"])?;
        let wanted = format!("Already on: {}\n", trip.workspace.project().display());
        ensure(said == wanted, || format!("it was not on: {said}"))
    }
}
