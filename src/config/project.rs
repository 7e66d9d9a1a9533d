//! What a project may decide. Whoever wrote the project is not the person whose machine this is, and an agent can write
//! its file: it may make the gate stricter and name its plan and its checks. What would make it weaker, dearer or
//! forgetful counts only after the person has allowed that very content, and some of it never. Each key says on its
//! type which of these it is.

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
    /// Always, and the person's entries stay.
    Added,
    /// Where the person has set nothing else; otherwise once it is allowed.
    IfUnset,
    /// Where it has all entries of the person's; otherwise once it is allowed.
    IfSuperset,
    /// Where it is this value; otherwise once it is allowed.
    If(serde_json::Value),
}

impl FromProject {
    /// Returns it in words, for the reference.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Never => "does not count: it is yours alone".into(),
            Self::IfAllowed => "counts after `punchlist allow`".into(),
            Self::Always => "counts".into(),
            Self::Added => "is added to yours".into(),
            Self::IfUnset => {
                "counts where you have set nothing else, otherwise after `punchlist allow`".into()
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
    /// The id of this very content.
    pub fn id(&self) -> String {
        ContentId::of(self.text())
    }

    /// Returns it as a file writes it.
    pub fn text(&self) -> String {
        format!("{} = {}", self.key, self.value)
    }
}

/// What became of one setting of a project's file.
#[derive(Debug)]
pub(super) enum Verdict {
    /// This value counts.
    Counts(Value),
    /// It counts only from the person's own file. The words say of the value what matters.
    Never(&'static str),
    /// Each of these counts if it is allowed; with all that are, this is the value.
    Asks(Vec<Asked>),
}

/// Decides whether a project's value counts. `own` is the value without the project.
pub(super) fn judge(setting: &Setting, value: &Value, own: Option<&Value>) -> Verdict {
    if setting.stays_inside && texts(value).any(leads_outside) {
        return Verdict::Never(" outside of the project");
    }
    if value.as_str().is_some_and(|word| setting.person_values.iter().any(|persons| persons == word)) {
        return Verdict::Never(" of a program or another machine");
    }
    let asks = || {
        let asked = |value: &Value| Asked { key: setting.path(), value: value.clone(), is_allowed: false };
        match value.as_array() {
            // Each of several tables is a thing of its own.
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
        FromProject::IfUnset => own == setting.default.as_ref(),
        FromProject::IfSuperset => {
            let all = entries(value);
            own.is_some_and(|own| entries(own).iter().all(|entry| all.contains(entry)))
        }
        FromProject::If(strict) => Value::try_from(strict).is_ok_and(|strict| strict == *value),
    };
    if counts { Verdict::Counts(value.clone()) } else { asks() }
}

/// The texts of a value: itself, or those of a list.
fn texts(value: &Value) -> impl Iterator<Item = &str> {
    value.as_str().into_iter().chain(value.as_array().into_iter().flatten().filter_map(Value::as_str))
}

/// Returns the checks of a file, each name once: the last of a name counts.
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

/// Returns a project's check under a name that none of `taken` has: it stands beside the person's.
pub(super) fn beside(mut check: Value, taken: &[Value]) -> Value {
    let is_taken = |name: &Value| taken.iter().any(|other| other.get("name") == Some(name));
    while let Some(name) = check.get_mut("name").filter(|name| is_taken(name)) {
        *name = Value::String(format!("{} (project)", name.as_str().unwrap_or_default()));
    }
    check
}
