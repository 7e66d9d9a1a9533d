//! `punchlist config`: shows the settings with their sources, writes a file to begin with, prints the schema, checks files. Must
//! not change a file that is there.

mod check;
mod init;

use super::complain;
use super::say::{say, say_json, width};
use crate::cli::config::{ConfigArgs, ConfigCommand, ShowConfigArgs};
use crate::config::reference;
use crate::config::sources::sources;
use crate::env::Env;
use crate::exit;
use crate::render::settings;

/// Runs it.
pub fn run(args: &ConfigArgs, env: &Env) -> u8 {
    match &args.command {
        None => show(&args.show, env),
        Some(ConfigCommand::Show(args)) => show(args, env),
        Some(ConfigCommand::Init(args)) => init::run(args, env),
        Some(ConfigCommand::Schema) => say_json(&reference::schema(), exit::OK),
        Some(ConfigCommand::Check { file }) => check::run(file.as_deref(), env),
    }
}

fn show(args: &ShowConfigArgs, env: &Env) -> u8 {
    let sources = sources(env, &std::env::current_dir().unwrap_or_default());
    let code = if sources.faults.is_empty() { exit::OK } else { exit::FAILED };
    if args.json {
        return say_json(&settings::json(&sources), code);
    }
    for fault in &sources.faults {
        complain(&format!("{fault} (the default is used)"));
    }
    say(&settings::text(&sources, width()), code)
}
