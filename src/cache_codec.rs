//! Values as bytes to keep between stops: the shape of the value, a hash, the value. Takes a value, gives bytes, and
//! back. Pure. Must not read bytes that are torn, were changed, or are of another shape: they count as none, and what
//! they held is worked out again.

use std::cell::RefCell;
use std::fmt;
use std::ops::{Deref, Range};
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

pub fn decode<T: DeserializeOwned>(shape: Shape, bytes: Vec<u8>) -> Option<T> {
    let (hash, rest) = bytes.strip_prefix(&shape)?.split_first_chunk::<8>()?;
    if u64::from_le_bytes(*hash) != xxh3_64(rest) {
        return None;
    }
    let whole = Arc::new(bytes);
    WHOLE.set(Some(Arc::clone(&whole)));
    let value = postcard::from_bytes(&whole[16..]).ok();
    WHOLE.set(None);
    value
}

thread_local! {
    /// What is being decoded: bytes inside of it stay where they are.
    static WHOLE: RefCell<Option<Arc<Vec<u8>>>> = const { RefCell::new(None) };
}

/// Bytes inside of a value, which are neither looked at nor taken one by one. To have them twice costs nothing.
#[derive(Debug, Clone, Default)]
pub struct Bytes {
    whole: Arc<Vec<u8>>,
    place: Range<usize>,
}

impl Bytes {
    /// These bytes, which may be a part of what is being decoded.
    fn of(bytes: &[u8]) -> Self {
        let inside = WHOLE.with_borrow(|whole| {
            let whole = whole.as_ref()?;
            let start = (bytes.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
            let place = start..start.checked_add(bytes.len())?;
            (place.end <= whole.len()).then(|| Self { whole: Arc::clone(whole), place })
        });
        inside.unwrap_or_else(|| bytes.to_vec().into())
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Bytes {}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self { place: 0..bytes.len(), whole: Arc::new(bytes) }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.whole[self.place.clone()]
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self)
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
                Ok(Bytes::of(bytes))
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
        let read = |bytes: &[u8]| decode::<(String, Vec<u64>)>(shape, bytes.to_vec());
        assert_eq!(read(&bytes), Some(value));
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), None, "cut at {end}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert_eq!(read(&changed), None, "changed at {at}");
        }
        assert_eq!(decode::<(String, Vec<u64>)>(*b"a shape2", bytes), None);
    }

    #[test]
    fn bytes_inside_of_a_value_stay_where_they_are() {
        let value = ("words".to_owned(), Bytes::from(b"inside".to_vec()));
        let kept = encode(*b"a shape1", &value).expect("bytes");
        let length = kept.len();
        let (_, inside) = decode::<(String, Bytes)>(*b"a shape1", kept).expect("a value");
        assert_eq!((&*inside, inside.whole.len()), (&b"inside"[..], length));
        // Elsewhere they are taken along.
        let other = postcard::to_allocvec(&inside).expect("bytes");
        let other: Bytes = postcard::from_bytes(&other).expect("bytes");
        assert_eq!((&*other, other.whole.len()), (&b"inside"[..], 6));
    }
}
