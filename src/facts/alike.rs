//! Whether two texts speak of the same work. Takes what people and agents write (steps, tasks, asks, file names),
//! gives bags of stems and names that can be compared in no time. Pure. Must not judge by one common word.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::plan::mentions;
use crate::readings::{What, recall};
use crate::words::base_name;

/// Words that say nothing about which work is meant: small words, and nouns that fit any work.
const EMPTY: &[&str] = &[
    "a", "about", "above", "after", "again", "all", "along", "already", "also", "an", "and", "any", "app",
    "application", "approach", "appropriate", "are", "as", "at", "available", "back", "based", "basic", "be",
    "been", "before", "being", "below", "between", "both", "but", "by", "can", "code", "codebase", "correct",
    "correctly", "could", "current", "do", "does", "done", "each", "entire", "etc", "every", "existing",
    "feature", "features", "file", "files", "final", "first", "following", "for", "from", "full", "fully",
    "function", "functionality", "further", "get", "has", "have", "how", "i", "if", "implementation", "in",
    "initial", "into", "is", "it", "its", "just", "last", "let", "like", "logic", "main", "me", "more", "my",
    "necessary", "need", "needed", "needs", "new", "next", "no", "not", "now", "of", "off", "old", "on",
    "once", "one", "only", "onto", "or", "other", "our", "out", "over", "own", "part", "per", "phase",
    "please", "proper", "properly", "relevant", "remaining", "required", "same", "section", "should", "so",
    "some", "src", "step", "steps", "still", "such", "support", "system", "task", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "thing", "things", "this", "those", "through", "to",
    "too", "two", "under", "up", "us", "via", "want", "was", "we", "well", "were", "what", "when", "where",
    "which", "while", "will", "with", "within", "without", "work", "working", "would", "yet", "you", "your",
];

/// What is done to things in any work: "add", "create" and "implement" tell no two tasks apart.
const VERBS: &[&str] = &[
    "add", "added", "adding", "adds", "adjust", "apply", "build", "building", "change", "changed", "changes",
    "complete", "create", "created", "creates", "creating", "define", "develop", "edit", "enable", "ensure",
    "establish", "extend", "finalize", "finish", "fix", "fixed", "fixes", "fixing", "handle", "implement",
    "implemented", "implementing", "implements", "improve", "include", "integrate", "introduce", "keep",
    "make", "making", "modify", "perform", "prepare", "provide", "put", "rewrite", "set", "setup", "start",
    "switch", "update", "updated", "updates", "updating", "use", "uses", "using", "wire", "write", "writes",
    "writing",
];

/// Words that stand for each other, by their stems.
const SYNONYMS: &[(&str, &str)] = &[
    ("arg", "option"),
    ("argument", "option"),
    ("auth", "auth"),
    ("authenticate", "auth"),
    ("authentication", "auth"),
    ("command", "cmd"),
    ("commands", "cmd"),
    ("configuration", "config"),
    ("configure", "config"),
    ("database", "db"),
    ("delete", "remove"),
    ("dependencies", "package"),
    ("dependency", "package"),
    ("deps", "package"),
    ("dir", "folder"),
    ("directory", "folder"),
    ("doc", "doc"),
    ("docs", "doc"),
    ("document", "doc"),
    ("documentation", "doc"),
    ("endpoint", "route"),
    ("endpoints", "route"),
    ("env", "env"),
    ("environment", "env"),
    ("error", "err"),
    ("errors", "err"),
    ("exception", "err"),
    ("exceptions", "err"),
    ("flag", "option"),
    ("frontend", "ui"),
    ("helper", "util"),
    ("helpers", "util"),
    ("image", "img"),
    ("images", "img"),
    ("javascript", "js"),
    ("message", "msg"),
    ("messages", "msg"),
    ("method", "fn"),
    ("param", "option"),
    ("parameter", "option"),
    ("pipeline", "ci"),
    ("python", "py"),
    ("readme", "doc"),
    ("removal", "remove"),
    ("repository", "repo"),
    ("router", "route"),
    ("setting", "config"),
    ("settings", "config"),
    ("spec", "test"),
    ("specs", "test"),
    ("testing", "test"),
    ("tests", "test"),
    ("typescript", "ts"),
    ("utility", "util"),
    ("utils", "util"),
    ("valida", "valid"),
    ("validate", "valid"),
    ("validation", "valid"),
    ("validator", "valid"),
    ("variable", "var"),
    ("variables", "var"),
    ("workflow", "ci"),
];

/// So many letters of a stem count: "configur" and "config" are one word, "author" and "authen" are two.
const STEM: usize = 6;
/// So many words of a text count. What is longer is no step.
const WORDS: usize = 4_000;

