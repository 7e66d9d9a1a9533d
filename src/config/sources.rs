//! Where settings come from: reads the person's file, the project's file and the variables as
//! layers of TOML, merges them, and says which layer each value is from. `super::project` decides
//! what a project may set.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use serde::Serialize;
use toml::{Table, Value};

use super::fleet::without_password;
use super::parse::{Parsed, parse, without_secrets};
use super::project::{Allowed, Asked, Verdict, beside, checks_by_name, judge};
use super::project_env::ProjectEnv;
use super::reference::{Setting, settings};
use super::{CheckConfig, Config, ConfigError, file, own_file, project_file};
use crate::client::settings::Scope;
use crate::env::{self, Env};

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Built in.
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
    /// `None` if it is not set.
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
    /// Errors in the files, and settings in them that do not count.
    pub faults: Vec<ConfigError>,
    /// What the project's file asks for and the person may allow, or has allowed.
    pub asked: Vec<Asked>,
}

/// The settings of one file or variable.
#[derive(Debug)]
struct Layer {
    source: Source,
    place: String,
    table: Table,
}

/// All layers, the strongest last.
#[derive(Debug)]
pub(super) struct Layers {
    all: Vec<Layer>,
    pub(super) errors: Vec<ConfigError>,
    asked: Vec<Asked>,
    /// The globs of plans that only the project's file has.
    projects_plan: Vec<String>,
    /// The checks of the project's file, each with whether it may run.
    checks: Vec<(Value, bool)>,
}

impl Layers {
    /// Reads both files and the environment. `allowed` is only called if it matters.
    pub(super) fn read(env: &Env, project: &Path, allowed: impl FnOnce() -> Allowed) -> Self {
        let allowed = LazyCell::new(allowed);
        let project_env = ProjectEnv::read(env, project);
        let env = &project_env.taken_from(env, |_| allowed.clone());
        let mut layers = Self::own(env);
        let file = project_file(project);
        let table = layers.read_file(&file, Some(project));
        if !table.is_empty() {
            layers.add_project(&table, &file.display().to_string(), || allowed.clone());
        }
        if !project_env.is_empty() {
            layers.add_project_env(&project_env, env, &allowed);
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
            (env::OTLP, "telemetry", "otlp", env.text(env::OTLP).map(Value::String)),
        ] {
            let Some(value) = value else { continue };
            let table = one_key(table, key, value);
            layers.all.push(Layer { source: Source::Variable, place: variable.to_owned(), table });
        }
        layers
    }

    /// Reads the person's own file.
    fn own(env: &Env) -> Self {
        let mut all = Self {
            all: Vec::new(),
            errors: Vec::new(),
            asked: Vec::new(),
            projects_plan: Vec::new(),
            checks: Vec::new(),
        };
        if let Some(own) = own_file(env) {
            let table = all.read_file(&own, None);
            all.all.push(Layer { source: Source::Own, place: own.display().to_string(), table });
        }
        all
    }

    /// Returns the valid part of a file.
    fn read_file(&mut self, path: &Path, within: Option<&Path>) -> Table {
        let name = path.display().to_string();
        match file::read(path, within) {
            Ok(None) => Table::new(),
            Ok(Some(text)) => {
                let Parsed { table, errors } = parse(&text, &name);
                self.errors.extend(errors);
                table
            }
            Err(error) => {
                self.errors.push(ConfigError::Unreadable { file: name, why: error.to_string() });
                Table::new()
            }
        }
    }

