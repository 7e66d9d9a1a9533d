//! Finds vendors' tokens by the rules of a secret scanner that is kept by others (`build.rs` makes the
//! table). Must not hold rules of our own, which stand in `tokens`.

use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::Regex;

use crate::redact::Find;
use crate::redact::entropy::bits;
use crate::redact::values::is_stand_in;

/// A token that begins with letters of its own.
struct VendorRule {
    kind: &'static str,
    /// How it begins, in small letters.
    prefixes: &'static [&'static str],
    pattern: &'static str,
    /// The least entropy that it has, in bits a character.
    min_bits: f64,
}

static RULES: &[VendorRule] = include!(concat!(env!("OUT_DIR"), "/vendor_rules.rs"));

/// No token is looked for further than this.
const REACH: usize = 2048;

struct Index {
    prefixes: AhoCorasick,
    /// The rule of each prefix.
    rules: Vec<usize>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let pairs = RULES.iter().enumerate().flat_map(|(at, rule)| rule.prefixes.iter().map(move |it| (*it, at)));
    let (prefixes, rules): (Vec<&str>, Vec<usize>) = pairs.unzip();
    let prefixes = AhoCorasick::builder().ascii_case_insensitive(true).build(prefixes);
    Index { prefixes: prefixes.expect("a valid set of prefixes"), rules }
});

pub(super) fn finds(text: &str) -> Vec<Find> {
    static REGEXES: [OnceLock<Option<Regex>>; RULES.len()] = [const { OnceLock::new() }; RULES.len()];
    let mut finds: Vec<Find> = Vec::new();
    for hit in INDEX.prefixes.find_overlapping_iter(text) {
        let at = INDEX.rules[hit.pattern().as_usize()];
        let rule = &RULES[at];
        if !begins_here(text, hit.start()) {
            continue;
        }
        let anchored = || Regex::new(&format!(r"\A(?:{})", rule.pattern)).ok();
        let Some(regex) = REGEXES[at].get_or_init(anchored) else { continue };
        let window = &text[hit.start()..text.floor_char_boundary(hit.start() + REACH)];
        let Some(found) = regex.find(window) else { continue };
        let token = found.as_str();
        if bits(token) >= rule.min_bits && has_jumble(&token[hit.end() - hit.start()..]) && !is_stand_in(token) {
            // A rule of fixed length must not leave the end of a token that has become longer.
            let end = hit.start() + token.len();
            let rest = window[token.len()..].bytes().take_while(|b| is_token_byte(*b)).count();
            finds.push(Find { range: hit.start()..end + rest, kind: rule.kind });
        }
    }
    finds
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Whether no word goes on here. The `n` of an escaped line end and the digits of `%3D` are no word.
fn begins_here(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[at.saturating_sub(3)..at];
    match before {
        [.., last] if !last.is_ascii_alphanumeric() && *last != b'_' => true,
        [] | [.., b'\\', b'n' | b'r' | b't'] => true,
        [b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        _ => false,
    }
}

/// Whether the rest of a token is no word or name of a person's: `sk-learn-compatible-estimators`.
fn has_jumble(rest: &str) -> bool {
    let digits = rest.bytes().filter(u8::is_ascii_digit).count();
    let capitals = rest.bytes().filter(u8::is_ascii_uppercase).count();
    let small = rest.bytes().filter(u8::is_ascii_lowercase).count();
    digits >= 2 && digits + capitals + small >= 12 || capitals >= 5 && small >= 5
}
