//! Finds private key blocks, whole, or as far as they go where the text was cut.
//! Must not take a mere mention of the `BEGIN` line in prose or code for a key.

use std::sync::LazyLock;

use regex::Regex;

use crate::redact::Find;

static BEGIN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----").expect("a valid pattern")
});
static END: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----").expect("a valid pattern")
});

/// Longer than any end marker.
const MARKER: usize = 80;

/// Less base64 than this after a `BEGIN` line is an example or a check for the marker, not a key.
const SHORTEST_BODY: usize = 16;

/// A base64 line shorter than this is a key's last line, or no key material at all.
const FULL_LINE: usize = 20;

pub(super) fn finds(text: &str) -> Vec<Find> {
    let mut finds = Vec::new();
    let mut from = 0;
    for begin in BEGIN.find_iter(text).map(|found| found.range()) {
        // Inside of a block that was already found.
        if begin.start < from {
            continue;
        }
        from = begin.end;
        if let Some(end) = body_end(text, begin.end) {
            from = end;
            finds.push(Find { range: begin.start..end, kind: "private-key" });
        }
    }
    finds
}

/// Returns where the block that opens before `start` ends, if there is key material in it.
fn body_end(text: &str, start: usize) -> Option<usize> {
    let (mut material, mut short_lines) = (0, 0);
    let (mut at, mut end) = (start, start);
    while at < text.len() {
        let stop = line_or_marker(text, at);
        let content = bare(&text[at..stop]);
        let header = is_header(content);
        if !header && !content.bytes().all(is_body_byte) {
            break;
        }
        if !header && !content.is_empty() {
            let base64 = content.bytes().filter(u8::is_ascii_alphanumeric).count();
            // The last line and a checksum may be short; after them only the end marker counts.
            short_lines += usize::from(base64 < FULL_LINE);
            if short_lines > 2 {
                break;
            }
            material += base64;
        }
        if text[stop..].starts_with("-----") {
            // Another marker than the block's own end means that the block was cut before it.
            if let Some(marker) = END.find(&text[stop..text.floor_char_boundary(stop + MARKER)]) {
                end = stop + marker.end();
            }
            break;
        }
        if !content.is_empty() {
            end = at + text[at..stop].trim_end().len();
        }
        at = stop + 1;
    }
    (material >= SHORTEST_BODY).then_some(end)
}

/// Returns the end of the line at `at`, or a marker before it. Looks no further than that, so that
/// a text full of markers costs no more than its length.
fn line_or_marker(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    (at..bytes.len()).find(|i| bytes[*i] == b'\n' || bytes[*i..].starts_with(b"-----")).unwrap_or(bytes.len())
}

/// Returns a line without what a diff, a listing, a comment or a string literal puts around it.
fn bare(line: &str) -> &str {
    let line = line.trim();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let line = match numbered.strip_prefix(['\u{2192}', ':', '|', '\t']) {
        Some(rest) if numbered.len() < line.len() => rest,
        _ => line,
    };
    line.trim_start_matches(['+', '-', '>', '|', '#', '/', '*', ' ', '\t', '"', '\''])
        .trim_end_matches(['"', '\'', ',', ';', '+', ' ', '\t', '\\', ')', ']', '}', '`'])
}

/// Backslashes belong to it: in JSON and in source code the whole key is often one line of `\n`s.
fn is_body_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\\')
}

fn is_header(line: &str) -> bool {
    ["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:"].iter().any(|header| line.starts_with(header))
}
