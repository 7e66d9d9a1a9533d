//! Punchlist inside the real client, each scenario and version a trial of its own. What depends on
//! the client's wire format runs on every version, all the rest on the oldest and the newest;
//! `PUNCHLIST_TEST_CLIENTS=all` runs everything everywhere.
//!
//! Takes the clients that `.ci/clients` installs and a scripted Messages API on loopback; gives the
//! usual report of a test run. It must not reach beyond loopback, and must not pass in silence
//! where a client is missing: such trials are ignored aloud, or fail where
//! `PUNCHLIST_TEST_REQUIRE_CLIENTS=1` says so.

mod decision_log;
mod models;
#[cfg(unix)]
#[path = "../support/postgres.rs"]
#[expect(dead_code, reason = "shared with the tests of the fleet, which need more of it")]
mod postgres;
#[path = "../support/rig/mod.rs"]
#[expect(dead_code, reason = "each of the targets that share it leaves a part of it alone")]
mod rig;
mod scenarios;
#[path = "../support/screenshot.rs"]
mod screenshot;
mod script;
mod trip;
mod workspace;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use rig::client::{self, Client, VERSIONS};
use scenarios::{looped, seated, started};
use trip::Scenario;

/// What differs from version to version: the hook's input and reply, the sealed call, subagents,
/// modes, where a plugin is kept.
const ON_EVERY_VERSION: [&str; 11] = [
    "background", "checked_subagent", "clean", "held_once", "installed_subagents", "plan_mode", "plugin",
    "program_gone", "sealed", "started", "subagent",
];

/// Returns why a scenario is left out on a version where nothing asks for all of them.
fn left_out(version: &str, name: &str) -> Option<&'static str> {
    let is_end = VERSIONS.first() == Some(&version) || VERSIONS.last() == Some(&version);
    let wants_all = std::env::var_os("PUNCHLIST_TEST_CLIENTS").is_some_and(|value| value == "all");
    (!is_end && !wants_all && !ON_EVERY_VERSION.contains(&name))
        .then_some("on the oldest and the newest client; PUNCHLIST_TEST_CLIENTS=all for every one")
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let required = std::env::var_os("PUNCHLIST_TEST_REQUIRE_CLIENTS").is_some_and(|value| value == "1");
    let missing: Vec<_> = VERSIONS.into_iter().filter(|version| Client::find(version).is_none()).collect();
    if !missing.is_empty() && !required && !arguments.list {
        eprintln!("{}", skipped(&missing));
    }
    let trials = VERSIONS
        .into_iter()
        .flat_map(|version| {
            let scenarios =
                scenarios::ALL.iter().map(move |scenario| scenario_trial(version, *scenario, required));
            let seated =
                seated::ALL.iter().map(move |(name, play)| seated_trial(version, name, *play, required));
            let started = started::ALL
                .iter()
                .map(move |(name, play)| trial(version, name, required, started::pointless_on, *play));
            let runs = looped::RUNS
                .iter()
                .map(move |(name, play)| trial(version, name, required, looped::pointless_on, *play));
            #[cfg(unix)]
            let runs = runs.chain([trial(
                version,
                "fleet",
                required,
                scenarios::fleet::pointless_on,
                scenarios::fleet::play,
            )]);
            scenarios.chain(seated).chain(started).chain(runs)
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn scenario_trial(version: &'static str, scenario: &'static dyn Scenario, required: bool) -> Trial {
    trial(
        version,
        scenario.name(),
        required,
        |client| scenario.pointless_on(client),
        |client| trip::play(scenario, client),
    )
}

/// Somebody has to type for these, and so there has to be a terminal.
fn seated_trial(
    version: &'static str,
    name: &'static str,
    play: fn(&Client) -> Result<(), String>,
    required: bool,
) -> Trial {
    trial(version, name, required, move |client| seated::pointless_on(name, client), play)
}

fn trial(
    version: &'static str,
    name: &str,
    required: bool,
    pointless_on: impl FnOnce(&Client) -> Option<&'static str> + Send + 'static,
    play: impl FnOnce(&Client) -> Result<(), String> + Send + 'static,
) -> Trial {
    let left_out = left_out(version, name);
    Trial::ignorable_test(format!("{version}::{name}"), move || {
        if let Some(reason) = left_out {
            return Ok(Completion::ignored_with(reason));
        }
        let Some(client) = Client::find(version) else {
            return if required {
                Err(skipped(&[version]).into())
            } else {
                Ok(Completion::ignored_with("no client"))
            };
        };
        if let Some(reason) = pointless_on(&client) {
            return Ok(Completion::ignored_with(reason));
        }
        play(&client).map(|()| Completion::Completed).map_err(Failed::from)
    })
}

fn skipped(missing: &[&str]) -> String {
    let which =
        if missing.len() == VERSIONS.len() { String::new() } else { format!(" for {}", missing.join(", ")) };
    let folder = client::folder();
    format!(
        "real-client tests skipped{which}: no client in {}; run .ci/clients to install them",
        folder.display()
    )
}
