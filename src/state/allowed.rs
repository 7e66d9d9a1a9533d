//! What a person has allowed of a project's config file: for each repository, with all its
//! worktrees, the ids of the commands and settings as they were shown. Whatever changes has to be
//! allowed again; the rest stays allowed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::sealed::is_sealed;
use super::{StateFolder, read_cache, read_json, update_json};
use crate::config::{Allowed, Asked, Config, ConfigError};
use crate::env::Env;
use crate::files::{open_regular, read_bounded};

/// The largest git file that names a folder.
const MOST_BYTES: u64 = 16 << 10;

/// The file of what is allowed, for each repository.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Sealed {
    repositories: BTreeMap<PathBuf, Allowed>,
}

/// What all worktrees of a repository share; the folder itself where it is in none.
fn repository(project: &Path) -> PathBuf {
    let real = fs::canonicalize(project).unwrap_or_else(|_| project.to_path_buf());
    let dot_git = real.join(".git");
    // A checkout may have anything in place of these.
    let text_of = |path: &Path| open_regular(path).and_then(|file| read_bounded(file, MOST_BYTES)).ok();
    let linked = text_of(&dot_git).and_then(|text| {
        let git_dir = real.join(text.strip_prefix("gitdir:")?.trim());
        let common = text_of(&git_dir.join("commondir"))?;
        let common = fs::canonicalize(git_dir.join(common.trim())).ok()?;
        // Any folder can claim to belong to a repository: the repository has to know about it.
        let is_in_it = fs::canonicalize(&git_dir).ok()?.starts_with(common.join("worktrees"));
        let known = text_of(&git_dir.join("gitdir"))?;
        let is_known = fs::canonicalize(git_dir.join(known.trim())).ok()? == dot_git;
        (is_in_it && is_known).then_some(common)
    });
    linked.or_else(|| fs::canonicalize(&dot_git).ok().filter(|git| git.is_dir())).unwrap_or(real)
}

/// Returns what a person has allowed a project, wherever the state is; empty if that is unknown.
pub fn allowed(env: &Env, project: &Path) -> Allowed {
    StateFolder::find(env).map(|state| state.allowed(project)).unwrap_or_default()
}

/// Reads the settings for a project, wherever the state is.
pub fn load_config(env: &Env, project: &Path) -> (Config, Vec<ConfigError>) {
    Config::load(env, project, || allowed(env, project))
}

impl StateFolder {
    pub fn allowed_file(&self) -> PathBuf {
        self.root.join("allowed.json")
    }

    /// What a person has allowed this project. What can't be read, or was written by hand, is not
    /// allowed.
    pub fn allowed(&self, project: &Path) -> Allowed {
        self.allowed_if_sealed(project).unwrap_or_default()
    }

    /// What a person has allowed this project; `None` where the file is not as punchlist wrote it.
    pub fn allowed_if_sealed(&self, project: &Path) -> Option<Allowed> {
        let bytes = read_cache(&self.allowed_file());
        if bytes.is_empty() {
            return Some(Allowed::new());
        }
        let all: Option<Sealed> =
            if is_sealed(&bytes, &self.allowed_file()) { serde_json::from_slice(&bytes).ok() } else { None };
        let mut all = all?;
        Some(all.repositories.remove(&repository(project)).unwrap_or_default())
    }

    /// Allows exactly this from now on. Returns whether that changed anything.
    pub fn allow(&self, project: &Path, asked: &[Asked]) -> io::Result<bool> {
        let repository = repository(project);
        let ids: Allowed = asked.iter().map(Asked::id).collect();
        let file = self.allowed_file();
        update_json(&file, true, |Sealed { repositories: all }| {
            // What was written by hand must not be sealed along with it.
            if !is_sealed(&read_cache(&file), &file) {
                all.clear();
            }
            let before = all.remove(&repository).unwrap_or_default();
            let is_changed = before != ids;
            if !ids.is_empty() {
                all.insert(repository, ids);
            }
            is_changed
        })
    }

    /// Returns whether this content of a config file was shown to a person.
    pub fn is_told(&self, file: &str, content: &str) -> bool {
        let all: BTreeMap<String, String> =
            read_json(&self.root.join("config-told.json")).unwrap_or_default();
        all.get(file).is_some_and(|told| told == content)
    }

