//! `[tasks]`: where the tasks are that hold a session which has not finished them.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::file::duration;
use crate::config::set;

/// Where tasks are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TaskSource {
    /// Nowhere: no stop is held for them.
    #[default]
    Off,
    /// In punchlist's own registry; see `punchlist tasks`.
    Registry,
    /// In a JSON file: `file`.
    File,
    /// Wherever a command finds them, which prints JSON: `command`.
    Command,
    /// Behind a URL that answers with JSON: `url`.
    Http,
}

/// The pending-tasks gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TasksConfig {
    /// Where tasks are kept.
    pub source: TaskSource,
    /// The file, from the project's folder on.
    pub file: PathBuf,
    /// The command, as a shell would take it.
    pub command: Option<String>,
    /// The URL.
    pub url: Option<String>,
    /// The variable that has the bearer token.
    pub token_variable: Option<String>,
    /// The name under which tasks are this agent's; empty is the worker's own.
    pub agent: String,
    /// How long the source may take.
    pub timeout: Duration,
    /// How often a request is tried again.
    pub retries: u32,
    /// How often one session may be held for its tasks.
    pub max_holds: u32,
    /// Looks, and never holds.
    pub dry_run: bool,
}

/// `[tasks]`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TasksTable {
    /// Where the tasks are that hold a session which has not finished them.
    #[schemars(with = "TaskSource")]
    pub source: Option<TaskSource>,
    /// The file of the source `file`, from the project's folder on. `{agent}` and `{session}` in it stand for who is asking.
    /// A project may name only a file of its own.
    #[schemars(with = "String")]
    pub file: Option<PathBuf>,
    /// The command of the source `command`, as a shell takes it; it is run in the project's folder, with `PUNCHLIST_WORKER` and
    /// `PUNCHLIST_SESSION` set to who is asking.
    #[schemars(with = "String", extend("x-own-file-only" = true))]
    pub command: Option<String>,
    /// The URL of the source `http`. `{agent}` and `{session}` in it stand for who is asking.
    #[schemars(with = "String", extend("x-own-file-only" = true))]
    pub url: Option<String>,
    /// The variable whose value is sent along as a bearer token, over https or to this machine only.
    #[schemars(with = "String", extend("x-own-file-only" = true))]
    pub token_variable: Option<String>,
    /// Whose tasks hold: every session that this setting counts for goes by this name. Empty is the name of the worker that a
    /// session has registered.
    #[schemars(with = "String")]
    pub agent: Option<String>,
    /// How long the source may take, all tries together; after that the stop goes through.
    #[serde(deserialize_with = "duration")]
    #[schemars(with = "String")]
    pub timeout: Option<Duration>,
    /// How often a request that failed is tried again within that time.
    #[schemars(with = "u32")]
    pub retries: Option<u32>,
    /// How often one session may be held for its tasks; they count for `[gates] max_blocks`, too.
    #[schemars(with = "u32")]
    pub max_holds: Option<u32>,
    /// Looks at the tasks and never holds; the log says what would have happened.
    #[schemars(with = "bool")]
    pub dry_run: Option<bool>,
}

impl Default for TasksConfig {
    fn default() -> Self {
        Self {
            source: TaskSource::Off,
            file: ".claude/tasks.json".into(),
            command: None,
            url: None,
            token_variable: None,
            agent: String::new(),
            timeout: Duration::from_secs(5),
            retries: 2,
            max_holds: 3,
            dry_run: false,
        }
    }
}

impl TasksConfig {
    /// Takes over what a file sets.
    pub fn apply(&mut self, table: TasksTable) {
        set(&mut self.source, table.source);
        set(&mut self.file, table.file);
        set(&mut self.command, table.command.map(Some));
        set(&mut self.url, table.url.map(Some));
        set(&mut self.token_variable, table.token_variable.map(Some));
        set(&mut self.agent, table.agent);
        set(&mut self.timeout, table.timeout);
        set(&mut self.retries, table.retries);
        set(&mut self.max_holds, table.max_holds);
        set(&mut self.dry_run, table.dry_run);
    }
}

impl TasksTable {
    /// Takes out what a project may not set; gives the keys that were there.
    pub fn take_out_own_keys(&mut self) -> Vec<&'static str> {
        let leads_out =
            |file: &Path| file.is_absolute() || file.components().any(|part| part == Component::ParentDir);
        let mut taken = Vec::new();
        // What the person keeps ready for other projects is not started, nor their token sent, because this one says so.
        if matches!(self.source, Some(TaskSource::Command | TaskSource::Http)) {
            self.source = None;
            taken.push("tasks.source of \"command\" or \"http\"");
        }
        if self.file.as_deref().is_some_and(leads_out) {
            self.file = None;
            taken.push("tasks.file");
        }
        for (key, value) in [
            ("tasks.command", &mut self.command),
            ("tasks.token_variable", &mut self.token_variable),
            ("tasks.url", &mut self.url),
        ] {
            if value.take().is_some() {
                taken.push(key);
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_starts_no_command_and_sends_no_token_of_the_persons() {
        for (source, is_taken) in [
            (TaskSource::Command, true),
            (TaskSource::Http, true),
            (TaskSource::Registry, false),
            (TaskSource::File, false),
            (TaskSource::Off, false),
        ] {
            let mut table = TasksTable { source: Some(source), ..TasksTable::default() };
            assert_eq!(!table.take_out_own_keys().is_empty(), is_taken, "{source:?}");
            assert_eq!(table.source.is_none(), is_taken, "{source:?}");
        }
    }

    #[test]
    fn a_project_names_only_a_file_of_its_own() {
        for (file, taken) in [
            ("tasks.json", &[][..]),
            ("docs/tasks-{agent}.json", &[]),
            ("../tasks.json", &["tasks.file"]),
            ("/etc/passwd", &["tasks.file"]),
            ("a/../../b", &["tasks.file"]),
        ] {
            let mut table = TasksTable { file: Some(file.into()), ..TasksTable::default() };
            assert_eq!(table.take_out_own_keys(), taken, "{file}");
            assert_eq!(table.file.is_some(), taken.is_empty(), "{file}");
        }
    }
}
