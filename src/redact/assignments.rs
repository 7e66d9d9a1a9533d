//! Finds the values of keys that are named like secrets, in the forms that config, code, shells,
//! URLs and markup write them. The name of the key stays readable. Must not judge values (that is
//! `values`) and must not look further than a bounded stretch.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

use crate::redact::Find;
use crate::redact::between;
use crate::redact::values;
use crate::redact::values::{Family, Form};

/// Names of passwords, in ASCII. A new one needs a text of its own in [`HINTS`].
const PASSWORDS: &str = concat!(
    r"passw(?:or)?d|passphrase|sshpass|pwd|[_-]pass(?:w(?:or)?d|phrase)?|(?-u:\b)(?:pass|psk)(?-u:\b)",
    // The same in other languages.
    r"|pass(?:wort|word)|kennwort|mot[ _-]?de[ _-]?passe|contrase(?:n|ny)a|palavra[ _-]?passe|(?-u:\b)senha(?-u:\b)",
    r"|parola(?: d'ordine)?|lozinka|kata laluan|zaporka|parool|slaptazodis|wachtwoord|haslo|losenord|adgangskode|passord",
    r"|salasana|(?-u:\b)heslo(?-u:\b)|jelszo|(?-u:\b)sifre(?-u:\b)|kata sandi",
);

/// Names of passwords with letters beyond ASCII. A new one needs a text of its own in
/// [`OTHER_HINTS`].
const OTHER_PASSWORDS: &str = concat!(
    r"contraseña|parolă|лозинка|salasõna|slaptažodis|парола|гасло|رمز عبور|گذرواژه|کلمه عبور|পাসওয়ার্ড",
    r"|hasło|lösenord|jelszó|şifre|парол(?:ь|я)|κωδικός(?: πρόσβασης)?|密[码碼]|パスワード|暗証番号|비밀번호|mật khẩu",
    r"|كلمة (?:المرور|السر)|סיסמה|पासवर्ड|รหัสผ่าน",
);

/// The other families, each a group.
const OTHER_FAMILIES: &str = concat!(
    r"|(secret[_-]key[_-]base|(?:secret|access|api|private|signing|encryption|account|auth|master|shared|preshared|deploy)",
    r"[_ -]?key(?:[_-](?:id|data))?|key-data|secret|app_key|(?-u:\b)_auth(?-u:\b))",
    r"|(token)",
    r"|(mnemonic|(?:seed|recovery)[_ -]?phrase)",
    r"|([_-]key(?-u:\b))",
);

/// Texts of which one is part of every name of a key in ASCII.
#[rustfmt::skip]
const HINTS: &[&str] = &[
    "pass", "pwd", "psk", "kennwort", "contrasen", "senha", "parola", "lozinka", "laluan", "zaporka", "parool", "slapta",
    "wachtwoord", "haslo", "losenord", "adgangskode", "salasana", "heslo", "jelszo", "sifre", "sandi", "key", "secret",
    "_auth", "token", "mnemonic", "phrase",
];

/// The same of the other names, in lower case and without white space.
#[rustfmt::skip]
const OTHER_HINTS: &[&str] = &[
    "contraseñ", "parolă", "лозинка", "salasõna", "slaptaž", "парол", "гасло", "رمز", "گذر", "کلمه", "পাস", "hasło", "lösen",
    "jelszó", "şifre", "κωδικ", "密", "パスワード", "暗証", "비밀", "mật", "كلمة", "סיסמה", "पासवर्ड", "รหัส",
];

/// Names of keys, by family. What follows must not go on with the name, so that `token_count`,
/// `tokenizer` and `PASSWORD_FILE` are other words; `value_after` sees to that.
static KEYWORD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!("(?i)({PASSWORDS}|{OTHER_PASSWORDS}){OTHER_FAMILIES}")).expect("a valid pattern")
});

/// The same for a text without the other names, which is compiled in a third of the time.
static ASCII_KEYWORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&format!("(?i-u)({PASSWORDS}){OTHER_FAMILIES}")).expect("a valid pattern"));

/// Returns the pattern of the names that may be in a text; `None` where there can be none.
fn keyword_for(text: &str) -> Option<&'static Regex> {
    static HINT: LazyLock<AhoCorasick> = LazyLock::new(|| {
        AhoCorasick::builder().ascii_case_insensitive(true).build(HINTS).expect("a valid set of texts")
    });
    static OTHER_HINT: LazyLock<AhoCorasick> =
        LazyLock::new(|| AhoCorasick::new(OTHER_HINTS).expect("a valid set of texts"));
    // Dashes, quotes and ticks are in most texts.
    let has_other_letters = |word: &&str| word.chars().any(|c| !c.is_ascii() && c.is_alphanumeric());
    let mut others = text.split_whitespace().filter(|word| !word.is_ascii()).filter(has_other_letters);
    if !text.is_ascii() && others.any(|word| OTHER_HINT.is_match(&word.to_lowercase())) {
        return Some(&KEYWORD);
    }
    HINT.is_match(text).then(|| &*ASCII_KEYWORD)
}

