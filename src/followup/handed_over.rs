//! Blocks of ours that the client handed to the agent, as its transcript shows them. Must not count
//! words about a block.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use jiff::Timestamp;
use memchr::memmem;

use crate::client::feedback::{FEEDBACK, feedback};
use crate::client::row::rows_of;
use crate::files::open_regular;

/// How the reason of a block begins that counts.
const HOLDS: &str = "punchlist holds this stop";

/// A longer row is none that hands over a block.
const LONGEST_ROW: u64 = 256 << 10;

/// Counts the rows with which the client handed a block of ours to the agent, since a time in
/// milliseconds since 1970.
pub fn blocks_in_transcript(path: &Path, since_ms: Option<i64>) -> io::Result<u32> {
    let mut reader = BufReader::with_capacity(512 << 10, open_regular(path)?);
    let (mut line, mut blocks) = (Vec::new(), 0);
    loop {
        line.clear();
        if reader.by_ref().take(LONGEST_ROW).read_until(b'\n', &mut line)? == 0 {
            return Ok(blocks);
        }
        let is_cut = line.len() as u64 == LONGEST_ROW && !line.ends_with(b"\n");
        if is_cut {
            reader.skip_until(b'\n')?;
        } else if memmem::find(&line, FEEDBACK.as_bytes()).is_some() {
            rows_of(&line, |row| {
                let is_ours = row.is_meta.is_true() && feedback(row).is_some_and(|text| text.contains(HOLDS));
                let made = || row.timestamp.text()?.parse::<Timestamp>().ok();
                let is_since =
                    since_ms.is_none_or(|since| made().is_some_and(|made| made.as_millisecond() >= since));
                blocks += u32::from(is_ours && is_since);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_ours_are_counted_and_words_about_them_are_not() {
        let row = |rest: &str| format!(r#"{{"type":"user",{rest}}}"#);
        let held = row(
            r#""isMeta":true,"message":{"content":"Stop hook feedback:\n[x]: punchlist holds this stop for 1 finding:"}"#,
        );
        let rows = [
            held.clone(),
            row(r#""isMeta":true,"message":{"content":"Stop hook feedback:\nanother hook"}"#),
            row(r#""message":{"content":"Stop hook feedback:\npunchlist holds this stop"}"#),
            row(
                r#""message":{"content":[{"type":"tool_result","content":"Stop hook feedback:\npunchlist holds this stop"}]}"#,
            ),
            format!("{}{}", " ".repeat(300 << 10), held),
            held.clone(),
        ];
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.jsonl");
        std::fs::write(&path, rows.join("\n")).expect("written");
        assert_eq!(blocks_in_transcript(&path, None).expect("read"), 2);
        let dated = held.replace("\"isMeta\"", "\"timestamp\":\"1970-01-01T00:00:05Z\",\"isMeta\"");
        std::fs::write(&path, [held, dated].join("\n")).expect("written");
        for (since, blocks) in [(4_999, 1), (5_000, 1), (5_001, 0)] {
            assert_eq!(blocks_in_transcript(&path, Some(since)).expect("read"), blocks, "{since}");
        }
    }
}
