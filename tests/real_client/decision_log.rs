//! The decision log of one trial, as `punchlist log list --json` and `log show --json` tell it.
//! Takes a workspace, gives the records in the order in which they were made. It must not read the
//! log's own files: their form is punchlist's business.

use std::path::Path;

use serde_json::Value;

use crate::workspace::Workspace;

/// One decision.
#[derive(Debug, Clone)]
pub(crate) struct Record(Value);

impl Record {
    /// What was decided and why: `block findings`.
    pub(crate) fn decision(&self) -> String {
        let field = |name: &str| self.0[name].as_str().unwrap_or("?").to_owned();
        format!("{} {}", field("decision"), field("cause"))
    }

    /// Its name in the log.
    pub(crate) fn id(&self) -> Option<&str> {
        self.0["id"].as_str()
    }

    /// The tools with which the session touched a file, as far as punchlist saw.
    pub(crate) fn touched(&self, path: &str) -> Vec<&str> {
        let files = self.0["files"].as_array().into_iter().flatten();
        let tools = files.filter(|file| file["path"] == path).filter_map(|file| file["touched"].as_array());
        tools.flatten().filter_map(Value::as_str).collect()
    }

    /// The programs that were asked, by the first reader and the second.
    pub(crate) fn asked(&self) -> impl Iterator<Item = &Path> {
        ["auditor", "second_reader"]
            .into_iter()
            .filter_map(|reader| self.0[reader]["client"].as_str())
            .map(Path::new)
    }

    /// A finding, by its place.
    pub(crate) fn finding(&self, at: usize) -> &Value {
        &self.0["findings"][at]
    }
}

/// What became of a decision's findings, as `punchlist log show ID --json` tells it.
pub(crate) fn outcomes(workspace: &Workspace, id: &str) -> Result<Vec<Value>, String> {
    let text = workspace.punchlist(&["log", "show", id, "--json"])?;
    let shown: Value = serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?;
    Ok(shown["outcomes"].as_array().cloned().unwrap_or_default())
}

/// Every record of the trial, and its text for the report.
pub(crate) fn read(workspace: &Workspace) -> Result<(Vec<Record>, String), String> {
    let text = workspace.punchlist(&["log", "list", "--json"])?;
    let records = text
        .lines()
        .map(|line| serde_json::from_str(line).map(Record))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| format!("`log list --json` is not one record a line: {error}\n{text}"))?;
    Ok((records, text))
}
