//! Variables that come from the project: the client gives hooks what the `env` of its settings
//! says, and a clone brings settings along. What would switch the gate off counts only after the
//! person has allowed it; what moves their config and state, or chooses a program or a server,
//! never does. `settings.local.json` counts as the project's, too: a clone can bring it, and an
//! agent writes it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::project::{Allowed, Asked};
use crate::client::env_vars;
use crate::client::settings::Scope;
use crate::client::settings::variables::variables_in;
use crate::env::{self, Env};

/// Variables that a person may allow a project.
const IF_ALLOWED: [&str; 2] = [env::OFF, env::DRY_RUN];

/// Variables that are the person's alone.
const NEVER: [&str; 18] = [
    "HOME",
    "USERPROFILE",
    env_vars::CONFIG_DIR,
    env_vars::EXECPATH,
    env_vars::PID,
    env::HOME,
    env::CLAUDE,
    env::DATABASE_URL,
    env::OTLP,
    env::INSIDE_AUDITOR,
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    // Whose certificates a server may show.
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    // Which model reads, how much it thinks, and where.
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "MAX_THINKING_TOKENS",
    "TMPDIR",
];

/// What a file that is too large to be read may set; without the others nothing can be found.
const OF_UNREAD: [&str; 8] = [
    env::OFF,
    env::DRY_RUN,
    env::CLAUDE,
    env::DATABASE_URL,
    env::OTLP,
    env::INSIDE_AUDITOR,
    env_vars::EXECPATH,
    "TMPDIR",
];

/// The variables that the project's settings set and that matter to the gate.
#[derive(Debug)]
pub(super) struct ProjectEnv {
    /// Each with its value, `None` for any, and its file.
    set: BTreeMap<String, (Option<String>, PathBuf)>,
}

impl ProjectEnv {
    pub(super) fn read(env: &Env, project: &Path) -> Self {
        let of = |(folder, scope): (&Path, Scope)| {
            let file = scope.file(env, folder)?;
            let unread = || OF_UNREAD.map(|name| (name.to_owned(), None)).into();
            Some((variables_in(&file).unwrap_or_else(unread), file))
        };
        // A command may be run deeper in the project, or in another folder than the session's, which
        // the client tells its hooks.
        let home = env.home();
        let is_home = |folder: &&Path| home.as_deref() == Some(*folder);
        let sessions = env.path(env_vars::PROJECT_DIR).filter(|folder| folder != project);
        let depth = if env.get(env_vars::PROJECT_DIR).is_some() { 1 } else { usize::MAX };
        let folders = project.ancestors().take(depth).chain(sessions.as_deref());
        let folders = folders.filter(|folder| !is_home(folder));
        let files = folders.flat_map(|folder| [Scope::Project, Scope::Local].map(|scope| (folder, scope)));
        let mut set = BTreeMap::new();
        for (variables, file) in files.filter_map(of) {
            let guarded = variables
                .into_iter()
                .filter(|(name, _)| IF_ALLOWED.contains(&name.as_str()) || NEVER.contains(&name.as_str()));
            set.extend(guarded.map(|(name, value)| (name, (value, file.clone()))));
        }
        let mut all = Self { set };
        // What the person's own settings say as well is theirs, wherever the project says that is.
        let env = all.without(env, |name| NEVER.contains(&name));
        let own = Scope::User.file(&env, project).and_then(|file| variables_in(&file)).unwrap_or_default();
        all.set.retain(|name, (value, _)| own.get(name).is_none_or(|own| own != value));
        all
    }

    /// Returns what the person may allow, each with its file.
    pub(super) fn asked(&self, allowed: &Allowed) -> Vec<(Asked, &Path)> {
        let asking = self.set.iter().filter(|(name, _)| IF_ALLOWED.contains(&name.as_str()));
        let asked = asking.map(|(name, (value, file))| {
            let value = value.as_deref().unwrap_or("any value").into();
            let asked = Asked { key: format!("env.{name}"), value, is_allowed: false };
            (Asked { is_allowed: allowed.contains(&asked.id()), ..asked }, file.as_path())
        });
        asked.collect()
    }

    /// Returns the names of the variables that never count, each with its file.
    pub(super) fn refused(&self) -> impl Iterator<Item = (&str, &Path)> {
        let refused = self.set.iter().filter(|(name, _)| NEVER.contains(&name.as_str()));
        refused.map(|(name, (_, file))| (name.as_str(), file.as_path()))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Returns the environment without what the project set in it and may not. One with another
    /// value than the project's is the person's. `allowed` returns what the person has allowed,
    /// wherever the state is in the given environment.
    pub(super) fn taken_from(&self, env: &Env, allowed: impl FnOnce(&Env) -> Allowed) -> Env {
        if self.set.is_empty() {
            return env.clone();
        }
        let env = self.without(env, |name| NEVER.contains(&name));
        let asked = self.asked(&allowed(&env));
        let is_asked = |name: &str| {
            asked.iter().any(|(one, _)| !one.is_allowed && one.key.strip_prefix("env.") == Some(name))
        };
        self.without(&env, is_asked)
    }

    fn without(&self, env: &Env, drops: impl Fn(&str) -> bool) -> Env {
        let is_projects = |name: &str, value: &Option<String>| {
            value.is_none() || env.text(name).as_deref() == value.as_deref()
        };
        let dropped = self.set.iter().filter(|(name, (value, _))| drops(name) && is_projects(name, value));
        env.without(dropped.map(|(name, _)| name.as_str()))
    }
}

/// Returns the environment without what the project set in it and may not.
pub fn without_projects(env: &Env, project: &Path, allowed: impl FnOnce(&Env) -> Allowed) -> Env {
    ProjectEnv::read(env, project).taken_from(env, allowed)
}
