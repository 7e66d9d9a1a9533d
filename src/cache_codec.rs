//! The encoding of caches: a name with a version, a hash, the value. Must not decode bytes that are
//! torn, changed or of another version: they count as no cache, and its content is computed again.

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

/// The first bytes of a cache: what it caches, and a version that is raised with every change of
/// its type.
pub type Shape = [u8; 8];

pub fn encode(shape: Shape, value: &impl Serialize) -> Option<Vec<u8>> {
    let mut bytes = shape.to_vec();
    bytes.extend_from_slice(&[0; 8]);
    let mut bytes = postcard::to_extend(value, bytes).ok()?;
    let hash = xxh3_64(&bytes[16..]);
    bytes[8..16].copy_from_slice(&hash.to_le_bytes());
    Some(bytes)
}

pub fn decode<T: DeserializeOwned>(shape: Shape, bytes: &[u8]) -> Option<T> {
    let (hash, rest) = bytes.strip_prefix(&shape)?.split_first_chunk::<8>()?;
    if u64::from_le_bytes(*hash) != xxh3_64(rest) {
        return None;
    }
    postcard::from_bytes(rest).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torn_changed_and_foreign_bytes_are_refused() {
        let shape = *b"a shape1";
        let value = ("words".to_owned(), vec![1u64, 2]);
        let bytes = encode(shape, &value).expect("bytes");
        let read = |bytes: &[u8]| decode::<(String, Vec<u64>)>(shape, bytes);
        assert_eq!(read(&bytes), Some(value));
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), None, "cut at {end}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert_eq!(read(&changed), None, "changed at {at}");
        }
        assert_eq!(decode::<(String, Vec<u64>)>(*b"a shape2", &bytes), None);
    }
}
