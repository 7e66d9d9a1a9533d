//! The arguments of `fleet`. Must not connect.

use clap::Subcommand;

use super::JsonArgs;

#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Checks whether the database can be reached and used, and how many decisions have been
    /// shipped
    Doctor(JsonArgs),
    /// Creates the tables, or upgrades them to this version of punchlist
    Migrate(JsonArgs),
    /// Ships the decisions that are not in the database yet
    Push(JsonArgs),
}
