//! The project of a folder: its repository's main folder, the same for all its worktrees. So
//! workers in worktrees share tasks, and two clones don't. Only reads.

use std::path::{Path, PathBuf};

use crate::files::bounded_text;

/// The longest git file that names a folder, and the longest config: a checkout may have anything
/// in their place.
const MOST_LINK: u64 = 16 << 10;
const MOST_CONFIG: u64 = 1 << 20;

/// The repository's main folder; the folder itself where there is none.
pub fn project_of(folder: &Path) -> PathBuf {
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    let found = folder.ancestors().find_map(|above| {
        let git = above.join(".git");
        let meta = std::fs::metadata(&git).ok()?;
        Some(if meta.is_dir() { above.to_path_buf() } else { main_of(above, &git) })
    });
    found.unwrap_or(folder)
}

/// The main folder of a linked worktree. A submodule has such a file, too, and is a repository of
/// its own.
fn main_of(worktree: &Path, git: &Path) -> PathBuf {
    let text = bounded_text(git, MOST_LINK).unwrap_or_default();
    let linked = text.strip_prefix("gitdir:").map(|rest| worktree.join(rest.trim()));
    let common = linked.as_deref().and_then(|own| {
        let all = own.parent().filter(|all| all.file_name().is_some_and(|name| name == "worktrees"))?;
        all.parent()
    });
    let Some(common) = common else { return worktree.to_path_buf() };
    let common = std::fs::canonicalize(common).unwrap_or_else(|_| common.to_path_buf());
    match common.parent() {
        Some(main) if common.file_name().is_some_and(|name| name == ".git") => main.to_path_buf(),
        // A bare repository has worktrees, too.
        _ => common,
    }
}

/// The name by which machines of a fleet know the project: where its repository comes from, without
/// scheme, user and ending, such as `github.com/acme/shop`; the last name alone where it comes from
/// a folder of this machine, and the folder's own name where it comes from nowhere.
pub fn shared_name(project: &Path) -> String {
    let config = bounded_text(&project.join(".git/config"), MOST_CONFIG)
        .or_else(|_| bounded_text(&project.join("config"), MOST_CONFIG))
        .unwrap_or_default();
    let origin = config.split("[remote \"origin\"]").nth(1).and_then(|rest| {
        let mut lines = rest.lines().take_while(|line| !line.trim_start().starts_with('['));
        lines.find_map(|line| line.trim().strip_prefix("url")?.trim_start().strip_prefix('='))
    });
    let folder = || project.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    origin.map(|url| repository_name(url.trim())).filter(|name| !name.is_empty()).unwrap_or_else(folder)
}

/// `git@github.com:acme/shop.git` and `https://me:token@github.com:443/acme/shop` are one
/// repository.
fn repository_name(url: &str) -> String {
    /// What follows either may be a token.
    fn without_query(text: &str) -> &str {
        text.split(['?', '#']).next().unwrap_or_default()
    }
    let (host, path) = if let Some((_, rest)) = url.split_once("://") {
        let rest = without_query(rest);
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        // A port is the way there, not the place.
        (host.rsplit('@').next().unwrap_or_default().split(':').next().unwrap_or_default(), path)
    } else {
        let (host, path) = url.split_once(':').unwrap_or(("", url));
        let path = if host.len() < 2 { path } else { without_query(path) };
        (host.rsplit('@').next().unwrap_or_default(), path)
    };
    let path = path.trim_matches(['/', '\\']).trim_end_matches(".git");
    // One letter is a drive.
    if host.len() < 2 {
        return path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    }
    format!("{}/{path}", host.to_lowercase())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn worktrees_are_one_project_and_submodules_and_clones_are_their_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("real");
        let make = |path: &str| fs::create_dir_all(root.join(path)).expect("made");
        make("shop/.git/worktrees/tree");
        make("shop/.git/modules/part");
        make("shop/src/deep");
        make("shop/part");
        make("tree/src");
        make("bare.git/worktrees/other");
        make("other");
        make("clone/.git");
        make("plain/inner");
        let link =
            |path: &str, to: &str| fs::write(root.join(path), format!("gitdir: {to}\n")).expect("written");
        link("tree/.git", &root.join("shop/.git/worktrees/tree").display().to_string());
        link("other/.git", "../bare.git/worktrees/other");
        link("shop/part/.git", "../.git/modules/part");
        for (from, to) in [
            ("shop", "shop"),
            ("shop/src/deep", "shop"),
            ("tree", "shop"),
            ("tree/src", "shop"),
            ("shop/part", "shop/part"),
            ("other", "bare.git"),
            ("clone", "clone"),
            ("plain/inner", "plain/inner"),
        ] {
            // A folder above the test's own may be under git.
            let project = project_of(&root.join(from));
            assert!(
                project == root.join(to) || (from == "plain/inner" && root.starts_with(&project)),
                "{from}: {project:?}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_or_a_device_in_place_of_gits_files_was_read_without_end() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("real");
        let pipe = |path: &Path| mknodat(CWD, path, FileType::Fifo, Mode::RUSR, 0).expect("a pipe");
        let device = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).expect("a link");
        for (name, make) in [("pipe", &pipe as &dyn Fn(&Path)), ("device", &device)] {
            let (link, config) = (root.join(format!("{name}-link")), root.join(format!("{name}-config")));
            fs::create_dir_all(&link).and_then(|()| fs::create_dir_all(config.join(".git"))).expect("made");
            make(&link.join(".git"));
            make(&config.join(".git/config"));
            make(&config.join("config"));
            assert_eq!(project_of(&link), link);
            assert_eq!(shared_name(&config), format!("{name}-config"));
        }
    }

    #[test]
    fn a_project_has_one_name_on_every_machine() {
        for (url, name) in [
            ("git@github.com:acme/shop.git", "github.com/acme/shop"),
            ("https://me:token@GitHub.com:443/acme/shop", "github.com/acme/shop"),
            ("ssh://git@github.com:2222/acme/shop.git/", "github.com/acme/shop"),
            ("https://github.com/123acme/shop", "github.com/123acme/shop"),
            // A token went along.
            ("https://github.com/acme/shop.git?access_token=abc/d", "github.com/acme/shop"),
            ("https://github.com/acme/shop#abc", "github.com/acme/shop"),
            ("https://git.example.org?token=abc/d", "git.example.org/"),
            ("git@github.com:acme/shop.git?token=abc", "github.com/acme/shop"),
            ("/home/ann/c#/shop", "shop"),
            // Its folders were told to all machines.
            ("/home/ann/clients/shop.git", "shop"),
            ("file:///home/ann/clients/shop/", "shop"),
            (r"C:\Users\ann\shop.git", "shop"),
        ] {
            assert_eq!(repository_name(url), name, "{url}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let shop = folder.path().join("shop");
        fs::create_dir_all(shop.join(".git")).expect("made");
        assert_eq!(shared_name(&shop), "shop");
        let config = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@example.org:acme/shop.git\n\
                      \tfetch = +x\n[branch \"main\"]\n\turl = no\n";
        fs::write(shop.join(".git/config"), config).expect("written");
        assert_eq!(shared_name(&shop), "example.org/acme/shop");
    }
}
