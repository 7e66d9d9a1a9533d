//! Masks secrets in text that is about to leave the process: each is replaced by `[masked:<kind>]`.
//! Must not read the disk or the environment, must not panic on any input, and must keep every line
//! where it was, so that line numbers quoted by a reader stay true.
//!
//! A missed secret leaves the machine and a masked word only costs the reader a detail, so in doubt
//! it is masked, except what code and plans are full of: identifiers, paths, hashes, types.
//!
//! Left alone on purpose: UUIDs, hashes of the usual lengths with no secret-like key before them,
//! lockfile integrity values (`sha512-…`, `h1:…`), hashes in names of files, pictures and fonts in
//! data URLs, public keys and certificates, and literals inside a call (`Some("…")`) that have no
//! token shape.
//!
//! A new shape is a line in `tokens`, a flag that takes a secret one in `commands`, a new secret
//! file a word in `files`.

mod assignments;
mod between;
mod commands;
mod disguise;
mod entropy;
mod files;
mod layouts;
mod manifests;
mod printed;
mod secret_values;
mod tokens;
mod values;

use std::ops::Range;

pub use crate::redact::files::is_secret_file;
pub use crate::redact::printed::without_secret_files;
pub use crate::redact::secret_values::SecretValues;

/// A text without its secrets, and how many there were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// The text without them.
    pub text: String,
    pub count: usize,
}

/// One secret in a text: the bytes to replace, and its name.
struct Find {
    range: Range<usize>,
    kind: &'static str,
}

type Pass = fn(&str) -> Vec<Find>;

/// What knows a secret by its shape or its name. Order matters: a private key holds high-entropy
/// lines, and a token with a known shape deserves its own name rather than the name of the key that
/// it is assigned to.
const KNOWN: [Pass; 7] = [
    tokens::private_keys,
    tokens::finds,
    tokens::cookies,
    manifests::finds,
    layouts::finds,
    commands::finds,
    assignments::finds,
];

/// Returns all passes, in order. What is hidden goes first: half of a split token looks like a
/// whole one.
fn passes() -> impl Iterator<Item = Pass> {
    let undisguised: Pass = |text| disguise::undisguised(text, &KNOWN);
    let encoded: Pass = |text| disguise::encoded(text, &KNOWN);
    std::iter::once(undisguised).chain(KNOWN).chain([encoded, entropy::finds])
}

/// A replacement can uncover a neighbour, so passes repeat until a round finds nothing. Two rounds
/// are usual; the bound keeps a crafted text from costing more.
const MAX_ROUNDS: usize = 8;

/// Masks every secret in a text. Masking twice changes nothing.
pub fn mask(text: &str) -> Masked {
    let mut masked = Masked { text: text.to_owned(), count: 0 };
    for _ in 0..MAX_ROUNDS {
        let before = masked.count;
        for pass in passes() {
            let finds = pass(&masked.text);
            if !finds.is_empty() {
                let (text, count) = replaced(&masked.text, finds);
                masked = Masked { text, count: masked.count + count };
            }
        }
        if masked.count == before {
            break;
        }
    }
    masked
}

/// Masks every string of a line of JSON, which stays what it is otherwise.
pub fn mask_json(line: &str) -> String {
    // A line without secrets, as most are, is looked at only once.
    if mask(line).count == 0 {
        return line.to_owned();
    }
    let mut masked = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(open) = rest.find('"') {
        let literal = &rest[open..];
        let Some(end) = literal_end(literal) else { break };
        masked.push_str(&rest[..open]);
        match serde_json::from_str::<String>(&literal[..end]).map(|text| mask(&text)) {
            Ok(text) if text.count > 0 => masked.push_str(&serde_json::Value::String(text.text).to_string()),
            _ => masked.push_str(&literal[..end]),
        }
        rest = &literal[end..];
    }
    masked + rest
}

/// Returns where the literal that a text begins with ends.
fn literal_end(literal: &str) -> Option<usize> {
    let mut bytes = literal.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Returns the text with a mark in the place of each find, and how many marks there are.
fn replaced(source: &str, mut finds: Vec<Find>) -> (String, usize) {
    // Where two rules hit the same text, the one that starts first and reaches further wins.
    finds.sort_by_key(|find| (find.range.start, std::cmp::Reverse(find.range.end)));

    let mut text = String::with_capacity(source.len());
    let (mut done, mut count) = (0, 0);
    for Find { range, kind } in finds {
        if range.start < done {
            continue;
        }
        text.push_str(&source[done..range.start]);
        text.push_str("[masked:");
        text.push_str(kind);
        text.push(']');
        push_line_ends(&mut text, &source[range.clone()]);
        done = range.end;
        count += 1;
    }
    text.push_str(&source[done..]);
    (text, count)
}

fn push_line_ends(text: &mut String, removed: &str) {
    let mut before = None;
    for byte in removed.bytes() {
        if byte == b'\n' {
            text.push_str(if before == Some(b'\r') { "\r\n" } else { "\n" });
        }
        before = Some(byte);
    }
}
