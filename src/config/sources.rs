//! Where each setting comes from: takes both files and the environment, gives every value with its source. Must come to the
//! same as [`Config::load`](super::Config::load), which reads without telling; a test holds the two together.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::file::ConfigFile;
use super::reference::{Setting, settings};
use super::{ConfigError, own_file, project_file};
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
    /// A variable.
    Variable,
}

/// A setting in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Sourced {
    /// Which.
    pub setting: Setting,
    /// Its value; `None` where it has none.
    pub value: Option<toml::Value>,
    /// Where that comes from.
    pub source: Source,
    /// The file or the variable, where it is one.
    pub place: Option<String>,
}

impl Sourced {
    /// Its value, as a file writes it.
    pub fn value_text(&self) -> String {
        self.value.as_ref().map_or_else(|| "not set".to_owned(), ToString::to_string)
    }
}

/// All of it.
#[derive(Debug)]
pub struct Sources {
    /// Every setting.
    pub settings: Vec<Sourced>,
    /// The person's own file, and whether it is there.
    pub own: Option<(PathBuf, bool)>,
    /// The project's file, and whether it is there.
    pub project: (PathBuf, bool),
    /// What is wrong with them. A file with a fault counts as absent.
    pub faults: Vec<ConfigError>,
}

/// Reads both files and the environment.
pub fn sources(env: &Env, project: &Path) -> Sources {
    let mut all: Vec<Sourced> = one_for_each_list(settings())
        .into_iter()
        .map(|setting| Sourced {
            value: setting.default.clone(),
            source: Source::Default,
            place: None,
            setting,
        })
        .collect();
    let mut faults = Vec::new();
    let (own, of_project) = (own_file(env), project_file(project));
    let files = own.iter().map(|path| (path, Source::Own)).chain([(&of_project, Source::Project)]);
    for (path, source) in files {
        let Some((text, taken)) = read(path, source, own.as_deref(), &mut faults) else { continue };
        let is_taken = |path: &str| taken.iter().any(|key| key.split(' ').next() == Some(path));
        let table: toml::Table = text.parse().unwrap_or_default();
        for sourced in &mut all {
            let key = &sourced.setting;
            let value = table.get(&key.table);
            let value = if key.is_of_many { value } else { value.and_then(|table| table.get(&key.key)) };
            if let Some(value) = value.filter(|_| !is_taken(&key.path())) {
                let before = sourced.value.take().filter(|_| key.is_of_many);
                sourced.value = Some(before.map_or_else(|| value.clone(), |before| joined(before, value)));
                sourced.source = source;
                sourced.place = Some(path.display().to_string());
            }
        }
    }
    let client = env.path(env::CLAUDE).map(|path| toml::Value::from(path.display().to_string()));
    for (variable, path, value) in [
        (env::OFF, "gates.enabled", env.switch(env::OFF).then(|| false.into())),
        (env::DRY_RUN, "gates.dry_run", env.switch(env::DRY_RUN).then(|| true.into())),
        (env::CLAUDE, "auditor.client", client),
    ] {
        let Some(sourced) = all.iter_mut().find(|sourced| sourced.setting.path() == path) else { continue };
        if let Some(value) = value {
            *sourced = Sourced {
                value: Some(value),
                source: Source::Variable,
                place: Some(variable.to_owned()),
                setting: sourced.setting.clone(),
            };
        }
    }
    let there = |path: PathBuf| {
        let is_there = path.exists();
        (path, is_there)
    };
    Sources { settings: all, own: own.map(there), project: there(of_project), faults }
}

/// A table that may be there many times is one setting, with all of them as its value.
fn one_for_each_list(settings: Vec<Setting>) -> Vec<Setting> {
    let mut all: Vec<Setting> = Vec::new();
    for setting in settings {
        if !setting.is_of_many {
            all.push(setting);
        } else if all.last().is_none_or(|last| last.table != setting.table) {
            all.push(Setting { key: String::new(), ..setting });
        }
    }
    all
}

/// Two lists of tables; one of the second that has the name of one of the first takes its place.
fn joined(first: toml::Value, second: &toml::Value) -> toml::Value {
    let (toml::Value::Array(mut all), toml::Value::Array(second)) = (first, second) else {
        return second.clone();
    };
    for table in second {
        match all.iter_mut().find(|known| known.get("name") == table.get("name")) {
            Some(known) => *known = table.clone(),
            None => all.push(table.clone()),
        }
    }
    toml::Value::Array(all)
}

