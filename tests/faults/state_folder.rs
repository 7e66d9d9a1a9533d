//! The state folder of a test, looked at from outside and put back as it was.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::test_project::TestProject;

/// Every file of the folder, with what it holds.
pub(crate) type Snapshot = Vec<(PathBuf, Vec<u8>)>;

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

pub(crate) fn snapshot(project: &TestProject) -> Snapshot {
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).expect("a file");
        (path, bytes)
    };
    files(&project.path("state")).into_iter().map(read).collect()
}

/// Puts the folder back as it was.
pub(crate) fn restore(project: &TestProject, snapshot: &Snapshot) {
    let _ = fs::remove_dir_all(project.path("state"));
    for (path, bytes) in snapshot {
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, bytes).expect("written");
    }
}

/// Every decision in the log, oldest first; a line that is none is an error.
pub(crate) fn records(project: &TestProject) -> Result<Vec<Value>, String> {
    let mut records = Vec::new();
    for file in files(&project.path("state/decisions")) {
        for line in String::from_utf8_lossy(&fs::read(file).expect("the log")).lines() {
            let value: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
            if value.get("kind").is_none() {
                records.push(value);
            }
        }
    }
    Ok(records)
}

/// How often a session was blocked, as it is counted.
pub(crate) fn blocks(project: &TestProject, session: &str) -> u64 {
    let bytes = fs::read(project.path("state/sessions").join(format!("{session}.json"))).unwrap_or_default();
    serde_json::from_slice::<Value>(&bytes).map_or(0, |value| value["blocks"].as_u64().unwrap_or(0))
}

/// Files that were to be put in the place of others, and were left.
pub(crate) fn leftovers(project: &TestProject) -> Vec<PathBuf> {
    let is_temporary =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp"));
    files(&project.path("state")).into_iter().filter(is_temporary).collect()
}
