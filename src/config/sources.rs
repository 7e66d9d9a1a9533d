//! Where settings come from: reads the person's file, the project's file and the variables as layers
//! of TOML, merges them, and says which layer each value is from. Whoever wrote the project is not
//! the person whose machine this is: a project must not choose which program runs, which file outside
//! is read or where a token goes.

use std::path::{Component, Path, PathBuf};

use serde::Serialize;
use toml::{Table, Value};

use super::fleet::without_password;
use super::reference::{Setting, settings};
use super::value::leads_outside;
use super::{Config, ConfigError, own_file, parse, project_file};
use crate::env::{self, Env};

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// It is built in.
    Default,
    /// The person's own file.
    Own,
    /// The project's file.
    Project,
    /// An environment variable.
    Variable,
}

/// A setting in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Sourced {
    pub setting: Setting,
    /// `None` where it is not set.
    pub value: Option<Value>,
    pub source: Source,
    /// The file or the variable that it comes from.
    pub place: Option<String>,
}

impl Sourced {
    /// Returns its value as a file writes it.
    pub fn value_text(&self) -> String {
        self.value.as_ref().map_or_else(|| "not set".to_owned(), ToString::to_string)
    }
}

/// Every setting with its source, for `config show`.
#[derive(Debug)]
pub struct Sources {
    pub settings: Vec<Sourced>,
    /// The person's own file, and whether it exists.
    pub own: Option<(PathBuf, bool)>,
    /// The project's file, and whether it exists.
    pub project: (PathBuf, bool),
    /// What is wrong with the files. A file with an error counts as absent.
    pub faults: Vec<ConfigError>,
}

/// The settings of one file or variable.
#[derive(Debug)]
struct Layer {
    source: Source,
    place: String,
    table: Table,
}

/// All layers, the one that wins last.
#[derive(Debug)]
pub(super) struct Layers {
    layers: Vec<Layer>,
    pub(super) errors: Vec<ConfigError>,
}

impl Layers {
    /// Reads both files and the environment.
    pub(super) fn read(env: &Env, project: &Path) -> Self {
        let (own, of_project) = (own_file(env), project_file(project));
        let (mut layers, mut errors) = (Vec::new(), Vec::new());
        let files = own.iter().map(|path| (path, Source::Own)).chain([(&of_project, Source::Project)]);
        for (path, source) in files {
            match parse::read(path) {
                Ok(Some(mut table)) => {
                    if source == Source::Project {
                        errors.extend(remove_refused(&mut table, path, own.as_deref()));
                    }
                    layers.push(Layer { source, place: path.display().to_string(), table });
                }
                Ok(None) => {}
                Err(error) => errors.push(error),
            }
        }
        for (variable, table, key, value) in [
            (env::OFF, "gates", "enabled", env.switch(env::OFF).then_some(Value::Boolean(false))),
            (env::DRY_RUN, "gates", "dry_run", env.switch(env::DRY_RUN).then_some(Value::Boolean(true))),
            (
                env::CLAUDE,
                "auditor",
                "client",
                env.path(env::CLAUDE).map(|path| Value::String(path.display().to_string())),
            ),
            (env::DATABASE_URL, "fleet", "database", env.text(env::DATABASE_URL).map(Value::String)),
        ] {
            let Some(value) = value else { continue };
            let keys = Table::from_iter([(key.to_owned(), value)]);
            let table = Table::from_iter([(table.to_owned(), Value::Table(keys))]);
            layers.push(Layer { source: Source::Variable, place: variable.to_owned(), table });
        }
        Self { layers, errors }
    }

    /// Returns all layers as one table.
    fn merged(&self) -> Table {
        let mut all = Table::from_iter([(CHECKS.to_owned(), Value::Array(Vec::new()))]);
        for layer in &self.layers {
            merge(&mut all, &layer.table);
        }
        all
    }

    /// Returns the settings in force.
    pub(super) fn config(&mut self) -> Config {
        let mut config: Config = match self.merged().try_into() {
            Ok(config) => config,
            // Not reached: each layer was checked by itself, and merging makes no new value.
            Err(error) => {
                let (file, why) = ("the merged settings".to_owned(), error.to_string());
                self.errors.push(ConfigError::Unreadable { file, why });
                Config::default()
            }
        };
        for layer in self.layers.iter().filter(|layer| layer.source == Source::Project) {
            let checks = layer.table.get(CHECKS).and_then(Value::as_array).into_iter().flatten();
            let names: Vec<_> = checks.filter_map(|check| check.get("name")?.as_str()).collect();
            for check in &mut config.checks {
                check.is_projects |= names.contains(&check.name.as_str());
            }
        }
        config
    }
}

