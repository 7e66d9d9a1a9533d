//! Ids: random ones that can't be guessed, and ones derived from content, which are the same
//! wherever the content is. Must not be used for passwords or keys.

use sha2::{Digest, Sha256};

/// An id derived from content: the same parts in the same order give the same id.
#[derive(Debug, Default)]
pub struct ContentId(Sha256);

impl ContentId {
    pub fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        // The length tells "ab", "c" from "a", "bc".
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    /// Returns the id: 128 bits in hexadecimal.
    pub fn finish(self) -> String {
        let mut id = [0; 16];
        id.copy_from_slice(&self.0.finalize()[..16]);
        hex(id)
    }

    /// Returns the id of one part.
    pub fn digest(part: impl AsRef<[u8]>) -> String {
        let mut id = Self::default();
        id.add(part);
        id.finish()
    }
}

fn hex(bytes: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(bytes))
}

fn random_bytes() -> [u8; 16] {
    let mut bytes = [0u8; 16];
    // If the system provides no randomness, the clock is better than a constant.
    if getrandom::fill(&mut bytes).is_err() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        bytes = now.as_nanos().to_le_bytes();
    }
    bytes
}

/// Returns a word for the fence around data: 128 random bits.
pub fn random_fence() -> String {
    hex(random_bytes())
}

/// Returns a random id in the client's form for a session: a UUID of version 4.
pub fn new_session() -> String {
    let mut bytes = random_bytes();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let id = hex(bytes);
    [&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]].join("-")
}

/// Returns a short random id for one decision: 50 bits, ten letters that are hard to confuse.
pub fn new_id() -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    random_bytes().iter().take(10).map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ids_tell_parts_apart() {
        let of = |parts: &[&str]| {
            let mut id = ContentId::default();
            for part in parts {
                id.add(part);
            }
            id.finish()
        };
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_eq!(of(&["x"]).len(), 32);
    }

    #[test]
    fn random_ids_differ() {
        assert_ne!(random_fence(), random_fence());
        assert_ne!(new_id(), new_id());
        let session = new_session();
        assert_ne!(session, new_session());
        let parts: Vec<_> = session.split('-').map(str::len).collect();
        assert!(parts == [8, 4, 4, 4, 12] && session[14..].starts_with('4'), "{session}");
        assert!(session[19..].starts_with(['8', '9', 'a', 'b']), "{session}");
        assert_eq!((random_fence().len(), new_id().len()), (32, 10));
    }
}
