//! One thin file for each subcommand.

pub mod allow;
pub mod audit;
mod check_tasks;
pub mod completions;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod eval;
pub mod install;
pub mod log;
pub mod loops;
pub mod man;
mod progress;
mod registry;
mod say;
pub mod status;
pub mod switch;
pub mod tasks;
pub mod worker;

use clap::Parser;

use crate::cli::{Cli, Command, HookArgs};
use crate::config::{Config, Mode};
use crate::env::Env;
use crate::exit;
pub(crate) use crate::exit::complain;
use crate::hook::stop::{self, Registered};
use crate::timing::Phases;

/// Runs what the arguments ask for; gives the exit code.
pub fn run(args: impl Iterator<Item = std::ffi::OsString>) -> u8 {
    let env = Env::of_process();
    let trace = env.switch(crate::env::TRACE);
    let phases = if trace { Phases::of_process() } else { Phases::default() };
    let args: Vec<_> = args.collect();
    let is_hook = args.get(1).is_some_and(|command| command == "hook");
    if trace {
        // Never stdout: in `hook` that is the channel to the client.
        tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::DEBUG).init();
    }
    if let Some(args) = HookArgs::as_registered(&args) {
        return stop::run(registered(&args), &env, &phases);
    }
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            // A registration with a flag that we do not know must not hold anybody.
            return if is_hook || !error.use_stderr() { exit::OK } else { exit::USAGE };
        }
    };
    match cli.command {
        Command::Hook(args) => stop::run(registered(&args), &env, &phases),
        Command::Demo => demo::run(),
        Command::Install(args) => match checked_config(&env) {
            Ok(config) => install::install(&args, &config, &env),
            Err(code) => code,
        },
        Command::Allow(args) => allow::run(&args, &env),
        Command::Uninstall(args) => install::uninstall(&args, &env),
        Command::Off(args) => switch::run(&args, false, &env),
        Command::On(args) => switch::run(&args, true, &env),
        Command::Audit(args) => audit::run(&args, &env),
        Command::Eval(args) => eval::run(&args, &env),
        Command::Log(args) => match checked_config(&env) {
            Ok(config) => log::run(&args, &config.log, &env),
            Err(code) => code,
        },
        Command::Loop(args) => match checked_config(&env) {
            Ok(config) => loops::run(&args, &config, &env),
            Err(code) => code,
        },
        Command::Tasks(args) => match checked_config(&env) {
            Ok(config) => tasks::run(&args, &config, &env),
            Err(code) => code,
        },
        Command::Worker { command } => match checked_config(&env) {
            Ok(config) => worker::run(&command, &config, &env),
            Err(code) => code,
        },
        Command::Status { json } => status::run(json, &env),
        Command::Config(args) => config::run(&args, &env),
        Command::Doctor(args) => doctor::run(&args, &env),
        Command::Completions { shell } => completions::run(shell),
        Command::Man { folder } => man::run(folder.as_deref()),
    }
}

/// How the hook is registered, as its command line says.
fn registered(args: &HookArgs) -> Registered {
    /// A day, in seconds: no hook runs longer, and a clock can't count to every number that fits a flag.
    const LONGEST_TIMEOUT: u64 = 24 * 3600;
    Registered {
        timeout: std::time::Duration::from_secs(args.hook_timeout.min(LONGEST_TIMEOUT)),
        mode: if args.background { Mode::Background } else { Mode::Hold },
    }
}

/// The settings in force here. A person who runs a command is told what is wrong with them; only `hook` goes
/// on without, and `demo` has none.
fn checked_config(env: &Env) -> Result<Config, u8> {
    let (config, faults) = Config::load(env, &std::env::current_dir().unwrap_or_default());
    for fault in &faults {
        complain(&fault.to_string());
    }
    if faults.is_empty() { Ok(config) } else { Err(exit::FAILED) }
}
