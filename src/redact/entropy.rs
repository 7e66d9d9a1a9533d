//! Finds long strings that look random, whatever their vendor. Must not take paths, identifiers,
//! UUIDs, git and sha256 hashes or lockfile integrity values for secrets.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::redact::Find;
use crate::redact::disguise::decoded;
use crate::redact::values::is_hash;

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

static RUN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z0-9+/_-]{32,}={0,2}").expect("a valid pattern"));

static UUID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i-u)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
        .expect("a valid pattern")
});

/// Blocks of base64 that are public.
static PUBLIC_BLOCK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"-----BEGIN (?:CERTIFICATE(?: REQUEST)?|NEW CERTIFICATE REQUEST|[A-Z0-9 ]{0,20}PUBLIC KEY(?: BLOCK)?|X509 CRL|",
        r"PGP SIGNATURE|SSH SIGNATURE|PGP MESSAGE|DH PARAMETERS)-----[^-]*",
    ))
    .expect("a valid pattern")
});

pub(super) fn finds(text: &str) -> Vec<Find> {
    let has_blocks = text.contains("-----BEGIN");
    let public: Vec<Range<usize>> = if has_blocks {
        PUBLIC_BLOCK.find_iter(text).map(|block| block.range()).collect()
    } else {
        Vec::new()
    };
    let is_public = |run: &Range<usize>| {
        let next = public.partition_point(|block| block.end < run.end);
        public.get(next).is_some_and(|block| block.start <= run.start)
    };
    let runs = RUN.find_iter(text).map(|run| run.range()).filter(|run| !is_public(run));
    runs.flat_map(|run| finds_in_run(text, run)).collect()
}

fn finds_in_run(text: &str, mut range: Range<usize>) -> Vec<Find> {
    // The `n` of an escaped line end is not the run's first character.
    if text[..range.start].ends_with('\\') && text[range.clone()].starts_with(['n', 'r', 't']) {
        range.start += 1;
    }
    let run = &text[range.clone()];
    // What can be read when it is decoded was judged by what it says.
    if is_integrity(text, range.start, run) || is_known_data(text, range.start, run) || decoded(run).is_some()
    {
        return Vec::new();
    }
    let random = judged_parts(text, range).into_iter().filter(|part| is_random(&text[part.clone()]));
    random.map(|range| Find { range, kind: "high-entropy" }).collect()
}

/// Returns what of a run is judged: all of it, or each segment of a URL's path. A file path is not
/// judged, since names of build outputs and caches are full of hashes.
fn judged_parts(text: &str, run: Range<usize>) -> Vec<Range<usize>> {
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
        // `packages/<hash>/<file>` is where an index keeps its files.
        let is_place = segment.bytes().all(|b| b.is_ascii_hexdigit()) && start + segment.len() < run.end;
        if segment.len() >= SHORTEST && !is_place {
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

/// Returns a run without its UUIDs, its hashes and its words. `cache-linux-<git hash>` is a name,
/// and what is left of it is too short to be a secret.
fn without_known(run: &str) -> String {
    UUID.replace_all(run, "")
        .split_inclusive(['-', '_', '/'])
        .filter(|piece| {
            let piece = piece.trim_end_matches(['-', '_', '=', '/']);
            // A `Change-Id` has a letter before its hash.
            let hash = is_hash(piece) || piece.strip_prefix('I').is_some_and(is_hash);
            !hash && !is_word(piece)
        })
        .collect()
}

/// Returns the Shannon entropy in bits a character.
pub(super) fn bits(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = f64::from(counts.iter().sum::<u32>());
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total)
        .map(|share| -share * share.log2())
        .sum()
}

/// Returns the mean length of a stretch of one character class. A capital belongs to the lower case
/// after it, so that `parseUserName` is three stretches.
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
        || ["h1:", "SHA256:", "sha256:", "sha512:"].iter().any(|prefix| text[..at].ends_with(prefix))
}

/// How far back to look for the start of a data URL.
const DATA_LOOKBACK: usize = 100;

/// How files begin in base64 that stand in a text without a `data:` before them: pictures, fonts,
/// archives.
const FILES: [&str; 8] = ["/9j/", "iVBORw0KGgo", "R0lGOD", "UklGR", "d09GM", "JVBERi0", "UEsDB", "AAEAAAA"];

/// A picture, a font or another file inside of a text; the public half of a key; a file's place by
/// its hash.
fn is_known_data(text: &str, at: usize, run: &str) -> bool {
    const PUBLIC_KEYS: [&str; 4] = ["AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh", "AAAAGnNrLXNza"];
    let before = &text[text.ceil_char_boundary(at.saturating_sub(DATA_LOOKBACK))..at];
    let is_file = ["data:image/", "data:font/", "data:audio/", "data:video/", "data:application/"]
        .iter()
        .any(|kind| before.contains(kind))
        && before.ends_with("base64,");
    // Longer than any token.
    let is_file = is_file || run.len() >= 200 && FILES.iter().any(|start| run.starts_with(start));
    let near = &before[before.ceil_char_boundary(before.len().saturating_sub(24))..];
    let is_public = near.to_ascii_lowercase().contains("public");
    is_file || is_public || PUBLIC_KEYS.iter().any(|start| run.starts_with(start))
}
