//! `[[check]]`: a command that has to pass before a session may end.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::config::file::{duration_of, globs_of};

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckConfig {
    /// What it is called.
    pub name: String,
    /// The command line.
    pub run: String,
    /// Which touched files it cares about; all where there is none.
    pub when: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
    /// At whose stop.
    pub on: CheckOn,
    /// A project's file asks for it: a person has to allow it first.
    pub is_projects: bool,
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

/// `[[check]]`
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckTable {
    /// What it is called in blocks and in the log. A project's check takes the place of one of yours that has its name.
    #[serde(deserialize_with = "name")]
    #[schemars(extend("examples" = ["test"]))]
    pub name: String,
    /// The command line, as a shell takes it. It runs in the project's folder. What a project's file asks for runs after you have
    /// allowed it: `punchlist allow`.
    #[serde(deserialize_with = "command")]
    #[schemars(extend("examples" = ["cargo test --quiet"]))]
    pub run: String,
    /// Globs of the files that it cares about: it runs only if the session touched one of them since it last passed. Any
    /// file where nothing is said.
    #[serde(default, deserialize_with = "globs")]
    #[schemars(extend("examples" = [["src/**", "Cargo.toml"]]))]
    pub when: Vec<String>,
    /// How long it may take, such as "90s" or "5m"; after that it is left out, and the person is told. "2m" where nothing is said.
    #[serde(default, deserialize_with = "timeout")]
    #[schemars(with = "String", extend("examples" = ["2m"]))]
    pub timeout: Option<Duration>,
    /// At whose stop it runs; "stop" where nothing is said.
    #[serde(default)]
    #[schemars(extend("examples" = ["stop"]))]
    pub on: CheckOn,
    /// Set for what a project's file asks for.
    #[serde(skip)]
    pub is_projects: bool,
}

/// How long a check may take where nothing is said.
pub const CHECK_TIMEOUT: Duration = Duration::from_secs(120);

impl From<CheckTable> for CheckConfig {
    fn from(table: CheckTable) -> Self {
        Self {
            name: table.name,
            run: table.run,
            when: table.when,
            timeout: table.timeout.unwrap_or(CHECK_TIMEOUT),
            on: table.on,
            is_projects: table.is_projects,
        }
    }
}

/// Adds checks to those that are there; one of the same name takes the place of the other.
pub fn add(all: &mut Vec<CheckConfig>, tables: Vec<CheckTable>) {
    for check in tables.into_iter().map(CheckConfig::from) {
        match all.iter_mut().find(|known| known.name == check.name) {
            Some(known) => *known = check,
            None => all.push(check),
        }
    }
}

fn said<'de, D: Deserializer<'de>>(deserializer: D, what: &str) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() {
        return Err(de::Error::custom(format!("{what} that is empty")));
    }
    Ok(text)
}

fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    said(deserializer, "a name")
}

fn command<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    said(deserializer, "a command")
}

fn globs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    globs_of(deserializer)
}

fn timeout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    duration_of(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::config::file::ConfigFile;

    fn checks(files: &[&str]) -> Vec<(String, String)> {
        let mut config = Config::default();
        for file in files {
            config.apply(ConfigFile::parse(file, "x").expect("a config file"));
        }
        config.checks.into_iter().map(|check| (check.name, check.run)).collect()
    }

    #[test]
    fn a_later_file_adds_checks_and_takes_the_place_of_those_it_names() {
        let own = "[[check]]\nname = \"test\"\nrun = \"cargo test\"\n[[check]]\nname = \"lint\"\nrun = \"cargo clippy\"\n";
        let project = "[[check]]\nname = \"test\"\nrun = \"make test\"\n[[check]]\nname = \"docs\"\nrun = \"make docs\"\n";
        let told: Vec<_> = checks(&[own, project]);
        let expected = [("test", "make test"), ("lint", "cargo clippy"), ("docs", "make docs")];
        assert_eq!(told, expected.map(|(name, run)| (name.to_owned(), run.to_owned())));
    }

    #[test]
    fn what_is_missing_or_wrong_is_told() {
        let said = |text: &str| ConfigFile::parse(text, "x").expect_err("a fault").to_string();
        assert_eq!(said("[[check]]\nname = \"test\"\n"), "x, line 1: check[0]: missing field `run`");
        assert_eq!(
            said("[[check]]\nname = \"\"\nrun = \"x\"\n"),
            "x, line 2: check[0].name: a name that is empty"
        );
        assert_eq!(
            said("[[check]]\nname = \"a\"\nrun = \"x\"\non = \"start\"\n"),
            "x, line 4: check[0].on: unknown variant `start`, expected one of `stop`, `subagent`, `both`"
        );
        assert!(said("[check]\nname = \"a\"\n").starts_with("x, line 1: check: invalid type: map"));
    }
}