/// Whether a text may have the name of a secret in it.
pub(super) fn may_name_a_secret(text: &str) -> bool {
    keyword_for(text).is_some()
}

/// Whether the name of a secret is in a text.
pub(super) fn is_about_a_secret(text: &str) -> bool {
    keyword_for(text).is_some_and(|name| name.is_match(text))
}

/// Whether a name is one of a secret's, to its end.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.trim_start_matches('-');
    let keyword = keyword_for(name).and_then(|keyword| keyword.find_iter(name).last());
    keyword.is_some_and(|keyword| keyword.end() == name.len())
}

/// No name and no value is read beyond this: it keeps crafted text from costing more than a pass or
/// two, and the rest of a longer value is for `entropy`.
const REACH: usize = 1024;

pub(super) fn finds(text: &str) -> Vec<Find> {
    let mut finds = Vec::new();
    let mut from = 0;
    let Some(pattern) = keyword_for(text) else { return finds };
    while let Some(captures) = pattern.captures_at(text, from) {
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
        if is_public(name) {
            continue;
        }
        if values::is_secret(family, form, name, &text[value.clone()]) {
            from = value.end;
            finds.push(Find { range: value, kind });
        }
    }
    finds
}

/// Whether a name says that its key is for everybody.
fn is_public(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["public_key", "public-key", "publickey", "pubkey"].iter().any(|end| name.ends_with(end))
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

/// Returns the passphrase of several words that is assigned to a key.
fn phrase_after(text: &str, keyword: Range<usize>, family: Family) -> Option<Range<usize>> {
    if !matches!(family, Family::Password | Family::Phrase) {
        return None;
    }
    let window = &text[keyword.end..text.floor_char_boundary(text.len().min(keyword.end + 400))];
    let phrase = between::phrase(window)?;
    let is_about_itself = is_about_a_secret(&window[phrase.clone()]);
    (!is_about_itself).then(|| keyword.end + phrase.start..keyword.end + phrase.end)
}

/// Returns the value that stands apart from the value that names it.
fn named_value(text: &str, keyword: &Range<usize>) -> Option<Range<usize>> {
    let window = &text[keyword.end..text.floor_char_boundary(text.len().min(keyword.end + 200))];
    let between = &window[..between::named_value(window)?];
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
    // `PASS: TestLogin` and `tests: pass: 12` are what test runners print.
    let is_count = colon && keyword.len() == 4 && is_number(&text[at + separator..]);
    if rest.starts_with("::") || colon && &text[start..keyword.end] == "PASS" || is_count {
        return None;
    }
    let after = at + separator;
    let value_at = skip(bytes, after, |b| is_blank(b) || b == b'*');

    if colon && let Some(typed) = typed_literal(text, value_at) {
        return Some((Form::Assigned, typed));
    }
    let (quote, value) = literal(text, value_at)?;
    let spaced = gap != at || value_at != after;
    let capital = bytes.get(start).is_some_and(u8::is_ascii_uppercase);
    let form = match quote {
        Some(b'"' | b'\'') if colon || comparison => Form::Quoted,
        Some(b'"' | b'\'') => Form::Assigned,
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

/// Whether a text begins with a number and nothing is glued to that.
fn is_number(text: &str) -> bool {
    let text = text.trim_start_matches([' ', '\t']);
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < text.len() && !rest.starts_with(|c: char| c.is_alphanumeric() || "-_!#*".contains(c))
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
            let value = before_mark(text, value);
            return (!value.is_empty()).then_some((Some(quote), value));
        }
        // The text was cut inside of the literal: its start still counts.
        let value = before_mark(text, until(text, open + 1, ends_bare));
        return (!value.is_empty()).then_some((Some(quote), value));
    }
    let mut value = before_mark(text, until(text, at, ends_bare));
    // An escaped line end, in text that is itself inside a string.
    if let Some(escape) =
        ["\\n", "\\r", "\\t", "\\\""].iter().filter_map(|escape| text[value.clone()].find(escape)).min()
    {
        value.end = value.start + escape;
    }
    (!value.is_empty()).then_some((None, value))
}

/// Returns what stands before the mark of a cut, which is no part of a value.
fn before_mark(text: &str, value: Range<usize>) -> Range<usize> {
    let mark = text[value.clone()].find("[\u{2026}");
    value.start..mark.map_or(value.end, |at| value.start + at)
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
