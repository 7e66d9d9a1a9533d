//! `punchlist doctor`: looks everything up, has it judged, prints it. Must not change anything of
//! the person's, nor send anything anywhere without `--audit`.

mod live;
mod lookup;

use super::say::{say, say_json, width};
use crate::cli::DoctorArgs;
use crate::client::settings::registered_hooks::Owner;
use crate::config::Config;
use crate::config::sources::sources;
use crate::doctor::config as config_checks;
use crate::doctor::{Diagnosis, client, gate, registration, state as state_checks};
use crate::env::Env;
use crate::exit;
use crate::readers::prompt::SCHEMA;
use crate::readers::{Answer, Prompt, Reader, ReaderRun, SealedClient};
use crate::render::diagnosis;
use crate::state::StateFolder;

/// Runs the command.
pub fn run(args: &DoctorArgs, env: &Env) -> u8 {
    let project = std::env::current_dir().unwrap_or_default();
    // Faults of the files are among the checks.
    let (config, _) = Config::load(env, &project);
    let state = StateFolder::find(env);

    let mut checks = client::checks(&lookup::client(env, &config));
    let answer = args.audit.then(|| ask(env, &config, &state));
    checks.push(client::model_check(answer.as_ref(), &config.auditor.model));
    let files = lookup::settings_files(env, &project);
    let is_there = |program: &str, owner: &Owner| lookup::is_there(env, program, owner);
    checks.extend(registration::checks(&files, &config, &is_there));
    checks.extend(config_checks::checks(&sources(env, &project)));
    checks.extend(config_checks::switch_check(&state.switches().covering(&project)));
    let is_allowed = state.is_allowed(&project, &config.checks);
    checks.extend(config_checks::unallowed_check(&config.checks, is_allowed));
    checks.push(lookup::state_folder(&state));
    let (records, has_any) = lookup::recent_records(&state);
    checks.push(state_checks::log_check(&records, has_any));
    checks.extend(gate::checks(&live::play().map_err(|error| error.to_string())));

    let diagnosis = Diagnosis::new(checks);
    let code = if diagnosis.fine { exit::OK } else { exit::FAILED };
    if args.json {
        return say_json(&diagnosis, code);
    }
    say(&diagnosis::text(&diagnosis, width(), env.home().as_deref()), code)
}

/// Asks one tiny question, sealed and with the deadline of every other.
fn ask(env: &Env, config: &Config, state: &StateFolder) -> ReaderRun {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap_or_default();
    let prompt = Prompt {
        system: "You are asked one small question, to see whether asking works.".into(),
        text: "There is nothing to audit. Answer with an empty list of findings.".into(),
        schema: schema.to_string(),
        check: Answer::check,
    };
    let mut client = SealedClient {
        env,
        program: config.auditor.client.as_deref(),
        model: &config.auditor.model,
        flag_cache: state,
        is_wanted: None,
    };
    client.ask(&prompt, config.auditor.timeout)
}