/// The text of a file that counts, and the keys in it that do not; what is wrong with it is added to the faults.
fn read(
    path: &Path,
    source: Source,
    own: Option<&Path>,
    faults: &mut Vec<ConfigError>,
) -> Option<(String, Vec<&'static str>)> {
    let mut taken = Vec::new();
    match ConfigFile::read(path) {
        Ok(file) => {
            let mut file = file?;
            if source == Source::Project {
                let not_its_own = file.not_the_projects(path, own);
                taken.extend(not_its_own.iter().filter_map(|fault| match fault {
                    ConfigError::NotTheProjects { key, .. } => Some(*key),
                    ConfigError::Bad { .. } | ConfigError::Unreadable { .. } => None,
                }));
                faults.extend(not_its_own);
            }
        }
        Err(fault) => {
            faults.push(fault);
            return None;
        }
    }
    Some((std::fs::read_to_string(path).ok()?, taken))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::Config;

    fn scene(own: &str, project: &str) -> (tempfile::TempDir, Env, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let (home, work) = (folder.path().join("home"), folder.path().join("w"));
        for (path, text) in [
            (home.join(".config/punchlist/config.toml"), own),
            (work.join(".claude/punchlist.toml"), project),
        ] {
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        let env = Env::from_pairs([("HOME", home.as_os_str()), (env::DRY_RUN, "1".as_ref())]);
        (folder, env, work)
    }

    /// The settings as told, put together again as a file.
    fn told(sources: &Sources) -> Config {
        let mut config = Config::default();
        for sourced in &sources.settings {
            let Some(value) = &sourced.value else { continue };
            let line = format!("{} = {value}\n", sourced.setting.path());
            config.apply(ConfigFile::parse(&line, "told").expect(&line));
        }
        config
    }

    #[test]
    fn what_is_told_is_what_counts() {
        for (own, project) in [
            ("", ""),
            (
                "[gates]\nmax_blocks = 1\n[audit]\nblock_on = [\"A\"]\n[auditor]\nclient = \"/c\"\n",
                "[gates]\nmax_blocks = 2\n",
            ),
            (
                "[auditor]\ntimeout = \"2m\"\n[log]\nkeep = \"7d\"\n",
                "[auditor]\nclient = \"/evil\"\nmodel = \"opus\"\n",
            ),
            ("[gates]\nmax_blocks = 1\n", "[gates]\nmax_blocks = \"many\"\n"),
            ("[audit\n", "[log]\nmax_size = \"1GB\"\n"),
            (
                "[[check]]\nname = \"a\"\nrun = \"x\"\n[[check]]\nname = \"b\"\nrun = \"y\"\n",
                "[[check]]\nname = \"a\"\nrun = \"z\"\nwhen = [\"src/**\"]\n[[check]]\nname = \"c\"\nrun = \"w\"\n",
            ),
            ("[memory]\nfiles = [\"~/n.md\"]\n", "[memory]\nfiles = [\"/etc/hosts\"]\nmax_lines = 5\n"),
        ] {
            let (_folder, env, work) = scene(own, project);
            let sources = sources(&env, &work);
            let (mut config, faults) = Config::load(&env, &work);
            // Whose a check is stands on the whole list, not on each of them.
            config.checks.iter_mut().for_each(|check| check.is_projects = false);
            assert_eq!((told(&sources), &sources.faults), (config, &faults), "{own} {project}");
        }
    }

    #[test]
    fn each_value_says_where_it_comes_from() {
        let (_folder, env, work) =
            scene("[gates]\nmax_blocks = 1\n[audit]\nmode = \"hold\"\n", "[gates]\nmax_blocks = 2\n");
        let all = sources(&env, &work).settings;
        let of = |path: &str| {
            let found = all.iter().find(|one| one.setting.path() == path).expect(path);
            (found.value_text(), found.source)
        };
        assert_eq!(of("gates.max_blocks"), ("2".into(), Source::Project));
        assert_eq!(of("audit.mode"), ("\"hold\"".into(), Source::Own));
        assert_eq!(of("gates.dry_run"), ("true".into(), Source::Variable));
        assert_eq!(of("auditor.client"), ("not set".into(), Source::Default));
        assert_eq!(of("log.keep"), ("\"90d\"".into(), Source::Default));
    }
}
