//! The details of one decision on the page: JSON, mostly with the log's own names. Does not repeat
//! the page's columns. Pure.

use serde_json::{Value, json};

use crate::evidence::{Entered, FileState};
use crate::log::Annotated;
use crate::log::record::FileRecord;
use crate::render::wording::{check_label, describe_second};

/// The fields of a record that are columns of the page.
const IN_COLUMNS: [&str; 7] = ["schema", "id", "session", "project", "decision", "cause", "would_block"];

/// Returns the JSON of one decision.
pub(super) fn detail(annotated: &Annotated) -> String {
    let record = &annotated.decision;
    let mut detail = json!(record);
    let findings = annotated.with_findings().map(|(finding, notes)| {
        without_empty(json!({
            "finding": finding,
            "title": finding.category.title(),
            "checks": check_label(finding),
            "second": describe_second(finding, record.second_reader.is_some()),
            "outcome": notes.outcome,
            "label": notes.label,
        }))
    });
    detail["findings"] = findings.collect();
    detail["files"] = record.files.iter().map(file).collect();
    detail["label"] = json!(annotated.label);
    if let Value::Object(fields) = &mut detail {
        fields.retain(|name, _| !IN_COLUMNS.contains(&name.as_str()));
    }
    without_empty(detail).to_string()
}

/// Leaves out empty fields.
fn without_empty(mut object: Value) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.retain(|_, value| !(value.is_null() || *value == json!(false) || *value == json!([])));
    }
    object
}

fn file(file: &FileRecord) -> Value {
    let state = match &file.state {
        FileState::File { .. } => None,
        FileState::Folder => Some("a folder".to_owned()),
        FileState::Missing { elsewhere: None } => Some("missing".to_owned()),
        FileState::Missing { elsewhere: Some(path) } => Some(format!("missing, but there is {path}")),
        FileState::Outside => Some("outside the workspace".to_owned()),
        FileState::Unreadable(why) => Some(format!("can't be read: {why}")),
    };
    let entered = match &file.entered {
        Entered::Whole => "shown whole".to_owned(),
        Entered::Diff => "shown as what changed".to_owned(),
        Entered::Cut(bytes) => format!("shown in part, {bytes} bytes are missing"),
        Entered::LeftOut(why) => format!("not shown: {}", why.reason()),
    };
    json!({
        "path": file.path,
        "touched": file.touched,
        "state": state,
        "entered": entered,
        "bytes": file.bytes,
        "masked": file.masked,
    })
}
