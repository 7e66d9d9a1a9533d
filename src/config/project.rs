//! What a project may decide. Whoever wrote the project need not be the person whose machine this
//! is, and an agent can write its file: it may make the gate stricter and name its plan and its
//! checks. Whatever would make the gate weaker, more expensive or forgetful counts only after the
//! person has allowed that exact content, and some of it never does. Each key states on its type
//! which of these it is.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::reference::Setting;
use super::value::leads_outside;
use crate::ids::ContentId;

/// When the value of a project's file counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromProject {
    /// Never: it is the person's alone.
    Never,
    /// Once the person has allowed it.
    IfAllowed,
    Always,
    /// Always; the person's entries stay.
    Added,
    /// If the person has not set it; otherwise once it is allowed.
    IfUnset,
    /// If the person has set neither it nor this key of its table; otherwise once it is allowed.
    IfUnsetWith(String),
    /// If it includes all of the person's entries; otherwise once it is allowed.
    IfSuperset,
    /// If it is this value; otherwise once it is allowed.
    If(serde_json::Value),
}

impl FromProject {
    /// Returns it as text, for the reference.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Never => "does not count: it is yours alone".into(),
            Self::IfAllowed => "counts after `punchlist allow`".into(),
            Self::Always => "counts".into(),
            Self::Added => "is added to yours".into(),
            Self::IfUnset => "counts if you have not set it, otherwise after `punchlist allow`".into(),
            Self::IfUnsetWith(key) => {
                format!("counts if you have set neither it nor `{key}`, otherwise after `punchlist allow`")
            }
            Self::IfSuperset => "counts if it has all of yours, otherwise after `punchlist allow`".into(),
            Self::If(value) => format!("`{value}` counts, anything else after `punchlist allow`"),
        }
    }
}

/// The ids of what a person has allowed a project.
pub type Allowed = BTreeSet<String>;

/// Something that a project's file asks for and a person may allow.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Its name, such as `gates.enabled`; `check` for a command.
    pub key: String,
    pub value: Value,
    pub is_allowed: bool,
}

impl Asked {
    /// Returns the id of this exact content.
    pub fn id(&self) -> String {
        ContentId::digest(self.text())
    }

    /// Returns it as a file writes it.
    pub fn text(&self) -> String {
        format!("{} = {}", self.key, self.value)
    }
}

/// The key of a command in a feature list.
pub const OF_FEATURE: &str = "feature.verify";

/// Returns a command that a feature list asks to run. The agent can write the list.
pub fn asked_by_feature(run: &str, allowed: &Allowed) -> Asked {
    let asked = Asked { key: OF_FEATURE.to_owned(), value: run.into(), is_allowed: false };
    Asked { is_allowed: allowed.contains(&asked.id()), ..asked }
}

/// The verdict on one setting of a project's file.
#[derive(Debug)]
pub(super) enum Verdict {
    /// This value counts.
    Counts(Value),
    /// It counts only in the person's own file. The text says what matters about the value.
    Never(&'static str),
    /// Each of these counts once it is allowed; this is the value with all that are.
    Asks(Vec<Asked>),
}

/// Decides whether a project's value counts. `own` is the value without the project's, and
/// `is_unset` returns whether a key of its table is then as it is built in.
pub(super) fn judge(
    setting: &Setting,
    value: &Value,
    own: Option<&Value>,
    is_unset: impl Fn(&str) -> bool,
) -> Verdict {
    if setting.stays_inside && texts(value).any(leads_outside) {
        return Verdict::Never(" outside of the project");
    }
    if value.as_str().is_some_and(|word| setting.person_values.iter().any(|persons| persons == word)) {
        return Verdict::Never(" of a program or another machine");
    }
    let asks = || {
        let asked = |value: &Value| Asked { key: setting.path(), value: value.clone(), is_allowed: false };
        match value.as_array() {
            // Each of several tables is judged by itself.
            Some(list) if list.iter().any(Value::is_table) => Verdict::Asks(list.iter().map(asked).collect()),
            _ => Verdict::Asks(vec![asked(value)]),
        }
    };
    let entries = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let counts = match &setting.from_project {
        FromProject::Never => return Verdict::Never(""),
        _ if Some(value) == own => true,
        FromProject::Always => true,
        FromProject::Added => {
            let mut all = own.map(entries).unwrap_or_default();
            let new: Vec<Value> = entries(value).into_iter().filter(|entry| !all.contains(entry)).collect();
            all.extend(new);
            return Verdict::Counts(Value::Array(all));
        }
        FromProject::IfAllowed => false,
        FromProject::IfUnset => is_unset(&setting.key),
        FromProject::IfUnsetWith(key) => is_unset(&setting.key) && is_unset(key),
        FromProject::IfSuperset => {
            let all = entries(value);
            own.is_some_and(|own| entries(own).iter().all(|entry| all.contains(entry)))
        }
        FromProject::If(strict) => Value::try_from(strict).is_ok_and(|strict| strict == *value),
    };
    if counts { Verdict::Counts(value.clone()) } else { asks() }
}

/// Returns the texts of a value: itself, or those of a list.
fn texts(value: &Value) -> impl Iterator<Item = &str> {
    value.as_str().into_iter().chain(value.as_array().into_iter().flatten().filter_map(Value::as_str))
}

/// Returns the checks of a file, one per name: the last one counts.
pub(super) fn checks_by_name(file: &Table) -> Vec<Value> {
    let mut checks: Vec<Value> = Vec::new();
    for check in file.get(super::sources::CHECKS).and_then(Value::as_array).into_iter().flatten() {
        match checks.iter_mut().find(|other| other.get("name") == check.get("name")) {
            Some(other) => *other = check.clone(),
            None => checks.push(check.clone()),
        }
    }
    checks
}

/// Returns a project's check under a name that is not in `taken`, so that it runs beside the
/// person's.
pub(super) fn beside(mut check: Value, taken: &[Value]) -> Value {
    let is_taken = |name: &Value| taken.iter().any(|other| other.get("name") == Some(name));
    while let Some(name) = check.get_mut("name").filter(|name| is_taken(name)) {
        *name = Value::String(format!("{} (project)", name.as_str().unwrap_or_default()));
    }
    check
}
