//! The ids that came by lately, as hashes, in bounded room. Takes an id, says whether it is new. Pure.
//!
//! A resumed or forked session can hold a row twice. In real files the copies stand close together; an id that
//! was last seen thousands of rows ago is forgotten, so that a long session costs no more than a short one.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use serde::{Deserialize, Serialize};

use crate::cache_codec::Bytes;

/// How many ids are remembered.
const MOST: usize = 2_048;

/// So many questions are answered by a look at all ids; who asks more often is worth an index.
const FEW: usize = 64;

/// The ids that came by lately.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Bytes", into = "Bytes")]
pub struct SeenIds {
    /// In the order in which they came, from `oldest` on.
    ids: Vec<u64>,
    oldest: usize,
    known: HashSet<u64, BuildHasherDefault<AsItIs>>,
    asked: usize,
}

impl SeenIds {
    /// Notes an id; says whether it was not known.
    pub fn is_new(&mut self, id: u64) -> bool {
        self.asked += 1;
        if self.asked == FEW {
            self.known = self.ids.iter().copied().collect();
        }
        let is_indexed = self.asked >= FEW;
        let is_known = if is_indexed { !self.known.insert(id) } else { self.ids.contains(&id) };
        if is_known {
            return false;
        }
        if self.ids.len() < MOST {
            self.ids.push(id);
        } else {
            let forgotten = std::mem::replace(&mut self.ids[self.oldest], id);
            self.known.remove(&forgotten);
            self.oldest = (self.oldest + 1) % MOST;
        }
        true
    }

    /// Whether an id is known, without noting it.
    pub fn contains(&self, id: u64) -> bool {
        if self.asked >= FEW { self.known.contains(&id) } else { self.ids.contains(&id) }
    }

    fn in_order(&self) -> impl Iterator<Item = u64> {
        let (newer, older) = self.ids.split_at(self.oldest);
        older.iter().chain(newer).copied()
    }
}

impl From<Bytes> for SeenIds {
    fn from(bytes: Bytes) -> Self {
        let (ids, _) = bytes.as_chunks();
        Self { ids: ids.iter().map(|id| u64::from_le_bytes(*id)).collect(), ..Self::default() }
    }
}

impl From<SeenIds> for Bytes {
    fn from(recent: SeenIds) -> Self {
        recent.in_order().flat_map(u64::to_le_bytes).collect::<Vec<_>>().into()
    }
}

impl PartialEq for SeenIds {
    fn eq(&self, other: &Self) -> bool {
        self.in_order().eq(other.in_order())
    }
}

/// A hash that is not hashed again.
#[derive(Debug, Clone, Copy, Default)]
pub struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxhash_rust::xxh3::xxh3_64(bytes);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_by_lately_is_known_and_what_came_long_ago_is_not() {
        let mut recent = SeenIds::default();
        let most = MOST as u64;
        assert!((0..=most).all(|id| recent.is_new(id)));
        assert!(recent.contains(most) && !recent.contains(0));
        assert!(!recent.is_new(most) && !recent.is_new(1), "lately");
        assert!(recent.is_new(0), "too long ago");
        assert!(recent.is_new(1), "that took its place");
    }

    #[test]
    fn what_is_kept_and_read_again_is_the_same() {
        let mut recent = SeenIds::default();
        for id in 0..MOST as u64 + 7 {
            recent.is_new(id);
        }
        let mut again = SeenIds::from(Bytes::from(recent.clone()));
        assert_eq!(again, recent);
        assert_eq!((again.is_new(7), recent.is_new(7)), (false, false));
        assert_eq!((again.is_new(6), recent.is_new(6)), (true, true));
    }
}