    /// Adds the settings of the project's file that count.
    fn add_project(&mut self, file: &Table, name: &str, allowed: impl FnOnce() -> Allowed) {
        let allowed = LazyCell::new(allowed);
        let own_name = self.all.first().map(|own| own.place.clone()).unwrap_or_default();
        let built_in = Table::try_from(Config::default()).unwrap_or_default();
        let mut own = built_in.clone();
        self.all.iter().for_each(|layer| merge(&mut own, &layer.table));
        let mut counting = Table::new();
        let left_aside = |setting: String, own: Option<&str>| ConfigError::LeftAside {
            file: name.to_owned(),
            setting,
            own: own.map(str::to_owned),
        };
        for setting in settings().iter().filter(|setting| !setting.is_of_many) {
            let Some(value) = lookup(file, setting) else { continue };
            let own_value = lookup(&own, setting);
            let is_unset =
                |key: &str| value_at(&own, &setting.table, key) == value_at(&built_in, &setting.table, key);
            let counts = match judge(setting, value, own_value, is_unset) {
                Verdict::Counts(value) => Some(value),
                Verdict::Never(which) => {
                    let setting = format!("{}{which}", setting.path());
                    self.errors.push(left_aside(setting, Some(&own_name)));
                    None
                }
                Verdict::Asks(asked) => {
                    let mut values = Vec::new();
                    for mut one in asked {
                        one.is_allowed = allowed.contains(&one.id());
                        if one.is_allowed {
                            values.push(one.value.clone());
                        } else {
                            self.errors.push(left_aside(shown(&one), None));
                        }
                        self.asked.push(one);
                    }
                    match value.as_array() {
                        // Tables of a list are added to the person's.
                        Some(list) if list.iter().any(Value::is_table) => {
                            let own = own_value.and_then(Value::as_array).cloned().unwrap_or_default();
                            let all = own.into_iter().chain(values).collect();
                            Some(Value::Array(all))
                        }
                        _ => values.pop(),
                    }
                }
            };
            if let Some(value) = counts {
                merge(&mut counting, &one_key(&setting.table, &setting.key, value));
            }
        }
        let globs = |all: &Table| {
            value_at(all, "audit", "plan").and_then(Value::as_array).cloned().unwrap_or_default()
        };
        let own_globs = globs(&own);
        let new = globs(&counting).into_iter().filter(|glob| !own_globs.contains(glob));
        self.projects_plan = new.filter_map(|glob| Some(glob.as_str()?.to_owned())).collect();
        let own_checks = checks_by_name(&own);
        for value in checks_by_name(file) {
            let mut asked = Asked { key: CHECKS.to_owned(), value: value.clone(), is_allowed: false };
            asked.is_allowed = allowed.contains(&asked.id());
            self.checks.push((beside(value, &own_checks), asked.is_allowed));
            self.asked.push(asked);
        }
        self.all.push(Layer { source: Source::Project, place: name.to_owned(), table: counting });
    }

    /// Adds what the variables of the project's settings ask for, and those that do not count.
    fn add_project_env(&mut self, project_env: &ProjectEnv, env: &Env, allowed: &Allowed) {
        let left_aside = |setting: String, file: &Path, own: Option<String>| ConfigError::LeftAside {
            file: file.display().to_string(),
            setting,
            own,
        };
        for (one, file) in project_env.asked(allowed) {
            if !one.is_allowed {
                self.errors.push(left_aside(shown(&one), file, None));
            }
            self.asked.push(one);
        }
        let own = Scope::User.file(env, Path::new(""));
        let own = own.map_or("~/.claude/settings.json".into(), |own| own.display().to_string());
        let refused = project_env.refused();
        self.errors
            .extend(refused.map(|(name, file)| left_aside(format!("env.{name}"), file, Some(own.clone()))));
        self.errors.sort_by(|one, other| one.file().cmp(other.file()));
    }

    /// Returns all layers as one table, without the project's checks.
    fn merged(&self) -> Table {
        let mut all = Table::new();
        for layer in &self.all {
            merge(&mut all, &layer.table);
        }
        let checks = checks_by_name(&all);
        all.insert(CHECKS.to_owned(), Value::Array(checks));
        all
    }

    /// Returns the settings in force.
    pub(super) fn config(&mut self) -> Config {
        let mut config: Config = match self.merged().try_into() {
            Ok(config) => config,
            // Unreachable: each key was checked by itself, and merging creates no new values.
            Err(error) => {
                let (file, why) = ("the merged settings".to_owned(), error.to_string());
                self.errors.push(ConfigError::Unreadable { file, why });
                Config::default()
            }
        };
        config.audit.projects_plan.clone_from(&self.projects_plan);
        config.checks.extend(self.checks.iter().filter_map(|(check, is_allowed)| {
            let check: CheckConfig = check.clone().try_into().ok()?;
            Some(CheckConfig { needs_leave: !is_allowed, ..check })
        }));
        config
    }
}

/// The list of checks.
pub(super) const CHECKS: &str = "check";

/// How much of a rejected value is shown, to tell which one it was.
const SHOWN_CHARS: usize = 60;

