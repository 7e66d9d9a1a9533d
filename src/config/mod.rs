//! What may be set: takes the person's file, the project's file and the environment, gives a [`Config`] and
//! what was wrong with them. Must not let a project's file point the auditor at another program or folder.

pub mod file;
pub mod gates;
pub mod reference;
pub mod sources;

use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::env::{self, Env};
use crate::finding::Category;
use file::ConfigFile;
pub use file::{parse_duration, parse_size};
pub use gates::check::CheckConfig;
pub use gates::checklist::ChecklistConfig;
pub use gates::feature_loop::{LoopConfig, LoopLimits};
pub use gates::memory::MemoryConfig;
pub use gates::subagents::SubagentsConfig;
pub use gates::{GatesConfig, TaskSource, TasksConfig, WorkerConfig};

/// The built-in settings as a file; the README shows it.
pub const DEFAULTS: &str = include_str!("defaults.toml");

/// The settings in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// What all gates share.
    pub gates: GatesConfig,
    /// What has to pass before a session may end.
    pub checks: Vec<CheckConfig>,
    /// The feature loop.
    pub feature_loop: LoopConfig,
    /// The pending-tasks gate.
    pub tasks: TasksConfig,
    /// Workers, and the keep-alive gate.
    pub worker: WorkerConfig,
    /// The audit gate.
    pub audit: AuditConfig,
    /// Subagents.
    pub subagents: SubagentsConfig,
    /// The second model.
    pub auditor: AuditorConfig,
    /// The checklist gate.
    pub checklist: ChecklistConfig,
    /// What a session is given at its start.
    pub memory: MemoryConfig,
    /// The decision log.
    pub log: LogConfig,
}

/// The audit gate.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditConfig {
    /// Whether it runs at all.
    pub enabled: bool,
    /// Which categories may hold a stop.
    pub block_on: Vec<Category>,
    /// Which files are plans.
    pub plan: Vec<String>,
    /// How long a prompt may be.
    pub max_prompt_bytes: usize,
    /// What becomes of checks that are said to pass and were not run.
    pub unrun_checks: UnrunChecks,
    /// Whether a session without a plan is audited.
    pub planless: Planless,
    /// Whether the session waits for the audit.
    pub mode: Mode,
}

/// Whether the session waits for the audit. The client goes by how the hook is registered; this says what the
/// person means, and has to agree with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The stop is held until the audit is over.
    #[default]
    Hold,
    /// The turn ends at once, the audit runs behind it, and only confirmed findings wake the session.
    Background,
}

impl Mode {
    /// What to change where the config says one thing and the registration another, which wins: it is what
    /// the client acts on.
    pub fn fault(self, registered: Self) -> Option<String> {
        let words = match (self, registered) {
            (Self::Hold, Self::Hold) | (Self::Background, Self::Background) => return None,
            (Self::Hold, Self::Background) => {
                "the hook is registered with --background, but [audit] mode is \"hold\": the audit runs in the \
                 background; set mode = \"background\", or register `punchlist hook` without --background and \
                 without \"asyncRewake\""
            }
            (Self::Background, Self::Hold) => {
                "[audit] mode is \"background\", but the hook is registered without --background: the stop is \
                 held; register `punchlist hook --background` with \"asyncRewake\": true, or set mode = \"hold\""
            }
        };
        Some(words.to_owned())
    }
}

/// What becomes of tests, builds and linters that are said to pass and were not run, or only before the last
/// edit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnrunChecks {
    /// The person is told: they may have been run elsewhere.
    #[default]
    Advise,
    /// It is a finding.
    Block,
}

/// Whether a session without a plan is audited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Planless {
    /// Whenever it has done work.
    #[default]
    Audit,
    /// Never: such a session is not audited at all.
    Off,
}

/// The second model.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditorConfig {
    /// Which program, if not the one that runs the session.
    pub client: Option<PathBuf>,
    /// Which model.
    pub model: String,
    /// How long it may take.
    pub timeout: Duration,
    /// A folder with prompts in place of the built-in ones.
    pub prompts: Option<PathBuf>,
    /// Who tries to refute what would hold a stop.
    pub second_reader: SecondReader,
    /// How many calls of a model one session may cost.
    pub max_calls_per_session: u32,
    /// How much all sessions may cost in a day, in dollars; nothing for no limit.
    pub max_cost_per_day: Option<f64>,
}

/// Who tries to refute what would hold a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecondReader {
    /// The model that proposed it, asked anew.
    Same,
    /// Another model, by its name.
    Model(String),
    /// Nobody: what the checks let through holds.
    Off,
}

impl SecondReader {
    /// Reads the setting.
    pub fn named(name: &str) -> Self {
        match name {
            "same" => Self::Same,
            "off" => Self::Off,
            model => Self::Model(model.to_owned()),
        }
    }

    /// As the setting is written.
    pub fn name(&self) -> &str {
        match self {
            Self::Same => "same",
            Self::Model(model) => model,
            Self::Off => "off",
        }
    }
}

/// The decision log.
#[derive(Debug, Clone, PartialEq)]
pub struct LogConfig {
    /// For how long decisions and their prompts are kept.
    pub keep: Duration,
    /// How much room they may take.
    pub max_size: u64,
}

