//! The session's fold against a slow reference on every transcript at hand: the fixtures, and whatever
//! `PUNCHLIST_TRANSCRIPTS` points at (a folder of real ones, say `~/.claude/projects`). None may panic, hang or
//! lose an edit.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use punchlist::session::ledger::{Ledger, Role};
use punchlist::session::{CommandEnd, reader};
use serde_json::Value;

/// What the reference sees: files changed with success, and commands with how many of them failed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    edits: Vec<String>,
    commands: usize,
    failed_commands: usize,
}

/// The plain way: every line as a `Value`, one call and its result at a time, nothing clever.
fn reference(bytes: &[u8]) -> Seen {
    let mut calls: HashMap<String, (String, String)> = HashMap::new();
    let mut order: Vec<String> = Vec::new();
    let mut ends: HashMap<String, bool> = HashMap::new();
    let mut uuids = std::collections::HashSet::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
        for row in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
            let Ok(row) = row else { break };
            let kind = row["type"].as_str().unwrap_or_default();
            if !["user", "assistant"].contains(&kind)
                || row["uuid"].as_str().is_some_and(|id| !uuids.insert(id.to_owned()))
            {
                continue;
            }
            let blocks = row["message"]["content"].as_array().cloned().unwrap_or_default();
            let results = blocks.iter().filter(|block| block["type"] == "tool_result").count();
            for block in &blocks {
                if kind == "assistant" && block["type"] == "tool_use" {
                    let (Some(id), Some(name)) = (block["id"].as_str(), block["name"].as_str()) else {
                        continue;
                    };
                    let input = &block["input"];
                    let path =
                        input["file_path"].as_str().or(input["notebook_path"].as_str()).unwrap_or_default();
                    if !calls.contains_key(id) {
                        calls.insert(id.into(), (name.into(), path.into()));
                        order.push(id.into());
                    }
                }
                if kind == "user" && block["type"] == "tool_result" {
                    let Some(id) = block["tool_use_id"].as_str() else { continue };
                    let result = &row["toolUseResult"];
                    let plain = results == 1 && result.is_string();
                    let staged = results == 1 && result["staged"] == true;
                    let is_edit =
                        calls.get(id).is_some_and(|(name, _)| name != "Bash" && name != "PowerShell");
                    let plain_error = plain && result.as_str().is_some_and(|text| text.starts_with("Error"));
                    let failed = block["is_error"] == true
                        || (is_edit && (plain || staged))
                        || (!is_edit && plain_error);
                    if calls.contains_key(id) {
                        ends.entry(id.into()).or_insert(!failed);
                    }
                }
            }
        }
    }
    let mut seen = Seen::default();
    for id in order {
        let (name, path) = &calls[&id];
        match name.as_str() {
            "Write" | "Edit" | "MultiEdit" | "NotebookEdit"
                if !path.is_empty() && ends.get(&id) == Some(&true) =>
            {
                seen.edits.push(path.clone());
            }
            "Bash" | "PowerShell" => {
                seen.commands += 1;
                seen.failed_commands += usize::from(ends.get(&id) == Some(&false));
            }
            _ => {}
        }
    }
    seen
}

fn folded(path: &Path) -> Seen {
    let mut ledger = Ledger::new(Role::Main);
    reader::fold_from(path, 0, &mut ledger).expect("readable");
    let session = ledger.into_session();
    let failed = session.commands.iter().filter(|command| matches!(command.end, CommandEnd::Failed(_)));
    Seen {
        edits: session.done_touches().map(|touch| touch.path.clone()).collect(),
        commands: session.commands.len(),
        failed_commands: failed.count(),
    }
}

fn transcripts() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let more = std::env::var_os("PUNCHLIST_TRANSCRIPTS").map(PathBuf::from);
    [Some(own), more]
        .into_iter()
        .flatten()
        .flat_map(walkdir::WalkDir::new)
        .filter_map(Result::ok)
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|ext| ext == "jsonl"))
        .collect()
}

#[test]
fn the_fold_sees_what_a_slow_reader_sees() {
    let transcripts = transcripts();
    assert!(transcripts.len() >= 2, "the fixtures at least");
    let mut edits = 0;
    for path in &transcripts {
        let expected = reference(&std::fs::read(path).expect("readable"));
        edits += expected.edits.len();
        assert_eq!(folded(path), expected, "{}", path.display());
    }
    assert!(edits >= 8, "{edits} edits in {} transcripts", transcripts.len());
}
