//! Undoes what hides a secret from a rule and from no reader: characters that are not seen,
//! literals that are put together, escapes. Must not change the text itself: what is found in the
//! plain text is told as a place in the original.

use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use regex::{Captures, Regex};

use crate::redact::Find;

/// What is taken out or replaced: characters that are not seen; what joins two literals; a line
/// that goes on; escapes of URLs, markup and strings; letters of full width.
static DISGUISE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        "[\u{ad}\u{34f}\u{61c}\u{115f}\u{1160}\u{180b}-\u{180f}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2060}-\u{206f}",
        "\u{3164}\u{fe00}-\u{fe0f}\u{feff}\u{ffa0}\u{e0000}-\u{e01ef}]",
        r"|(?:\x1b|\\x1b|\\e|\\033|\\u001b)\[[0-9;]{0,12}m",
        r#"|"[ \t]{1,8}"|'[ \t]{1,8}'"#,
        r#"|["'][ \t]{0,8}(?:\+|\.\.?|&|\|\|)[ \t]{0,8}["']"#,
        r#"|["'][ \t]{0,8}(?:[+.&][ \t]{0,8})?\\?\r?\n[ \t]{0,80}(?:[+.&][ \t]{0,8})?["']"#,
        r"|\\\r?\n[ \t]*",
        r"|%([2-7][0-9A-Fa-f])",
        r"|&#x([0-9A-Fa-f]{2});|&#([0-9]{2,3});",
        r"|\\u00([2-7][0-9A-Fa-f])",
        "|[\u{a0}\u{ff01}-\u{ff5e}]",
        r"|\\x([2-7][0-9A-Fa-f])|\\([01][0-7]{2})",
    ))
    .expect("a valid pattern")
});

/// A text without its disguises, and where each piece of it came from.
struct Plain {
    text: String,
    /// Starts of pieces in the plain text and in the original, and the length in the original of
    /// what stands there. Between two of them every byte is one byte.
    pieces: Vec<(usize, usize)>,
}

fn plain(text: &str) -> Plain {
    let mut plain = Plain { text: String::with_capacity(text.len()), pieces: vec![(0, 0)] };
    let mut done = 0;
    for captures in DISGUISE.captures_iter(text) {
        let whole = captures.get_match();
        plain.text.push_str(&text[done..whole.start()]);
        plain.pieces.push((plain.text.len(), whole.start()));
        if let Some(letter) = replacement(&captures) {
            plain.text.push(letter);
        }
        done = whole.end();
        plain.pieces.push((plain.text.len(), done));
    }
    plain.text.push_str(&text[done..]);
    plain
}

/// Returns the stretches of a text that have a disguise: whole lines, and one more on either side,
/// since a key may stand above its value.
fn disguised_stretches(text: &str) -> Vec<Range<usize>> {
    // Every disguise has one of these, or a character that is not ASCII.
    if text.is_ascii() && !text.bytes().any(|byte| matches!(byte, b'"' | b'\'' | b'\\' | b'%' | b'&' | 0x1b))
    {
        return Vec::new();
    }
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    let mut stretches: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    while let Some(found) = DISGUISE.find_at(text, from) {
        let start = line_start(line_start(found.start()).saturating_sub(1));
        let end = line_end(line_end(found.end()).min(text.len()));
        match stretches.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => stretches.push(start..end),
        }
        // What else is in these lines is part of the stretch already.
        from = line_end(found.end());
        if from >= text.len() {
            break;
        }
    }
    stretches
}

fn replacement(captures: &Captures<'_>) -> Option<char> {
    let hex = [1, 2, 4, 5].iter().find_map(|group| captures.get(*group));
    if let Some(code) = hex.and_then(|hex| u8::from_str_radix(hex.as_str(), 16).ok()) {
        return Some(char::from(code)).filter(char::is_ascii);
    }
    if let Some(code) = captures.get(3).and_then(|decimal| decimal.as_str().parse::<u8>().ok()) {
        return Some(char::from(code)).filter(char::is_ascii);
    }
    if let Some(code) = captures.get(6).and_then(|octal| u8::from_str_radix(octal.as_str(), 8).ok()) {
        return Some(char::from(code)).filter(|letter| (' '..='~').contains(letter));
    }
    let letter = captures.get_match().as_str().chars().next()?;
    if letter == '\u{a0}' {
        return Some(' ');
    }
    matches!(letter, '\u{ff01}'..='\u{ff5e}').then(|| char::from_u32(u32::from(letter) - 0xfee0))?
}

