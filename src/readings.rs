//! What was read out of texts before: takes a text and what is asked of it, gives what came of it then, or works it out
//! and remembers it. An audit asks the same of the same asks, steps and commands many times, and so does every stop after it.
//!
//! Each thread has its own, from [`Readings::begin`] on to [`Readings::end`]; outside of that nothing is remembered. What
//! is asked has to be pure, and a text of which a reading is kept has to be masked: a reading may quote it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128_with_seed};

/// What kept bytes start with; the number goes up with every change of how they are laid out.
const SHAPE: &[u8; 8] = b"words\0\0\x03";
/// So much is kept at the most. What is beyond it is worked out at every stop.
const MOST: usize = 4 << 20;
/// So many texts of which nothing is kept are remembered at one time.
const MOST_PASSING: usize = 100;
/// One of so many is a few.
const FEW: usize = 150;
/// A key, and where the reading ends, counted from the first one's start.
const HEAD: usize = 20;
/// What stands before the heads: the shape, a hash, the program, and how many there are.
const BEFORE: usize = 28;

/// What can be asked of a text. The numbers are kept: one that was in use means nothing else later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum What {
    /// What it speaks of.
    Bag = 1,
    /// Its words alone.
    Words = 2,
    /// The names in what it wants.
    Wishes = 3,
    /// The parts that ask for work.
    Requests = 4,
    /// The sentences that call something off.
    Cancellations = 5,
    /// What a ticked step says to have been run.
    StepDeeds = 6,
    /// The files and symbols that it names, if that is so whatever stands around it.
    Mentions = 7,
    /// The files and symbols that it names, by itself.
    Names = 8,
    /// What a command does, at a glance.
    Glance = 9,
    /// What it wants of a thing with a name.
    Wish = 10,
    /// The steps of a plan.
    Steps = 11,
    /// The sentences that claim something as done. Not kept: every stop has a message of its own.
    Claims = 12,
    /// What the steps and lines of a plan speak of.
    PlanBags = 13,
}

/// Gives what was kept.
type Fetch = Box<dyn FnOnce() -> Shelf + Send>;

/// What was read, as bytes.
#[derive(Default)]
struct Shelf {
    /// What was kept, until it is fetched.
    fetch: Option<Fetch>,
    /// All of it as it was kept: heads by their keys, and the readings. It is looked up where it is, since most of the
    /// time that a table of it would take is for making the table.
    kept: Vec<u8>,
    /// Where the heads begin whose keys begin with these bits, in order.
    starts: Vec<u32>,
    /// Which of those that were kept were asked for since the beginning.
    is_used: Vec<bool>,
    /// What was added, one reading behind the other.
    bytes: Vec<u8>,
    /// Where each of those is.
    places: HashMap<u128, Range<usize>, AsItIs>,
}

thread_local! {
    static SHELF: RefCell<Option<Shelf>> = const { RefCell::new(None) };
}

thread_local! {
    /// Where parts stand in texts of which no reading is kept.
    static PASSING: RefCell<HashMap<u128, Vec<Range<usize>>, AsItIs>> = RefCell::default();
}

/// A stretch of work in which readings are remembered.
#[derive(Debug)]
pub struct Readings {
    program: u64,
}

impl Readings {
    /// Begins with what was kept the last time, if it was by the same program: another may read otherwise. It is fetched
    /// when the first text is read.
    pub fn begin(kept: impl FnOnce() -> Vec<u8> + Send + 'static, program: &str) -> Self {
        let program = xxh3_64(program.as_bytes());
        let fetch: Fetch = Box::new(move || Shelf::of(kept(), program).unwrap_or_default());
        SHELF.set(Some(Shelf { fetch: Some(fetch), ..Shelf::default() }));
        Self { program }
    }

    /// Begins with nothing.
    pub fn begin_anew() -> Self {
        Self::begin(Vec::new, "")
    }

    /// Begins with nothing, unless such a stretch was begun already: then it goes on.
    pub fn go_on() -> Option<Self> {
        let is_begun = SHELF.with_borrow(Option::is_some);
        (!is_begun).then(Self::begin_anew)
    }

    /// Ends; gives what makes the bytes that are worth keeping, unless those are what was kept already. It may be called
    /// anywhere.
    pub fn end(self) -> impl FnOnce() -> Option<Vec<u8>> + Send + 'static {
        let (taken, program) = (SHELF.take(), self.program);
        move || taken.and_then(|shelf| shelf.to_keep(program))
    }
}