/// Something wrong in a config file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// It can't be read.
    #[error("{file}: {why}")]
    Unreadable {
        /// Which file.
        file: String,
        /// In the system's words.
        why: String,
    },
    /// A key or a value is not one of ours.
    #[error("{file}, line {line}: {key}: {why}")]
    Bad {
        /// Which file.
        file: String,
        /// On which line.
        line: usize,
        /// At which character of it.
        column: usize,
        /// Which key.
        key: String,
        /// What is wrong and what is allowed.
        why: String,
    },
    /// A key that a project may not set.
    #[error(
        "{file}: {key} counts only from your own file, {own}: a project may not choose what runs or is read"
    )]
    NotTheProjects {
        /// Which file.
        file: String,
        /// Which key.
        key: &'static str,
        /// Where it may be set.
        own: String,
    },
}

impl Default for Config {
    /// What [`DEFAULTS`] says. Written out, since every stop starts here, and held to the file by a test.
    fn default() -> Self {
        Self {
            gates: GatesConfig::default(),
            checks: Vec::new(),
            feature_loop: LoopConfig::default(),
            tasks: TasksConfig::default(),
            worker: WorkerConfig::default(),
            audit: AuditConfig {
                enabled: true,
                block_on: Category::ALL.to_vec(),
                plan: ["PLAN.md", "plan.md", "*-plan.md", "docs/plans/**", ".claude/plans/**"]
                    .map(String::from)
                    .to_vec(),
                max_prompt_bytes: 64_000,
                unrun_checks: UnrunChecks::Advise,
                planless: Planless::Audit,
                mode: Mode::Hold,
            },
            subagents: SubagentsConfig::default(),
            auditor: AuditorConfig {
                client: None,
                model: "haiku".into(),
                timeout: Duration::from_secs(45),
                prompts: None,
                second_reader: SecondReader::Same,
                max_calls_per_session: 60,
                max_cost_per_day: None,
            },
            checklist: ChecklistConfig::default(),
            memory: MemoryConfig::default(),
            log: LogConfig { keep: Duration::from_secs(90 * 24 * 3600), max_size: 200_000_000 },
        }
    }
}

impl Config {
    /// Reads both files and the environment. A file with a fault counts as absent, and the fault is given;
    /// a key that is not the project's to set is passed over alone.
    pub fn load(env: &Env, project: &Path) -> (Self, Vec<ConfigError>) {
        let mut config = Self::default();
        let mut faults = Vec::new();
        let own = own_file(env);
        for (path, is_own) in
            own.iter().map(|path| (path.clone(), true)).chain([(project_file(project), false)])
        {
            match ConfigFile::read(&path) {
                Ok(Some(mut file)) => {
                    if !is_own {
                        faults.extend(file.not_the_projects(&path, own.as_deref()));
                    }
                    config.apply(file);
                }
                Ok(None) => {}
                Err(fault) => faults.push(fault),
            }
        }
        if env.switch(env::OFF) {
            config.gates.enabled = false;
        }
        if env.switch(env::DRY_RUN) {
            config.gates.dry_run = true;
        }
        (config, faults)
    }

    /// Takes over what a file sets.
    pub fn apply(&mut self, file: ConfigFile) {
        self.gates.apply(file.gates);
        gates::check::add(&mut self.checks, file.check);
        self.feature_loop.apply(file.feature_loop);
        self.tasks.apply(file.tasks);
        self.worker.apply(file.worker);
        set(&mut self.audit.enabled, file.audit.enabled);
        set(&mut self.audit.block_on, file.audit.block_on);
        set(&mut self.audit.plan, file.audit.plan);
        set(&mut self.audit.max_prompt_bytes, file.audit.max_prompt_bytes);
        set(&mut self.audit.unrun_checks, file.audit.unrun_checks);
        set(&mut self.audit.planless, file.audit.planless);
        set(&mut self.audit.mode, file.audit.mode);
        self.subagents.apply(file.subagents);
        set(&mut self.auditor.client, file.auditor.client.map(Some));
        set(&mut self.auditor.model, file.auditor.model);
        set(&mut self.auditor.timeout, file.auditor.timeout);
        set(&mut self.auditor.prompts, file.auditor.prompts.map(Some));
        set(
            &mut self.auditor.second_reader,
            file.auditor.second_reader.map(|name| SecondReader::named(&name)),
        );
        set(&mut self.auditor.max_calls_per_session, file.auditor.max_calls_per_session);
        set(&mut self.auditor.max_cost_per_day, file.auditor.max_cost_per_day.map(Some));
        self.checklist.apply(file.checklist);
        self.memory.apply(file.memory);
        set(&mut self.log.keep, file.log.keep);
        set(&mut self.log.max_size, file.log.max_size);
    }
}

impl Config {
    /// How long a stop may take, all that is set for it together: the checks run side by side, and the auditor after them.
    pub fn longest_stop(&self) -> Duration {
        let checks = self.checks.iter().map(|check| check.timeout).max().unwrap_or_default();
        let tasks = if self.tasks.source == TaskSource::Off { Duration::ZERO } else { self.tasks.timeout };
        tasks + checks + if self.audit.enabled { self.auditor.timeout } else { Duration::ZERO }
    }
}

/// Sets a field where a file says something of it.
fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// The person's own file.
pub fn own_file(env: &Env) -> Option<PathBuf> {
    let folder = env.path("XDG_CONFIG_HOME").or_else(|| env.home().map(|home| home.join(".config")))?;
    Some(folder.join("punchlist").join("config.toml"))
}

/// The project's file.
pub fn project_file(project: &Path) -> PathBuf {
    project.join(".claude").join("punchlist.toml")
}

#[cfg(test)]
mod tests;
