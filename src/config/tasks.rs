//! `[tasks]` and `[worker]`. Plain data: must not look a task up.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::value;

/// `[tasks]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TasksConfig {
    /// Where the tasks are; unfinished ones block.
    pub source: TaskSource,
    /// The file of the source "file", relative to the project's folder. `{agent}` and `{session}` in
    /// it are replaced. A project may name only a file of its own.
    #[schemars(with = "String")]
    pub file: PathBuf,
    /// Whose tasks count, for every session with this setting. Empty: the worker that the session
    /// registered as.
    pub agent: String,
    /// How long the source may take, all tries together. After that the stop goes through.
    #[serde(with = "value::duration")]
    #[schemars(with = "String")]
    pub timeout: Duration,
    /// How often a failed request is tried again within that time.
    pub retries: u32,
    /// How often one session may be blocked for its tasks. `[gates] max_blocks` counts them, too.
    pub max_holds: u32,
    /// True looks and never blocks. The log says what would have happened.
    pub dry_run: bool,
    /// The command of the source "command", for a shell. It runs in the project's folder with
    /// `PUNCHLIST_WORKER` and `PUNCHLIST_SESSION` set.
    #[schemars(with = "String")]
    pub command: Option<String>,
    /// The variable whose value is sent as a bearer token, over https or to this machine only.
    #[schemars(with = "String")]
    pub token_variable: Option<String>,
    /// The URL of the source "http". `{agent}` and `{session}` in it are replaced.
    #[schemars(with = "String")]
    pub url: Option<String>,
}

impl Default for TasksConfig {
    fn default() -> Self {
        Self {
            source: TaskSource::Off,
            file: ".claude/tasks.json".into(),
            agent: String::new(),
            timeout: Duration::from_secs(5),
            retries: 2,
            max_holds: 3,
            dry_run: false,
            command: None,
            token_variable: None,
            url: None,
        }
    }
}

/// Where tasks are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TaskSource {
    /// Nowhere: no stop is blocked for them.
    #[default]
    Off,
    /// In punchlist's own registry; see `punchlist tasks`.
    Registry,
    /// In a JSON file: `file`.
    File,
    /// In the JSON that a command prints: `command`.
    Command,
    /// In the JSON that a URL answers with: `url`.
    Http,
}

/// `[worker]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkerConfig {
    /// True keeps a registered worker at work while tasks may come. See `punchlist worker register`.
    pub keep_alive: bool,
    /// How long a worker is kept without work. It counts from when it registered, took a task or
    /// finished one, whichever came last.
    #[serde(with = "value::duration")]
    #[schemars(with = "String")]
    pub idle: Duration,
    /// After this long without a sign of a worker, its tasks are open again.
    #[serde(with = "value::duration")]
    #[schemars(with = "String")]
    pub lease: Duration,
    /// Another `idle` for a kind of worker, in a table `[worker.kinds.NAME]`. It is for those that
    /// registered with `--kind NAME`.
    pub kinds: BTreeMap<String, KindConfig>,
}

/// `[worker.kinds.NAME]`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KindConfig {
    /// How long a worker of this kind is kept without work.
    #[serde(with = "value::optional_duration")]
    #[schemars(with = "String")]
    pub idle: Option<Duration>,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self {
            keep_alive: false,
            idle: Duration::from_secs(10 * 60),
            lease: Duration::from_secs(30 * 60),
            kinds: BTreeMap::new(),
        }
    }
}

impl WorkerConfig {
    /// Returns how long a worker of a kind is kept without work, in milliseconds.
    pub fn idle_ms(&self, kind: &str) -> i64 {
        milliseconds(self.kinds.get(kind).and_then(|kind| kind.idle).unwrap_or(self.idle))
    }

    /// Returns how long a worker may be silent, in milliseconds.
    pub fn lease_ms(&self) -> i64 {
        milliseconds(self.lease)
    }
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
