//! A mark at the end of a JSON object that tells a file written by punchlist from one written,
//! changed or copied by hand. It is no secret: whoever reads this can make one. It reveals the work
//! of an editor or a script.

use std::path::Path;

use crate::ids::ContentId;

/// The text before and after the mark, which is the id of the rest and the file's name.
const BEFORE: &[u8] = br#","seal":""#;
const AFTER: &[u8] = br#""}"#;
const MARK_BYTES: usize = 32;

/// Puts the mark at the end of an object with at least one field.
pub(super) fn seal(mut object: Vec<u8>, path: &Path) -> Vec<u8> {
    let mark = mark(&object, path);
    object.pop();
    [object.as_slice(), BEFORE, mark.as_bytes(), AFTER].concat()
}

fn mark(object: &[u8], path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    ContentId::digest([object, name.as_encoded_bytes()].concat())
}

/// Returns whether a file ends with the mark of its content.
pub(super) fn is_sealed(bytes: &[u8], path: &Path) -> bool {
    let inner = bytes.strip_suffix(AFTER).and_then(|bytes| bytes.split_last_chunk::<MARK_BYTES>());
    let Some((object, found)) = inner.and_then(|(rest, mark)| Some((rest.strip_suffix(BEFORE)?, mark)))
    else {
        return false;
    };
    mark(&[object, b"}"].concat(), path).as_bytes() == found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_by_hand_is_seen() {
        let path = Path::new("sessions/a.json");
        let sealed = seal(br#"{"blocks":2}"#.to_vec(), path);
        assert!(is_sealed(&sealed, path));
        assert!(!is_sealed(&sealed, Path::new("sessions/b.json")), "it is another's");
        let value: serde_json::Value = serde_json::from_slice(&sealed).expect("still an object");
        assert_eq!(value["blocks"], 2);
        let changed = String::from_utf8(sealed).expect("text").replace(":2", ":3");
        for by_hand in [changed.as_bytes(), br#"{"blocks":2}"#, b"", b"}", br#"{"seal":""}"#] {
            assert!(!is_sealed(by_hand, path), "{by_hand:?}");
        }
    }
}
