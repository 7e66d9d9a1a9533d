//! A recording as punchlist sees it: the session that it folds out of the transcripts, and the
//! workspace after it. Takes a case's folder, gives one text that is the same for two recordings of
//! the same script: what is chance in them (ids, times, names that the client makes up) is left
//! out. It must not look at what the author wrote.

use std::path::Path;

use punchlist::session::builder::Role;
use punchlist::session::file_history;
use punchlist::session::file_history::Wanted;
use punchlist::session::load::load;
use serde_json::{Map, Value, json};

use crate::recording::{all_files, files_in};
use crate::stage::copy;

/// What says which session it was, when and from where it was read, and how many rows of the
/// client's own stood beside.
const CHANCE: &[&str] = &["id", "started", "ended", "rows", "skipped", "sources", "last_call"];

/// The recording in a case's folder, as one text.
pub(crate) fn read(case: &Path) -> Result<String, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", case.display());
    // Laid out as the client does, with the subagents in a folder that is named for the session.
    let layout = tempfile::tempdir().map_err(|error| failed(&error))?;
    let transcript = layout.path().join("session.jsonl");
    std::fs::copy(case.join("transcript.jsonl"), &transcript).map_err(|error| failed(&error))?;
    if case.join("subagents").is_dir() {
        copy(&case.join("subagents"), &layout.path().join("session/subagents"))?;
    }
    let mut loaded = load(Some(&transcript), Role::Main, None);
    // Where a text stands in its transcript is chance; what it says is not.
    file_history::fetch(&mut loaded.session, |_| Wanted::All);
    if let Some(problem) = loaded.problem {
        return Err(problem);
    }
    let mut session = serde_json::to_value(&loaded.session).map_err(|error| failed(&error))?;
    without_chance(&mut session);
    let mut text = serde_json::to_string_pretty(&session).map_err(|error| failed(&error))?;
    // The client makes up a name for every plan.
    for file in files_in(&case.join("plans"), ".md") {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        text = text.replace(&*name, "[plan]");
    }
    for file in all_files(&case.join("workspace")) {
        let name = file.strip_prefix(case).unwrap_or(&file).display();
        let content = std::fs::read(&file).map_err(|error| failed(&error))?;
        text.push_str(&format!("\n--- {name}\n{}", String::from_utf8_lossy(&content)));
    }
    Ok(text)
}

/// Takes out what is chance in any entry: when it was, which subagent it was, and where in the
/// transcript a text stands.
fn without_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !["time", "ended", "agent_id", "Recorded"].contains(&name.as_str()));
            fields.values_mut().for_each(without_times);
        }
        Value::Array(items) => items.iter_mut().for_each(without_times),
        _ => {}
    }
}

fn without_chance(session: &mut Value) {
    without_times(session);
    let Some(fields) = session.as_object_mut() else { return };
    fields.retain(|name, _| !CHANCE.contains(&name.as_str()));
    for list in ["touches", "commands"] {
        if let Some(Value::Array(items)) = fields.get_mut(list) {
            let (mut own, mut others): (Vec<_>, Vec<_>) =
                std::mem::take(items).into_iter().partition(|item| item["agent"].is_null());
            // Subagents are folded in by the names of their files, which are chance: so is their
            // order.
            for item in &mut others {
                item["agent"] = json!("a subagent");
                item["at"] = Value::Null;
            }
            others.sort_by_key(Value::to_string);
            own.append(&mut others);
            *items = own;
        }
    }
    number_anew(fields);
    if let Some(Value::Array(reads)) = fields.get_mut("reads") {
        reads.sort_by_key(Value::to_string);
    }
}

/// Places in the session are counted in rows, and how many of those a client writes beside is
/// chance: what comes before what is not.
fn number_anew(fields: &mut Map<String, Value>) {
    let mut places: Vec<&mut Value> = fields
        .values_mut()
        .filter_map(Value::as_array_mut)
        .flatten()
        .filter_map(|item| item.get_mut("at").filter(|at| at.is_u64()))
        .collect();
    let mut known: Vec<_> = places.iter().filter_map(|at| at.as_u64()).collect();
    known.sort_unstable();
    known.dedup();
    for at in &mut places {
        **at = at.as_u64().and_then(|at| known.binary_search(&at).ok()).into();
    }
}
