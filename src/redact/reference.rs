//! Masking by the patterns that it is defined by, each over the whole text: what `mask` must give, only slowly.

use std::sync::LazyLock;

use regex::Regex;

use crate::redact::tokens::SHAPES;
use crate::redact::values;
use crate::redact::values::Family;
use crate::redact::{Find, MAX_ROUNDS, Masked, assignments, entropy, pem, replaced};

const PASSES: [fn(&str) -> Vec<Find>; 4] = [keys, tokens, assigned, random];

pub(super) fn mask(text: &str) -> Masked {
    let mut masked = Masked { text: text.to_owned(), count: 0 };
    for _ in 0..MAX_ROUNDS {
        let before = masked.count;
        for pass in PASSES {
            let (text, count) = replaced(&masked.text, pass(&masked.text));
            masked = Masked { text, count: masked.count + count };
        }
        if masked.count == before {
            break;
        }
    }
    masked
}

fn known(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern")
}

fn keys(text: &str) -> Vec<Find> {
    static BEGIN: LazyLock<Regex> =
        LazyLock::new(|| known(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"));
    let mut finds = Vec::new();
    let mut from = 0;
    while let Some(begin) = BEGIN.find_at(text, from) {
        from = begin.end();
        if let Some(end) = pem::body_end(text, begin.end()) {
            from = end;
            finds.push(Find { range: begin.start()..end, kind: "private-key" });
        }
    }
    finds
}

fn tokens(text: &str) -> Vec<Find> {
    static PATTERNS: LazyLock<Vec<Regex>> =
        LazyLock::new(|| SHAPES.iter().map(|shape| known(shape.pattern)).collect());
    let mut finds = Vec::new();
    for (shape, pattern) in SHAPES.iter().zip(PATTERNS.iter()) {
        for captures in pattern.captures_iter(text) {
            if let Some(secret) = captures.get(1)
                && (shape.accept)(secret.as_str())
            {
                finds.push(Find { range: secret.range(), kind: shape.kind });
            }
        }
    }
    finds
}

fn assigned(text: &str) -> Vec<Find> {
    static KEYWORD: LazyLock<Regex> = LazyLock::new(|| {
        known(concat!(
            r"(?i-u)(passw(?:or)?d|passphrase|pwd|[_-]pass(?:w(?:or)?d|phrase)?)",
            r"|((?:secret|access|api|private|signing|encryption|account|auth|master|shared)[_-]?key",
            r"|secret(?:[_-]key[_-]base)?)",
            r"|(token)",
        ))
    });
    let mut finds = Vec::new();
    let mut from = 0;
    while let Some(captures) = KEYWORD.captures_at(text, from) {
        let keyword = captures.get(0).expect("the whole");
        let (family, kind) = match (captures.get(1), captures.get(2)) {
            (Some(_), _) => (Family::Password, "password"),
            (_, Some(_)) => (Family::Secret, "secret"),
            _ => (Family::Token, "token"),
        };
        from = keyword.end();
        let Some((form, value)) = assignments::value_after(text, keyword.range()) else { continue };
        let name = &text[assignments::name_start(text, keyword.start())..keyword.end()];
        if values::is_secret(family, form, name, &text[value.clone()]) {
            from = value.end;
            finds.push(Find { range: value, kind });
        }
    }
    finds
}

fn random(text: &str) -> Vec<Find> {
    static RUNS: LazyLock<Regex> = LazyLock::new(|| known(r"[A-Za-z0-9+/_-]{32,}={0,2}"));
    let runs = RUNS.find_iter(text).map(|run| run.range());
    runs.flat_map(|run| entropy::in_run(text, run)).collect()
}

/// A run without its UUIDs.
pub(super) fn without_uuids(run: &str) -> String {
    static UUID: LazyLock<Regex> = LazyLock::new(|| {
        known(r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}")
    });
    UUID.replace_all(run, "").into_owned()
}
