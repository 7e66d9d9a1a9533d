//! `punchlist doctor`: runs every check and prints them. Sends nothing anywhere without `--audit`.

use super::Result;
use super::output::{print, print_json, width};
use crate::cli::DoctorArgs;
use crate::config::sources::sources;
use crate::doctor::config as config_checks;
use crate::doctor::{Diagnosis, client, gate, registration, state as state_checks};
use crate::env::Env;
use crate::exit;
use crate::render::diagnosis;
use crate::state::{StateFolder, allowed, load_config};

pub(super) fn run(args: &DoctorArgs, env: &Env) -> Result {
    let project = std::env::current_dir().unwrap_or_default();
    let state = StateFolder::find(env);
    // Faults in the files are among the checks.
    let (config, _) = load_config(env, &project);

    let mut checks = client::checks(env, &config);
    let answer =
        state.as_ref().ok().filter(|_| args.audit).map(|state| client::ask_model(env, &config, state));
    checks.push(client::model_check(answer.as_ref(), &config.auditor.model));
    checks.extend(registration::checks(env, &project, &config));
    checks.extend(config_checks::checks(&sources(env, &project, || allowed(env, &project))));
    checks.extend(config_checks::unallowed_check(&config.checks));
    match &state {
        Ok(state) => {
            checks.extend(config_checks::switch_check(&state.switches().covering(&project)));
            checks.push(state_checks::folder_check(state));
            checks.push(state_checks::log_check(state));
        }
        Err(why) => checks.push(state_checks::unusable(&why.to_string())),
    }
    checks.extend(gate::checks());

    let diagnosis = Diagnosis::new(checks);
    if args.json {
        print_json(&diagnosis)?;
    } else {
        print(&diagnosis::text(&diagnosis, width(), env.home().as_deref()))?;
    }
    Ok(if diagnosis.fine { exit::OK } else { exit::FAILED })
}
