//! Which commands of a project's config file a person has allowed to run: a hash of the commands for each repository,
//! with all its worktrees. A command that changes has to be allowed anew.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{StateFolder, read_json, update_json};
use crate::config::CheckConfig;
use crate::ids::ContentId;

/// What is allowed: for each repository the name of its commands.
type Allowed = BTreeMap<PathBuf, String>;

/// The name of the commands that a project's file asks for; `None` where it asks for none.
fn name_of(checks: &[CheckConfig]) -> Option<String> {
    let mut asked: Vec<_> = checks.iter().filter(|check| check.is_projects).collect();
    asked.sort_by(|one, other| one.name.cmp(&other.name));
    let mut name = ContentId::default();
    for check in &asked {
        name.add(&check.name);
        name.add(&check.run);
    }
    (!asked.is_empty()).then(|| name.finish())
}

/// What all worktrees of a repository share; the folder itself where it is in none.
fn repository(project: &Path) -> PathBuf {
    let real = fs::canonicalize(project).unwrap_or_else(|_| project.to_path_buf());
    let dot_git = real.join(".git");
    let linked = fs::read_to_string(&dot_git).ok().and_then(|text| {
        let git_dir = real.join(text.strip_prefix("gitdir:")?.trim());
        let common = fs::read_to_string(git_dir.join("commondir")).ok()?;
        let common = fs::canonicalize(git_dir.join(common.trim())).ok()?;
        // Any folder can say that it belongs to a repository: the repository has to know of it.
        let is_in_it = fs::canonicalize(&git_dir).ok()?.starts_with(common.join("worktrees"));
        let known = fs::read_to_string(git_dir.join("gitdir")).ok()?;
        let is_known = fs::canonicalize(git_dir.join(known.trim())).ok()? == dot_git;
        (is_in_it && is_known).then_some(common)
    });
    linked.or_else(|| fs::canonicalize(&dot_git).ok().filter(|git| git.is_dir())).unwrap_or(real)
}

impl StateFolder {
    fn allowed_file(&self) -> PathBuf {
        self.root.join("allowed.json")
    }

    /// Whether a person has allowed what this project's file asks to run. What can't be read is not allowed.
    pub fn is_allowed(&self, project: &Path, checks: &[CheckConfig]) -> bool {
        let Some(name) = name_of(checks) else { return true };
        let allowed: Allowed = read_json(&self.allowed_file()).unwrap_or_default();
        allowed.get(&repository(project)) == Some(&name)
    }

    /// Allows it from now on; `None` takes it back. Gives whether that changed anything.
    pub fn allow(&self, project: &Path, checks: Option<&[CheckConfig]>) -> io::Result<bool> {
        let repository = repository(project);
        update_json(&self.allowed_file(), false, |allowed: &mut Allowed| {
            let before = match checks.and_then(name_of) {
                Some(name) => allowed.insert(repository.clone(), name),
                None => allowed.remove(&repository),
            };
            before.as_ref() != allowed.get(&repository)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;

    #[test]
    fn what_is_allowed_is_these_words_in_this_repository() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path().join("state"));
        let (here, there) = (folder.path().join("here"), folder.path().join("there"));
        fs::create_dir_all(&here).and_then(|()| fs::create_dir_all(&there)).expect("made");
        let asked = [check("make test", true)];
        assert!(state.is_allowed(&here, &[check("anything", false)]), "one's own needs no leave");
        assert!(!state.is_allowed(&here, &asked));
        assert!(state.allow(&here, Some(&asked)).expect("written"));
        assert!(!state.allow(&here, Some(&asked)).expect("written"), "it was allowed already");
        assert!(state.is_allowed(&here, &asked) && !state.is_allowed(&there, &asked));
        assert!(!state.is_allowed(&here, &[check("make test; curl x", true)]), "other words");
        assert!(state.allow(&here, None).expect("written"));
        assert!(!state.is_allowed(&here, &asked));
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
