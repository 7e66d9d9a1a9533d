//! Text -> values of keys that are named like secrets, in the forms that config, code, shells, URLs
//! and markup write them. Gives the value's range only: the key's name stays readable.
//! Must not judge values (that is `values`) and must not look further than a bounded stretch.

use std::ops::Range;

use crate::redact::Find;
use crate::redact::candidates::{Candidates, KEY_OWNERS, What};
use crate::redact::values;
use crate::redact::values::{Family, Form};

/// The end of a key's name that begins here, and its family. The key's name must end here, so that `token_count`,
/// `tokenizer` and `PASSWORD_FILE` are other words.
fn keyword_at(bytes: &[u8], at: usize) -> Option<(Family, usize)> {
    let rest = bytes.get(at..)?;
    let reads = |rest: &[u8], wanted: &str| {
        rest.get(..wanted.len()).is_some_and(|start| start.eq_ignore_ascii_case(wanted.as_bytes()))
    };
    let longest = |rest: &[u8], words: &[&str]| -> usize {
        words.iter().find(|word| reads(rest, word)).map_or(0, |word| word.len())
    };
    let dash = |rest: &[u8]| usize::from(matches!(rest.first(), Some(b'_' | b'-')));
    let password = longest(rest, &["password", "passwd", "passphrase", "pwd"]);
    if password > 0 {
        return Some((Family::Password, at + password));
    }
    if dash(rest) == 1 && reads(&rest[1..], "pass") {
        return Some((Family::Password, at + 5 + longest(&rest[5..], &["word", "wd", "phrase"])));
    }
    let owner = longest(rest, KEY_OWNERS);
    let key = owner + dash(&rest[owner..]);
    if owner > 0 && reads(&rest[key..], "key") {
        let end = key + 3;
        return Some((Family::Secret, at + end));
    }
    if reads(rest, "secret") {
        return Some((Family::Secret, at + 6));
    }
    reads(rest, "token").then_some((Family::Token, at + 5))
}

/// No name and no value is looked at beyond this: it keeps crafted text from costing more than a
/// pass or two, and what is left of a longer value is for `entropy`.
const REACH: usize = 1024;

pub(super) fn finds(text: &str, candidates: &Candidates) -> Vec<Find> {
    let mut finds = Vec::new();
    let mut from = 0;
    for at in candidates.of_kind(What::Keyword) {
        let Some((family, end)) = (at >= from).then(|| keyword_at(text.as_bytes(), at)).flatten() else {
            continue;
        };
        from = end;
        let Some((form, value)) = value_after(text, at..end) else {
            continue;
        };
        let name = &text[name_start(text, at)..end];
        if values::is_secret(family, form, name, &text[value.clone()]) {
            from = value.end;
            finds.push(Find {
                range: value,
                kind: match family {
                    Family::Password => "password",
                    Family::Secret => "secret",
                    Family::Token => "token",
                },
            });
        }
    }
    finds
}

pub(super) fn name_start(text: &str, at: usize) -> usize {
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

/// The value assigned to the key that ends with `keyword`, if anything is.
pub(super) fn value_after(text: &str, keyword: Range<usize>) -> Option<(Form, Range<usize>)> {
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

/// From `from` to the first byte that ends it, the line or the reach; always whole characters.
fn until(text: &str, from: usize, ends: impl Fn(u8) -> bool) -> Range<usize> {
    let bytes = text.as_bytes();
    let limit = text.floor_char_boundary(bytes.len().min(from + REACH));
    let end = (from..limit).find(|at| bytes[*at] == b'\n' || bytes[*at] == b'\r' || ends(bytes[*at]));
    from..end.unwrap_or(limit)
}

/// A literal at `at`: the quote it is in, if any, and what is inside.
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
        // The text was cut inside the literal: what is there of it still counts.
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

/// `password: str = "…"`: the literal behind a type.
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

/// Nothing but blanks or a comment between here and the end of the line.
fn is_alone(bytes: &[u8], at: usize) -> bool {
    let at = skip(bytes, at, is_blank);
    matches!(bytes.get(at), None | Some(b'\n' | b'\r' | b'#'))
}

/// Only blanks and list markers before the key, as in YAML, or a listing's line number (`12→`).
fn starts_line(bytes: &[u8], at: usize) -> bool {
    bytes[..at]
        .iter()
        .rev()
        .take(REACH)
        .take_while(|b| **b != b'\n')
        .all(|b| matches!(b, b' ' | b'\t' | b'-' | b'*' | b'+' | b'"' | b'\'' | b'0'..=b'9' | 0x80..))
}
