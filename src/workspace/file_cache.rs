//! What files showed at the last audit, by name: avoids reading, comparing and masking a file that
//! has not changed. Pure. Must not return an entry for a file that may have changed since it was
//! read, or contain text that is not masked.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::cache_codec;

/// The number is raised with every change of what is stored.
const SHAPE: cache_codec::Shape = *b"memory\0\x04";

/// A file that was changed less than this before it was read may be changed again without a new
/// time: some file systems count in steps of two seconds.
const SETTLED_NS: u128 = 2_000_000_000;

/// How many bytes are stored of one file, and of all of them.
const MAX_OF_ONE: usize = 64 << 10;
const MAX_OF_ALL: usize = 2 << 20;

/// Shows whether a file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The file's inode.
    pub inode: u64,
    /// Its length.
    pub bytes: u64,
    /// When it was changed, moved or given another time, in nanoseconds since 1970.
    pub changed_ns: u128,
}

impl Stamp {
    /// Returns whether a change after `now_ns` is sure to give the file another stamp.
    fn is_settled(&self, now_ns: u128) -> bool {
        self.changed_ns.saturating_add(SETTLED_NS) < now_ns
    }
}

/// The result of looking at a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSummary {
    /// A hash of its content on disk.
    pub digest: String,
    /// Whether its content is the same as before the session.
    pub is_same: bool,
    /// Its text or its diff, masked, before anything is cut.
    pub text: String,
    /// Whether `text` is a diff.
    pub is_diff: bool,
    /// How many secrets were masked in it.
    pub masked: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    stamp: Stamp,
    /// A hash of what the file was compared with.
    compared_with: String,
    summary: FileSummary,
}

/// The cache of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileCache {
    /// Entries of the last audit that this one has not asked for.
    loaded: HashMap<String, Entry>,
    /// Entries that this audit asked for: only these are stored again.
    used: HashMap<String, Entry>,
    used_bytes: usize,
    has_new: bool,
    now_ns: u128,
}

impl FileCache {
    /// Decodes a cache at a time in nanoseconds since 1970; empty if the bytes are unusable.
    pub fn decode(bytes: &[u8], now_ns: u128) -> Self {
        Self { loaded: cache_codec::decode(SHAPE, bytes).unwrap_or_default(), now_ns, ..Self::default() }
    }

    /// Returns what to store; `None` if that equals what was loaded.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let is_same = !self.has_new && self.loaded.is_empty();
        if is_same { None } else { cache_codec::encode(SHAPE, &self.used) }
    }

    /// Returns the entry of a file, if neither it nor what it is compared with has changed; else
    /// what `look` returns now.
    pub fn get_or_look(
        &mut self,
        name: &str,
        stamp: Option<Stamp>,
        compared_with: String,
        look: impl FnOnce() -> Option<FileSummary>,
    ) -> Option<FileSummary> {
        let is_valid = |entry: &Entry| Some(entry.stamp) == stamp && entry.compared_with == compared_with;
        let loaded = self.loaded.remove(name).filter(is_valid);
        let is_new = loaded.is_none();
        let summary = match &loaded {
            Some(entry) => entry.summary.clone(),
            None => look()?,
        };
        let settled = stamp.filter(|stamp| stamp.is_settled(self.now_ns));
        let new = || Some(Entry { stamp: settled?, compared_with, summary: summary.clone() });
        let bytes = summary.text.len();
        if bytes <= MAX_OF_ONE
            && self.used_bytes + bytes <= MAX_OF_ALL
            && let Some(entry) = loaded.or_else(new)
        {
            self.used_bytes += bytes;
            self.used.insert(name.to_owned(), entry);
            self.has_new |= is_new;
        }
        Some(summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { inode: 1, bytes: 9, changed_ns: 1_000 };
    const LATER: u128 = 9_000_000_000;

    fn summary(text: &str) -> FileSummary {
        FileSummary { digest: "d".into(), is_same: false, text: text.to_owned(), is_diff: true, masked: 1 }
    }

    fn get(cache: &mut FileCache, name: &str, stamp: Option<Stamp>, with: &str, text: &str) -> String {
        cache.get_or_look(name, stamp, with.to_owned(), || Some(summary(text))).expect("a summary").text
    }

    /// Returns the cache of one file that was read at that time.
    fn cached(at: u128, stamp: Option<Stamp>) -> FileCache {
        let mut cache = FileCache::decode(&[], at);
        get(&mut cache, "a.rs", stamp, "before", "old");
        FileCache::decode(&cache.encode().unwrap_or_default(), LATER)
    }

    #[test]
    fn only_a_file_that_is_as_it_was_is_not_read_again() {
        let mut same = cached(LATER, Some(STAMP));
        assert_eq!(get(&mut same, "a.rs", Some(STAMP), "before", "new"), "old");
        assert_eq!(same.encode(), None, "nothing is new");
        for (stamp, with) in [
            (Stamp { inode: 2, ..STAMP }, "before"),
            (Stamp { bytes: 8, ..STAMP }, "before"),
            (Stamp { changed_ns: 1_001, ..STAMP }, "before"),
            (STAMP, "another"),
        ] {
            let mut changed = cached(LATER, Some(STAMP));
            assert_eq!(get(&mut changed, "a.rs", Some(stamp), with, "new"), "new");
            assert!(changed.encode().is_some());
        }
    }

    #[test]
    fn a_new_entry_is_stored_and_one_that_nothing_asks_for_is_dropped() {
        let mut many = FileCache::decode(&[], LATER);
        let names: Vec<String> = (0..50).map(|number| number.to_string()).collect();
        for name in &names {
            get(&mut many, name, Some(STAMP), "before", "old");
        }
        let stored = many.encode().expect("all is new");
        for (changed, unused, is_stored) in [(0, 0, false), (1, 0, true), (0, 30, true)] {
            let mut many = FileCache::decode(&stored, LATER);
            for (at, name) in names.iter().enumerate().skip(unused) {
                let with = if at < changed { "another" } else { "before" };
                get(&mut many, name, Some(STAMP), with, "new");
            }
            assert_eq!(many.encode().is_some(), is_stored, "{changed} changed, {unused} unused");
        }
    }

    #[test]
    fn a_file_that_was_just_changed_may_change_again_unseen() {
        let get_at =
            |at: u128, stamp: Stamp| get(&mut cached(at, Some(stamp)), "a.rs", Some(stamp), "before", "new");
        assert_eq!(get_at(1_500, STAMP), "new");
        // A disk may count in steps of two seconds.
        let coarse = Stamp { changed_ns: 1_000_000_000, ..STAMP };
        assert_eq!(get_at(2_900_000_000, coarse), "new");
        assert_eq!(get_at(3_100_000_000, coarse), "old");
        assert_eq!(get(&mut cached(LATER, None), "a.rs", Some(STAMP), "before", "new"), "new");
    }

    #[test]
    fn a_file_that_is_too_long_is_not_stored() {
        let long = "x".repeat(MAX_OF_ONE + 1);
        let mut same = cached(LATER, Some(STAMP));
        assert_eq!(get(&mut same, "a.rs", Some(STAMP), "before", "new"), "old");
        get(&mut same, "b.rs", Some(STAMP), "before", &long);
        assert_eq!(same.encode(), None);
        let mut unused = cached(LATER, Some(STAMP));
        get(&mut unused, "b.rs", Some(STAMP), "before", &long);
        assert_eq!(FileCache::decode(&unused.encode().expect("changed"), LATER).loaded.len(), 0);
    }
}
