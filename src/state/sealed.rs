//! A mark at the end of a JSON object by which a file that punchlist wrote is told from one that was written or changed
//! by hand. It is no secret: whoever reads this can make one. It shows what an editor or a script did.

use crate::ids::ContentId;

/// What stands before and after the mark, which is the id of the rest.
const BEFORE: &[u8] = br#","seal":""#;
const AFTER: &[u8] = br#""}"#;
const MARK_BYTES: usize = 32;

/// Puts the mark at the end of an object with at least one field.
pub(super) fn seal(mut object: Vec<u8>) -> Vec<u8> {
    let mark = ContentId::of(&object);
    object.pop();
    [object.as_slice(), BEFORE, mark.as_bytes(), AFTER].concat()
}

/// Whether a file ends with the mark of what it holds.
pub(super) fn is_sealed(bytes: &[u8]) -> bool {
    let inner = bytes.strip_suffix(AFTER).and_then(|bytes| bytes.split_last_chunk::<MARK_BYTES>());
    let Some((object, mark)) = inner.and_then(|(rest, mark)| Some((rest.strip_suffix(BEFORE)?, mark))) else {
        return false;
    };
    ContentId::of([object, b"}"].concat()).as_bytes() == mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_by_hand_is_seen() {
        let sealed = seal(br#"{"blocks":2}"#.to_vec());
        assert!(is_sealed(&sealed));
        let value: serde_json::Value = serde_json::from_slice(&sealed).expect("still an object");
        assert_eq!(value["blocks"], 2);
        let changed = String::from_utf8(sealed).expect("text").replace(":2", ":3");
        for by_hand in [changed.as_bytes(), br#"{"blocks":2}"#, b"", b"}", br#"{"seal":""}"#] {
            assert!(!is_sealed(by_hand), "{by_hand:?}");
        }
    }
}
