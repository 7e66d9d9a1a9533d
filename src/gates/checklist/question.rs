//! What a reader is asked for the checklist gate: takes the open items and the final message, gives the question, and reads
//! which items are claimed as done. Pure. An answer that does not fit is none.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::open::Item;
use crate::evidence::sections::one_line;
use crate::ids::random_fence;
use crate::readers::Prompt;
use crate::readers::answer::parse;
use crate::readers::prompt::{self, PromptError, render};
use crate::session::Session;
use crate::text::start_and_end;

/// What the reader is asked.
const QUESTION: &str = include_str!("../../../prompts/checklist.md");
/// What it may answer.
const SCHEMA: &str = include_str!("../../../prompts/checklist.schema.json");
/// What the reader is.
const SYSTEM: &str =
    "You read the last message of a coding agent and say what it claims as done. You have no tools.";

/// So many items are asked about.
pub(super) const MOST: usize = 100;
/// How much of the message and of the person's last ask is shown.
const MESSAGE: usize = 12_000;
const ASK: usize = 2_000;

/// The answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    /// The numbers of the items that are claimed as done, from 1.
    pub(super) claimed: Vec<usize>,
    /// Whether the message says that the work as a whole is finished.
    pub(super) finished: bool,
}

fn check(json: &str) -> Result<(), String> {
    parse::<Answer>(json).map(drop)
}

/// Returns the question. All of it comes masked.
pub(super) fn prompt(items: &[Item], session: &Session) -> Result<Prompt, PromptError> {
    let listed = items.iter().take(MOST).enumerate();
    let listed: Vec<String> =
        listed.map(|(at, item)| format!("{}. {}", at + 1, one_line(&item.text))).collect();
    let ask = session.asks.last().map_or("(nothing)", |ask| ask.text.as_str());
    let message = session.final_message.as_deref().unwrap_or_default();
    let text = render(
        "checklist.md",
        QUESTION,
        &json!({
            "fence": random_fence(),
            "items": if listed.is_empty() { "(none)".to_owned() } else { listed.join("\n") },
            "ask": start_and_end(ask, ASK),
            "message": start_and_end(message, MESSAGE),
        }),
    )?;
    Ok(Prompt { system: SYSTEM.to_owned(), text, schema: prompt::one_line(SCHEMA), check })
}

/// Reads the answer.
pub(super) fn answer(json: &str) -> Answer {
    parse(json).unwrap_or_default()
}
