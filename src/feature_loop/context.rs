//! How full a session is, by the transcript's own counts: takes the end of a transcript, gives how many tokens the last
//! answer had before and in it, and of how many. Must not read more of the file than a bounded part of its end.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

use serde::Deserialize;

use crate::files::{open_regular, read_at};

/// The window of those that are named with `[1m]`.
const LARGE: u64 = 1_000_000;

/// How much is read at once, and in all: rows with pictures in them are long, and an answer stands before them.
const PIECE: u64 = 128 << 10;
const MOST: u64 = 8 << 20;

/// How full it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fill {
    /// What the last answer had before and in it.
    pub tokens: u64,
    /// Of how many.
    pub window: u64,
}

impl Fill {
    /// As a part of 1.
    #[expect(clippy::cast_precision_loss, reason = "counts of tokens are small")]
    pub fn part(self) -> f64 {
        self.tokens as f64 / self.window.max(1) as f64
    }
}

impl fmt::Display for Fill {
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
    fresh: u64,
    #[serde(default, rename = "cache_read_input_tokens")]
    cached: u64,
    #[serde(default, rename = "cache_creation_input_tokens")]
    kept: u64,
    #[serde(default, rename = "output_tokens")]
    said: u64,
}

/// What one row says.
enum Said {
    Nothing,
    /// What stands before it was summed up, and is no part of the context any more.
    SummedUp,
    Answer(u64, Option<String>),
}

fn said(line: &[u8]) -> Said {
    // Few rows are of interest, and most others are long.
    let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
    if !has(b"\"assistant\"") && !has(b"compact") && !has(b"isCompactSummary") {
        return Said::Nothing;
    }
    let Ok(row) = serde_json::from_slice::<Row>(line) else { return Said::Nothing };
    if row.is_summary || row.kind == "system" && row.subtype.as_deref() == Some("compact_boundary") {
        return Said::SummedUp;
    }
    if row.kind != "assistant" || row.is_sidechain {
        return Said::Nothing;
    }
    let Some(message) = row.message else { return Said::Nothing };
    let tokens = message.usage.map_or(0, |usage| {
        let before = usage.fresh.saturating_add(usage.cached);
        before.saturating_add(usage.kept).saturating_add(usage.said)
    });
    // What the client writes itself, such as after an error, has no count.
    if tokens == 0 { Said::Nothing } else { Said::Answer(tokens, message.model) }
}

/// The window of a model by its name. One that was filled further than the usual one has a larger one.
fn window_of(model: Option<&str>, chosen: Option<&str>, tokens: u64, window: u64) -> u64 {
    let is_large = [model, chosen].into_iter().flatten().any(|name| name.ends_with("[1m]"));
    if is_large || tokens > window { LARGE.max(window) } else { window }
}

/// How full the session of a transcript is; `None` where that can't be told. `window` is that of an ordinary model,
/// `chosen` the one that the environment names.
pub fn fill_of(path: &Path, window: u64, chosen: Option<&str>) -> Option<Fill> {
    let file = open_regular(path).ok()?;
    let (tokens, model) = last_answer(&file).ok()??;
    Some(Fill { tokens, window: window_of(model.as_deref(), chosen, tokens, window) })
}

/// Goes back from the end, row by row.
fn last_answer(file: &File) -> io::Result<Option<(u64, Option<String>)>> {
    let end = file.metadata()?.len();
    let (mut from, mut rest) = (end, Vec::new());
    while from > 0 && end - from < MOST {
        let bytes = PIECE.min(from);
        from -= bytes;
        let mut piece = read_at(file, from, bytes)?;
        piece.append(&mut rest);
        // What stands before the first line end is the end of a row that begins further up.
        let start =
            if from == 0 { 0 } else { memchr::memchr(b'\n', &piece).map_or(piece.len(), |at| at + 1) };
        for line in piece[start..].rsplit(|byte| *byte == b'\n') {
            match said(line) {
                Said::Nothing => {}
                Said::SummedUp => return Ok(None),
                Said::Answer(tokens, model) => return Ok(Some((tokens, model))),
            }
        }
        piece.truncate(start);
        rest = piece;
    }
    Ok(None)
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
        fill_of(&path, window, chosen).map(|fill| (fill.tokens, fill.window))
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
        assert_eq!(fill_of(Path::new("/nowhere"), 200_000, None), None);
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
    fn an_answer_is_found_behind_long_rows_and_in_pieces() {
        let long = format!("{{\"type\":\"user\",\"x\":\"{}\"}}\n", "é".repeat(200_000));
        assert_eq!(fill(&(answer(7, "") + &long + &long), 200_000, None), Some((130, 200_000)));
        for pad in 0..130 {
            let row =
                format!("{{\"x\":\"{}\"}}\n", "a".repeat(usize::try_from(PIECE).expect("small") - 200 + pad));
            assert_eq!(fill(&(answer(7, "") + &row), 200_000, None), Some((130, 200_000)), "{pad}");
        }
    }

    #[test]
    fn the_window_is_the_persons_or_the_models() {
        assert_eq!(fill(&answer(7, ""), 1_000, None), Some((130, 1_000)));
        assert_eq!(fill(&answer(7, ""), 200_000, Some("opus[1m]")), Some((130, 1_000_000)));
        assert_eq!(fill(&answer(250_000, ""), 200_000, None), Some((250_123, 1_000_000)));
    }

    #[test]
    fn it_is_told_in_whole_parts_of_a_hundred() {
        assert_eq!(Fill { tokens: 161_999, window: 200_000 }.to_string(), "80 %");
        assert!(Fill { tokens: 1, window: 0 }.part() > 0.0);
    }
}
