//! Text -> long strings that look random, whatever their vendor. Must not take paths, identifiers,
//! UUIDs, git and sha256 hashes or lockfile integrity values for secrets.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::Find;

const SHORTEST: usize = 32;

/// Random base64 of 32 characters has about 4.6 bits a character, random hex about 3.6. The floors
/// only turn away repetition (`a1a1a1…`); words are told apart by the length of their chunks.
const MIN_BITS: f64 = 3.6;
const MIN_BITS_HEX: f64 = 3.0;

/// Longest mean length of a stretch of one character class. Random base64 has 1.6 to 2.2, random
/// base36 about 2.5, identifiers more than 3, and more still where nothing separates their words.
const MAX_CHUNK: f64 = 2.7;
const MAX_CHUNK_UNBROKEN: f64 = 3.0;
const MAX_CHUNK_ONE_CASE: f64 = 4.0;
/// With no digits the text must be more broken up than any camel case.
const MAX_CHUNK_LETTERS: f64 = 2.4;

static RUNS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z0-9+/_-]{32,}={0,2}").expect("a valid pattern"));
static UUID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}")
        .expect("a valid pattern")
});

pub(super) fn finds(text: &str) -> Vec<Find> {
    let mut finds = Vec::new();
    for run in RUNS.find_iter(text) {
        let mut range = run.range();
        // The `n` of an escaped line end is not the run's first character.
        if text[..range.start].ends_with('\\') && run.as_str().starts_with(['n', 'r', 't']) {
            range.start += 1;
        }
        if is_integrity(text, range.start, &text[range.clone()]) {
            continue;
        }
        for part in parts(text, range) {
            if is_random(&text[part.clone()]) {
                finds.push(Find { range: part, kind: "high-entropy" });
            }
        }
    }
    finds
}

/// What of a run is judged: all of it, or each segment of a URL's path. A file path is not judged,
/// since names of build outputs and caches are full of hashes.
fn parts(text: &str, run: Range<usize>) -> Vec<Range<usize>> {
    let content = &text[run.clone()];
    if !content.split('/').any(is_word) || !content.contains('/') {
        return vec![run];
    }
    if !follows_scheme(text, run.start) {
        return Vec::new();
    }
    let mut parts = Vec::new();
    let mut start = run.start;
    for segment in content.split('/') {
        if segment.len() >= SHORTEST {
            parts.push(start..start + segment.len());
        }
        start += segment.len() + 1;
    }
    parts
}

fn is_random(run: &str) -> bool {
    let run = without_known(run);
    let core = run.trim_end_matches('=');
    if core.len() < SHORTEST {
        return false;
    }
    let (lower, upper, digits) = core.bytes().fold((0, 0, 0), |(lower, upper, digits), b| match b {
        b'a'..=b'z' => (lower + 1, upper, digits),
        b'A'..=b'Z' => (lower, upper + 1, digits),
        b'0'..=b'9' => (lower, upper, digits + 1),
        _ => (lower, upper, digits),
    });
    if core.bytes().all(|b| b.is_ascii_hexdigit()) && (lower == 0 || upper == 0) {
        return digits > 0 && lower + upper > 0 && bits(core) >= MIN_BITS_HEX;
    }
    if bits(core) < MIN_BITS {
        return false;
    }
    let unbroken = core.bytes().all(|b| b.is_ascii_alphanumeric());
    let longest = match (lower > 0, upper > 0) {
        (false, false) => return false,
        (true, true) if digits < 2 => MAX_CHUNK_LETTERS,
        _ if digits < 2 => return false,
        (true, true) if unbroken => MAX_CHUNK_UNBROKEN,
        _ if unbroken && digits > 2 => MAX_CHUNK_ONE_CASE,
        _ => MAX_CHUNK,
    };
    mean_chunk(core) <= longest
}

/// A run without its UUIDs, its hashes and its words. `cache-linux-<git hash>` is a name, and what
/// is left of it is too short to be a secret.
fn without_known(run: &str) -> String {
    UUID.replace_all(run, "")
        .split_inclusive(['-', '_'])
        .filter(|piece| {
            let piece = piece.trim_end_matches(['-', '_', '=']);
            let hash = matches!(piece.len(), 40 | 64) && piece.bytes().all(|b| b.is_ascii_hexdigit());
            !hash && !is_word(piece)
        })
        .collect()
}

/// Shannon entropy in bits a character.
fn bits(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = f64::from(counts.iter().sum::<u32>());
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total)
        .map(|share| -share * log2(share))
        .sum()
}

/// The binary logarithm of a number above zero. The standard one is all that would need `libm`, a library that is
/// loaded at every start. Halves and doubles until the number is near one; there the series is short.
fn log2(number: f64) -> f64 {
    let (mut near_one, mut whole) = (number, 0.0);
    while near_one > 1.5 {
        near_one /= 2.0;
        whole += 1.0;
    }
    while near_one < 0.75 {
        near_one *= 2.0;
        whole -= 1.0;
    }
    let ratio = (near_one - 1.0) / (near_one + 1.0);
    let series: f64 = (0..12).rev().fold(0.0, |sum, n| sum * ratio * ratio + 1.0 / f64::from(2 * n + 1));
    whole + 2.0 * std::f64::consts::LOG2_E * ratio * series
}

/// A capital belongs to the lower case after it, so that `parseUserName` is three chunks.
pub(super) fn mean_chunk(text: &str) -> f64 {
    #[derive(PartialEq, Clone, Copy)]
    enum Class {
        Lower,
        Upper,
        Digit,
        Other,
    }
    let (mut chunks, mut length, mut before, mut capitals) = (0u32, 0u32, Class::Other, 0u32);
    for byte in text.bytes() {
        let class = match byte {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            _ => Class::Other,
        };
        if class != Class::Other {
            length += 1;
            let capitalised = class == Class::Lower && before == Class::Upper && capitals == 1;
            if class != before && !capitalised {
                chunks += 1;
            }
        }
        capitals = if class == Class::Upper { capitals + 1 } else { 0 };
        before = class;
    }
    f64::from(length) / f64::from(chunks.max(1))
}

/// A path segment that a person would type: all of it words of one kind of letters.
fn is_word(segment: &str) -> bool {
    let mut words = segment.split(['-', '_']).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some()
        && words.all(|word| {
            let tail = &word[1..];
            word.len() >= 3
                && (tail.bytes().all(|b| b.is_ascii_lowercase()) && word.as_bytes()[0].is_ascii_alphabetic()
                    || word.len() >= 4 && word.bytes().all(|b| b.is_ascii_uppercase()))
        })
}

/// How far back to look for the start of a URL.
const URL_LOOKBACK: usize = 256;

fn follows_scheme(text: &str, at: usize) -> bool {
    let from = at.saturating_sub(URL_LOOKBACK);
    let before = &text.as_bytes()[from..at];
    let word = before
        .iter()
        .rposition(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'<' | b'(' | b'`'))
        .map_or(0, |space| space + 1);
    // The run itself may begin with the scheme's slashes.
    let end = (at + 2).min(text.len());
    text.as_bytes()[from + word..end].windows(3).any(|three| three == b"://")
}

fn is_integrity(text: &str, at: usize, run: &str) -> bool {
    ["sha1-", "sha256-", "sha384-", "sha512-"].iter().any(|prefix| run.starts_with(prefix))
        || text[..at].ends_with("h1:")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_logarithm_is_the_standard_one() {
        for number in 1..2000 {
            let number = f64::from(number) / 100.0;
            assert!((super::log2(number) - number.log2()).abs() < 1e-9, "{number}");
        }
    }
}