/// Returns a setting as a file writes it, cut to fit on a line.
fn shown(asked: &Asked) -> String {
    let text = without_secrets(&asked.text(), "");
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn one_key(table: &str, key: &str, value: Value) -> Table {
    let keys = Table::from_iter([(key.to_owned(), value)]);
    Table::from_iter([(table.to_owned(), Value::Table(keys))])
}

/// Merges a table into another, key by key. A list replaces the other.
fn merge(into: &mut Table, from: &Table) {
    for (key, value) in from {
        match (into.get_mut(key), value) {
            (Some(Value::Table(into)), Value::Table(from)) => merge(into, from),
            _ => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Returns the value of a setting in a table; a `[[table]]` is one value.
fn lookup<'t>(table: &'t Table, setting: &Setting) -> Option<&'t Value> {
    if setting.is_of_many { table.get(&setting.table) } else { value_at(table, &setting.table, &setting.key) }
}

fn value_at<'t>(all: &'t Table, table: &str, key: &str) -> Option<&'t Value> {
    all.get(table)?.get(key)
}

/// Returns what is wrong with the text of a project's file, or does not count in it.
pub fn project_faults(
    text: &str,
    file: &str,
    env: &Env,
    allowed: impl FnOnce() -> Allowed,
) -> Vec<ConfigError> {
    let mut all = Layers { errors: Vec::new(), ..Layers::own(env) };
    let Parsed { table, errors } = parse(text, file);
    all.errors.extend(errors);
    all.add_project(&table, file, allowed);
    all.errors
}

/// Reads both files and the environment, and says where each value comes from.
pub fn sources(env: &Env, project: &Path, allowed: impl FnOnce() -> Allowed) -> Sources {
    let layers = Layers::read(env, project, allowed);
    let mut merged = layers.merged();
    if let Some(Value::Array(checks)) = merged.get_mut(CHECKS) {
        checks.extend(layers.checks.iter().map(|(check, _)| check.clone()));
    }
    let mut all = Vec::new();
    for setting in settings() {
        // A `[[table]]` is shown once, with all its entries.
        let setting = if setting.is_of_many { Setting { key: String::new(), ..setting } } else { setting };
        if all.last().is_some_and(|last: &Sourced| last.setting.path() == setting.path()) {
            continue;
        }
        let has_it = |layer: &&Layer| match layer.source {
            Source::Project if setting.is_of_many => !layers.checks.is_empty(),
            _ => lookup(&layer.table, &setting).is_some(),
        };
        let layer = layers.all.iter().rfind(has_it);
        let value = layer.map_or_else(|| setting.default.clone(), |_| lookup(&merged, &setting).cloned());
        let is_url = ["fleet.database", "telemetry.otlp"].contains(&setting.path().as_str());
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
        asked: layers.asked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ConfigFiles;

    #[test]
    fn each_value_says_where_it_comes_from() {
        let files = ConfigFiles::with(
            Some(
                "[gates]\nmax_blocks = 1\n[audit]\nplanless = \"off\"\nplan = [\"a\"]\n\
                 [[check]]\nname = \"a\"\nrun = \"x\"\n[[check]]\nname = \"b\"\nrun = \"y\"\n",
            ),
            Some(
                "[gates]\nmax_blocks = 2\n[auditor]\nclient = \"/evil\"\n[audit]\nplan = [\"c\"]\n\
                 [[check]]\nname = \"a\"\nrun = \"z\"\n",
            ),
        );
        let all = sources(&files.env(&[(env::DRY_RUN, "1")]), &files.project(), Allowed::new).settings;
        for (path, value, source) in [
            ("gates.max_blocks", "1", Source::Own),
            ("audit.planless", "\"off\"", Source::Own),
            ("audit.plan", "[\"a\", \"c\"]", Source::Project),
            ("gates.dry_run", "true", Source::Variable),
            ("auditor.client", "not set", Source::Default),
            ("log.keep", "\"90d\"", Source::Default),
            (
                "check",
                "[{ name = \"a\", run = \"x\" }, { name = \"b\", run = \"y\" }, { name = \"a (project)\", run = \"z\" }]",
                Source::Project,
            ),
        ] {
            let found = all.iter().find(|one| one.setting.path() == path).expect(path);
            assert_eq!((found.value_text().as_str(), found.source), (value, source), "{path}");
        }
    }
}
