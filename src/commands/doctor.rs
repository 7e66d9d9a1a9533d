//! `punchlist doctor`: looks everything up, has it judged, prints it. Must not change anything of the person's, and must not
//! send anything anywhere unless `--audit` says so.

mod live;
mod look;
mod plugins;

use super::say::{say, say_json, width};
use crate::cli::DoctorArgs;
use crate::config::Config;
use crate::config::sources::sources;
use crate::doctor::{Diagnosis, client, gate, memory, past, question, registration, settings};
use crate::env::Env;
use crate::exit;
use crate::readers::prompt::SCHEMA;
use crate::readers::{Answer, Prompt, Reader, ReaderRun, SealedClient};
use crate::render::diagnosis;
use crate::state::StateFolder;

/// Runs it.
pub fn run(args: &DoctorArgs, env: &Env) -> u8 {
    let project = std::env::current_dir().unwrap_or_default();
    // What is wrong with the files is among the checks, with its place.
    let (config, _) = Config::load(env, &project);
    let state = StateFolder::find(env);

    let mut checks = client::checks(&look::client(env, &config));
    let answer = args.audit.then(|| ask(env, &config, &state));
    checks.push(question::check(answer.as_ref(), &config.auditor.model));
    let files = look::settings_files(env, &project);
    checks
        .extend(registration::checks(&files, &config, &|program, scope| look::is_there(env, program, scope)));
    checks.extend(settings::checks(&sources(env, &project)));
    checks.extend(settings::switch(&state.switches().covering(&project)));
    checks.extend(settings::commands(&config.checks, state.is_allowed(&project, &config.checks)));
    checks.push(memory::check(&look::memory(&state)));
    let (records, ever) = look::past(&state);
    checks.push(past::check(&records, ever));
    checks.extend(gate::checks(&live::play().map_err(|error| error.to_string())));

    let diagnosis = Diagnosis::new(checks);
    let code = if diagnosis.fine { exit::OK } else { exit::FAILED };
    if args.json {
        return say_json(&diagnosis, code);
    }
    say(&diagnosis::text(&diagnosis, width(), env.home().as_deref()), code)
}

/// One tiny question, asked as every other: sealed, and for as long.
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
