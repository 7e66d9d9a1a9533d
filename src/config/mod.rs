//! The settings: one struct for each table, merged from the person's file, the project's file and
//! the environment. Must not let a project's file weaken the gate, cost more or choose what runs.

mod audit;
mod error;
pub mod file;
pub(crate) mod fleet;
mod gates;
pub mod parse;
mod project;
mod project_env;
pub mod reference;
pub mod sources;
mod syntax;
mod telemetry;
mod value;

use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::env::Env;
pub use audit::{
    AuditConfig, AuditorConfig, IgnoreConfig, LogConfig, Planless, SecondReader, SubagentsConfig, UnrunChecks,
};
pub use error::{ConfigError, Instead, summary};
pub use fleet::FleetConfig;
pub use gates::{
    CHECK_TIMEOUT, CheckConfig, CheckOn, ChecklistConfig, GatesConfig, KindConfig, LoopConfig, MAX_HOLDS,
    MemoryConfig, TaskSource, TasksConfig, WorkerConfig,
};
pub use project::{Allowed, Asked, FromProject, OF_FEATURE, asked_by_feature};
pub use project_env::without_projects;
pub use telemetry::TelemetryConfig;
pub use value::{parse_duration, parse_size};

/// The settings in force, and a config file: every key of a file is optional.
///
/// Each key is written once, here and in the structs of the tables. The schema, `docs/config.md`
/// and the file of `config init` are generated from the doc comments and the defaults. A doc
/// comment's first sentence is the short form, for the list of built-in values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "punchlist", description = "Settings of punchlist. Every key may be missing.")]
pub struct Config {
    /// Settings for all gates.
    pub gates: GatesConfig,
    /// The feature loop, if `punchlist loop` started one. See docs/gates/feature-loop.md.
    #[serde(rename = "loop")]
    pub feature_loop: LoopConfig,
    /// The pending-tasks gate. It blocks a session that has not finished its tasks.
    pub tasks: TasksConfig,
    /// Workers and the keep-alive gate.
    pub worker: WorkerConfig,
    /// The audit gate.
    pub audit: AuditConfig,
    /// Stops of subagents, if the hook is registered for them. See `punchlist install --subagents`.
    pub subagents: SubagentsConfig,
    /// The readers: the models that are asked.
    pub auditor: AuditorConfig,
    /// The checklist gate. See docs/gates/checklist.md.
    pub checklist: ChecklistConfig,
    /// What a session is given at its start. See docs/gates/session-start.md.
    pub memory: MemoryConfig,
    /// The decision log.
    pub log: LogConfig,
    /// Several machines that share tasks, workers and decisions. See docs/fleet.md.
    pub fleet: FleetConfig,
    /// A collector for operations. See docs/fleet.md.
    pub telemetry: TelemetryConfig,
    /// Commands that have to pass before a session may end, such as tests and linters.
    #[serde(rename = "check", skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckConfig>,
}

impl Config {
    /// Reads both files and the environment. A key with an error, or one that the project may not
    /// set, is dropped by itself. The errors are returned beside the settings. `allowed` returns
    /// what the person has allowed the project, and is only called if it matters.
    pub fn load(env: &Env, project: &Path, allowed: impl FnOnce() -> Allowed) -> (Self, Vec<ConfigError>) {
        let mut layers = sources::Layers::read(env, project, allowed);
        (layers.config(), layers.errors)
    }

    /// Returns the longest that a stop may take with these settings. Checks run in parallel, a
    /// feature loop's verification before them, the readers after them.
    pub fn longest_stop(&self) -> Duration {
        let checks = self.checks.iter().map(|check| check.timeout).max().unwrap_or_default();
        let tasks = if self.tasks.source == TaskSource::Off { Duration::ZERO } else { self.tasks.timeout };
        let verify = self.feature_loop.verify.as_ref().map_or(Duration::ZERO, |_| CHECK_TIMEOUT);
        tasks + checks + verify + if self.audit.enabled { self.auditor.timeout } else { Duration::ZERO }
    }
}

/// Returns the path of the person's own file.
pub fn own_file(env: &Env) -> Option<PathBuf> {
    let folder = env.path("XDG_CONFIG_HOME").or_else(|| env.home().map(|home| home.join(".config")))?;
    Some(folder.join("punchlist").join("config.toml"))
}

/// Returns the path of the project's file.
pub fn project_file(project: &Path) -> PathBuf {
    project.join(".claude").join("punchlist.toml")
}
