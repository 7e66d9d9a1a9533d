//! What may be set of the gates: `[gates]`, which all of them share, and a file for the table of each.

pub mod check;
pub mod checklist;
pub mod feature_loop;
pub mod memory;
pub mod subagents;
pub mod tasks;
pub mod worker;

use std::path::{Component, Path};

use schemars::JsonSchema;
use serde::Deserialize;

use super::set;
pub use tasks::{TaskSource, TasksConfig, TasksTable};
pub use worker::{WorkerConfig, WorkerTable};

/// What all gates share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatesConfig {
    /// Whether any of them runs.
    pub enabled: bool,
    /// Does everything and never blocks.
    pub dry_run: bool,
    /// How often one session may be held.
    pub max_blocks: u32,
}

/// `[gates]`
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GatesTable {
    /// Whether any gate runs; false lets every stop through.
    #[schemars(with = "bool")]
    pub enabled: Option<bool>,
    /// Does everything and never blocks; the log says what would have happened.
    #[schemars(with = "bool")]
    pub dry_run: Option<bool>,
    /// How often one session may be held, all its stops and all gates together. The two gates that keep a session at work
    /// (`[worker]`, `[loop]`) do not count: they have limits of their own.
    #[schemars(with = "u32")]
    pub max_blocks: Option<u32>,
}

impl Default for GatesConfig {
    fn default() -> Self {
        Self { enabled: true, dry_run: false, max_blocks: 3 }
    }
}

impl GatesConfig {
    /// Takes over what a file sets.
    pub fn apply(&mut self, table: GatesTable) {
        set(&mut self.enabled, table.enabled);
        set(&mut self.dry_run, table.dry_run);
        set(&mut self.max_blocks, table.max_blocks);
    }
}

/// Whether a path or glob leads, by its words alone, to somewhere else than below the folder that it counts from.
pub(super) fn leads_outside(path: &str) -> bool {
    let is_inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    path.starts_with('~') || !Path::new(path).components().all(is_inside)
}
