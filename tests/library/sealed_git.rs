//! Hostile repositories: git is asked about each, and nothing that it names may run. In every one
//! of them plain git, which is the control, does run it.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use punchlist::testing::Folder;
use punchlist::workspace::git::Git;

const BEFORE: &str = "2026-10-01T00:00:00Z";
const DURING: &str = "2026-10-01T12:00:00Z";

/// A repository whose config names a program that leaves a mark.
struct Hostile {
    folder: Folder,
}

impl Hostile {
    fn new() -> Self {
        let folder = Folder::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
        folder.git(BEFORE, &["init", "-q"]);
        folder.commit(BEFORE, "First");
        // As long as it was: only its content tells, and that goes through the filter.
        folder.write("a.txt", "ONE\n");
        Self { folder }
    }

    fn mark(&self) -> PathBuf {
        self.folder.path().join("mark")
    }

    /// A program that leaves the mark, and passes its input on.
    fn program(&self) -> String {
        let path = self.folder.path().join("program");
        fs::write(
            &path,
            format!("#!/bin/sh\necho ran >> '{}'\n[ $# -gt 0 ] || cat\n", self.mark().display()),
        )
        .expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
        path.display().to_string()
    }

    fn set(&self, key: &str, value: &str) {
        self.folder.git(DURING, &["config", key, value]);
    }

    fn ran(&self) -> bool {
        self.mark().exists()
    }

    /// Asks all that an audit asks, in a folder of the repository.
    fn ask_in(&self, root: &Path, name: &str) {
        let git = Git::new(root.to_path_buf());
        let repository = git.repository(Some(DURING), None);
        let base = git.base(DURING);
        git.texts_at(base.as_deref().unwrap_or("HEAD"), &["a.txt", "b.txt"]);
        git.newest_commit();
        assert!(!self.ran(), "{name}: it was run");
        if root == self.folder.root() {
            let repository = repository.expect(name);
            let changed = repository.uncommitted.iter().any(|file| file.path == "a.txt");
            assert!(changed, "{name}: {repository:?}");
        }
    }

    /// Runs plain git, which does run it.
    fn control_in(&self, root: &Path, control: &[&str], name: &str) {
        let plain = Command::new("git")
            .args(control)
            .current_dir(root)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdin(Stdio::null())
            .output();
        assert!(self.ran(), "{name}: plain git does not run it either: {plain:?}");
    }

    fn check_in(&self, root: &Path, control: &[&str], name: &str) {
        self.ask_in(root, name);
        self.control_in(root, control, name);
    }

    fn check(&self, control: &[&str], name: &str) {
        self.check_in(&self.folder.root(), control, name);
    }
}

#[test]
fn no_filter_of_a_repository_is_run() {
    for (variable, control) in [
        ("clean", ["status"].as_slice()),
        ("process", &["status"]),
        ("smudge", &["checkout-index", "-f", "-a"]),
    ] {
        for attributes in [".gitattributes", ".git/info/attributes"] {
            let hostile = Hostile::new();
            hostile.folder.write(attributes, "*.txt filter=x.y\n");
            hostile.set(&format!("filter.x.y.{variable}"), &hostile.program());
            if variable != "smudge" {
                hostile.set("filter.x.y.required", "true");
            }
            hostile.check(control, &format!("{variable} by {attributes}"));
        }
    }
}

#[test]
fn a_filter_in_a_file_that_the_config_includes_is_not_run() {
    let hostile = Hostile::new();
    hostile.folder.write(".gitattributes", "*.txt filter=x\n");
    let clean = format!("[filter \"x\"]\n\tclean = {}\n", hostile.program());
    hostile.folder.write("more.config", &clean);
    hostile.set("include.path", "../more.config");
    hostile.check(&["status"], "included");
}

#[test]
fn a_filter_that_can_not_be_switched_off_is_not_run_and_git_not_asked() {
    let hostile = Hostile::new();
    hostile.folder.write(".gitattributes", "*.txt filter=x=y\n");
    let config = format!("[filter \"x=y\"]\n\tclean = {}\n", hostile.program());
    hostile.folder.write("more.config", &config);
    hostile.set("include.path", "../more.config");
    assert_eq!(Git::new(hostile.folder.root()).repository(Some(DURING), None), None);
    assert!(!hostile.ran());
}

#[test]
fn no_program_for_changes_diffs_or_hooks_is_run() {
    for (key, control) in [
        ("core.fsmonitor", ["status"].as_slice()),
        ("diff.external", &["diff"]),
        ("diff.x.textconv", &["diff"]),
        ("diff.x.command", &["diff"]),
    ] {
        let hostile = Hostile::new();
        hostile.folder.write(".gitattributes", "*.txt diff=x\n");
        hostile.set(key, &hostile.program());
        hostile.check(control, key);
    }
    let hostile = Hostile::new();
    // What is as it was, but not as old, is noted in the index, after which the hook runs.
    hostile.folder.age("b.txt", BEFORE);
    let hook = hostile.folder.root().join(".git/hooks/post-index-change");
    fs::create_dir_all(hook.parent().expect("a folder")).expect("made");
    fs::copy(hostile.program(), &hook).expect("copied");
    hostile.ask_in(&hostile.folder.root(), "a hook");
    hostile.folder.age("b.txt", DURING);
    hostile.control_in(&hostile.folder.root(), &["status"], "a hook");
}

