//! The rows of a recorded transcript that are kept. Takes the transcript as the client wrote it,
//! gives it without the rows in which newer clients keep what they tell every model: system prompt,
//! tools, skills. They are the client's own text, the same in every session, and three quarters of
//! a short one. All other rows stay as they are.

use serde_json::Value;

/// Kinds of rows that only keep what was sent.
const SENT: &[&str] = &["api-request-shape", "api-request-blob"];

/// Attachments that list what the client has to offer.
const LISTS: &[&str] = &[
    "prompt_snapshot", "skill_listing", "agent_listing_delta", "deferred_tools_delta",
    "mcp_instructions_delta",
];

/// The transcript without them.
pub(crate) fn without_the_clients_own_text(transcript: &str) -> String {
    transcript.split_inclusive('\n').filter(|row| !is_the_clients_own_text(row)).collect()
}

fn is_the_clients_own_text(row: &str) -> bool {
    let row: Value = serde_json::from_str(row).unwrap_or_default();
    let is_one_of = |kind: &Value, kinds: &[&str]| kind.as_str().is_some_and(|kind| kinds.contains(&kind));
    is_one_of(&row["type"], SENT)
        || (row["type"] == "attachment" && is_one_of(&row["attachment"]["type"], LISTS))
}
