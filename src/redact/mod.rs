//! Text that is about to leave the process -> the same text, each secret replaced by `[masked:<kind>]`.
//! Must not read the disk or the environment, must not panic on any input, and must keep every line
//! where it was, so that line numbers quoted by the auditor stay true.
//!
//! A missed secret leaves the machine and a masked word only costs the auditor a detail, so doubt
//! goes to masking, except in what code and plans are full of: identifiers, paths, hashes, types.
//!
//! Left alone on purpose: UUIDs, 40 and 64 digit hex (git, sha256) with no secret-like key before
//! them, lockfile integrity values (`sha512-…`, `h1:…`), hashes in names of files, and literals
//! inside a call (`Some("…")`) that have no token shape.

mod assignments;
mod candidates;
mod entropy;
mod files;
mod pem;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
mod tokens;
mod values;

use std::ops::Range;

use crate::redact::candidates::Candidates;
pub use crate::redact::files::is_secret_file;

/// A text without its secrets, and how many there were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// The text without them.
    pub text: String,
    /// How many there were.
    pub count: usize,
}

/// One secret in a text: the bytes to replace, and what to call them.
struct Find {
    range: Range<usize>,
    kind: &'static str,
}

/// Order matters: a private key holds high-entropy lines, and a token with a known shape deserves
/// its own name rather than the name of the key that it is assigned to.
const PASSES: [fn(&str, &Candidates) -> Vec<Find>; 4] =
    [pem::finds, tokens::finds, assignments::finds, |text, _| entropy::finds(text)];

/// A replacement can uncover a neighbour (`x` no longer touches it), so passes repeat until a round
/// finds nothing. Two rounds are the rule; the bound only keeps a crafted text from costing more.
const MAX_ROUNDS: usize = 8;

/// Masks every secret in `text`. Masking twice changes nothing.
pub fn mask(text: &str) -> Masked {
    masked(text).unwrap_or_else(|| Masked { text: text.to_owned(), count: 0 })
}

/// Masks every secret in a text that is one's own: it stays what it is where there is none.
pub fn mask_owned(text: String) -> Masked {
    masked(&text).unwrap_or(Masked { text, count: 0 })
}

/// The text without its secrets, if it has any. Most have none, and are only read.
pub fn masked(text: &str) -> Option<Masked> {
    let mut candidates = Candidates::of(text);
    if candidates.is_empty() && entropy::runs(text).next().is_none() {
        return None;
    }
    let mut masked: Option<Masked> = None;
    for _ in 0..MAX_ROUNDS {
        let mut is_done = true;
        for pass in PASSES {
            let now = masked.as_ref().map_or(text, |masked| &masked.text);
            let finds = pass(now, &candidates);
            if finds.is_empty() {
                continue;
            }
            let (text, count) = replaced(now, finds);
            candidates = Candidates::of(&text);
            masked = Some(Masked { text, count: count + masked.map_or(0, |masked| masked.count) });
            is_done = false;
        }
        if is_done {
            break;
        }
    }
    masked
}

/// The text with a mark in the place of each find, and how many there are.
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
