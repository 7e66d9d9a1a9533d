//! What was seen of files at the last audit: takes a file's stamp and what is asked of it, gives what it showed then, if
//! nothing of that has changed. Pure. Must not vouch for a file that may have changed since it was looked at, and must
//! not hold what was not masked.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::{Deserialize, Serialize};

use crate::cache_codec;

/// The number goes up with every change of what is kept.
const SHAPE: cache_codec::Shape = *b"memory\0\x04";

/// A file that was changed less than this before it was looked at may have been changed again with the same time on it:
/// some systems count in steps of two seconds.
const SETTLED_NS: u128 = 2_000_000_000;
/// Where a time is no multiple of this, it was not counted in steps that are as long or longer.
const COARSE_NS: u128 = 10_000_000;
/// And then so much is enough.
const FINE_SETTLED_NS: u128 = 2 * COARSE_NS;

/// How much of one file is remembered, and of all of them.
const MOST_OF_ONE: usize = 64 << 10;
const MOST: usize = 2 << 20;

/// What tells whether a file is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The file's own number.
    pub inode: u64,
    /// How long it is.
    pub bytes: u64,
    /// When it was changed, in nanoseconds since 1970.
    pub changed_ns: u128,
}

impl Stamp {
    /// Whether a file that has this stamp at `now_ns` will have another one when it is changed.
    fn is_settled(&self, now_ns: u128) -> bool {
        let is_coarse = self.changed_ns.is_multiple_of(COARSE_NS);
        let wait = if is_coarse { SETTLED_NS } else { FINE_SETTLED_NS };
        self.changed_ns.checked_add(wait).is_some_and(|settled| settled < now_ns)
    }
}

/// What a file showed: all that costs something to work out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSummary {
    /// A hash of what is on disk.
    pub digest: String,
    /// Whether it is what it was before the session.
    pub is_same: bool,
    /// Its text or its diff, masked, before anything is cut.
    pub text: String,
    /// Whether that is a diff.
    pub is_diff: bool,
    /// How many secrets were masked in it.
    pub masked: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Remembered {
    stamp: Stamp,
    /// A hash of what was asked of it.
    question: u64,
    digest: String,
    is_same: bool,
    text: String,
    is_diff: bool,
    masked: usize,
}

/// What is remembered, by the files' names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileCache {
    then: HashMap<String, Remembered>,
    now: HashMap<String, Remembered>,
    /// How many of those were looked at just now.
    news: usize,
    now_ns: u128,
    bytes: usize,
}

impl FileCache {
    /// A memory at a time, in nanoseconds since 1970; empty if the bytes can't be read.
    pub fn of(bytes: &[u8], now_ns: u128) -> Self {
        Self { then: cache_codec::decode(SHAPE, bytes).unwrap_or_default(), now_ns, ..Self::default() }
    }

    /// What is to be remembered next; `None` if that is what is remembered already, but for files that are of no use any more.
    pub fn to_keep(&self) -> Option<Vec<u8>> {
        let is_much_the_same = self.news == 0 && self.then.len() * 2 <= self.now.len();
        if is_much_the_same { None } else { cache_codec::encode(SHAPE, &self.now) }
    }

    /// What a file showed, if it is as it was and the same is asked of it; else what `look` sees now.
    pub fn recall(
        &mut self,
        name: &str,
        stamp: Option<Stamp>,
        question: u64,
        look: impl FnOnce() -> Option<FileSummary>,
    ) -> Option<FileSummary> {
        if let Entry::Occupied(known) = self.then.entry(name.to_owned())
            && Some(known.get().stamp) == stamp
            && known.get().question == question
        {
            let known = known.remove();
            let shows = known.shows();
            self.keep(name, known);
            return Some(shows);
        }
        let shows = look()?;
        if let Some(stamp) = stamp.filter(|stamp| stamp.is_settled(self.now_ns)) {
            let is_kept = self.keep(name, Remembered::of(stamp, question, &shows));
            self.news += usize::from(is_kept);
        }
        Some(shows)
    }

    /// Whether there is room for it.
    fn keep(&mut self, name: &str, remembered: Remembered) -> bool {
        let bytes = remembered.text.len();
        let has_room = bytes <= MOST_OF_ONE && self.bytes + bytes <= MOST;
        if has_room {
            self.bytes += bytes;
            self.now.insert(name.to_owned(), remembered);
        }
        has_room
    }
}

impl Remembered {
    fn of(stamp: Stamp, question: u64, shows: &FileSummary) -> Self {
        Self {
            stamp,
            question,
            digest: shows.digest.clone(),
            is_same: shows.is_same,
            text: shows.text.clone(),
            is_diff: shows.is_diff,
            masked: shows.masked,
        }
    }

