//! What a session has left, as the files of a case. Takes a performance, gives `transcript.jsonl`,
//! `subagents/`, `plans/` and `workspace/` in a case's folder, whole or not at all. It must not add
//! to what the client wrote, and must not name this machine. What is left of the client's rows,
//! [`crate::rows`] says.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::performance::Performance;
use crate::places::left_of_this_machine;
use crate::rows::without_the_clients_own_text;
use crate::stage::copy;

/// What is recorded; everything else in a case's folder is the author's.
const PARTS: [&str; 4] = ["transcript.jsonl", "subagents", "plans", "workspace"];

/// Puts the recording of a case into a folder, in place of an earlier one. The case's own folder is
/// needed to tell a path of this machine that slipped in from one that the author wrote.
pub(crate) fn put(performance: &Performance, case: &Path, folder: &Path) -> Result<(), String> {
    // Beside the folder, so that what is ready can be renamed into place.
    let parent = folder.parent().unwrap_or(folder);
    let staging = tempfile::Builder::new()
        .prefix(".recording-")
        .tempdir_in(parent)
        .map_err(|error| format!("{}: {error}", parent.display()))?;
    write(performance, staging.path())?;
    check(staging.path(), &written_by_the_author(case))?;
    for part in PARTS {
        let (old, new) = (folder.join(part), staging.path().join(part));
        let gone = if old.is_dir() { std::fs::remove_dir_all(&old) } else { std::fs::remove_file(&old) };
        match gone {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(format!("{}: {error}", old.display()));
            }
            _ => {}
        }
        if new.exists() {
            std::fs::rename(&new, &old).map_err(|error| format!("{}: {error}", old.display()))?;
        }
    }
    Ok(())
}

/// Writes the recording into an empty folder.
fn write(performance: &Performance, folder: &Path) -> Result<(), String> {
    let Performance { scratch, places, session } = performance;
    let notes = scratch.notes_on(&scratch.project());
    let transcript = notes.join(format!("{session}.jsonl"));
    let clear = |from: &Path, to: PathBuf| -> Result<(), String> {
        let text = std::fs::read_to_string(from).map_err(|error| format!("{}: {error}", from.display()))?;
        let parent = to.parent().unwrap_or(&to);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&to, places.clear(&without_the_clients_own_text(&text))))
            .map_err(|error| format!("{}: {error}", to.display()))
    };
    clear(&transcript, folder.join("transcript.jsonl"))?;
    for file in subagents(&notes, session) {
        clear(&file, folder.join("subagents").join(file.file_name().unwrap_or_default()))?;
    }
    for file in files_in(&scratch.home().join(".claude/plans"), ".md") {
        clear(&file, folder.join("plans").join(file.file_name().unwrap_or_default()))?;
    }
    let workspace = folder.join("workspace");
    copy(&scratch.project(), &workspace)?;
    for file in all_files(&workspace) {
        // What is not text has no path to clear.
        if let Ok(text) = std::fs::read_to_string(&file) {
            let cleared = places.clear(&text);
            if cleared != text {
                std::fs::write(&file, cleared).map_err(|error| format!("{}: {error}", file.display()))?;
            }
        }
    }
    Ok(())
}

/// The transcripts of the session's subagents: in a folder of its own, or beside it in 2.0.x.
fn subagents(notes: &Path, session: &str) -> Vec<PathBuf> {
    let is_agent =
        |file: &PathBuf| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-"));
    let own = files_in(&notes.join(session).join("subagents"), ".jsonl");
    let beside = files_in(notes, ".jsonl").into_iter().filter(|file| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.lines().next().is_some_and(|row| row.contains(session))
    });
    own.into_iter().chain(beside).filter(is_agent).collect()
}

/// The files in a folder whose names end so.
pub(crate) fn files_in(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file() && path.to_string_lossy().ends_with(ending))
        .collect();
    files.sort();
    files
}

/// All files below a folder, in order.
pub(crate) fn all_files(folder: &Path) -> Vec<PathBuf> {
    WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .collect()
}

/// Everything that the author wrote, in one text.
fn written_by_the_author(case: &Path) -> String {
    let files = std::iter::once(case.join("case.toml")).chain(all_files(&case.join("before")));
    files.filter_map(|file| std::fs::read_to_string(file).ok()).collect::<Vec<_>>().join("\n")
}

/// Nothing that is to be published names this machine.
fn check(folder: &Path, written_by_the_author: &str) -> Result<(), String> {
    for file in all_files(folder) {
        let bytes = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let text = String::from_utf8_lossy(&bytes);
        if let Some(word) = left_of_this_machine(&text, written_by_the_author) {
            let at = text.find(&word).unwrap_or_default();
            let around: String = text[at..].chars().take(200).collect();
            let name = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
            return Err(format!("{name} names this machine ({word:?}): …{around}"));
        }
    }
    Ok(())
}
