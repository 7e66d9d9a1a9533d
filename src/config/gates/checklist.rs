//! `[checklist]`: which open items hold a stop that says that it is finished, and which words it has to end with.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};

use super::super::file::file_globs;
use super::super::set;

/// The checklist gate. Each part of it is off where nobody sets it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChecklistConfig {
    /// Open boxes of the plan in play.
    pub plan: bool,
    /// Open boxes of these files, too.
    pub files: Vec<String>,
    /// Open entries of the session's own task list.
    pub todos: bool,
    /// The heading that the final message has to have; empty for none.
    pub require_section: String,
}

/// `[checklist]`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChecklistTable {
    /// Whether open boxes (`- [ ]`) of the plan in play hold a stop that says that the plan, or that very item, is done.
    #[schemars(with = "bool")]
    pub plan: Option<bool>,
    /// Files whose open boxes hold a stop that says that the work is finished, as globs from the project's folder on.
    #[serde(deserialize_with = "files_inside")]
    #[schemars(with = "Vec<String>")]
    pub files: Option<Vec<String>>,
    /// Whether open entries of the session's own task list hold a stop that says that the work is finished.
    #[schemars(with = "bool")]
    pub todos: Option<bool>,
    /// A heading, such as "## Plan Completion Check", that a final message has to have, with something under it, where it says
    /// that the work is finished. Empty: none.
    #[serde(deserialize_with = "heading")]
    #[schemars(with = "String")]
    pub require_section: Option<String>,
}

impl ChecklistConfig {
    /// Takes over what a file sets.
    pub fn apply(&mut self, table: ChecklistTable) {
        set(&mut self.plan, table.plan);
        set(&mut self.files, table.files);
        set(&mut self.todos, table.todos);
        set(&mut self.require_section, table.require_section);
    }

    /// Whether any part of it is on.
    pub fn is_set(&self) -> bool {
        self.plan || self.todos || !self.files.is_empty() || !self.require_section.is_empty()
    }
}

fn files_inside<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let globs = file_globs(deserializer)?;
    match globs.iter().find(|glob| super::leads_outside(glob)) {
        Some(glob) => Err(de::Error::custom(format!(
            "\"{glob}\" leads out of the project; name files from the project's folder on"
        ))),
        None => Ok(Some(globs)),
    }
}

fn heading<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let text = text.trim();
    let is_heading = text.starts_with('#') && !text.trim_start_matches('#').trim().is_empty();
    if text.is_empty() || is_heading && !text.contains('\n') {
        return Ok(Some(text.to_owned()));
    }
    Err(de::Error::custom(format!(
        "\"{text}\" is no heading; write one line like \"## Plan Completion Check\""
    )))
}