impl Drop for Readings {
    fn drop(&mut self) {
        SHELF.set(None);
        PASSING.take();
    }
}

/// Forgets all that was read so far: there is a secret in it.
pub fn forget() {
    SHELF.with_borrow_mut(|shelf| {
        if let Some(shelf) = shelf {
            *shelf = Shelf::default();
        }
    });
}

/// What `work` makes of `text`, which may be known already.
pub fn recall<T: Serialize + DeserializeOwned>(what: What, text: &str, work: impl FnOnce() -> T) -> T {
    let key =
        SHELF.with_borrow(|shelf| shelf.is_some().then(|| xxh3_128_with_seed(text.as_bytes(), what as u64)));
    let Some(key) = key else { return work() };
    let known = SHELF.with_borrow_mut(|shelf| {
        let shelf = shelf.as_mut()?;
        if let Some(fetch) = shelf.fetch.take() {
            *shelf = fetch();
        }
        postcard::from_bytes(shelf.reading(key)?).ok()
    });
    if let Some(known) = known {
        return known;
    }
    // Nothing is borrowed here: what is worked out may ask for readings of its own.
    let made = work();
    SHELF.with_borrow_mut(|shelf| {
        if let Some(shelf) = shelf {
            shelf.put(key, &made);
        }
    });
    made
}

