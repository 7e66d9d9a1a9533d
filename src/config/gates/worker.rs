//! `[worker]`: for how long a session that registered as a worker is kept at work, and for how long its tasks stay its own.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::file::duration;
use crate::config::set;

/// Workers, and the keep-alive gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerConfig {
    /// Whether a worker is kept at work.
    pub keep_alive: bool,
    /// For how long, since it did something that counts.
    pub idle: Duration,
    /// For how long a worker may be silent before its tasks are open again.
    pub lease: Duration,
    /// The same by kind of worker.
    pub kinds: BTreeMap<String, KindConfig>,
}

/// One kind of worker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KindConfig {
    /// For how long it is kept at work.
    pub idle: Option<Duration>,
}

/// `[worker]`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkerTable {
    /// Whether a session that registered as a worker (`punchlist worker register`) is kept at work while tasks may come.
    #[schemars(with = "bool")]
    pub keep_alive: Option<bool>,
    /// For how long a worker is kept without work: since it registered, took a task or finished one, whatever came last.
    #[serde(deserialize_with = "duration")]
    #[schemars(with = "String")]
    pub idle: Option<Duration>,
    /// For how long nothing may be heard of a worker before the tasks in its hand are open again.
    #[serde(deserialize_with = "duration")]
    #[schemars(with = "String")]
    pub lease: Option<Duration>,
    /// Another `idle` for a kind of worker: a table `[worker.kinds.builder]` with an `idle` of its own is for those that registered
    /// with `--kind builder`.
    pub kinds: BTreeMap<String, KindTable>,
}

/// `[worker.kinds.NAME]`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KindTable {
    /// For how long a worker of this kind is kept without work.
    #[serde(deserialize_with = "duration")]
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
    /// Takes over what a file sets.
    pub fn apply(&mut self, table: WorkerTable) {
        set(&mut self.keep_alive, table.keep_alive);
        set(&mut self.idle, table.idle);
        set(&mut self.lease, table.lease);
        for (name, kind) in table.kinds {
            let known = self.kinds.entry(name).or_default();
            set(&mut known.idle, kind.idle.map(Some));
        }
    }

    /// For how long a worker of a kind is kept without work, in milliseconds.
    pub fn idle_ms_of(&self, kind: &str) -> i64 {
        let idle = self.kinds.get(kind).and_then(|kind| kind.idle).unwrap_or(self.idle);
        i64::try_from(idle.as_millis()).unwrap_or(i64::MAX)
    }

    /// For how long a worker may be silent, in milliseconds.
    pub fn lease_ms(&self) -> i64 {
        i64::try_from(self.lease.as_millis()).unwrap_or(i64::MAX)
    }
}
