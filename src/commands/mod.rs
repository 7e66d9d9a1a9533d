//! One thin file for each subcommand.

mod allow;
mod audit;
mod config;
mod demo;
mod doctor;
mod eval;
mod fleet;
mod install;
mod log;
mod loops;
mod man;
mod output;
mod progress;
mod status;
mod statusline;
mod switch;
mod tasks;
mod uninstall;
mod update;
mod worker;

use std::path::Path;

use clap::FromArgMatches;

use crate::child;
use crate::cli::{self, Cli, Command, HookArgs};
use crate::config::{Config, ConfigError, summary};
use crate::env::Env;
use crate::exit::{self, complain};
use crate::hook::stop::{self, Registered};
use crate::state::load_config;
use crate::timing::Phases;

/// An exit code, or an error that is shown to the person on one line.
type Result<T = u8> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Runs what the arguments ask for; returns the exit code.
pub fn run(args: impl Iterator<Item = std::ffi::OsString>) -> u8 {
    let env = Env::of_process();
    let trace = env.switch(crate::env::TRACE);
    let phases = if trace { Phases::of_process() } else { Phases::default() };
    if trace {
        // Never stdout: in `hook` that is the channel to the client.
        tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::DEBUG).init();
    }
    let args: Vec<_> = args.collect();
    if args.get(1).is_some_and(|command| command == "hook")
        && let Ok(hook) = cli::parse_hook(&args[2..])
    {
        return stop::run(registered(&hook), &env, &phases);
    }
    if let [_, command, note] = &args[..]
        && command == child::SUPERVISE
    {
        child::wait_and_sweep(Path::new(note));
        return exit::OK;
    }
    if let [_, command, state] = &args[..]
        && command == crate::fleet::SHIP
    {
        let folder = std::env::current_dir().unwrap_or_default();
        crate::fleet::ship_and_end(Path::new(state), &load_config(&env, &folder).0);
        return exit::OK;
    }
    let parsed = cli::command().try_get_matches_from(&args);
    let command = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli.command,
        Err(error) => {
            let _ = error.print();
            // A registration with an unknown flag must not block anybody.
            let is_hook = args.get(1).is_some_and(|command| command == "hook");
            return if is_hook || !error.use_stderr() { exit::OK } else { exit::USAGE };
        }
    };
    let failed = match command {
        Command::Audit(_) | Command::Eval(_) => exit::COULD_NOT,
        _ => exit::FAILED,
    };
    dispatch(command, &env).unwrap_or_else(|why| {
        complain(&why.to_string());
        failed
    })
}

fn dispatch(command: Command, env: &Env) -> Result {
    match command {
        Command::Hook(args) => Ok(stop::run(registered(&args), env, &Phases::default())),
        Command::Demo => demo::run(),
        Command::Install(args) => install::install(&args, &config_here(env), env),
        Command::Allow(args) => allow::run(&args, env),
        Command::Uninstall(args) => uninstall::run(&args, env),
        Command::Off(args) => switch::run(&args, false, env),
        Command::On(args) => switch::run(&args, true, env),
        Command::Audit(args) => audit::run(&args, env),
        Command::Eval(args) => eval::run(&args, env),
        Command::Log(args) => log::run(&args, &config_here(env), env),
        Command::Loop(args) => loops::run(&args, &config_here(env), env),
        Command::Tasks(args) => tasks::run(&args, &config_here(env), env),
        Command::Worker { command } => worker::run(&command, &config_here(env), env),
        Command::Status { fleet, json } => status::run(fleet, json, env),
        Command::Statusline => statusline::run(env),
        Command::Fleet { command } => fleet::run(&command, &config_here(env), env),
        Command::Config(args) => config::run(&args, env),
        Command::Doctor(args) => doctor::run(&args, env),
        Command::Update(args) => update::run(&args, env),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut cli::command(), "punchlist", &mut script);
            output::print_raw(&script)
        }
        Command::Man { folder } => man::run(folder.as_deref()),
    }
}

/// Returns how the hook is registered, from its command line.
fn registered(args: &HookArgs) -> Registered {
    /// A day, in seconds: no hook runs longer, and a clock can't represent every number that fits a
    /// flag.
    const LONGEST_TIMEOUT: u64 = 24 * 3600;
    Registered {
        timeout: std::time::Duration::from_secs(args.hook_timeout.min(LONGEST_TIMEOUT)),
        is_background: args.background,
    }
}

/// Returns the settings in force here.
fn config_here(env: &Env) -> Config {
    config_for(&std::env::current_dir().unwrap_or_default(), env)
}

/// Returns the settings for a folder. Faults are reported, those of a file on one line, and the rest
/// is used, as in the hook: no command but `config` fails because of a config.
fn config_for(folder: &Path, env: &Env) -> Config {
    let (config, faults) = load_config(env, folder);
    let faults: Vec<&ConfigError> = faults.iter().filter(|fault| fault.is_fault()).collect();
    for of_file in faults.chunk_by(|one, next| one.file() == next.file()) {
        complain(&summary(of_file, env.home().as_deref()));
    }
    config
}
