//! `punchlist log path`: where the log is.

use serde_json::json;

use super::{Desk, Refusal, out};

/// Runs it.
pub(super) fn run(json: bool, desk: &Desk<'_>) -> Result<(), Refusal> {
    let folder = desk.log.folder();
    if !json {
        return out::print(format!("{}\n", folder.display()).as_bytes());
    }
    let files: Vec<_> = desk.log.files().iter().map(|file| file.display().to_string()).collect();
    let audits = desk.state.join("audits").display().to_string();
    let path = json!({ "folder": folder.display().to_string(), "files": files, "audits": audits });
    out::print(format!("{path:#}\n").as_bytes())
}
