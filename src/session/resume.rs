//! How far a transcript was read, and what came of it: takes a ledger and the place where its reading ended, gives
//! bytes to keep, and from such bytes and the file as it is now the ledger to go on with. Pure. Must not go on
//! with a file that is another one, was rewritten or got shorter, nor trust bytes that are not whole.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::cache_codec;
use crate::session::SessionBuilder;

/// How many bytes before the end of what was read must be the same for the file to count as the same.
pub const TAIL_BYTES: u64 = 1 << 10;

/// A transcript as it was when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The file's own number, where the system has such.
    pub inode: u64,
    /// After which byte the next line starts.
    pub offset: u64,
    /// The hash of what stands right before that.
    pub tail: u64,
}

/// What one transcript came to so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResumePoint {
    /// Which one.
    pub path: String,
    /// How far it was read.
    pub mark: Mark,
    /// What was read.
    pub ledger: SessionBuilder,
}

/// A file as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Its own number.
    pub inode: u64,
    /// How long it is.
    pub length: u64,
}

impl Mark {
    /// Whether a file may be the one that was read, longer or not. Its tail has to be compared, too.
    pub fn may_fit(&self, now: Now) -> bool {
        self.inode == now.inode && self.offset <= now.length
    }

    /// From which byte on the tail stands.
    pub fn tail_from(&self) -> u64 {
        self.offset.saturating_sub(TAIL_BYTES)
    }

    /// Whether this is the tail of what was read.
    pub fn has_tail(&self, tail: &[u8]) -> bool {
        hash(tail) == self.tail
    }
}

/// The hash of a tail.
pub fn hash(tail: &[u8]) -> u64 {
    xxh3_64(tail)
}

/// The number goes up with every change of what is kept.
const SHAPE: cache_codec::Shape = *b"cursors5";

/// Cursors as bytes.
pub fn encode(cursors: &[ResumePoint]) -> Option<Vec<u8>> {
    cache_codec::encode(SHAPE, &cursors)
}

/// Cursors from bytes; `None` when they are torn, or of another shape.
pub fn decode(bytes: Vec<u8>) -> Option<Vec<ResumePoint>> {
    cache_codec::decode(SHAPE, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::row::rows_of;
    use crate::session::builder::Role;

    fn cursor() -> ResumePoint {
        let mut ledger = SessionBuilder::of_file(Role::Main, "/t/s.jsonl");
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
            assert!(rows_of(row.as_bytes(), |row| ledger.fold(row, Some(100))));
        }
        ResumePoint {
            path: "/t/s.jsonl".into(),
            mark: Mark { inode: 7, offset: 900, tail: hash(b"tail") },
            ledger,
        }
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let cursor = cursor();
        let bytes = encode(std::slice::from_ref(&cursor)).expect("bytes");
        assert_eq!(decode(bytes), Some(vec![cursor]));
    }

    /// The kept shape, byte for byte. If this fails, what is kept has changed: count [`SHAPE`] up, and put the new
    /// hash here.
    #[test]
    fn a_change_of_what_is_kept_needs_a_new_shape() {
        let bytes = encode(&[cursor()]).expect("bytes");
        assert_eq!((SHAPE[7], xxh3_64(&bytes[16..])), (b'5', 16_329_187_626_668_532_305));
    }

    #[test]
    fn a_file_that_shrank_or_is_another_does_not_fit() {
        let mark = Mark { inode: 7, offset: 900, tail: hash(b"tail") };
        assert!(mark.may_fit(Now { inode: 7, length: 900 }) && mark.may_fit(Now { inode: 7, length: 5_000 }));
        assert!(!mark.may_fit(Now { inode: 7, length: 899 }) && !mark.may_fit(Now { inode: 8, length: 900 }));
        assert!(mark.has_tail(b"tail") && !mark.has_tail(b"tale"));
        assert_eq!((mark.tail_from(), Mark { offset: 10_000, ..mark }.tail_from()), (0, 10_000 - TAIL_BYTES));
    }
}
