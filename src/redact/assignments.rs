//! Finds the values of keys that are named like secrets, in the forms that config, code, shells,
//! URLs and markup write them. The name of the key stays readable. Must not judge values (that is
//! `values`) and must not look further than a bounded stretch.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::redact::Find;
use crate::redact::values;
use crate::redact::values::{Family, Form};

/// Names of keys, by family. What follows must not go on with the name, so that `token_count`,
/// `tokenizer` and `PASSWORD_FILE` are other words; `value_after` sees to that.
static KEYWORD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i-u)(passw(?:or)?d|passphrase|pwd|[_-]pass(?:w(?:or)?d|phrase)?)",
        r"|((?:secret|access|api|private|signing|encryption|account|auth|master|shared)[_-]?key",
        r"|secret(?:[_-]key[_-]base)?)",
        r"|(token)",
    ))
    .expect("a valid pattern")
});

/// No name and no value is read beyond this: it keeps crafted text from costing more than a pass or
/// two, and the rest of a longer value is for `entropy`.
const REACH: usize = 1024;

pub(super) fn finds(text: &str) -> Vec<Find> {
    let mut finds = Vec::new();
    let mut from = 0;
    while let Some(captures) = KEYWORD.captures_at(text, from) {
        let keyword = captures.get_match();
        let (family, kind) = match (captures.get(1), captures.get(2)) {
            (Some(_), _) => (Family::Password, "password"),
            (_, Some(_)) => (Family::Secret, "secret"),
            _ => (Family::Token, "token"),
        };
        from = keyword.end();
        let Some((form, value)) = value_after(text, keyword.range()) else { continue };
        let name = &text[name_start(text, keyword.start())..keyword.end()];
        if values::is_secret(family, form, name, &text[value.clone()]) {
            from = value.end;
            finds.push(Find { range: value, kind });
        }
    }
    finds
}