#[test]
fn no_program_that_looks_at_signatures_is_run() {
    let hostile = Hostile::new();
    let root = hostile.folder.root();
    let out = |args: &[&str], stdin: Option<&Path>| {
        let stdin = stdin.map_or(Stdio::null(), |path| fs::File::open(path).expect("there").into());
        let ended =
            Command::new("git").args(args).current_dir(&root).stdin(stdin).output().expect("git runs");
        assert!(ended.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).expect("text").trim().to_owned()
    };
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n";
    let who = "Ann <ann@example.com> 1791000000 +0000";
    let tree = out(&["rev-parse", "HEAD^{tree}"], None);
    let commit = format!("tree {tree}\nauthor {who}\ncommitter {who}\n{signature}\nSigned\n");
    let file = hostile.folder.path().join("commit");
    fs::write(&file, commit).expect("written");
    let id = out(&["hash-object", "-t", "commit", "-w", "--stdin"], Some(&file));
    out(&["update-ref", "HEAD", &id], None);
    out(&["update-ref", "--create-reflog", "refs/stash", &id], None);
    hostile.set("log.showSignature", "true");
    hostile.set("gpg.program", &hostile.program());
    hostile.check(&["log", "-1"], "a signature");
}

#[test]
fn a_partial_clone_fetches_nothing() {
    let hostile = Hostile::new();
    for (key, value) in [
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", &format!("ext::{} %S", hostile.program())),
        ("protocol.ext.allow", "always"),
    ] {
        hostile.set(key, value);
    }
    // The object of `b.txt`.
    fs::remove_file(hostile.folder.root().join(".git/objects/f7/19efd430d52bcfc8566a43b2eb655688d38871"))
        .expect("the text of b.txt");
    hostile.check(&["cat-file", "-p", "HEAD:b.txt"], "a fetch");
}

#[test]
fn a_submodule_is_not_asked_by_another_git() {
    let hostile = Hostile::new();
    let inner = hostile.folder.root().join("inner");
    fs::create_dir_all(&inner).expect("made");
    let git = |args: &[&str]| hostile.folder.git(BEFORE, &[&["-C", "inner"], args].concat());
    git(&["init", "-q"]);
    fs::write(inner.join("c.txt"), "three\n").expect("written");
    fs::write(inner.join(".gitattributes"), "*.txt filter=x\n").expect("written");
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "Inner"]);
    hostile.folder.git(BEFORE, &["add", "inner"]);
    fs::write(inner.join("c.txt"), "THREE\n").expect("written");
    git(&["config", "filter.x.clean", &hostile.program()]);
    hostile.check(&["status"], "a submodule");
}

#[test]
fn a_bare_repository_in_a_subfolder_is_none() {
    let hostile = Hostile::new();
    let bare = hostile.folder.root().join("docs");
    for folder in ["objects", "refs", "below"] {
        fs::create_dir_all(bare.join(folder)).expect("made");
    }
    fs::write(bare.join("HEAD"), "ref: refs/heads/main\n").expect("written");
    let program = hostile.program();
    fs::write(
        bare.join("config"),
        format!("[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {program}\n"),
    )
    .expect("written");
    hostile.check_in(&bare, &["status"], "a bare repository");
    fs::remove_file(hostile.mark()).expect("there");
    hostile.check_in(&bare.join("below"), &["status"], "a folder in one");
}

#[test]
fn the_subject_of_a_commit_hides_no_other_commit_and_no_file() {
    let folder = Folder::new(&[("a.txt", "one\n")]);
    folder.git(BEFORE, &["init", "-q"]);
    folder.commit(BEFORE, "First");
    folder.write("b.txt", "two\n");
    folder.commit("2026-10-01T13:00:00Z", "Add b \u{1}abc");
    let commits = Git::new(folder.root()).repository(Some(DURING), None).expect("a repository").commits;
    let read: Vec<_> = commits.iter().map(|commit| (commit.subject.as_str(), &commit.files[..])).collect();
    assert_eq!(read, [("Add b \u{1}abc", &["b.txt".to_owned()][..])]);
}

#[test]
fn what_is_stashed_is_read_from_the_log_of_it() {
    let folder = Folder::new(&[("a.txt", "one\n")]);
    folder.git(BEFORE, &["init", "-q"]);
    folder.commit(BEFORE, "First");
    for text in ["two\n", "three\n"] {
        folder.write("a.txt", text);
        folder.git(DURING, &["stash", "push", "-q", "-m", text.trim()]);
    }
    let stashes = Git::new(folder.root()).repository(Some(DURING), None).expect("a repository").stashes;
    let read: Vec<_> = stashes.iter().map(|stash| (stash.name.as_str(), stash.subject.as_str())).collect();
    assert_eq!(read, [("stash@{0}", "On main: three"), ("stash@{1}", "On main: two")]);
}

/// `core.worktree` names any folder, and what is in it was listed as the repository's.
#[test]
fn a_repository_led_git_to_another_folder() {
    let hostile = Hostile::new();
    let elsewhere = Folder::new(&[("private-name.txt", "x\n")]);
    hostile.set("core.worktree", &elsewhere.root().display().to_string());
    let git = Git::new(hostile.folder.root().clone());
    let found = format!("{:?}", git.repository(Some(DURING), None));
    assert!(!found.contains("private-name"), "{found}");
    assert!(found.contains("a.txt"), "{found}");
}
