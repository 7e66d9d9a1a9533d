//! The arguments of `loop`. Must not read a loop.

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
    /// Sets up a loop in this folder: writes its two files if they are missing, and binds the
    /// session that runs this
    Init(LoopInitArgs),
    /// Binds a session to this folder's loop: its stops are blocked until every feature passes
    Start(LoopStartArgs),
    /// Halts the loop: no stop is blocked any more
    Stop,
    /// Shows the state of the loop: what passes, what is next, and why it ended
    Status(JsonArgs),
    /// Marks features as passing in the list, and changes nothing else in it
    Pass(LoopPassArgs),
    /// Works through the list: starts one client session after another, each with a fresh context
    Run(Box<LoopRunArgs>),
}

#[derive(Debug, Args)]
pub struct LoopInitArgs {
    /// How often the work may be handed out [default: the config's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max: Option<u32>,
    /// Takes the features from this file: a list as JSON, or the items of a Markdown list
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
}

#[derive(Debug, Default, Args)]
pub struct LoopStartArgs {
    /// Binds this session, given by its full id, instead of the one that runs this
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// How often the work may be handed out, including what was already counted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max: Option<u32>,
    /// Takes over the loop from another session
    #[arg(long)]
    pub take: bool,
    /// Accepts the list as it is now: removed features are no longer required
    #[arg(long)]
    pub as_is: bool,
}

#[derive(Debug, Args)]
pub struct LoopPassArgs {
    /// The ids of the features
    #[arg(value_name = "ID", required = true)]
    pub features: Vec<String>,
    /// Marks them as not passing
    #[arg(long)]
    pub undo: bool,
}

#[derive(Debug, Args)]
pub struct LoopRunArgs {
    /// How often the work may be handed out, including what was already counted [default: as set
    /// when the loop started]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_iterations: Option<u32>,
    /// Ends when the sessions of this loop have cost this much, in dollars; only without
    /// --interactive
    #[arg(long, value_name = "USD", value_parser = money, conflicts_with = "interactive")]
    pub max_cost: Option<f64>,
    /// Ends when this loop has run for this long, such as 2h
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub max_time: Option<Duration>,
    /// Starts a session at this interval, such as 10m, and goes on when all features pass: for
    /// recurring work
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub every: Option<Duration>,
    /// Ends after this many consecutive sessions failed in the same way
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_errors: u32,
    /// Waits this long after a failed session, and twice as long after the next
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration)]
    pub retry_after: Duration,
    /// Runs the sessions in this terminal, so that you can watch them and join in
    #[arg(long, visible_alias = "terminal")]
    pub interactive: bool,
    /// Prints the command and the prompt of the next session, and starts nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Further arguments for the client, such as --permission-mode acceptEdits
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub client: Vec<OsString>,
}

fn money(text: &str) -> Result<f64, String> {
    let dollars: Option<f64> = text.trim_start_matches('$').parse().ok();
    dollars
        .filter(|dollars| dollars.is_finite() && *dollars > 0.0)
        .ok_or_else(|| format!("\"{text}\" is not an amount of money; write it like 5 or 0.50"))
}
