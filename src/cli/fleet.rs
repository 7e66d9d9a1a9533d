//! The arguments of `fleet`. Must not connect.

use clap::Subcommand;

use super::JsonArgs;

#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Looks whether the database can be reached and used, and how far decisions are shipped
    Doctor(JsonArgs),
    /// Creates the tables, or brings them up to this punchlist's version
    Migrate(JsonArgs),
    /// Ships the decisions that are not in the database yet
    Push(JsonArgs),
}
