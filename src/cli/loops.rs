//! The arguments of `loop`. Must not look at a loop.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::JsonArgs;
use crate::config::parse_duration;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct LoopArgs {
    #[command(subcommand)]
    pub command: Option<LoopCommand>,
    #[command(flatten)]
    pub status: JsonArgs,
}

#[derive(Debug, Subcommand)]
pub enum LoopCommand {
    /// Begins a loop in this folder: writes its two files where they are missing, and binds the session that runs this
    Init(LoopInitArgs),
    /// Binds a session to the loop of this folder: its stops are held until every feature passes
    Start(LoopStartArgs),
    /// Halts the loop: nobody is held any more
    Stop,
    /// How the loop stands: what passes, what is next, and why it ended
    Status(JsonArgs),
    /// Sets the mark of features in the list, and changes nothing else in it
    Pass(LoopPassArgs),
    /// Works the list off: starts one session of the client after another, each with a fresh context
    Run(Box<LoopRunArgs>),
}

#[derive(Debug, Args)]
pub struct LoopInitArgs {
    /// How often the work may be handed out [default: as the config says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max: Option<u32>,
    /// Takes the features from here: a list as JSON, or the items of a Markdown list
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
}

#[derive(Debug, Default, Args)]
pub struct LoopStartArgs {
    /// Binds this session, by its whole id, and not the one that runs this
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// How often the work may be handed out, all that was counted before included
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max: Option<u32>,
    /// Takes the loop over from another session
    #[arg(long)]
    pub take: bool,
    /// Takes the list as it is now: features that were removed are no longer asked for
    #[arg(long)]
    pub as_is: bool,
}

#[derive(Debug, Args)]
pub struct LoopPassArgs {
    /// Which features, by their ids
    #[arg(value_name = "ID", required = true)]
    pub features: Vec<String>,
    /// They do not pass after all
    #[arg(long)]
    pub undo: bool,
}

#[derive(Debug, Args)]
pub struct LoopRunArgs {
    /// How often the work may be handed out, all that was counted before included [default: as the loop was begun]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_iterations: Option<u32>,
    /// Ends when the sessions of this loop have cost so much, in dollars; only without --interactive
    #[arg(long, value_name = "USD", value_parser = money, conflicts_with = "interactive")]
    pub max_cost: Option<f64>,
    /// Ends when this loop has been run for so long, such as 2h
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub max_time: Option<Duration>,
    /// Begins a session so often, such as 10m, and goes on when all features pass: for work that comes again
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub every: Option<Duration>,
    /// Ends when so many sessions in a row failed in the same way
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_errors: u32,
    /// Waits so long after a session that failed, and twice as long after the next
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration)]
    pub retry_after: Duration,
    /// Runs the sessions in this terminal, for you to watch and to talk to
    #[arg(long, visible_alias = "terminal")]
    pub interactive: bool,
    /// Prints the command and the prompt of the next session, and starts nothing
    #[arg(long)]
    pub dry_run: bool,
    /// What the client is given besides, such as --permission-mode acceptEdits
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub client: Vec<OsString>,
}

fn money(text: &str) -> Result<f64, String> {
    let dollars: Option<f64> = text.trim_start_matches('$').parse().ok();
    dollars
        .filter(|dollars| dollars.is_finite() && *dollars > 0.0)
        .ok_or_else(|| format!("\"{text}\" is not an amount of money; write it like 5 or 0.50"))
}
