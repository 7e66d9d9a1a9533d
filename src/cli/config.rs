//! The arguments of `config`: takes words, gives what is asked of the settings. Must not look at them itself.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Arguments of `config`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ConfigArgs {
    /// What to do; `show` where nothing is said.
    #[command(subcommand)]
    pub command: Option<ConfigCommand>,
    /// How to show it then.
    #[command(flatten)]
    pub show: ShowConfigArgs,
}

/// What can be done with the settings.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Every value, and where it comes from
    #[command(after_help = super::help::CONFIG_SHOW)]
    Show(ShowConfigArgs),
    /// Writes a commented file to begin with; one that is there already is left as it is
    #[command(after_help = super::help::CONFIG_INIT)]
    Init(InitArgs),
    /// Prints the JSON schema of a config file: editors complete and check by it
    #[command(after_help = super::help::CONFIG_SCHEMA)]
    Schema,
    /// Says what is wrong with the config files, with line and column
    #[command(after_help = super::help::CONFIG_CHECK)]
    Check {
        /// This file; else your own and this project's. One that is called punchlist.toml is held to what a project may set
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

/// Arguments of `config show`.
#[derive(Debug, Args)]
pub struct ShowConfigArgs {
    /// Prints it for programs
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `config init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// This project's file, .claude/punchlist.toml: for everybody who works on it
    #[arg(long, conflicts_with = "user")]
    pub project: bool,
    /// Your own file, ~/.config/punchlist/config.toml (default)
    #[arg(long)]
    pub user: bool,
}
