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
        r"(?i)(passw(?:or)?d|passphrase|pwd|[_-]pass(?:w(?:or)?d|phrase)?|(?-u:\b)(?:pass|psk)(?-u:\b)",
        // The same in other languages.
        r"|pass(?:wort|word)|kennwort|mot[ _-]?de[ _-]?passe|contrase(?:ñ|n)a|(?-u:\b)senha(?-u:\b)|parola(?: d'ordine)?",
        r"|wachtwoord|hasło|haslo|lösenord|losenord|adgangskode|passord|salasana|(?-u:\b)heslo(?-u:\b)|jelszó|jelszo",
        r"|şifre|(?-u:\b)sifre(?-u:\b)|парол(?:ь|я)|κωδικός|密[码碼]|パスワード|暗証番号|비밀번호|mật khẩu|kata sandi",
        r"|كلمة (?:المرور|السر)|סיסמה|पासवर्ड|รหัสผ่าน)",
        r"|(secret[_-]key[_-]base|(?:secret|access|api|private|signing|encryption|account|auth|master|shared|preshared|deploy)",
        r"[_ -]?key(?:[_-](?:id|data))?|key-data|secret|app_key|(?-u:\b)_auth(?-u:\b))",
        r"|(token)",
        r"|(mnemonic|(?:seed|recovery)[_ -]?phrase)",
        r"|([_-]key(?-u:\b))",
    ))
    .expect("a valid pattern")
});

/// Whether a name is one of a secret's, to its end.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.trim_start_matches('-');
    KEYWORD.find_iter(name).last().is_some_and(|keyword| keyword.end() == name.len())
}

/// No name and no value is read beyond this: it keeps crafted text from costing more than a pass or
/// two, and the rest of a longer value is for `entropy`.
const REACH: usize = 1024;

pub(super) fn finds(text: &str) -> Vec<Find> {
    let mut finds = Vec::new();
    let mut from = 0;
    while let Some(captures) = KEYWORD.captures_at(text, from) {
        let keyword = captures.get_match();
        let (family, kind) = match (1..=5).find(|group| captures.get(*group).is_some()) {
            Some(1) => (Family::Password, "password"),
            Some(2) => (Family::Secret, "secret"),
            Some(4) => (Family::Phrase, "password"),
            Some(5) => (Family::Key, "secret"),
            _ => (Family::Token, "token"),
        };
        from = keyword.end();
        if let Some(value) = phrase_after(text, keyword.range(), family) {
            from = value.end;
            finds.push(Find { range: value, kind });
            continue;
        }
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

/// Words of a passphrase: nothing but small letters, and none as short as the little words that every
/// sentence has.
static PHRASE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"\A["']?\]?[ \t]{0,4}(?::=|[:=])[ \t]{0,4}(?:"([a-z]{3,12}(?: [a-z]{3,12}){3,23})""#,
        r"|'([a-z]{3,12}(?: [a-z]{3,12}){3,23})'|([a-z]{4,12}(?: [a-z]{4,12}){3,23})[ \t]*(?:\r?\n|\z))",
    ))
    .expect("a valid pattern")
});

/// Returns the passphrase of several words that is assigned to a key.
fn phrase_after(text: &str, keyword: Range<usize>, family: Family) -> Option<Range<usize>> {
    if !matches!(family, Family::Password | Family::Phrase) {
        return None;
    }
    let window = &text[keyword.end..text.floor_char_boundary(text.len().min(keyword.end + 400))];
    let captures = PHRASE.captures(window)?;
    let phrase = captures.iter().skip(1).flatten().next()?;
    let is_about_itself = KEYWORD.is_match(phrase.as_str());
    (!is_about_itself).then(|| keyword.end + phrase.start()..keyword.end + phrase.end())
}

/// What stands between a name and its value where the name is a value itself: `"name": "PASSWORD",
/// "value": "…"`, `<add key="password" value="…"/>`, `<key>Password</key><string>…`.
static NAMED_VALUE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"\A(?:["']?[ \t]{0,8}[,{]?\s{0,40}["']?(?:value|default|content)["']?[ \t]{0,8}[:=][ \t]{0,8}"#,
        r"|</key>\s{0,40}<string>",
        r#"|(?:[ \t][^<>\n]{0,80})?["']?[ \t]{0,8}>(?:<value>)?(?:<!\[CDATA\[)?)"#,
    ))
    .expect("a valid pattern")
});

/// Returns the value that stands apart from the value that names it.
fn named_value(text: &str, keyword: &Range<usize>) -> Option<Range<usize>> {
    let window = &text[keyword.end..text.floor_char_boundary(text.len().min(keyword.end + 200))];
    let between = NAMED_VALUE.find(window)?.as_str();
    let at = keyword.end + between.len();
    if between.ends_with(['>', '[']) {
        let before = &text[text.ceil_char_boundary(keyword.start.saturating_sub(REACH))..keyword.start];
        let is_markup = before.rfind(['<', '\n']).is_some_and(|open| before[open..].starts_with('<'));
        let value = until(text, at, |b| matches!(b, b'<' | b']'));
        let closed = text[value.end..].starts_with("</") || text[value.end..].starts_with("]]>");
        return (is_markup && closed && !value.is_empty()).then_some(value);
    }
    literal(text, at).map(|(_, value)| value)
}

/// Returns the value that is assigned to the key that ends with `keyword`, and how.
fn value_after(text: &str, keyword: Range<usize>) -> Option<(Form, Range<usize>)> {
    let bytes = text.as_bytes();
    let start = name_start(text, keyword.start);
    let mut at = skip(bytes, keyword.end, |b| b.is_ascii_digit());
    let flag = bytes[start..].starts_with(b"--");

    if let Some(value) = named_value(text, &(keyword.start..at)) {
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
    let (separator, colon) = ["===", "!==", "==", "!=", ":=", "=>", "=", ":", "\u{ff1a}", "\u{ff1d}"]
        .iter()
        .find(|separator| rest.starts_with(**separator))
        .map(|separator| (separator.len(), matches!(*separator, ":" | "\u{ff1a}")))?;
    let comparison = rest.starts_with("==") || rest.starts_with('!');
    // `PASS: TestLogin` is what test runners print.
    if rest.starts_with("::") || colon && &text[start..keyword.end] == "PASS" {
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
        None if capital || flag || is_setting(bytes, start, value.end) => Form::Env,
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

/// Whether `key=value` is a whole line of its own, or part of a query: no keyword argument.
fn is_setting(bytes: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).map(|at| bytes[at]);
    matches!(before, Some(b'?' | b'&')) || matches!(before, None | Some(b'\n')) && is_alone(bytes, end)
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
