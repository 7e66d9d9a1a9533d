//! What a reader is asked about a block at the stop after it: takes the findings that disk and plan do not settle, gives the
//! question, and reads the answer. Pure. An answer that does not fit is none.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::finding::Finding;
use crate::readers::answer::parse;
use crate::readers::prompt::{Prompt, PromptError, Shown, one_line, render};
use crate::readers::second::listed;

/// What the reader is asked.
pub const SETTLE: &str = include_str!("../../prompts/settle.md");
/// What it may answer.
pub const SCHEMA: &str = include_str!("../../prompts/settle.schema.json");

/// How a finding is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It was right, and is settled.
    Fixed,
    /// It was never right.
    Wrong,
    /// It is still so.
    Stands,
}

/// The whole answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// A word on each finding.
    pub findings: Vec<Word>,
}

/// A word on a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Word {
    /// Which one, from 1.
    pub number: usize,
    /// How it is now.
    pub state: State,
    /// Why.
    pub why: String,
}

fn check(json: &str) -> Result<(), String> {
    parse::<Answer>(json).map(drop)
}

/// Returns the question about these findings, after the evidence as it is now.
pub fn prompt(shown: &Shown, findings: &[&Finding]) -> Result<Prompt, PromptError> {
    let task = render("settle.md", SETTLE, json!({ "fence": shown.fence, "findings": listed(findings) }))?;
    Ok(Prompt { schema: one_line(SCHEMA), check, ..shown.prompt(&task) })
}

/// Reads the answer: a word for each of so many findings, where there is one.
pub fn words(json: &str, count: usize) -> Vec<Option<(State, String)>> {
    let answer: Answer = parse(json).unwrap_or_default();
    let word = |number: usize| answer.findings.iter().find(|word| word.number == number);
    (1..=count).map(|number| word(number).map(|word| (word.state, word.why.clone()))).collect()
}
