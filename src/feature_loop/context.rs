//! How full a session's context is, from the token counts of the transcript's last answer. Must
//! not read more than a bounded part of the file's end.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

use serde::Deserialize;

use crate::files::{open_regular, read_at};

/// The window of models whose name ends in `[1m]`.
const LARGE_WINDOW: u64 = 1_000_000;

/// How much is read. Rows with pictures are long, and the answer is before them.
const MAX_READ: u64 = 8 << 20;

/// How full a context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextFill {
    /// The tokens of the last answer and everything before it.
    pub tokens: u64,
    pub window: u64,
}

impl ContextFill {
    /// As a fraction of 1.
    #[expect(clippy::cast_precision_loss, reason = "counts of tokens are small")]
    pub fn part(self) -> f64 {
        self.tokens as f64 / self.window.max(1) as f64
    }
}

impl fmt::Display for ContextFill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.tokens.saturating_mul(100) / self.window.max(1))
    }
}

#[derive(Deserialize)]
struct Row {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    subtype: Option<String>,
    #[serde(default, rename = "isSidechain")]
    is_sidechain: bool,
    #[serde(default, rename = "isCompactSummary")]
    is_summary: bool,
    #[serde(default)]
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default, rename = "input_tokens")]
    input: u64,
    #[serde(default, rename = "cache_read_input_tokens")]
    cache_read: u64,
    #[serde(default, rename = "cache_creation_input_tokens")]
    cache_write: u64,
    #[serde(default, rename = "output_tokens")]
    output: u64,
}

/// Returns the tokens in the context after a row, and its model: 0 where everything before it was
/// compacted, `None` where the row says nothing about the context.
fn parse_row(line: &[u8]) -> Option<(u64, Option<String>)> {
    // Most rows are neither, and long: look for the bytes before parsing.
    let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
    if !has(b"\"assistant\"") && !has(b"compact") && !has(b"isCompactSummary") {
        return None;
    }
    let row: Row = serde_json::from_slice(line).ok()?;
    if row.is_summary || row.kind == "system" && row.subtype.as_deref() == Some("compact_boundary") {
        return Some((0, None));
    }
    let message = row.message.filter(|_| row.kind == "assistant" && !row.is_sidechain)?;
    let usage = message.usage?;
    let cached = usage.cache_read.saturating_add(usage.cache_write);
    let tokens = usage.input.saturating_add(cached).saturating_add(usage.output);
    // The client's own messages, such as after an error, count no tokens.
    (tokens > 0).then_some((tokens, message.model))
}

/// The window of a model. One that was filled further than the usual window has the large one.
fn window_of(model: Option<&str>, chosen: Option<&str>, tokens: u64, window: u64) -> u64 {
    let is_large = [model, chosen].into_iter().flatten().any(|name| name.ends_with("[1m]"));
    if is_large || tokens > window { LARGE_WINDOW.max(window) } else { window }
}

/// Returns how full the session of a transcript is, if that is known. `window` is the usual
/// model's, `chosen` the model that the environment names.
pub fn read_fill(path: &Path, window: u64, chosen: Option<&str>) -> Option<ContextFill> {
    let file = open_regular(path).ok()?;
    let (tokens, model) = last_answer(&file).ok()?.filter(|(tokens, _)| *tokens > 0)?;
    Some(ContextFill { tokens, window: window_of(model.as_deref(), chosen, tokens, window) })
}

/// Reads the end of the file, and looks for the last answer in it.
fn last_answer(file: &File) -> io::Result<Option<(u64, Option<String>)>> {
    let end = file.metadata()?.len();
    let from = end.saturating_sub(MAX_READ);
    let bytes = read_at(file, from, end - from)?;
    // Before the first line end may be the rest of a row.
    let start = if from == 0 { 0 } else { memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |at| at + 1) };
    Ok(bytes[start..].rsplit(|byte| *byte == b'\n').find_map(parse_row))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(tokens: u64, more: &str) -> String {
        format!(
            r#"{{"type":"assistant"{more},"message":{{"model":"claude-x","usage":{{"input_tokens":{tokens},"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":3}}}}}}"#
        ) + "\n"
    }

    fn fill(text: &str, window: u64, chosen: Option<&str>) -> Option<(u64, u64)> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.jsonl");
        std::fs::write(&path, text).expect("written");
        read_fill(&path, window, chosen).map(|fill| (fill.tokens, fill.window))
    }

    #[test]
    fn the_last_answer_counts_and_subagents_and_made_up_ones_do_not() {
        let text = answer(7, "") + &answer(1_000, ",\"isSidechain\":true");
        let text = text
            + "{\"type\":\"assistant\",\"message\":{\"model\":\"<synthetic>\",\"usage\":{\"input_tokens\":0}}}\n";
        let text = text
            + "{\"type\":\"user\",\"message\":{\"content\":\"what an assistant is\"}}\n{\"type\":\"assis";
        assert_eq!(fill(&text, 200_000, None), Some((130, 200_000)));
        assert_eq!(fill("", 200_000, None), None);
        assert_eq!(read_fill(Path::new("/nowhere"), 200_000, None), None);
    }

    #[test]
    fn what_was_summed_up_is_gone() {
        let boundary = "{\"type\":\"system\",\"subtype\":\"compact_boundary\"}\n{\"type\":\"user\",\"isCompactSummary\":true}\n";
        assert_eq!(fill(&(answer(150_000, "") + boundary), 200_000, None), None);
        assert_eq!(
            fill(&(answer(150_000, "") + boundary + &answer(7, "")), 200_000, None),
            Some((130, 200_000))
        );
    }

    #[test]
    fn an_answer_is_found_behind_long_rows_but_not_too_far_back() {
        let row = |bytes: usize| format!("{{\"type\":\"user\",\"x\":\"{}\"}}\n", "é".repeat(bytes / 2));
        let long = row(400_000);
        assert_eq!(fill(&(answer(7, "") + &long + &long), 200_000, None), Some((130, 200_000)));
        let too_long = row(usize::try_from(MAX_READ).expect("small"));
        assert_eq!(fill(&(answer(7, "") + &too_long), 200_000, None), None);
        assert_eq!(fill(&(too_long + &answer(7, "")), 200_000, None), Some((130, 200_000)));
    }

    #[test]
    fn the_window_is_the_persons_or_the_models() {
        assert_eq!(fill(&answer(7, ""), 1_000, None), Some((130, 1_000)));
        assert_eq!(fill(&answer(7, ""), 200_000, Some("opus[1m]")), Some((130, 1_000_000)));
        assert_eq!(fill(&answer(250_000, ""), 200_000, None), Some((250_123, 1_000_000)));
    }

    #[test]
    fn it_is_told_in_whole_parts_of_a_hundred() {
        assert_eq!(ContextFill { tokens: 161_999, window: 200_000 }.to_string(), "80 %");
        assert!(ContextFill { tokens: 1, window: 0 }.part() > 0.0);
    }
}