/// What a text speaks of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bag {
    /// Hashes of its stems, sorted, each once.
    #[serde(with = "hashes")]
    stems: Vec<u64>,
    /// Hashes of the files and symbols that it names, likewise.
    #[serde(with = "hashes")]
    names: Vec<u64>,
}

/// Hashes are kept as they are: there is nothing short about them.
mod hashes {
    use std::fmt;

    use serde::de::Visitor;
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(hashes: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
        struct Hashes;

        impl Visitor<'_> for Hashes {
            type Value = Vec<u64>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("hashes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u64>, E> {
                Ok(bytes.as_chunks().0.iter().map(|hash| u64::from_le_bytes(*hash)).collect())
            }
        }

        deserializer.deserialize_bytes(Hashes)
    }
}

impl Bag {
    /// What `text` speaks of.
    pub fn of(text: &str) -> Self {
        recall(What::Bag, text, || Self::worked_out(text))
    }

    fn worked_out(text: &str) -> Self {
        let mut bag = Self::of_words(text);
        let named = mentions::mentions(text);
        let paths = named.paths.iter().map(|path| base_name(path).to_lowercase());
        let symbols = named.symbols.iter().filter(|s| s.len() > 3).map(|s| s.to_lowercase());
        bag.names = sorted(paths.chain(symbols).map(|name| hash(&name)).collect());
        bag
    }

    /// Its words alone: for texts that are no prose, such as code and command lines.
    pub fn of_words(text: &str) -> Self {
        let mut stems = Vec::new();
        each_stem(text, |stem| stems.push(stem));
        Self { stems: sorted(stems), names: Vec::new() }
    }

    /// The same for a text that was masked and is likely to be read again.
    pub fn of_words_again(text: &str) -> Self {
        recall(What::Words, text, || Self::of_words(text))
    }

    /// How many stems it has.
    pub fn len(&self) -> usize {
        self.stems.len()
    }

    /// Whether it speaks of nothing.
    pub fn is_empty(&self) -> bool {
        self.stems.is_empty() && self.names.is_empty()
    }

    /// Puts another one into it.
    pub fn add(&mut self, other: &Self) {
        self.stems = sorted([self.stems.as_slice(), &other.stems].concat());
        self.names = sorted([self.names.as_slice(), &other.names].concat());
    }

    /// Many in one.
    pub fn all(bags: impl IntoIterator<Item = Self>) -> Self {
        let (mut stems, mut names) = (Vec::new(), Vec::new());
        for bag in bags {
            stems.extend(bag.stems);
            names.extend(bag.names);
        }
        Self { stems: sorted(stems), names: sorted(names) }
    }

    /// How many stems both have.
    pub fn shared(&self, other: &Self) -> usize {
        shared(&self.stems, &other.stems)
    }

    /// Whether both name the same file or symbol.
    pub fn shares_a_name(&self, other: &Self) -> bool {
        shared(&self.names, &other.names) > 0
    }

    /// Which part of its stems the other one has; none of nothing.
    pub fn within(&self, other: &Self) -> f32 {
        share(self.shared(other), self.len())
    }

    /// Which part of its stems `holds` is true of; none of nothing.
    pub fn share_of(&self, holds: impl Fn(u64) -> bool) -> f32 {
        share(self.stems.iter().filter(|stem| holds(**stem)).count(), self.len())
    }

    /// Its stems, for counting.
    pub fn stems(&self) -> &[u64] {
        &self.stems
    }

    /// Only those stems that `keep` holds of.
    #[must_use]
    pub fn only(&self, keep: impl Fn(u64) -> bool) -> Self {
        let stems = self.stems.iter().copied().filter(|stem| keep(*stem)).collect();
        Self { stems, names: self.names.clone() }
    }
}

/// What texts speak of, in so few bits that thousands can be compared in no time: those that share nothing here share nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sketch([u64; 4]);

impl Sketch {
    /// All that these speak of.
    pub fn of<'a>(bags: impl IntoIterator<Item = &'a Bag>) -> Self {
        let mut sketch = Self::default();
        for hash in bags.into_iter().flat_map(|bag| bag.stems.iter().chain(&bag.names)) {
            // The upper bits are the best stirred.
            sketch.0[(hash >> 62) as usize] |= 1 << (hash >> 56 & 63);
        }
        sketch
    }

    /// Whether they may have something in common.
    pub fn may_share(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).any(|(one, other)| one & other != 0)
    }
}

/// From this share of the shorter text's words on, two texts speak of the same work.
pub const SAME: f32 = 0.5;

/// Whether two texts speak of the same work: they name the same file or symbol, or share enough words. One
/// word in common is enough only where it is all that one of them says.
pub fn same_work(one: &Bag, other: &Bag) -> bool {
    let least = one.len().min(other.len());
    let shared = one.shared(other);
    one.shares_a_name(other) || (shared >= 2 && share(shared, least) >= SAME) || (shared == 1 && least == 1)
}

