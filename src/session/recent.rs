//! The ids that came by lately, as hashes, in bounded room. Takes an id, says whether it is new. Pure.
//!
//! A resumed or forked session can hold a row twice. In real files the copies stand close together; an id that
//! was last seen thousands of rows ago is forgotten, so that a long session costs no more than a short one.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use serde::{Deserialize, Serialize};

/// How many ids are remembered.
const MOST: usize = 2_048;

/// The ids that came by lately.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<u64>", into = "Vec<u64>")]
pub struct Recent {
    /// In the order in which they came, from `oldest` on.
    ids: Vec<u64>,
    oldest: usize,
    known: HashSet<u64, BuildHasherDefault<AsItIs>>,
}

impl Recent {
    /// Notes an id; says whether it was not known.
    pub fn is_new(&mut self, id: u64) -> bool {
        if !self.known.insert(id) {
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
}

impl From<Vec<u64>> for Recent {
    fn from(ids: Vec<u64>) -> Self {
        Self { known: ids.iter().copied().collect(), ids, oldest: 0 }
    }
}

impl From<Recent> for Vec<u64> {
    fn from(recent: Recent) -> Self {
        let mut ids = recent.ids;
        ids.rotate_left(recent.oldest);
        ids
    }
}

impl PartialEq for Recent {
    fn eq(&self, other: &Self) -> bool {
        let in_order = |recent: &Self| Vec::from(recent.clone());
        in_order(self) == in_order(other)
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
        let mut recent = Recent::default();
        let most = MOST as u64;
        assert!((0..=most).all(|id| recent.is_new(id)));
        assert!(!recent.is_new(most) && !recent.is_new(1), "lately");
        assert!(recent.is_new(0), "too long ago");
        assert!(recent.is_new(1), "that took its place");
    }

    #[test]
    fn what_is_kept_and_read_again_is_the_same() {
        let mut recent = Recent::default();
        for id in 0..MOST as u64 + 7 {
            recent.is_new(id);
        }
        let mut again = Recent::from(Vec::from(recent.clone()));
        assert_eq!(again, recent);
        assert_eq!((again.is_new(7), recent.is_new(7)), (false, false));
        assert_eq!((again.is_new(6), recent.is_new(6)), (true, true));
    }
}
