//! Takes evidence and templates, gives the prompts of both readers: the same system prompt and evidence, then each one's task.
//! Must not let data pass for instructions: everything from the workspace stands between marks that nobody can know
//! beforehand.

use std::path::Path;

use serde_json::{Value, json};

use super::answer::Answer;
use crate::client::call::Prompt;
use crate::evidence::sections::{candidates_text, files_text, git_room, git_text};
use crate::evidence::{Evidence, Sections};
use crate::finding::Finding;
use crate::text::template::Template;

/// What the readers are.
pub const SYSTEM: &str = include_str!("../../prompts/system.md");
/// What both are shown.
pub const EVIDENCE: &str = include_str!("../../prompts/evidence.md");
/// What the first is asked.
pub const FIRST: &str = include_str!("../../prompts/first.md");
/// What the second is asked.
pub const SECOND: &str = include_str!("../../prompts/second.md");
/// What a held agent is told.
pub const REASON: &str = include_str!("../../prompts/reason.md");
/// What the readers may answer.
pub const SCHEMA: &str = include_str!("../../prompts/answer.schema.json");

/// The texts in use: the built-in ones, or the person's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompts {
    /// `system.md`
    pub system: String,
    /// `evidence.md`
    pub evidence: String,
    /// `first.md`
    pub first: String,
    /// `second.md`
    pub second: String,
    /// `reason.md`
    pub reason: String,
    /// `answer.schema.json`
    pub schema: String,
}

impl Default for Prompts {
    fn default() -> Self {
        Self {
            system: SYSTEM.into(),
            evidence: EVIDENCE.into(),
            first: FIRST.into(),
            second: SECOND.into(),
            reason: REASON.into(),
            schema: SCHEMA.into(),
        }
    }
}

/// What some two dozen fences of 32 letters take beyond their placeholders.
const FENCES_ROOM: usize = 1_000;

/// A template of the person's own that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// It can't be read.
    #[error("{path}: {why}")]
    Unreadable {
        /// Which file.
        path: String,
        /// In the system's words.
        why: std::io::Error,
    },
    /// It can't be filled in.
    #[error("the template {name} can't be filled in: {why}")]
    BadTemplate {
        /// Which template.
        name: &'static str,
        /// In the engine's words.
        why: String,
    },
}

impl Prompts {
    /// The built-in texts, each replaced by the file of its name in `folder` where there is one.
    pub fn with_overrides(folder: &Path) -> Result<Self, PromptError> {
        let text = |name: &str, built_in: &str| {
            let path = folder.join(name);
            match std::fs::read_to_string(&path) {
                Ok(text) => Ok(text),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(built_in.to_owned()),
                Err(why) => Err(PromptError::Unreadable { path: path.display().to_string(), why }),
            }
        };
        let prompts = Self {
            system: text("system.md", SYSTEM)?,
            evidence: text("evidence.md", EVIDENCE)?,
            first: text("first.md", FIRST)?,
            second: text("second.md", SECOND)?,
            reason: text("reason.md", REASON)?,
            schema: text("answer.schema.json", SCHEMA)?,
        };
        for (name, template) in [
            ("evidence.md", &prompts.evidence),
            ("first.md", &prompts.first),
            ("second.md", &prompts.second),
            ("reason.md", &prompts.reason),
        ] {
            read(name, template)?;
        }
        Ok(prompts)
    }

    /// How much of the prompt the templates themselves take, with every fence in them.
    pub fn bytes(&self) -> usize {
        self.system.len() + self.evidence.len() + self.first.len() + self.schema.len() + FENCES_ROOM
    }
}

/// What both readers are shown, with the fence that keeps data apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// What they are.
    pub system: String,
    /// The evidence.
    pub evidence: String,
    /// The word that fences data.
    pub fence: String,
    schema: String,
}

impl Shown {
    /// Writes the evidence of one audit, `max_bytes` long at the most together with the first task.
    pub fn new(
        prompts: &Prompts,
        sections: &Sections,
        evidence: &Evidence,
        facts: &[Finding],
        fence: &str,
        max_bytes: usize,
    ) -> Result<Self, PromptError> {
        let git = git_text(evidence.repository.as_ref(), git_room(max_bytes));
        let candidates = candidates_text(facts);
        let taken = prompts.bytes() + sections.bytes() + git.len() + candidates.len();
        let mut values = json!(sections);
        values["fence"] = json!(fence);
        values["git"] = json!(git);
        values["candidates"] = json!(candidates);
        values["files"] = json!(files_text(&evidence.files, fence, max_bytes.saturating_sub(taken)));
        let text = render("evidence.md", &prompts.evidence, &values)?;
        // A prompt that starts with `/` is a command to the client: it answers without asking the model.
        let text = if text.trim_start().starts_with('/') { format!("The data.\n{text}") } else { text };
        Ok(Self {
            system: prompts.system.replace("FENCE", fence),
            evidence: text,
            fence: fence.to_owned(),
            schema: one_line(&prompts.schema),
        })
    }

    /// The prompt of a task: what both are shown, and the task last.
    pub fn prompt(&self, task: &str) -> Prompt {
        Prompt {
            system: self.system.clone(),
            text: format!("{}\n{task}", self.evidence),
            schema: self.schema.clone(),
            check: Answer::check,
        }
    }

    /// The first reader's prompt.
    pub fn first(&self, prompts: &Prompts) -> Result<Prompt, PromptError> {
        Ok(self.prompt(&render("first.md", &prompts.first, &json!({ "fence": self.fence }))?))
    }

    /// The second reader's prompt for these findings, as [`super::second`] writes them.
    pub fn second(&self, prompts: &Prompts, findings: &str) -> Result<Prompt, PromptError> {
        let values = json!({ "fence": self.fence, "findings": findings });
        Ok(self.prompt(&render("second.md", &prompts.second, &values)?))
    }
}

/// What is left of `max_bytes` for the contents of files, beside the templates, the sections and git.
pub fn room_for_files(prompts: &Prompts, sections: &Sections, max_bytes: usize) -> usize {
    max_bytes.saturating_sub(prompts.bytes() + sections.bytes() + git_room(max_bytes))
}

/// Fills in a template; nothing is escaped, and what is filled in is never read as a template.
pub fn render(name: &'static str, template: &str, values: &Value) -> Result<String, PromptError> {
    let filled = read(name, template)?.fill(values);
    filled.map_err(|error| PromptError::BadTemplate { name, why: error.to_string() })
}

fn read(name: &'static str, template: &str) -> Result<Template, PromptError> {
    Template::parse(template).map_err(|error| PromptError::BadTemplate { name, why: error.to_string() })
}

/// The schema as an argument: without line breaks.
pub fn one_line(schema: &str) -> String {
    serde_json::from_str::<Value>(schema).map_or_else(|_| schema.to_owned(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_persons_own_text_takes_the_place_of_the_built_in_one() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("system.md"), "Be kind.").expect("written");
        let prompts = Prompts::with_overrides(folder.path()).expect("readable");
        assert_eq!((prompts.system.as_str(), prompts.evidence.as_str()), ("Be kind.", EVIDENCE));
    }

    #[test]
    fn a_template_that_can_not_be_read_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("reason.md"), "{% for x in %}").expect("written");
        let said = Prompts::with_overrides(folder.path()).expect_err("a fault").to_string();
        assert!(said.starts_with("the template reason.md can't be filled in: syntax error: "), "{said}");
    }
}
