//! `[gates]`, `[[check]]`, `[loop]`, `[tasks]`, `[worker]`, `[checklist]` and `[memory]`. Plain
//! data: must not run a gate or look up a task.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::value;

/// `[gates]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GatesConfig {
    /// False lets every stop through.
    #[schemars(extend("x-project" = "if-allowed"))]
    pub enabled: bool,
    /// True runs everything but never blocks. The log says what would have happened.
    #[schemars(extend("x-project" = "if-allowed"))]
    pub dry_run: bool,
    /// How often one session may be blocked, by all gates together. The two gates that keep a
    /// session working (`[worker]`, `[loop]`) do not count: they have limits of their own.
    #[schemars(extend("x-project" = "never"))]
    pub max_blocks: u32,
}

impl Default for GatesConfig {
    fn default() -> Self {
        Self { enabled: true, dry_run: false, max_blocks: 3 }
    }
}

/// `[[check]]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckConfig {
    /// Its name in blocks and in the log. A project's check with the name of one of yours runs
    /// beside it.
    #[serde(deserialize_with = "value::name")]
    #[schemars(extend("examples" = ["test"]))]
    #[schemars(extend("x-project" = "always"))]
    pub name: String,
    /// The command line, for a shell. It runs in the project's folder. What a project's file asks
    /// for runs only after you have allowed it: `punchlist allow`.
    #[serde(deserialize_with = "value::command")]
    #[schemars(extend("examples" = ["cargo test --quiet"]))]
    #[schemars(extend("x-project" = "always"))]
    pub run: String,
    /// Globs of files. The check runs only if the session touched one of them since it last passed.
    /// Any file by default.
    #[serde(default, deserialize_with = "value::globs")]
    #[schemars(extend("examples" = [["src/**", "Cargo.toml"]]))]
    #[schemars(extend("x-project" = "always"))]
    pub when: Vec<String>,
    /// How long it may take, such as "90s" or "5m". After that it is skipped, and the person is
    /// told. "2m" by default.
    #[serde(default = "check_timeout", with = "value::duration")]
    #[schemars(with = "String", extend("examples" = ["2m"]))]
    #[schemars(extend("x-project" = "always"))]
    pub timeout: Duration,
    /// At whose stop it runs. "stop" by default.
    #[serde(default)]
    #[schemars(extend("examples" = ["stop"]))]
    #[schemars(extend("x-project" = "always"))]
    pub on: CheckOn,
    /// How often in a row a session may be blocked for it: after each block it runs again, if
    /// anything was changed. `[gates] max_blocks` counts these blocks, too. 3 by default.
    #[serde(default = "max_holds", deserialize_with = "value::at_least::<1, _, _>")]
    #[schemars(range(min = 1), extend("examples" = [3]))]
    #[schemars(extend("x-project" = "always"))]
    pub max_holds: u32,
    /// Whether a project's file asks for it and the person has not allowed it, in which case it
    /// does not run.
    #[serde(skip)]
    pub needs_leave: bool,
}

/// How many consecutive blocks a check may cause by default.
pub const MAX_HOLDS: u32 = 3;

fn max_holds() -> u32 {
    MAX_HOLDS
}

/// How long a check may take by default.
pub const CHECK_TIMEOUT: Duration = Duration::from_secs(120);

fn check_timeout() -> Duration {
    CHECK_TIMEOUT
}

/// At whose stop a check runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOn {
    /// The main agent's.
    #[default]
    Stop,
    /// A subagent's.
    Subagent,
    /// Either.
    Both,
}

