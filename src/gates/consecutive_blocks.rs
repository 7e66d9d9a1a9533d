//! How often a session was blocked without a tool call in between, by the end of its transcript.
//! The client overrides the ninth such block and leaves the person with an empty result (2.1.325),
//! so a gate that keeps a session working has to let go before. Reads a bounded part of one file.

use std::path::Path;

use crate::client::feedback::feedback;
use crate::client::row::{ASSISTANT, Content, rows_of};
use crate::files::end_of;
use crate::gates::StopContext;

/// A session is let go after this many consecutive blocks. The client's limit is 8, and the newest
/// rows may not be written yet.
pub const MOST_IN_A_ROW: u32 = 6;

/// How much of the transcript's end is read: an agent that calls no tool writes little.
const TAIL: u64 = 256 << 10;

/// Returns whether a gate that keeps sessions working may block this one again.
pub fn may_block_again(stop: &StopContext<'_>, gate: &str) -> bool {
    blocks_in_a_row(stop.input.own_transcript(), stop.blocks_by(gate)) < MOST_IN_A_ROW
}

/// Counts the blocks since the newest tool call; without a readable transcript, returns the state's
/// count.
fn blocks_in_a_row(transcript: Option<&Path>, held: u32) -> u32 {
    let tail = transcript.and_then(|path| end_of(path, TAIL).ok());
    tail.map_or(held, |tail| count(&tail).min(held))
}

/// Counts from the end. Skips lines that can't be parsed, such as the first of the tail.
fn count(tail: &[u8]) -> u32 {
    let mut blocks = 0;
    for line in tail.rsplit(|byte| *byte == b'\n') {
        let mut calls_a_tool = false;
        rows_of(line, |row| {
            let Some(message) = row.message() else { return };
            if row.kind.is(ASSISTANT) {
                calls_a_tool |= is_call(&message.content);
            } else if feedback(row).is_some() {
                blocks += 1;
            }
        });
        if calls_a_tool {
            break;
        }
    }
    blocks
}

fn is_call(content: &Content<'_>) -> bool {
    matches!(content, Content::Blocks(blocks) if blocks.iter().any(|block| block.kind.is("tool_use")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: &str =
        r#"{"type":"user","isMeta":true,"message":{"role":"user","content":"Stop hook feedback:\ngo on"}}"#;
    const HELD_AS_BLOCKS: &str = r#"{"type":"user","isMeta":true,"message":{"content":[{"type":"text","text":"Stop hook feedback:\nx"}]}}"#;
    const WORDS: &str =
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I am \"done\"."}]}}"#;
    const CALL: &str = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{}}]}}"#;
    const OTHER: &str = r#"{"type":"progress","message":7}"#;

    fn counted(rows: &[&str]) -> u32 {
        count(rows.join("\n").as_bytes())
    }

    #[test]
    fn holds_are_counted_back_to_the_newest_tool_call() {
        assert_eq!(counted(&[]), 0);
        assert_eq!(counted(&[HELD, CALL, WORDS]), 0);
        assert_eq!(counted(&[CALL, HELD, WORDS, HELD_AS_BLOCKS, OTHER, "torn", WORDS, ""]), 2);
        assert_eq!(counted(&["cut off}", HELD, WORDS]), 1);
    }

    #[test]
    fn where_there_is_no_transcript_all_that_is_remembered_counts() {
        assert_eq!(blocks_in_a_row(None, 4), 4);
        assert_eq!(blocks_in_a_row(Some(Path::new("/nowhere/t.jsonl")), 7), 7);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.jsonl");
        std::fs::write(&path, [HELD; 9].join("\n")).expect("written");
        assert_eq!((blocks_in_a_row(Some(&path), 20), blocks_in_a_row(Some(&path), 2)), (9, 2));
    }

    #[test]
    fn only_the_end_of_a_long_transcript_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.jsonl");
        let long = format!("{HELD}\n{}\n{CALL}\n{HELD}\n", "x".repeat(1 << 20));
        std::fs::write(&path, long).expect("written");
        assert_eq!(end_of(&path, TAIL).expect("read").len() as u64, TAIL);
        assert_eq!(blocks_in_a_row(Some(&path), 9), 1);
    }
}
