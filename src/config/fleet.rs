//! `[fleet]`: where several machines share tasks, workers and decisions. Plain data: must not connect.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[fleet]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FleetConfig {
    /// The PostgreSQL that several machines share, such as "postgres://user@host/name". Tasks and workers are
    /// there in place of the file on this machine, and every decision is copied there.
    #[schemars(with = "String")]
    pub database: Option<String>,
    /// The name of this machine in the fleet. Without it, the host's.
    #[schemars(with = "String")]
    pub machine: Option<String>,
    /// True copies the words of claims, proofs and people with the decisions. Otherwise the copies have
    /// categories, paths in the project, reasons and figures only.
    pub ship_evidence: bool,
}