fn name_start(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut start = at;
    while start > 0 && at - start < REACH && is_name_byte(bytes[start - 1]) {
        start -= 1;
    }
    start
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Returns the value that is assigned to the key that ends with `keyword`, and how.
fn value_after(text: &str, keyword: Range<usize>) -> Option<(Form, Range<usize>)> {
    let bytes = text.as_bytes();
    let start = name_start(text, keyword.start);
    let mut at = skip(bytes, keyword.end, |b| b.is_ascii_digit());
    let flag = bytes[start..].starts_with(b"--");

    if bytes.get(at) == Some(&b'>') && start > 0 && bytes[start - 1] == b'<' {
        let value = until(text, at + 1, |b| b == b'<');
        return Some((Form::Quoted, value));
    }
    if flag && bytes.get(at) == Some(&b' ') {
        let (_, value) = literal(text, skip(bytes, at, |b| b == b' '))?;
        return (!text[value.clone()].starts_with('-')).then_some((Form::Flag, value));
    }

    // What closes a key: its quotes, an index (`config["password"]`), emphasis, an optional mark.
    at = skip(bytes, at, |b| matches!(b, b'"' | b'\'' | b'`' | b'\\' | b']' | b'*' | b'?'));
    let gap = at;
    at = skip(bytes, at, is_blank);
    let rest = &text[at..];
    let (separator, colon) = ["===", "!==", "==", "!=", ":=", "=>", "=", ":"]
        .iter()
        .find(|separator| rest.starts_with(**separator))
        .map(|separator| (separator.len(), *separator == ":"))?;
    let comparison = rest.starts_with("==") || rest.starts_with('!');
    if rest.starts_with("::") {
        return None;
    }
    let after = at + separator;
    let value_at = skip(bytes, after, |b| is_blank(b) || b == b'*');

    if colon && let Some(typed) = typed_literal(text, value_at) {
        return Some((Form::Quoted, typed));
    }
    let (quote, value) = literal(text, value_at)?;
    let spaced = gap != at || value_at != after;
    let capital = bytes.get(start).is_some_and(u8::is_ascii_uppercase);
    let form = match quote {
        Some(b'"' | b'\'') => Form::Quoted,
        // Backticks hold code in a document, and only sometimes a value.
        Some(_) => Form::Spaced,
        None if comparison => return None,
        None if colon => {
            if is_alone(bytes, value.end) && starts_line(bytes, start) {
                Form::ColonAlone
            } else {
                Form::ColonMore
            }
        }
        None if spaced => Form::Spaced,
        None if capital || flag => Form::Env,
        None => Form::Tight,
    };
    Some((form, value))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn skip(bytes: &[u8], from: usize, keep: impl Fn(u8) -> bool) -> usize {
    let end = bytes.len().min(from + REACH);
    (from..end).find(|at| !keep(bytes[*at])).unwrap_or(end.max(from))
}

/// Returns what is between `from` and the first byte that ends it, the line or the reach; always
/// whole characters.
fn until(text: &str, from: usize, ends: impl Fn(u8) -> bool) -> Range<usize> {
    let bytes = text.as_bytes();
    let limit = text.floor_char_boundary(bytes.len().min(from + REACH));
    let end = (from..limit).find(|at| bytes[*at] == b'\n' || bytes[*at] == b'\r' || ends(bytes[*at]));
    from..end.unwrap_or(limit)
}

/// Returns the literal at `at`: its quote, if any, and what is inside.
fn literal(text: &str, at: usize) -> Option<(Option<u8>, Range<usize>)> {
    let bytes = text.as_bytes();
    // `b"…"`, `f"…"`, `@"…"`.
    let prefix = skip(bytes, at, |b| matches!(b, b'b' | b'r' | b'f' | b'u' | b'@'));
    let open = skip(bytes, prefix.min(at + 2), |b| b == b'\\');
    if let Some(quote @ (b'"' | b'\'' | b'`')) = bytes.get(open).copied() {
        let escaped = open > at && bytes[open - 1] == b'\\';
        let value = quoted(text, open + 1, quote, escaped);
        let closed = bytes.get(value.end).is_some_and(|b| *b == quote || *b == b'\\');
        if closed {
            return (!value.is_empty()).then_some((Some(quote), value));
        }
        // The text was cut inside of the literal: its start still counts.
        let value = until(text, open + 1, ends_bare);
        return (!value.is_empty()).then_some((Some(quote), value));
    }
    let mut value = until(text, at, ends_bare);
    // An escaped line end, in text that is itself inside a string.
    if let Some(escape) =
        ["\\n", "\\r", "\\t", "\\\""].iter().filter_map(|escape| text[value.clone()].find(escape)).min()
    {
        value.end = value.start + escape;
    }
    (!value.is_empty()).then_some((None, value))
}

fn quoted(text: &str, from: usize, quote: u8, escaped: bool) -> Range<usize> {
    let bytes = text.as_bytes();
    let inside = until(text, from, |_| false);
    let mut at = inside.start;
    while at < inside.end {
        match bytes[at] {
            b'\\' if escaped => break,
            b'\\' => at += 1,
            byte if byte == quote => break,
            _ => {}
        }
        at += 1;
    }
    from..at.min(inside.end)
}

fn ends_bare(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'&' | b'<' | b'>' | b')' | b'}' | b'|')
}

/// Returns the literal behind a type: `password: str = "…"`.
fn typed_literal(text: &str, at: usize) -> Option<Range<usize>> {
    const LONGEST_TYPE: usize = 60;
    let bytes = text.as_bytes();
    let limit = bytes.len().min(at + LONGEST_TYPE);
    let equals = (at..limit)
        .find(|i| !(bytes[*i].is_ascii_alphanumeric() || b"_<>[]|&'., ?:".contains(&bytes[*i])))?;
    if bytes[equals] != b'=' || matches!(bytes.get(equals + 1), Some(b'=' | b'>')) {
        return None;
    }
    match literal(text, skip(bytes, equals + 1, is_blank))? {
        (Some(_), value) => Some(value),
        (None, _) => None,
    }
}

/// Whether only blanks or a comment follow on the line.
fn is_alone(bytes: &[u8], at: usize) -> bool {
    let at = skip(bytes, at, is_blank);
    matches!(bytes.get(at), None | Some(b'\n' | b'\r' | b'#'))
}

/// Whether only blanks and list markers come before the key, as in YAML, or a listing's line number
/// (`12→`).
fn starts_line(bytes: &[u8], at: usize) -> bool {
    bytes[..at]
        .iter()
        .rev()
        .take(REACH)
        .take_while(|b| **b != b'\n')
        .all(|b| matches!(b, b' ' | b'\t' | b'-' | b'*' | b'+' | b'"' | b'\'' | b'0'..=b'9' | 0x80..))
}
