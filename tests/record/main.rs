//! Looks whether the recordings in `fixtures/cases` are what the real client does, or records them
//! anew.
//!
//! Plainly run, it records one case of every special form once more, into a temporary folder, and
//! compares what punchlist folds out of it with what is committed. `PUNCHLIST_RECORD=all` (or names
//! with commas between) records in place; `PUNCHLIST_CASES` names another folder of cases. Takes
//! the clients that `.ci/clients` installs and a scripted Messages API on loopback. It must not
//! reach beyond loopback, and must not pass in silence where a client is missing: such trials are
//! ignored aloud, or fail where `PUNCHLIST_TEST_REQUIRE_CLIENTS=1` says so.

mod case_file;
mod cast;
mod folded;
mod performance;
mod places;
mod recording;
mod refused;
#[path = "../support/rig/mod.rs"]
#[expect(dead_code, reason = "each of the targets that share it leaves a part of it alone")]
mod rig;
mod rows;
mod stage;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use similar::TextDiff;

use case_file::{CaseFile, NEWEST};
use performance::Refusal;
use refused::Refused;
use rig::client::{self, Client};

/// One case of every form that a session can take in the client's files.
const FORMS: &[&str] = &[
    // A plan that was approved in plan mode.
    "approved-plan-carried-out",
    "subagents-did-the-work",
    "compacted-and-carried-on",
    "forked-to-go-another-way",
    // `TodoWrite`, on a client that keeps subagents beside the session.
    "todo-ticked-file-missing",
    // `TaskCreate`.
    "task-that-no-step-asks-for",
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let names = match std::env::var("PUNCHLIST_RECORD") {
        Ok(wanted) => wanted_cases(&wanted),
        Err(_) => Ok(Vec::new()),
    };
    let trials = match names {
        Ok(names) if names.is_empty() => {
            let same = FORMS.iter().map(|name| case_trial("same", name, compare));
            same.chain(refused::ALL.iter().map(refused_trial)).collect()
        }
        Ok(names) => names.iter().map(|name| case_trial("record", name, record)).collect(),
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::FAILURE;
        }
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The cases that a person asked for.
fn wanted_cases(wanted: &str) -> Result<Vec<String>, String> {
    let known = case_file::names_in(&case_file::folder())?;
    if wanted == "all" {
        return Ok(known);
    }
    let names: Vec<_> = wanted.split(',').map(|name| name.trim().to_owned()).collect();
    match names.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(format!("there is no case {name:?} in {}", case_file::folder().display())),
        None => Ok(names),
    }
}

type Play = fn(&CaseFile, &Path, &Client) -> Result<(), String>;

/// One case, where its client is installed.
fn case_trial(what: &str, name: &str, play: Play) -> Trial {
    let folder = case_file::folder().join(name);
    Trial::ignorable_test(format!("{what}::{name}"), move || {
        let case = CaseFile::read(&folder)?;
        on_client(case.client()?, |client| play(&case, &folder, client))
    })
}

/// One script that cannot be followed.
fn refused_trial(script: &'static Refused) -> Trial {
    Trial::ignorable_test(format!("refused::{}", script.name), || {
        on_client(NEWEST, |client| script.try_on(client))
    })
}

/// Runs it where the client is installed, and is ignored or fails where it is not.
fn on_client(
    version: &'static str,
    run: impl FnOnce(&Client) -> Result<(), String>,
) -> Result<Completion, Failed> {
    let Some(client) = Client::find(version) else {
        let missing = format!("no client {version} in {}; run .ci/clients", client::folder().display());
        let required = std::env::var_os("PUNCHLIST_TEST_REQUIRE_CLIENTS").is_some_and(|value| value == "1");
        return if required { Err(missing.into()) } else { Ok(Completion::ignored_with(missing)) };
    };
    run(&client)?;
    Ok(Completion::Completed)
}

/// Records a case in place.
fn record(case: &CaseFile, folder: &Path, client: &Client) -> Result<(), String> {
    let performance = performance::play(case, folder, client).map_err(Refusal::told)?;
    recording::put(&performance, folder, folder)
}

/// Records a case elsewhere, and says where that is not what is committed.
fn compare(case: &CaseFile, folder: &Path, client: &Client) -> Result<(), String> {
    let elsewhere = tempfile::tempdir().map_err(|error| format!("no folder: {error}"))?;
    let performance = performance::play(case, folder, client).map_err(Refusal::told)?;
    recording::put(&performance, folder, elsewhere.path())?;
    let (committed, now) = (folded::read(folder)?, folded::read(elsewhere.path())?);
    if committed == now {
        return Ok(());
    }
    let diff = TextDiff::from_lines(&committed, &now);
    Err(format!("recorded anew, it differs:\n{}", diff.unified_diff().header("committed", "now")))
}
