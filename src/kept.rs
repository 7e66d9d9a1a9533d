//! Values as bytes to keep between stops: the shape of the value, a hash, the value. Takes a value, gives bytes, and
//! back. Pure. Must not read bytes that are torn, were changed, or are of another shape: they count as none, and what
//! they held is worked out again.

use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::xxh3_64;

/// What kept bytes start with: what they are of, and a number that goes up with every change of that.
pub type Shape = [u8; 8];

/// A value as bytes.
pub fn encode(shape: Shape, value: &impl Serialize) -> Option<Vec<u8>> {
    let mut bytes = shape.to_vec();
    bytes.extend_from_slice(&[0; 8]);
    let mut bytes = postcard::to_extend(value, bytes).ok()?;
    let hash = xxh3_64(&bytes[16..]);
    bytes[8..16].copy_from_slice(&hash.to_le_bytes());
    Some(bytes)
}

/// A value from bytes.
pub fn decode<T: DeserializeOwned>(shape: Shape, bytes: &[u8]) -> Option<T> {
    let (hash, rest) = bytes.strip_prefix(&shape)?.split_first_chunk::<8>()?;
    if u64::from_le_bytes(*hash) != xxh3_64(rest) {
        return None;
    }
    postcard::from_bytes(rest).ok()
}

/// Bytes inside of a value, which are neither looked at nor taken one by one. To have them twice costs nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bytes(pub Arc<[u8]>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Taken;

        impl Visitor<'_> for Taken {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.into()))
            }
        }

        deserializer.deserialize_bytes(Taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torn_changed_and_foreign_bytes_are_nothing() {
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
