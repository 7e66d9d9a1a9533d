//! How far a transcript was read and what came of it, so that the next stop reads only what is new. Pure. Must not go on
//! with a file that is another one, was rewritten or got shorter.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::cache_codec;
use crate::session::SessionBuilder;

/// How many bytes before the end of what was read must be the same for the file to count as the same.
const TAIL_BYTES: u64 = 1 << 10;

/// The part of a transcript that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The file's inode, where the system has such.
    pub inode: u64,
    /// The offset at which the next line starts.
    pub offset: u64,
    /// The hash of the last bytes before that.
    pub tail: u64,
}

/// Where to go on with a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResumePoint {
    /// The transcript.
    pub path: String,
    /// How far it was read.
    pub mark: Mark,
    /// What was read.
    pub builder: SessionBuilder,
}

impl Mark {
    /// Returns whether a file may be the one that was read, longer or not. Its tail has to be compared, too.
    pub fn may_fit(&self, inode: u64, length: u64) -> bool {
        self.inode == inode && self.offset <= length
    }

    /// Returns the offset at which the tail starts.
    pub fn tail_from(&self) -> u64 {
        self.offset.saturating_sub(TAIL_BYTES)
    }

    /// Sets the tail to the last bytes that were read.
    #[must_use]
    pub fn with_tail(self, tail: &[u8]) -> Self {
        Self { tail: xxh3_64(tail), ..self }
    }
}

/// The version is counted up with every change of the encoded type.
const SHAPE: cache_codec::Shape = *b"cursors7";

/// Encodes the resume points of a session's transcripts.
pub fn encode(points: &[ResumePoint]) -> Option<Vec<u8>> {
    cache_codec::encode(SHAPE, &points)
}

/// Decodes resume points; `None` where they are torn, or of another version.
pub fn decode(bytes: &[u8]) -> Option<Vec<ResumePoint>> {
    cache_codec::decode(SHAPE, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::row::rows_of;
    use crate::session::builder::Role;

    fn resume_point() -> ResumePoint {
        let mut builder = SessionBuilder::for_file(Role::Main, "/t/s.jsonl");
        for row in [
            r#"{"type":"user","uuid":"1","sessionId":"s","cwd":"/w","message":{"content":"add the file a.rs to it all"}}"#,
            r#"{"type":"assistant","uuid":"5","timestamp":"2026-01-01T00:00:00Z","message":{"id":"m","content":[{"type":"text","text":"on it"}]}}"#,
            r#"{"type":"user","uuid":"6","message":{"content":[{"type":"tool_result","tool_use_id":"t9","content":"early"}]}}"#,
            r#"{"type":"assistant","uuid":"7","message":{"id":"m","content":[{"type":"tool_use","id":"t3","name":"Read","input":{"file_path":"/w/p.md"}}]}}"#,
            r#"{"type":"assistant","uuid":"8","message":{"id":"m","content":[{"type":"tool_use","id":"t4","name":"Task","input":{"description":"look"}}]}}"#,
            r#"{"type":"assistant","uuid":"2","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/w/a.rs","old_string":"a","new_string":"b"}}]}}"#,
            r#"{"type":"user","uuid":"3","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]},"toolUseResult":{"originalFile":"a"}}"#,
            r#"{"type":"assistant","uuid":"4","message":{"id":"n","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"make"}}]}}"#,
        ] {
            assert!(rows_of(row.as_bytes(), |row| builder.fold(row, Some(100))));
        }
        ResumePoint {
            path: "/t/s.jsonl".into(),
            mark: Mark { inode: 7, offset: 900, tail: xxh3_64(b"tail") },
            builder,
        }
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let point = resume_point();
        let bytes = encode(std::slice::from_ref(&point)).expect("bytes");
        assert_eq!(decode(&bytes), Some(vec![point]));
    }

    /// If this fails, the encoded type has changed: count [`SHAPE`] up, and put the new hash here.
    #[test]
    fn a_change_of_the_encoded_type_needs_a_new_version() {
        let bytes = encode(&[resume_point()]).expect("bytes");
        assert_eq!((SHAPE[7], xxh3_64(&bytes[16..])), (b'7', 4_603_220_468_360_282_499));
    }

    #[test]
    fn a_file_that_shrank_or_is_another_does_not_fit() {
        let mark = Mark { inode: 7, offset: 900, tail: xxh3_64(b"tail") };
        assert!(mark.may_fit(7, 900) && mark.may_fit(7, 5_000));
        assert!(!mark.may_fit(7, 899) && !mark.may_fit(8, 900));
        assert!(mark.with_tail(b"tail") == mark && mark.with_tail(b"tale") != mark);
        assert_eq!((mark.tail_from(), Mark { offset: 10_000, ..mark }.tail_from()), (0, 10_000 - TAIL_BYTES));
    }
}
