//! The hashes of the ids that came lately. Must not grow: the oldest are dropped.
//!
//! A resumed or forked session can hold a row twice. In real files the copies are close together.

use std::collections::{HashSet, VecDeque};

use serde::{Deserialize, Serialize};

/// How many ids are remembered.
const MOST: usize = 2_048;

/// The ids that came lately.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "VecDeque<u64>", into = "VecDeque<u64>")]
pub struct SeenIds {
    oldest_first: VecDeque<u64>,
    set: HashSet<u64>,
}

impl SeenIds {
    /// Adds an id; returns whether it was not there.
    pub fn insert(&mut self, id: u64) -> bool {
        if !self.set.insert(id) {
            return false;
        }
        self.oldest_first.push_back(id);
        if self.oldest_first.len() > MOST
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.set.remove(&oldest);
        }
        true
    }

    /// Returns whether an id is there.
    pub fn contains(&self, id: u64) -> bool {
        self.set.contains(&id)
    }
}

impl From<VecDeque<u64>> for SeenIds {
    fn from(oldest_first: VecDeque<u64>) -> Self {
        Self { set: oldest_first.iter().copied().collect(), oldest_first }
    }
}

impl From<SeenIds> for VecDeque<u64> {
    fn from(seen: SeenIds) -> Self {
        seen.oldest_first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_ids_are_known_and_old_ones_are_not() {
        let mut seen = SeenIds::default();
        let most = MOST as u64;
        assert!((0..=most).all(|id| seen.insert(id)));
        assert!(seen.contains(most) && !seen.contains(0));
        assert!(!seen.insert(most) && !seen.insert(1), "recent");
        assert!(seen.insert(0), "too long ago");
        assert!(seen.insert(1), "dropped for it");
        assert_eq!(SeenIds::from(VecDeque::from(seen.clone())), seen);
    }
}