impl Plain {
    /// Returns where a stretch of the plain text stands in the original.
    fn original(&self, range: &Range<usize>) -> Range<usize> {
        let at = |offset: usize| {
            let piece = self.pieces.partition_point(|(plain, _)| *plain <= offset) - 1;
            let (plain, original) = self.pieces[piece];
            original + (offset - plain)
        };
        // The end is where the last byte ends, not where what follows it begins.
        let last = range.end.saturating_sub(1);
        let next = self.pieces.partition_point(|(plain, _)| *plain <= last);
        let end = match self.pieces.get(next) {
            Some((plain, original)) if *plain == range.end && self.is_replaced(next - 1) => *original,
            _ => at(last) + 1,
        };
        at(range.start)..end
    }

    /// Whether the piece stands for something longer: its letter and the next piece are one byte
    /// apart.
    fn is_replaced(&self, piece: usize) -> bool {
        let (Some(this), Some(next)) = (self.pieces.get(piece), self.pieces.get(piece + 1)) else {
            return false;
        };
        next.0 - this.0 != next.1 - this.1
    }
}

/// Returns what the passes find in a text without its disguises.
pub(super) fn undisguised(text: &str, passes: &[fn(&str) -> Vec<Find>]) -> Vec<Find> {
    let mut finds = Vec::new();
    for stretch in disguised_stretches(text) {
        let original = &text[stretch.clone()];
        let plain = plain(original);
        for find in passes.iter().flat_map(|pass| pass(&plain.text)) {
            let range = whole_characters(original, plain.original(&find.range));
            finds.push(Find {
                range: stretch.start + range.start..stretch.start + range.end,
                kind: find.kind,
            });
        }
    }
    finds
}

fn whole_characters(text: &str, range: Range<usize>) -> Range<usize> {
    text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end.min(text.len()))
}

/// Shorter runs hold no secret with its name or shape.
const SHORTEST_RUN: usize = 20;
/// More of a run is not decoded.
const LONGEST_RUN: usize = 8192;

static RUN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z0-9+/_-]{20,}={0,2}").expect("a valid pattern"));

/// Returns the runs of base64 and of hexadecimal digits in which a pass finds something.
pub(super) fn encoded(text: &str, passes: &[fn(&str) -> Vec<Find>]) -> Vec<Find> {
    let runs = RUN.find_iter(text).filter(|run| {
        decoded(run.as_str()).is_some_and(|inner| passes.iter().any(|pass| !pass(&inner).is_empty()))
    });
    runs.map(|run| Find { range: run.range(), kind: "encoded" }).collect()
}

/// Returns the text that a run of base64 or hexadecimal digits stands for, if it is one that can be
/// read.
pub(super) fn decoded(run: &str) -> Option<String> {
    if run.len() < SHORTEST_RUN {
        return None;
    }
    let run = &run[..run.len().min(LONGEST_RUN)];
    if run.len().is_multiple_of(2) && run.bytes().all(|b| b.is_ascii_hexdigit()) {
        let digit = |b: u8| char::from(b).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let bytes: Option<Vec<u8>> =
            run.as_bytes().chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect();
        return readable(bytes?);
    }
    let lenient = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let alphabet = if run.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    let engine = GeneralPurpose::new(alphabet, lenient);
    // Most runs are no text, which their first bytes tell.
    readable(engine.decode(&run[..16]).ok()?)?;
    let whole = run.trim_end_matches('=');
    let whole = if whole.len() % 4 == 1 { &whole[..whole.len() - 1] } else { whole };
    readable(engine.decode(whole).ok()?)
}

fn readable(bytes: Vec<u8>) -> Option<String> {
    let is_printed = |b: &u8| matches!(b, b' '..=b'~' | b'\n' | b'\r' | b'\t');
    bytes.iter().all(is_printed).then(|| String::from_utf8(bytes).ok())?
}
