//! A case as its author wrote it: `case.toml`, read strictly. Takes a case's folder, gives truth
//! and script, and an error for whatever is misspelt or cannot be played. It must not judge whether
//! the truth is true.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use punchlist::eval::case::{Case, Proof, Truth};
use punchlist::finding::Category;
use serde::Deserialize;
use serde_json::Value;

use crate::rig::client::VERSIONS;

/// The client that records a case that names none.
pub(crate) const NEWEST: &str = VERSIONS[VERSIONS.len() - 1];

/// Tools of the session's own task list.
const TASK_LIST_TOOLS: &[&str] = &["TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"];

/// A case: its truth, which the eval reads, and its script.
#[derive(Debug)]
pub(crate) struct CaseFile {
    pub(crate) truth: Case,
    pub(crate) script: Script,
}

/// The script in `case.toml`. That there is no other key beside, the truth's reader sees to.
#[derive(Debug, Deserialize)]
pub(crate) struct Script {
    #[serde(default)]
    pub(crate) tools: BTreeMap<String, String>,
    #[serde(rename = "turn")]
    pub(crate) turns: Vec<Turn>,
}

/// One thing that the person says, and what the model says to it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Turn {
    pub(crate) prompt: String,
    pub(crate) mode: Option<Mode>,
    #[serde(default)]
    pub(crate) fork: bool,
    #[serde(default)]
    pub(crate) compact: bool,
    /// What the model makes of the conversation when it is compacted; there is one for who gives
    /// none.
    pub(crate) summary: Option<String>,
    pub(crate) replies: Vec<Reply>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mode {
    Plan,
}

/// One message of the model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reply {
    pub(crate) text: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) input: Option<Value>,
    #[serde(default)]
    pub(crate) tools: Vec<Call>,
    pub(crate) agent: Option<Agent>,
    #[serde(default)]
    pub(crate) agents: Vec<Agent>,
    pub(crate) plan_file: Option<String>,
    /// Whether its calls are meant to fail.
    #[serde(default)]
    pub(crate) fails: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) input: Value,
    #[serde(default)]
    pub(crate) fails: bool,
}

/// A subagent, and its own conversation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Agent {
    pub(crate) prompt: String,
    pub(crate) description: String,
    /// `general-purpose` where none is named.
    pub(crate) kind: Option<String>,
    /// Whether the session goes on meanwhile. Only newer clients can.
    #[serde(default)]
    pub(crate) background: bool,
    pub(crate) replies: Vec<Reply>,
}

impl CaseFile {
    /// Reads the case in a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let truth = Case::read(folder).map_err(|error| error.to_string())?;
        let path = folder.join("case.toml");
        let failed = |problem: &dyn std::fmt::Display| format!("{}: {problem}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
        let script = toml::from_str(&text).map_err(|error| failed(&error))?;
        let case = Self { truth, script };
        case.check().map_err(|problem| failed(&problem))?;
        Ok(case)
    }

    /// The version that plays it.
    pub(crate) fn client(&self) -> Result<&'static str, String> {
        let wanted = self.truth.client.as_deref().unwrap_or(NEWEST);
        VERSIONS
            .into_iter()
            .find(|version| *version == wanted)
            .ok_or_else(|| format!("there is no client {wanted}; there are {}", VERSIONS.join(" ")))
    }

    /// Whether the session keeps a task list. The newest client has the tools for it only on
    /// request.
    pub(crate) fn has_task_list(&self) -> bool {
        let replies = self.script.turns.iter().flat_map(|turn| &turn.replies);
        let mut names = replies.flat_map(|reply| {
            reply.tool.iter().chain(reply.tools.iter().map(|call| &call.name)).map(String::as_str)
        });
        names.any(|name| TASK_LIST_TOOLS.contains(&name))
    }

    fn check(&self) -> Result<(), String> {
        self.client()?;
        if self.truth.about.trim().is_empty() {
            return Err("about: nothing is said".into());
        }
        self.truth.findings.iter().try_for_each(check_finding)?;
        for (at, turn) in self.script.turns.iter().enumerate() {
            turn.check(at == 0).map_err(|problem| format!("turn {}: {problem}", at + 1))?;
        }
        if self.script.turns.is_empty() { Err("no turn".into()) } else { Ok(()) }
    }
}

/// A truth that no finding could ever be held against is a slip of the author's.
fn check_finding(finding: &Truth) -> Result<(), String> {
    let nothing = |words: &Option<String>| words.as_deref().is_none_or(|words| words.trim().is_empty());
    if nothing(&finding.path) && nothing(&finding.quote) && finding.step.is_none() {
        return Err(format!("a finding says neither path nor step nor quote: {finding:?}"));
    }
    if finding.why.trim().is_empty() {
        return Err(format!("a finding says no why: {finding:?}"));
    }
    if finding.proof == Proof::Facts && finding.category != Category::A {
        return Err(format!("only A can be proven by facts: {finding:?}"));
    }
    Ok(())
}

impl Turn {
    fn check(&self, is_first: bool) -> Result<(), String> {
        if is_first && (self.fork || self.compact) {
            return Err("there is nothing yet to fork or to compact".into());
        }
        if self.summary.is_some() && !self.compact {
            return Err("a summary, and nothing is compacted".into());
        }
        check_replies(&self.replies)
    }
}

fn check_replies(replies: &[Reply]) -> Result<(), String> {
    for (at, reply) in replies.iter().enumerate() {
        let is_last = at + 1 == replies.len();
        reply.check(is_last).map_err(|problem| format!("reply {}: {problem}", at + 1))?;
    }
    if replies.is_empty() { Err("no reply".into()) } else { Ok(()) }
}

impl Reply {
    /// Whether it is words alone, which ends the model's turn.
    pub(crate) fn is_words(&self) -> bool {
        self.tool.is_none()
            && self.tools.is_empty()
            && self.plan_file.is_none()
            && self.agents().next().is_none()
    }

    pub(crate) fn agents(&self) -> impl Iterator<Item = &Agent> {
        self.agent.iter().chain(&self.agents)
    }

    fn check(&self, is_last: bool) -> Result<(), String> {
        if self.tool.is_some() != self.input.is_some() {
            return Err("tool and input go together".into());
        }
        if is_last && !self.is_words() {
            return Err("the last reply is words alone".into());
        }
        if self.is_words() && self.text.as_deref().is_none_or(|text| text.trim().is_empty()) {
            return Err("it says and does nothing".into());
        }
        // Words alone end the turn, unless somebody in the background starts it again; that is seen
        // when it is played.
        self.agents().try_for_each(|agent| {
            check_replies(&agent.replies)
                .map_err(|problem| format!("agent {:?}: {problem}", agent.description))
        })
    }
}

/// The cases in a folder, by name.
pub(crate) fn names_in(folder: &Path) -> Result<Vec<String>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().join("case.toml").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

/// Where the cases are: in the checkout, or where the variable says.
pub(crate) fn folder() -> PathBuf {
    std::env::var_os("PUNCHLIST_CASES")
        .filter(|value| !value.is_empty())
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases"), PathBuf::from)
}