/// The one list whose entries are merged, by their names. Other lists replace each other.
const CHECKS: &str = "check";

/// Merges a table into another, key by key.
fn merge(into: &mut Table, from: &Table) {
    for (key, value) in from {
        match (into.get_mut(key), value) {
            (Some(Value::Table(into)), Value::Table(from)) => merge(into, from),
            (Some(Value::Array(into)), Value::Array(from)) if key == CHECKS => {
                for check in from {
                    match into.iter_mut().find(|other| other.get("name") == check.get("name")) {
                        Some(other) => *other = check.clone(),
                        None => into.push(check.clone()),
                    }
                }
            }
            _ => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Returns the value of a setting in a table; a `[[table]]` is one value.
fn lookup<'t>(table: &'t Table, setting: &Setting) -> Option<&'t Value> {
    let value = table.get(&setting.table)?;
    if setting.is_of_many { Some(value) } else { value.get(&setting.key) }
}

/// Reads both files and the environment, and says where each value comes from.
pub fn sources(env: &Env, project: &Path) -> Sources {
    let layers = Layers::read(env, project);
    let merged = layers.merged();
    let mut all = Vec::new();
    for setting in settings() {
        // A `[[table]]` is shown once, with all its entries.
        let setting = if setting.is_of_many { Setting { key: String::new(), ..setting } } else { setting };
        if all.last().is_some_and(|last: &Sourced| last.setting.path() == setting.path()) {
            continue;
        }
        let layer = layers.layers.iter().rfind(|layer| lookup(&layer.table, &setting).is_some());
        let value = layer.map_or_else(|| setting.default.clone(), |_| lookup(&merged, &setting).cloned());
        let is_url = setting.path() == "fleet.database";
        all.push(Sourced {
            value: value.map(|value| match value.as_str() {
                Some(url) if is_url => Value::String(without_password(url)),
                _ => value,
            }),
            source: layer.map_or(Source::Default, |layer| layer.source),
            place: layer.map(|layer| layer.place.clone()),
            setting,
        });
    }
    let existing = |path: PathBuf| {
        let exists = path.exists();
        (path, exists)
    };
    Sources {
        settings: all,
        own: own_file(env).map(existing),
        project: existing(project_file(project)),
        faults: layers.errors,
    }
}

/// A table, a key in it, what errors say after its name, and which values are refused.
type Rule = (&'static str, &'static str, &'static str, Refuses);

enum Refuses {
    AnyValue,
    Values(fn(&Value) -> bool),
}
use Refuses::{AnyValue, Values};

const RULES: [Rule; 12] = [
    // The person may have a command or a URL ready for other projects.
    (
        "tasks",
        "source",
        " of \"command\" or \"http\"",
        Values(|source| matches!(source.as_str(), Some("command" | "http"))),
    ),
    ("tasks", "file", "", Values(|file| file.as_str().is_some_and(leaves_folder))),
    ("tasks", "command", "", AnyValue),
    ("tasks", "token_variable", "", AnyValue),
    ("tasks", "url", "", AnyValue),
    ("auditor", "client", "", AnyValue),
    ("auditor", "prompts", "", AnyValue),
    ("fleet", "database", "", AnyValue),
    ("fleet", "machine", "", AnyValue),
    ("fleet", "ship_evidence", "", AnyValue),
    (
        "memory",
        "files",
        " with a path outside of the project",
        Values(|files| {
            files.as_array().is_some_and(|globs| globs.iter().filter_map(Value::as_str).any(leads_outside))
        }),
    ),
    (
        "memory",
        "mandates_file",
        " outside of the project",
        Values(|file| file.as_str().is_some_and(leads_outside)),
    ),
];

/// A tasks file is opened as it is written: `~` is an ordinary name in it.
fn leaves_folder(file: &str) -> bool {
    let file = Path::new(file);
    file.is_absolute() || file.components().any(|part| part == Component::ParentDir)
}

/// Whether a key counts only from the person's own file, whatever its value is.
pub(super) fn is_own_file_only(table: &str, key: &str) -> bool {
    RULES.iter().any(|rule| matches!(rule, (of, name, _, AnyValue) if *of == table && *name == key))
}

/// Removes from a project's file what it may not set; returns an error for each.
pub fn remove_refused(file: &mut Table, path: &Path, own: Option<&Path>) -> Vec<ConfigError> {
    let mut errors = Vec::new();
    for (table, key, which, refuses) in &RULES {
        let Some(Value::Table(keys)) = file.get_mut(*table) else { continue };
        let is_refused = keys.get(*key).is_some_and(|value| match refuses {
            AnyValue => true,
            Values(refuses) => refuses(value),
        });
        if is_refused {
            keys.remove(*key);
            errors.push(ConfigError::NotTheProjects {
                file: path.display().to_string(),
                key: format!("{table}.{key}{which}"),
                own: own.map(|own| own.display().to_string()).unwrap_or_default(),
            });
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ConfigFiles;

    #[test]
    fn each_value_says_where_it_comes_from() {
        let files = ConfigFiles::with(
            Some(
                "[gates]\nmax_blocks = 1\n[audit]\nmode = \"hold\"\n[worker.kinds.a]\nidle = \"1h\"\n\
                 [[check]]\nname = \"a\"\nrun = \"x\"\n[[check]]\nname = \"b\"\nrun = \"y\"\n",
            ),
            Some(
                "[gates]\nmax_blocks = 2\n[auditor]\nclient = \"/evil\"\n[worker.kinds.b]\nidle = \"2h\"\n\
                 [[check]]\nname = \"a\"\nrun = \"z\"\n",
            ),
        );
        let all = sources(&files.env(&[(env::DRY_RUN, "1")]), &files.project()).settings;
        for (path, value, source) in [
            ("gates.max_blocks", "2", Source::Project),
            ("audit.mode", "\"hold\"", Source::Own),
            ("gates.dry_run", "true", Source::Variable),
            ("auditor.client", "not set", Source::Default),
            ("log.keep", "\"90d\"", Source::Default),
            ("worker.kinds", "{ a = { idle = \"1h\" }, b = { idle = \"2h\" } }", Source::Project),
            ("check", "[{ name = \"a\", run = \"z\" }, { name = \"b\", run = \"y\" }]", Source::Project),
        ] {
            let found = all.iter().find(|one| one.setting.path() == path).expect(path);
            assert_eq!((found.value_text().as_str(), found.source), (value, source), "{path}");
        }
    }

    #[test]
    fn a_project_chooses_no_program_no_token_and_no_file_outside() {
        for (line, refused) in [
            ("tasks.source = 'command'", Some("tasks.source of \"command\" or \"http\"")),
            ("tasks.source = 'http'", Some("tasks.source of \"command\" or \"http\"")),
            ("tasks.source = 'registry'", None),
            ("tasks.source = 'file'", None),
            ("tasks.source = 'off'", None),
            ("tasks.file = 'tasks.json'", None),
            ("tasks.file = 'docs/tasks-{agent}.json'", None),
            ("tasks.file = '../tasks.json'", Some("tasks.file")),
            ("tasks.file = '/etc/passwd'", Some("tasks.file")),
            ("tasks.file = 'a/../../b'", Some("tasks.file")),
            ("tasks.command = 'x'", Some("tasks.command")),
            ("tasks.token_variable = 'x'", Some("tasks.token_variable")),
            ("tasks.url = 'x'", Some("tasks.url")),
            ("auditor.client = 'x'", Some("auditor.client")),
            ("auditor.prompts = 'x'", Some("auditor.prompts")),
            ("auditor.model = 'x'", None),
            ("fleet.database = 'postgres://evil/x'", Some("fleet.database")),
            ("fleet.machine = 'x'", Some("fleet.machine")),
            ("fleet.ship_evidence = true", Some("fleet.ship_evidence")),
            ("memory.files = ['a.md']", None),
            ("memory.files = ['a.md', '~/a.md']", Some("memory.files with a path outside of the project")),
            ("memory.mandates_file = '/a'", Some("memory.mandates_file outside of the project")),
        ] {
            let mut file: Table = line.parse().expect("TOML");
            let errors = remove_refused(&mut file, Path::new("x"), None);
            let keys: Vec<_> = errors
                .iter()
                .map(|error| match error {
                    ConfigError::NotTheProjects { key, .. } => key.as_str(),
                    other => panic!("{other}"),
                })
                .collect();
            assert_eq!(keys, refused.into_iter().collect::<Vec<_>>(), "{line}");
            let is_empty = file.values().all(|table| table.as_table().is_some_and(Table::is_empty));
            assert_eq!(is_empty, refused.is_some(), "{line}");
        }
    }
}