    fn shows(&self) -> FileSummary {
        FileSummary {
            digest: self.digest.clone(),
            is_same: self.is_same,
            text: self.text.clone(),
            is_diff: self.is_diff,
            masked: self.masked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { inode: 1, bytes: 9, changed_ns: 1_000 };
    const LATER: u128 = 9_000_000_000;

    fn shows(text: &str) -> FileSummary {
        let text = text.to_owned();
        FileSummary { digest: "d".into(), is_same: false, text, is_diff: true, masked: 1 }
    }

    /// A memory of one file that was looked at then.
    fn memory(at: u128, stamp: Option<Stamp>) -> FileCache {
        let mut memory = FileCache::of(&[], at);
        memory.recall("a.rs", stamp, 7, || Some(shows("old")));
        FileCache::of(&memory.to_keep().unwrap_or_default(), LATER)
    }

    fn recalled(memory: &mut FileCache, stamp: Stamp, question: u64) -> String {
        let shows = memory.recall("a.rs", Some(stamp), question, || Some(shows("new"))).expect("shown");
        shows.text
    }

    #[test]
    fn a_file_that_is_as_it_was_is_not_looked_at() {
        let mut memory = memory(LATER, Some(STAMP));
        assert_eq!(recalled(&mut memory, STAMP, 7), "old");
        assert_eq!(memory.to_keep(), None, "nothing is new");
    }

    #[test]
    fn a_file_that_changed_is_remembered_at_once_and_one_of_no_use_is_not_missed() {
        let mut many = FileCache::of(&[], LATER);
        let names: Vec<String> = (0..50).map(|number| number.to_string()).collect();
        for name in &names {
            many.recall(name, Some(STAMP), 7, || Some(shows("old")));
        }
        let kept = many.to_keep().expect("all is new");
        for (changed, gone, is_kept) in [(0, 0, false), (1, 0, true), (0, 10, false), (0, 30, true)] {
            let mut many = FileCache::of(&kept, LATER);
            for (at, name) in names.iter().enumerate().skip(gone) {
                many.recall(name, Some(STAMP), if at < changed { 8 } else { 7 }, || Some(shows("new")));
            }
            assert_eq!(many.to_keep().is_some(), is_kept, "{changed} changed, {gone} gone");
        }
    }

    #[test]
    fn a_file_that_changed_or_of_which_something_else_is_asked_is_looked_at() {
        for (stamp, question) in [
            (Stamp { inode: 2, ..STAMP }, 7),
            (Stamp { bytes: 8, ..STAMP }, 7),
            (Stamp { changed_ns: 1_001, ..STAMP }, 7),
            (STAMP, 8),
        ] {
            let mut memory = memory(LATER, Some(STAMP));
            assert_eq!(recalled(&mut memory, stamp, question), "new");
            assert!(memory.to_keep().is_some());
        }
    }

    #[test]
    fn a_file_that_was_just_changed_may_change_again_unseen() {
        assert_eq!(recalled(&mut memory(1_500, Some(STAMP)), STAMP, 7), "new");
        assert_eq!(recalled(&mut memory(30_000_000, Some(STAMP)), STAMP, 7), "old");
        // On a disk that counts in whole seconds, or in two of them.
        let coarse = Stamp { changed_ns: 1_000_000_000, ..STAMP };
        assert_eq!(recalled(&mut memory(2_900_000_000, Some(coarse)), coarse, 7), "new");
        assert_eq!(recalled(&mut memory(3_100_000_000, Some(coarse)), coarse, 7), "old");
        assert_eq!(recalled(&mut memory(LATER, None), STAMP, 7), "new");
    }

    #[test]
    fn a_file_that_is_too_long_to_be_remembered_is_no_news() {
        let mut same = memory(LATER, Some(STAMP));
        assert_eq!(recalled(&mut same, STAMP, 7), "old");
        same.recall("b.rs", Some(STAMP), 7, || Some(shows(&"x".repeat(MOST_OF_ONE + 1))));
        assert_eq!(same.to_keep(), None);
    }

    #[test]
    fn what_is_no_longer_asked_for_is_forgotten_and_so_is_too_much() {
        let mut idle = memory(LATER, Some(STAMP));
        idle.recall("b.rs", Some(STAMP), 7, || Some(shows(&"x".repeat(MOST_OF_ONE + 1))));
        assert_eq!(FileCache::of(&idle.to_keep().expect("changed"), LATER).then.len(), 0);
    }
}