/// The part of a whole; none of nothing.
pub fn share(part: usize, whole: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "counts of words")]
    let share = part as f32 / whole.max(1) as f32;
    share
}

fn shared(one: &[u64], other: &[u64]) -> usize {
    let (few, many) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    few.iter().filter(|stem| many.binary_search(stem).is_ok()).count()
}

fn sorted(mut hashes: Vec<u64>) -> Vec<u64> {
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// A name for a word within this process (FNV-1a, stirred at the end).
fn hash(text: &str) -> u64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Gives the stem of each word that says something, as a hash, in order. Names are taken apart: `parseUser`,
/// `parse_user` and "parse user" are the same words.
pub fn each_stem(text: &str, mut give: impl FnMut(u64)) {
    let mut left = WORDS;
    let mut part = String::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        for hump in humps(word) {
            if left == 0 {
                return;
            }
            left -= 1;
            part.clear();
            if hump.is_ascii() {
                part.push_str(hump);
                part.make_ascii_lowercase();
            } else {
                part.extend(hump.chars().flat_map(char::to_lowercase));
            }
            if stem(&mut part) {
                give(hash(&part));
            }
        }
    }
}

/// `parseHTMLPage` as `parse`, `HTML`, `Page`.
fn humps(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (hump, after) = rest.split_at(hump_end(rest));
        rest = after;
        Some(hump)
    })
}

/// Where the first hump of a word ends: at a capital behind a small letter, or before one.
fn hump_end(word: &str) -> usize {
    if word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return word.len();
    }
    let mut chars = word.char_indices().peekable();
    let Some((_, mut before)) = chars.next() else { return 0 };
    while let Some((at, c)) = chars.next() {
        let is_before_small = before.is_uppercase() && chars.peek().is_some_and(|(_, c)| c.is_lowercase());
        if c.is_uppercase() && (before.is_lowercase() || is_before_small) {
            return at;
        }
        before = c;
    }
    word.len()
}

/// What is known of a word: it says nothing, or it stands for another.
enum Known {
    Empty,
    Same(&'static str),
}

/// All that is known, by the word's hash.
static KNOWN: LazyLock<HashMap<u64, (&'static str, Known), ByItself>> = LazyLock::new(|| {
    let empty = EMPTY.iter().chain(VERBS).map(|word| (hash(word), (*word, Known::Empty)));
    let same = SYNONYMS.iter().map(|(from, to)| (hash(from), (*from, Known::Same(to))));
    // A word that says nothing stands for nothing.
    same.chain(empty).collect()
});

/// A map's key that is a hash already.
pub type ByItself = BuildHasherDefault<Itself>;

/// The hash of a hash.
#[derive(Debug, Default, Clone, Copy)]
pub struct Itself(u64);

impl Hasher for Itself {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

fn known(word: &str) -> Option<&'static Known> {
    KNOWN.get(&hash(word)).filter(|(known, _)| *known == word).map(|(_, known)| known)
}

/// Takes the endings off a word; whether anything is left that says something.
fn stem(word: &mut String) -> bool {
    if word.len() < 2 || word.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    match known(word) {
        Some(Known::Empty) => return false,
        Some(Known::Same(same)) => {
            word.replace_range(.., same);
            return true;
        }
        None => {}
    }
    if !word.is_ascii() {
        return true;
    }
    // Only the last "s" makes a plural: "pars" is what is left of "parse".
    if word.strip_suffix('s').is_some_and(|one| one.len() > 2 && !one.ends_with('s')) {
        word.pop();
    }
    while take_ending_off(word) {}
    word.truncate(STEM);
    if let Some(Known::Same(same)) = known(word) {
        word.replace_range(.., same);
    }
    true
}

fn take_ending_off(word: &mut String) -> bool {
    const ENDINGS: &[&str] =
        &["ations", "ation", "ing", "ions", "ion", "ment", "able", "ers", "er", "or", "ed", "ly", "e"];
    if word.strip_suffix("ie").is_some_and(|start| start.len() > 2) {
        word.truncate(word.len() - 2);
        word.push('y');
        return true;
    }
    let start = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending).filter(|start| start.len() > 2));
    // "class" and "process" are no plurals.
    let Some(start) = start.filter(|_| !word.ends_with("ss")) else { return false };
    let bytes = start.as_bytes();
    let doubled =
        bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2] && !start.ends_with("ss");
    let is_short = doubled && word.len() - start.len() > 1;
    let length = start.len() - usize::from(is_short);
    word.truncate(length);
    true
}

#[cfg(test)]
mod tests;
