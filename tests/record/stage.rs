//! The stage of one recording: a scratch folder with the case's `before/` as its first commit and
//! the case's own programs first on the path. Takes a case and its folder, gives the scratch
//! folder. No hook is registered in it.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::case_file::CaseFile;
use crate::places::Places;
use crate::rig::scratch::Scratch;

/// The first commit is old: nothing in it can be taken for the session's work.
const LONG_AGO: &str = "2020-01-01T12:00:00Z";

/// Where a plain machine has its programs. The test's own path would bring in whatever is installed
/// beside.
const PLAIN_PATH: &[&str] = &["/usr/local/bin", "/usr/bin", "/bin"];

/// Lays the stage out.
pub(crate) fn lay_out(case: &CaseFile, folder: &Path) -> Result<(Scratch, Places), String> {
    let mut scratch = Scratch::new()?;
    let tools = scratch.root().join("tools");
    let mut path = vec![tools.clone()];
    // Clients up to 2.1.42 are scripts for it.
    path.extend(which::which("node").ok().and_then(|node| Some(node.parent()?.to_path_buf())));
    path.extend(PLAIN_PATH.iter().map(PathBuf::from));
    scratch.find_programs_in(path);
    if case.has_task_list() {
        scratch.set("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1");
    }
    for (name, script) in &case.script.tools {
        let program = tools.join(name);
        scratch.write(&program, &format!("#!/bin/sh\n{script}\n"))?;
        make_executable(&program)?;
    }
    let before = folder.join("before");
    if before.is_dir() {
        copy(&before, &scratch.project())?;
    }
    if case.truth.git {
        commit_all(&scratch)?;
    }
    let places = Places::of(&scratch, &tools);
    Ok((scratch, places))
}

fn commit_all(scratch: &Scratch) -> Result<(), String> {
    // The branch has a name of its own, not the machine's default.
    scratch.git(&["init", "--quiet", "--initial-branch", "main"])?;
    scratch.git(&["add", "."])?;
    let dates = [("GIT_AUTHOR_DATE", LONG_AGO), ("GIT_COMMITTER_DATE", LONG_AGO)];
    let commit = ["commit", "--quiet", "--allow-empty", "--message", "Begin"];
    scratch.output("git", &commit, &dates).map(drop)
}

/// Copies a folder whole, ignored files too; git's own folder is left out.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let entries = WalkDir::new(from).into_iter().filter_entry(|entry| entry.file_name() != ".git");
    for entry in entries {
        let entry = entry.map_err(|error| failed(from, &error))?;
        let there = entry.path().strip_prefix(from).map_or_else(|_| to.to_path_buf(), |below| to.join(below));
        let copied = if entry.file_type().is_dir() {
            std::fs::create_dir_all(&there)
        } else if entry.file_type().is_symlink() {
            copy_link(entry.path(), &there)
        } else {
            std::fs::copy(entry.path(), &there).map(drop)
        };
        copied.map_err(|error| failed(&there, &error))?;
    }
    Ok(())
}

#[cfg(unix)]
fn copy_link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(std::fs::read_link(from)?, to)
}

#[cfg(not(unix))]
fn copy_link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::copy(from, to).map(drop)
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
        .map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<(), String> {
    Ok(())
}