/// The same for parts of a text, which are remembered by where they stand in it.
pub fn recall_parts<'a>(what: What, text: &'a str, work: impl FnOnce() -> Vec<&'a str>) -> Vec<&'a str> {
    let place_of = |part: &str| {
        let start = (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
        (start, start.wrapping_add(part.len()))
    };
    let places = recall(what, text, || work().into_iter().map(place_of).collect::<Vec<_>>());
    places.into_iter().filter_map(|(start, end)| text.get(start..end)).collect()
}

/// The same for a text that nobody asks about again once this is over: what was kept is not fetched for it, and nothing
/// is kept of it.
pub fn recall_parts_now<'a>(what: What, text: &'a str, work: impl FnOnce() -> Vec<&'a str>) -> Vec<&'a str> {
    if SHELF.with_borrow(Option::is_none) {
        return work();
    }
    let key = xxh3_128_with_seed(text.as_bytes(), what as u64);
    let known = |places: &Vec<Range<usize>>| {
        places.iter().filter_map(|place| text.get(place.clone())).collect::<Vec<_>>()
    };
    if let Some(parts) = PASSING.with_borrow(|passing| passing.get(&key).map(known)) {
        return parts;
    }
    let parts = work();
    let place_of = |part: &&str| {
        let start = (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
        start..start.wrapping_add(part.len())
    };
    PASSING.with_borrow_mut(|passing| {
        if passing.len() >= MOST_PASSING {
            passing.clear();
        }
        passing.insert(key, parts.iter().map(place_of).collect());
    });
    parts
}

impl Shelf {
    fn of(kept: Vec<u8>, program: u64) -> Option<Self> {
        let (hash, rest) = kept.strip_prefix(SHAPE)?.split_first_chunk::<8>()?;
        let (by, rest) = rest.split_first_chunk::<8>()?;
        if u64::from_le_bytes(*by) != program || u64::from_le_bytes(*hash) != xxh3_64(rest) {
            return None;
        }
        let (count, _) = rest.split_first_chunk::<4>()?;
        let is_used = vec![false; u32::from_le_bytes(*count) as usize];
        let mut shelf = Self { kept, is_used, ..Self::default() };
        let mut starts = Vec::with_capacity(BUCKETS + 1);
        for at in 0..shelf.is_used.len() {
            let bucket = bucket_of(shelf.head(at)?.0);
            while starts.len() <= bucket {
                starts.push(u32::try_from(at).ok()?);
            }
        }
        starts.resize(BUCKETS + 1, u32::try_from(shelf.is_used.len()).ok()?);
        shelf.starts = starts;
        Some(shelf)
    }

    /// The key of a reading that was kept, and where it ends.
    fn head(&self, at: usize) -> Option<(u128, usize)> {
        let (key, end) =
            self.kept.get(BEFORE + at * HEAD..)?.first_chunk::<HEAD>()?.split_first_chunk::<16>()?;
        Some((u128::from_le_bytes(*key), u32::from_le_bytes(end.try_into().ok()?) as usize))
    }

    /// A reading that was kept.
    fn kept(&self, at: usize) -> Option<&[u8]> {
        let readings = self.kept.get(BEFORE + self.is_used.len() * HEAD..)?;
        let start = if at == 0 { 0 } else { self.head(at - 1)?.1 };
        readings.get(start..self.head(at)?.1)
    }

    /// Where the reading with that key is among those that were kept.
    fn find(&self, key: u128) -> Option<usize> {
        let bucket = bucket_of(key);
        let (from, to) = (*self.starts.get(bucket)?, *self.starts.get(bucket + 1)?);
        (from as usize..to as usize).find(|at| self.head(*at).is_some_and(|head| head.0 == key))
    }

    fn reading(&mut self, key: u128) -> Option<&[u8]> {
        match self.find(key) {
            Some(at) => {
                self.is_used[at] = true;
                self.kept(at)
            }
            None => self.places.get(&key).map(|place| &self.bytes[place.clone()]),
        }
    }

    fn put(&mut self, key: u128, value: &impl Serialize) {
        let start = self.bytes.len();
        if self.kept.len() + start > MOST {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        // What can't be written is not remembered; the rest of it is worked out again.
        let Ok(bytes) = postcard::to_extend(value, bytes) else {
            self.places.clear();
            return;
        };
        self.bytes = bytes;
        if let Entry::Vacant(place) = self.places.entry(key) {
            place.insert(start..self.bytes.len());
        }
    }

    /// Those that were asked for.
    fn to_keep(&self, program: u64) -> Option<Vec<u8>> {
        let old = self.is_used.iter().enumerate().filter(|(_, is_used)| **is_used);
        let old = old.filter_map(|(at, _)| Some((self.head(at)?.0, self.kept(at)?)));
        let new = self.places.iter().map(|(key, place)| (*key, &self.bytes[place.clone()]));
        let mut used: Vec<(u128, &[u8])> = old.chain(new).collect();
        // A few that are new, or of no use any more, are no reason to write all of them: that takes longer than to read
        // them once more.
        let all = self.is_used.len() + self.places.len();
        let is_much_the_same = self.places.len() * FEW <= used.len() && used.len() * 2 > all;
        if is_much_the_same || all == 0 {
            return None;
        }
        used.sort_unstable_by_key(|(key, _)| *key);
        let mut kept = Vec::with_capacity(self.kept.len() + self.bytes.len() + used.len() * HEAD + BEFORE);
        kept.extend_from_slice(SHAPE);
        kept.extend_from_slice(&[0; 8]);
        kept.extend_from_slice(&program.to_le_bytes());
        kept.extend_from_slice(&u32::try_from(used.len()).ok()?.to_le_bytes());
        let mut end = 0;
        for (key, reading) in &used {
            end += reading.len();
            kept.extend_from_slice(&key.to_le_bytes());
            kept.extend_from_slice(&u32::try_from(end).ok()?.to_le_bytes());
        }
        for (_, reading) in &used {
            kept.extend_from_slice(reading);
        }
        let hash = xxh3_64(&kept[24..]);
        kept[8..16].copy_from_slice(&hash.to_le_bytes());
        Some(kept)
    }
}

/// So many parts the keys that were kept are looked up in: one has a few of them.
const BUCKETS: usize = 1 << 11;

/// In which part a key is. The keys are hashes.
fn bucket_of(key: u128) -> usize {
    (key >> (u128::BITS - BUCKETS.trailing_zeros())) as usize
}

/// A map's key that is a hash already.
type AsItIs = BuildHasherDefault<Half>;

/// One half of such a key.
#[derive(Debug, Default, Clone, Copy)]
struct Half(u64);

impl Hasher for Half {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64(bytes);
    }

    #[expect(clippy::cast_possible_truncation, reason = "half of a hash is one, too")]
    fn write_u128(&mut self, hash: u128) {
        self.0 = hash as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(text: &str, work: impl FnOnce() -> usize) -> usize {
        recall(What::Wishes, text, work)
    }

    #[test]
    fn what_was_read_is_not_read_again_now_or_later() {
        let readings = Readings::begin(Vec::new, "one");
        assert_eq!(length("abc", || 3), 3);
        assert_eq!(length("abc", || unreachable!("known")), 3);
        assert_eq!(recall(What::Bag, "abc", || "another question".to_owned()), "another question");
        let kept = readings.end()().expect("something is new");
        let readings = Readings::begin(move || kept, "one");
        assert_eq!(length("abc", || unreachable!("kept")), 3);
        assert_eq!(length("ab", || 2), 2);
        let kept = readings.end()().expect("something is new");
        let readings = Readings::begin(move || kept, "one");
        assert_eq!((length("abc", || unreachable!("kept")), length("ab", || unreachable!("kept"))), (3, 2));
        assert_eq!(readings.end()(), None, "nothing is new");
    }

    #[test]
    fn a_little_that_is_new_is_not_written_by_itself() {
        let readings = Readings::begin(Vec::new, "one");
        (0..200).for_each(|number| {
            length(&number.to_string(), || number);
        });
        let kept = readings.end()().expect("something is new");
        for (more, is_kept) in [(1, false), (5, true)] {
            let kept = kept.clone();
            let readings = Readings::begin(move || kept, "one");
            (0..200 + more).for_each(|number| {
                length(&number.to_string(), || number);
            });
            assert_eq!(readings.end()().is_some(), is_kept, "{more} more");
        }
    }

    #[test]
    fn nothing_is_remembered_outside_of_a_stretch_nor_from_another_program() {
        assert_eq!(length("abc", || 3), 3);
        assert_eq!(length("abc", || 4), 4);
        let readings = Readings::begin(Vec::new, "one");
        length("abc", || 3);
        let kept = readings.end()().expect("something is new");
        assert_eq!(length("abc", || 5), 5);
        let _other = Readings::begin(move || kept, "two");
        assert_eq!(length("abc", || 6), 6);
    }

    #[test]
    fn torn_and_changed_bytes_are_nothing() {
        let readings = Readings::begin(Vec::new, "one");
        length("abc", || 3);
        let kept = readings.end()().expect("something is new");
        let read = |bytes: &[u8]| {
            let _readings = Readings::begin(
                {
                    let bytes = bytes.to_vec();
                    move || bytes
                },
                "one",
            );
            length("abc", || 9)
        };
        assert_eq!(read(&kept), 3);
        assert!((0..kept.len()).all(|end| read(&kept[..end]) == 9));
        for at in 0..kept.len() {
            let mut changed = kept.clone();
            changed[at] ^= 1;
            assert_eq!(read(&changed), 9, "changed at {at}");
        }
    }

    #[test]
    fn what_may_have_a_secret_in_it_is_forgotten() {
        let readings = Readings::begin(Vec::new, "one");
        length("abc", || 3);
        forget();
        assert_eq!(length("ab", || 2), 2);
        let kept = readings.end()().expect("something is new");
        let _readings = Readings::begin(move || kept, "one");
        assert_eq!((length("abc", || 9), length("ab", || 9)), (9, 2));
    }

    #[test]
    fn parts_are_those_of_the_text_at_hand() {
        let _readings = Readings::begin(Vec::new, "one");
        let halves = |text: &'static str| recall_parts(What::Requests, text, || vec![&text[..1], &text[2..]]);
        assert_eq!(halves("a é"), ["a", "é"]);
        assert_eq!(halves("a é"), ["a", "é"]);
    }

    #[test]
    fn what_passes_is_remembered_and_neither_fetched_for_nor_kept() {
        let fetched = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let was_fetched = fetched.clone();
        let kept = move || {
            fetched.store(true, std::sync::atomic::Ordering::Relaxed);
            Vec::new()
        };
        let readings = Readings::begin(kept, "one");
        let halves = |text: &'static str, work: &dyn Fn() -> Vec<&'static str>| {
            recall_parts_now(What::Claims, text, work)
        };
        let text = "one two";
        assert_eq!(halves(text, &|| vec![&text[..3], &text[4..]]), ["one", "two"]);
        assert_eq!(halves(text, &|| unreachable!("known")), ["one", "two"]);
        assert!(!was_fetched.load(std::sync::atomic::Ordering::Relaxed));
        assert_eq!(readings.end()(), None);
        assert_eq!(halves(text, &Vec::new), Vec::<&str>::new(), "over");
    }

    #[test]
    fn what_is_not_asked_for_any_more_is_forgotten() {
        let readings = Readings::begin(Vec::new, "one");
        (0..9).for_each(|number| {
            length(&number.to_string(), || number);
        });
        let many = readings.end()().expect("something is new");
        let readings = Readings::begin(
            {
                let many = many.clone();
                move || many
            },
            "one",
        );
        length("1", || unreachable!("kept"));
        let few = readings.end()().expect("most of it is of no use");
        assert!(few.len() < many.len());
    }
}