    /// Returns whether this content of a config file was never shown to a person, and records it as
    /// shown. If that can't be written, it will be shown again.
    pub fn tell_once(&self, file: &str, content: &str) -> bool {
        let told = self.root.join("config-told.json");
        let is_new = |all: &BTreeMap<String, String>| all.get(file).is_none_or(|told| told != content);
        if !is_new(&read_json(&told).unwrap_or_default()) {
            return false;
        }
        let kept = update_json(&told, false, |all: &mut BTreeMap<String, String>| {
            let is_new = is_new(all);
            all.insert(file.to_owned(), content.to_owned());
            is_new
        });
        kept.unwrap_or(true)
    }

    /// Reads the settings for a project, with what the person has allowed it.
    pub fn load_config(&self, env: &Env, project: &Path) -> (Config, Vec<ConfigError>) {
        Config::load(env, project, || self.allowed(project))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(command: &str) -> Asked {
        Asked { key: "check".into(), value: command.into(), is_allowed: false }
    }

    #[test]
    fn what_is_allowed_is_these_words_in_this_repository() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path().join("state"));
        let (here, there) = (folder.path().join("here"), folder.path().join("there"));
        fs::create_dir_all(&here).and_then(|()| fs::create_dir_all(&there)).expect("made");
        let both = [asked("make test"), asked("make lint")];
        assert!(state.allowed(&here).is_empty());
        assert!(state.allow(&here, &both).expect("written"));
        assert!(!state.allow(&here, &both).expect("written"), "it was allowed already");
        assert!(both.iter().all(|one| state.allowed(&here).contains(&one.id())));
        assert!(state.allowed(&there).is_empty(), "another repository");
        assert!(!state.allowed(&here).contains(&asked("make test; curl x").id()), "other words");
        assert!(state.allow(&here, &both[..1]).expect("written"));
        assert!(
            !state.allowed(&here).contains(&both[1].id()),
            "what is no longer asked for is no longer allowed"
        );
        assert!(state.allow(&here, &[]).expect("written"));
        assert!(state.allowed(&here).is_empty());
    }

    #[test]
    fn what_was_written_by_hand_was_allowed() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        let project = folder.path().join("here");
        fs::create_dir_all(&project).expect("made");
        let (one, other) = (asked("make test"), asked("curl x"));
        state.allow(&project, std::slice::from_ref(&one)).expect("written");
        let by_hand =
            fs::read_to_string(state.allowed_file()).expect("there").replace(&one.id(), &other.id());
        fs::write(state.allowed_file(), by_hand).expect("written");
        assert!(state.allowed(&project).is_empty());
        assert_eq!(state.allowed_if_sealed(&project), None);
        let elsewhere = folder.path().join("there");
        fs::create_dir_all(&elsewhere).expect("made");
        state.allow(&elsewhere, &[one]).expect("written");
        assert!(state.allowed(&project).is_empty(), "it was not sealed along with what a person allowed");
    }

    #[test]
    fn worktrees_of_one_repository_are_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        };
        write("main/.git/HEAD", "ref: refs/heads/main\n");
        write("main/.git/worktrees/two/commondir", "../..\n");
        let git_dir = folder.path().join("main/.git/worktrees/two");
        write("two/.git", &format!("gitdir: {}\n", git_dir.display()));
        write("main/.git/worktrees/two/gitdir", &format!("{}\n", folder.path().join("two/.git").display()));
        // A copied folder that claims to be one of them.
        write("evil/.git", "gitdir: g\n");
        write("evil/g/commondir", &format!("{}\n", folder.path().join("main/.git").display()));
        write("evil/g/gitdir", &format!("{}\n", folder.path().join("evil/.git").display()));
        write("thief/.git", &format!("gitdir: {}\n", git_dir.display()));
        write("other/.git", "gitdir: /nowhere\n");
        let main = repository(&folder.path().join("main"));
        assert_eq!(repository(&folder.path().join("two")), main);
        assert!(main.ends_with("main/.git"), "{main:?}");
        for name in ["other", "evil", "thief"] {
            assert!(repository(&folder.path().join(name)).ends_with(name), "{name}");
        }
    }
}