/// `[loop]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LoopConfig {
    /// The list of features, relative to the loop's folder.
    #[serde(deserialize_with = "value::file_in_folder")]
    #[schemars(extend("x-project" = "if-unset"))]
    pub features: String,
    /// The file with the loop's status and its notes.
    #[serde(deserialize_with = "value::file_in_folder")]
    #[schemars(extend("x-project" = "if-unset"))]
    pub progress: String,
    /// How often work is handed out, counting blocks and fresh sessions. Applies when a loop is
    /// started.
    #[serde(deserialize_with = "value::at_least::<1, _, _>")]
    #[schemars(range(min = 1))]
    #[schemars(extend("x-project" = "if-allowed"))]
    pub max_iterations: u32,
    /// The loop ends after this many iterations without progress. Progress is: a feature passed, a
    /// file changed, or something was committed.
    #[serde(deserialize_with = "value::at_least::<1, _, _>")]
    #[schemars(range(min = 1))]
    #[schemars(extend("x-project" = "if-allowed"))]
    pub stall_after: u32,
    /// How full a session's context may get, from 0 to 1. After that a fresh session takes over.
    #[serde(deserialize_with = "value::fraction")]
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schemars(extend("x-project" = "if-allowed"))]
    pub context: f64,
    /// The size of a context, in tokens. A model whose name has `[1m]`, or that was filled further
    /// than this, has a million.
    #[schemars(extend("x-project" = "if-allowed"))]
    pub window: u64,
    /// A command for the whole list, for a shell. It runs in the loop's folder when every feature
    /// is marked as passing; the loop is complete only if it succeeds. A feature may have its own
    /// `verify` in the list. What a project's files ask for runs only after you have allowed it:
    /// `punchlist allow`.
    #[serde(deserialize_with = "value::optional_command")]
    #[schemars(with = "String", extend("examples" = ["npm test"]))]
    #[schemars(extend("x-project" = "if-allowed"))]
    pub verify: Option<String>,
}

impl Default for LoopConfig {
    fn default() -> Self {
        Self {
            features: "feature_list.json".into(),
            progress: "progress.txt".into(),
            max_iterations: 50,
            stall_after: 3,
            context: 0.8,
            window: 200_000,
            verify: None,
        }
    }
}

/// `[tasks]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TasksConfig {
    /// Where the tasks are; unfinished ones block.
    #[schemars(extend("x-project" = "if-unset", "x-person-values" = ["command", "http"]))]
    pub source: TaskSource,
    /// The file of the source "file", relative to the project's folder. `{agent}` and `{session}`
    /// in it are replaced. A project may name only a file of its own.
    #[schemars(with = "String")]
    #[schemars(extend("x-project" = { "if-unset-with": "source" }, "x-inside" = true))]
    pub file: PathBuf,
    /// Whose tasks count, for every session with this setting. Empty: those of the worker that the
    /// session registered as.
    #[schemars(extend("x-project" = "if-allowed"))]
    pub agent: String,
    /// How long the source may take, including retries. After that the stop goes through.
    #[serde(with = "value::duration")]
    #[schemars(with = "String")]
    #[schemars(extend("x-project" = "if-allowed"))]
    pub timeout: Duration,
    /// How often a failed request is retried within that time.
    #[schemars(extend("x-project" = "if-allowed"))]
    pub retries: u32,
    /// How often one session may be blocked for its tasks. `[gates] max_blocks` counts them, too.
    #[schemars(extend("x-project" = "never"))]
    pub max_holds: u32,
    /// True checks the tasks but never blocks. The log says what would have happened.
    #[schemars(extend("x-project" = "if-allowed"))]
    pub dry_run: bool,
    /// The command of the source "command", for a shell. It runs in the project's folder with
    /// `PUNCHLIST_WORKER` and `PUNCHLIST_SESSION` set.
    #[schemars(with = "String")]
    #[schemars(extend("x-project" = "never"))]
    pub command: Option<String>,
    /// The variable whose value is sent as a bearer token, over https or to this machine only.
    #[schemars(with = "String")]
    #[schemars(extend("x-project" = "never"))]
    pub token_variable: Option<String>,
    /// The URL of the source "http". `{agent}` and `{session}` in it are replaced.
    #[schemars(with = "String")]
    #[schemars(extend("x-project" = "never"))]
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
    /// Nowhere: no stop is blocked for tasks.
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
    /// True keeps a registered worker running while tasks may come. See `punchlist worker
    /// register`.
    #[schemars(extend("x-project" = "if-allowed"))]
    pub keep_alive: bool,
    /// How long a worker is kept running without work. It counts from when the worker registered,
    /// took a task or finished one, whichever was last.
    #[serde(with = "value::duration")]
    #[schemars(with = "String")]
    #[schemars(extend("x-project" = "if-allowed"))]
    pub idle: Duration,
    /// A worker that is silent for this long loses its tasks: they become open again.
    #[serde(with = "value::duration")]
    #[schemars(with = "String")]
    #[schemars(extend("x-project" = "if-allowed"))]
    pub lease: Duration,
    /// A different `idle` for one kind of worker, in a table `[worker.kinds.NAME]`. It applies to
    /// those that registered with `--kind NAME`.
    #[schemars(extend("x-project" = "if-allowed"))]
    pub kinds: BTreeMap<String, KindConfig>,
}

