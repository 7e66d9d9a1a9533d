//! How far a transcript was read and with what result, so that the next stop reads only what is
//! new. Pure.

use serde::{Deserialize, Serialize};

use crate::cache_codec;
use crate::session::SessionBuilder;

/// The part of a transcript that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The file's inode, if the system has them.
    pub inode: u64,
    /// The offset at which the next line starts.
    pub offset: u64,
    /// The hash of the last bytes before that.
    pub tail: u64,
}

/// Where to continue reading a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResumePoint {
    /// The transcript.
    pub path: String,
    /// How far it was read.
    pub mark: Mark,
    /// What was read.
    pub builder: SessionBuilder,
}

/// The version is raised with every change of the encoded type.
const SHAPE: cache_codec::Shape = *b"cursorsC";

/// Encodes the resume points of a session's transcripts.
pub fn encode(points: &[ResumePoint]) -> Option<Vec<u8>> {
    cache_codec::encode(SHAPE, &points)
}

/// Decodes resume points; `None` if they are torn, or of another version.
pub fn decode(bytes: &[u8]) -> Option<Vec<ResumePoint>> {
    cache_codec::decode(SHAPE, bytes)
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

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

    /// If this fails, the encoded type has changed: raise the version in [`SHAPE`], and put the new
    /// hash here.
    #[test]
    fn a_change_of_the_encoded_type_needs_a_new_version() {
        let bytes = encode(&[resume_point()]).expect("bytes");
        assert_eq!((SHAPE[7], xxh3_64(&bytes[16..])), (b'C', 14_762_204_691_494_894_868));
    }
}
