//! Text -> long strings that look random, whatever their vendor. Must not take paths, identifiers,
//! UUIDs, git and sha256 hashes or lockfile integrity values for secrets.

use std::borrow::Cow;
use std::ops::Range;

use crate::redact::Find;

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

/// The long runs of a text: all of `[A-Za-z0-9+/_-]{32,}={0,2}`. A run that long has a byte at every 32nd place, so
/// that only these are looked at.
pub(super) fn runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let (mut at, mut from) = (SHORTEST - 1, 0);
    std::iter::from_fn(move || {
        while let Some(byte) = bytes.get(at) {
            if !IN_RUN[usize::from(*byte)] {
                at += SHORTEST;
                continue;
            }
            let before = bytes[from..at].iter().rev().take_while(|byte| IN_RUN[usize::from(**byte)]).count();
            let after = bytes[at..].iter().take_while(|byte| IN_RUN[usize::from(**byte)]).count();
            let (start, mut end) = (at - before, at + after);
            at = end + SHORTEST;
            if end - start >= SHORTEST {
                end += bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
                from = end;
                at = end + SHORTEST - 1;
                return Some(start..end);
            }
        }
        None
    })
}

/// The bytes that runs are made of.
static IN_RUN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-');
        byte += 1;
    }
    table
};

/// The digits of the groups of a UUID.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];
const UUID_LENGTH: usize = 36;

/// Whether a UUID begins here.
fn is_uuid_at(bytes: &[u8]) -> bool {
    let Some(uuid) = bytes.get(..UUID_LENGTH) else { return false };
    let mut groups = uuid.split(|byte| *byte == b'-');
    UUID.iter().all(|digits| {
        groups.next().is_some_and(|group| group.len() == *digits && group.iter().all(u8::is_ascii_hexdigit))
    }) && groups.next().is_none()
}

/// A run without the UUIDs in it.
pub(super) fn without_uuids(run: &str) -> Cow<'_, str> {
    if !run.contains('-') {
        return Cow::Borrowed(run);
    }
    let mut rest = String::with_capacity(run.len());
    let mut at = 0;
    while at < run.len() {
        if is_uuid_at(&run.as_bytes()[at..]) {
            at += UUID_LENGTH;
            continue;
        }
        let length = run[at..].chars().next().map_or(1, char::len_utf8);
        rest.push_str(&run[at..at + length]);
        at += length;
    }
    Cow::Owned(rest)
}

pub(super) fn finds(text: &str) -> Vec<Find> {
    runs(text).flat_map(|run| in_run(text, run)).collect()
}

/// What of a run is a secret.
pub(super) fn in_run(text: &str, mut range: Range<usize>) -> Vec<Find> {
    // The `n` of an escaped line end is not the run's first character.
    if text[..range.start].ends_with('\\') && text[range.clone()].starts_with(['n', 'r', 't']) {
        range.start += 1;
    }
    if is_integrity(text, range.start, &text[range.clone()]) {
        return Vec::new();
    }
    let random = parts(text, range).into_iter().filter(|part| is_random(&text[part.clone()]));
    random.map(|range| Find { range, kind: "high-entropy" }).collect()
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
    without_uuids(run)
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