/// `[worker.kinds.NAME]`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KindConfig {
    /// How long a worker of this kind is kept running without work.
    #[serde(deserialize_with = "value::optional_duration")]
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
    /// Returns how long a worker of a kind is kept running without work, in milliseconds.
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

/// `[checklist]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChecklistConfig {
    /// True blocks if a plan is said to be done and has open boxes. A box is `- [ ]`; an item that
    /// is said to be done counts by itself.
    #[schemars(extend("x-project" = { "if": true }))]
    pub plan: bool,
    /// Globs of files whose open boxes block a stop that claims to be finished.
    #[serde(deserialize_with = "value::file_globs_in_project")]
    #[schemars(extend("x-project" = "added"))]
    pub files: Vec<String>,
    /// True blocks for open entries of the session's own task list.
    #[schemars(extend("x-project" = { "if": true }))]
    pub todos: bool,
    /// A heading that a final message must have, such as "## Plan Completion Check". There must be
    /// text under it. It is required of messages that say the work is finished. Empty: none.
    #[serde(deserialize_with = "value::heading")]
    #[schemars(extend("x-project" = "if-unset"))]
    pub require_section: String,
}

impl ChecklistConfig {
    /// Returns whether any part of the gate is on.
    pub fn is_set(&self) -> bool {
        self.plan || self.todos || !self.files.is_empty() || !self.require_section.is_empty()
    }
}

/// `[memory]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryConfig {
    /// Globs of files that a session gets at its start, newest first. It gets them again when it is
    /// resumed or compacted. Your own file may name absolute paths and paths from `~/`.
    #[serde(deserialize_with = "value::file_globs")]
    #[schemars(extend("x-project" = "if-unset", "x-inside" = true))]
    pub files: Vec<String>,
    /// Standing mandates for every session, one sentence each.
    #[schemars(extend("x-project" = "if-allowed"))]
    pub mandates: Vec<String>,
    /// A file with more mandates. The rules for `files` apply. Empty: none.
    #[schemars(extend("x-project" = "if-allowed", "x-inside" = true))]
    pub mandates_file: String,
    /// The most lines per file, from its start.
    #[schemars(extend("x-project" = "if-allowed"))]
    pub file_lines: usize,
    /// The most bytes per file.
    #[schemars(extend("x-project" = "if-allowed"))]
    pub file_bytes: usize,
    /// The most lines of all files together.
    #[schemars(extend("x-project" = "if-allowed"))]
    pub max_lines: usize,
    /// The most bytes in all, including the text around the files. Above 10,000 characters newer
    /// clients give the agent only the start, and the name of a file with the rest.
    #[serde(deserialize_with = "value::at_least::<{ value::MIN_MEMORY_BYTES }, _, _>")]
    #[schemars(range(min = value::MIN_MEMORY_BYTES))]
    #[schemars(extend("x-project" = "if-allowed"))]
    pub max_bytes: usize,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            mandates: Vec::new(),
            mandates_file: String::new(),
            file_lines: 100,
            file_bytes: 4_000,
            max_lines: 300,
            max_bytes: 9_000,
        }
    }
}

impl MemoryConfig {
    /// Returns whether there is anything to give.
    pub fn is_set(&self) -> bool {
        !self.files.is_empty() || !self.mandates.is_empty() || !self.mandates_file.is_empty()
    }
}
