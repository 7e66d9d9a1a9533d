//! Takes evidence and templates, gives the prompt. Must not let data pass for instructions: everything from
//! the workspace stands between marks that nobody can know beforehand.

use std::path::Path;

use serde_json::{Value, json};

use crate::evidence::Evidence;
use crate::evidence::shown::{self, Sections};
use crate::facts::{Facts, asks};
use crate::finding::Status;
use crate::template::Template;

/// What the auditor is.
pub const SYSTEM: &str = include_str!("../../prompts/system.md");
/// What it is asked.
pub const AUDIT: &str = include_str!("../../prompts/audit.md");
/// What a held agent is told.
pub const REASON: &str = include_str!("../../prompts/reason.md");
/// What it may answer.
pub const SCHEMA: &str = include_str!("../../prompts/verdict.schema.json");

/// The texts in use: the built-in ones, or the person's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompts {
    /// `system.md`
    pub system: String,
    /// `audit.md`
    pub audit: String,
    /// `reason.md`
    pub reason: String,
    /// `verdict.schema.json`
    pub schema: String,
}

impl Default for Prompts {
    fn default() -> Self {
        Self { system: SYSTEM.into(), audit: AUDIT.into(), reason: REASON.into(), schema: SCHEMA.into() }
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
            audit: text("audit.md", AUDIT)?,
            reason: text("reason.md", REASON)?,
            schema: text("verdict.schema.json", SCHEMA)?,
        };
        check("audit.md", &prompts.audit)?;
        check("reason.md", &prompts.reason)?;
        Ok(prompts)
    }

    /// How much of the prompt the templates themselves take, with every fence in them.
    pub fn bytes(&self) -> usize {
        self.system.len() + self.audit.len() + self.schema.len() + FENCES_ROOM
    }
}

/// A prompt, ready to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// What the auditor is.
    pub system: String,
    /// What it is asked.
    pub text: String,
    /// What it may answer, on one line.
    pub schema: String,
}

impl Prompt {
    /// Between what the auditor is and what it is asked, where both stand in one text.
    const BETWEEN: &str = "\n\n";

    /// Both in one text, for people.
    pub fn whole(&self) -> String {
        [&self.system, Self::BETWEEN, &self.text].concat()
    }

    /// How long that is.
    pub fn bytes(&self) -> usize {
        self.system.len() + Self::BETWEEN.len() + self.text.len()
    }
}

/// What is left of `max_bytes` for the contents of files, beside the templates, the sections and the tables.
pub fn room_for_files(prompts: &Prompts, sections: &Sections, max_bytes: usize) -> usize {
    max_bytes.saturating_sub(prompts.bytes() + sections.bytes() + shown::tables_room(max_bytes))
}

/// Writes the prompt for one audit, `max_bytes` long at the most.
pub fn write(
    prompts: &Prompts,
    sections: &Sections,
    evidence: &Evidence,
    facts: &Facts,
    fence: &str,
    max_bytes: usize,
) -> Result<Prompt, PromptError> {
    let steps = shown::steps_table(evidence.plan.as_ref(), &evidence.files, max_bytes);
    let proven = shown::facts_table(&facts.findings, Status::Confirmed, max_bytes);
    let candidates = shown::facts_table(&facts.findings, Status::CannotVerify, max_bytes);
    let aftermath = shown::aftermath_table(&asks::aftermath(&evidence.session), max_bytes);
    let tables = steps.len() + proven.len() + candidates.len() + aftermath.len();
    let left = max_bytes.saturating_sub(prompts.bytes() + sections.bytes() + tables);
    let text = render(
        "audit.md",
        &prompts.audit,
        json!({
            "fence": fence,
            "plan": sections.plan,
            "asks": sections.asks,
            "todos": sections.todos,
            "commands": sections.commands,
            "final_message": sections.final_message,
            "steps": steps,
            "facts": proven,
            "candidates": candidates,
            "aftermath": aftermath,
            "files": shown::files_text(&evidence.files, fence, left),
        }),
    )?;
    // A prompt that starts with `/` is a command to the client: it answers without asking the model.
    let text = if text.trim_start().starts_with('/') { format!("Audit this session.\n{text}") } else { text };
    let system = prompts.system.replace("FENCE", fence);
    Ok(Prompt { system, text, schema: one_line(&prompts.schema) })
}

/// Whether a template can be read at all. What it names and is not there is filled in as nothing.
fn check(name: &'static str, template: &str) -> Result<(), PromptError> {
    read(name, template).map(drop)
}

/// Fills in a template; nothing is escaped, and what is filled in is never read as a template.
pub fn render(name: &'static str, template: &str, values: Value) -> Result<String, PromptError> {
    Ok(read(name, template)?.fill(values))
}

fn read(name: &'static str, template: &str) -> Result<Template, PromptError> {
    Template::parse(template).map_err(|error| PromptError::BadTemplate { name, why: error.to_string() })
}

/// The schema as an argument: without line breaks.
fn one_line(schema: &str) -> String {
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
        assert_eq!((prompts.system.as_str(), prompts.audit.as_str()), ("Be kind.", AUDIT));
    }

    #[test]
    fn a_template_that_can_not_be_read_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("reason.md"), "{% for x in %}").expect("written");
        let said = Prompts::with_overrides(folder.path()).expect_err("a fault").to_string();
        assert!(said.starts_with("the template reason.md can't be filled in: syntax error: "), "{said}");
    }
}
