//! The prompts of both readers: the same system prompt and evidence, so that the second call reads
//! them from the provider's cache, then each one's task. Must not let data pass for instructions:
//! everything from the workspace is between fences with a random word.

use std::path::Path;

use serde_json::{Value, json};

use super::answer::Answer;
use crate::client::call::Prompt;
use crate::evidence::sections::{candidates_text, files_text, git_room, git_text};
use crate::evidence::{Evidence, Sections};
use crate::finding::Finding;
use crate::redact::mask;
use crate::text::template::Template;

pub const SYSTEM: &str = include_str!("../../prompts/system.md");
/// The template of the evidence.
pub const EVIDENCE: &str = include_str!("../../prompts/evidence.md");
pub const FIRST: &str = include_str!("../../prompts/first.md");
pub const SECOND: &str = include_str!("../../prompts/second.md");
/// The template of a block's reason.
pub const REASON: &str = include_str!("../../prompts/reason.md");
pub const SCHEMA: &str = include_str!("../../prompts/answer.schema.json");

/// The texts in use: the built-in ones, or the person's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompts {
    pub system: String,
    pub evidence: String,
    pub first: String,
    pub second: String,
    pub reason: String,
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

/// Two dozen fences of 32 letters, less their placeholders.
const FENCES_BYTES: usize = 1_000;

/// The person's own template can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    #[error("{path}: {why}")]
    Unreadable { path: String, why: std::io::Error },
    #[error("the template {name} can't be filled in: {why}")]
    BadTemplate { name: &'static str, why: String },
}

impl Prompts {
    /// Returns the built-in texts, each replaced by the file of the same name in `folder` if there
    /// is one.
    pub fn with_overrides(folder: &Path) -> Result<Self, PromptError> {
        let mut prompts = Self::default();
        for (name, text) in [
            ("system.md", &mut prompts.system),
            ("evidence.md", &mut prompts.evidence),
            ("first.md", &mut prompts.first),
            ("second.md", &mut prompts.second),
            ("reason.md", &mut prompts.reason),
            ("answer.schema.json", &mut prompts.schema),
        ] {
            let path = folder.join(name);
            match std::fs::read_to_string(&path) {
                Ok(own) => *text = own,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(why) => return Err(PromptError::Unreadable { path: path.display().to_string(), why }),
            }
            if !["system.md", "answer.schema.json"].contains(&name) {
                read(name, text)?;
            }
        }
        Ok(prompts)
    }

    /// Returns the length of the templates, with all their fences.
    pub fn bytes(&self) -> usize {
        self.system.len() + self.evidence.len() + self.first.len() + self.schema.len() + FENCES_BYTES
    }
}

/// The part of the prompt that both readers share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPrompt {
    pub system: String,
    pub evidence: String,
    /// The random word of the fences.
    pub fence: String,
    schema: String,
}

/// Returns the whole text masked, section by section, so that the fences stay whatever stands beside
/// them. Events and file contents are masked already; the names of files, branches and other values
/// inside lines are not.
fn masked(text: &str, fence: &str) -> String {
    let (mut all, mut section) = (String::with_capacity(text.len()), String::new());
    for line in text.split_inclusive('\n') {
        let Some((before, after)) = line.split_once(fence) else {
            section.push_str(line);
            continue;
        };
        all.push_str(&mask(&std::mem::take(&mut section)).text);
        let (name, end) = after.split_at(after.trim_end().trim_end_matches('>').len());
        all.extend([&mask(before).text, fence, &mask(name).text, end]);
    }
    all + &mask(&section).text
}

impl SharedPrompt {
    /// Fills in the evidence of one audit; together with the first task it has at most `max_bytes`.
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
        values["files"] = json!(files_text(evidence, fence, max_bytes.saturating_sub(taken)));
        let text = render("evidence.md", &prompts.evidence, &values)?;
        // The client takes a prompt that starts with `/` for a command and does not ask the model.
        let text = if text.trim_start().starts_with('/') { format!("The data.\n{text}") } else { text };
        Ok(Self {
            system: prompts.system.replace("FENCE", fence),
            evidence: masked(&text, fence),
            fence: fence.to_owned(),
            schema: one_line(&prompts.schema),
        })
    }

    /// Returns the prompt of a task, which comes last.
    pub fn prompt(&self, task: &str) -> Prompt {
        Prompt {
            system: self.system.clone(),
            text: format!("{}\n{task}", self.evidence),
            schema: self.schema.clone(),
            check: Answer::check,
        }
    }

    pub fn first(&self, prompts: &Prompts) -> Result<Prompt, PromptError> {
        Ok(self.prompt(&render("first.md", &prompts.first, &json!({ "fence": self.fence }))?))
    }

    /// Returns the second reader's prompt for findings that [`super::second`] has listed.
    pub fn second(&self, prompts: &Prompts, findings: &str) -> Result<Prompt, PromptError> {
        let values = json!({ "fence": self.fence, "findings": findings });
        Ok(self.prompt(&render("second.md", &prompts.second, &values)?))
    }
}

/// Returns what templates, sections and git leave of `max_bytes` for the contents of files.
pub fn room_for_files(prompts: &Prompts, sections: &Sections, max_bytes: usize) -> usize {
    max_bytes.saturating_sub(prompts.bytes() + sections.bytes() + git_room(max_bytes))
}

/// Fills in a template. Nothing is escaped, and values are not read as templates.
pub fn render(name: &'static str, template: &str, values: &Value) -> Result<String, PromptError> {
    let filled = read(name, template)?.fill(values);
    filled.map_err(|error| PromptError::BadTemplate { name, why: error.to_string() })
}

fn read(name: &'static str, template: &str) -> Result<Template, PromptError> {
    Template::parse(template).map_err(|error| PromptError::BadTemplate { name, why: error.to_string() })
}

/// Returns the schema without line breaks, as an argument.
pub fn one_line(schema: &str) -> String {
    serde_json::from_str::<Value>(schema).map_or_else(|_| schema.to_owned(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_person_replaces_the_built_in_text() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("system.md"), "Be kind.").expect("written");
        let prompts = Prompts::with_overrides(folder.path()).expect("readable");
        assert_eq!((prompts.system.as_str(), prompts.evidence.as_str()), ("Be kind.", EVIDENCE));
    }

    /// The last words of a section reached over its end, and then nothing at all was masked.
    #[test]
    fn a_text_that_ends_like_a_password_switched_the_masking_off() {
        let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let text = format!(
            "<<FENCE asks>>\nmachine h login u password\n<<FENCE end asks>>\n\
             <<FENCE file notes/{token}.txt>>\nx\n<<FENCE end file>>\ncommit: {token}\n"
        );
        let masked = masked(&text, "FENCE");
        assert_eq!(masked.matches("FENCE").count(), 4);
        assert!(!masked.contains(token), "{masked}");
        assert!(masked.contains("<<FENCE file notes/[masked:") && masked.contains(".txt>>\nx\n"), "{masked}");
    }

    #[test]
    fn a_template_that_can_not_be_parsed_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("reason.md"), "{% for x in %}").expect("written");
        let said = Prompts::with_overrides(folder.path()).expect_err("a fault").to_string();
        assert!(said.starts_with("the template reason.md can't be filled in: syntax error: "), "{said}");
    }
}
