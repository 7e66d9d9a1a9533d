//! Text -> secrets that are known by their own shape: vendors' token prefixes, JWTs, credentials in
//! headers and URLs. Must not look at key names; that is `assignments`.

use std::sync::OnceLock;

use regex::Regex;

use crate::redact::candidates::{Candidates, What};
use crate::redact::{Find, values};

/// A shape; group 1 of the pattern is the secret.
pub(super) struct Shape {
    pub(super) kind: &'static str,
    pub(super) pattern: &'static str,
    pub(super) accept: fn(&str) -> bool,
}

const fn shape(kind: &'static str, pattern: &'static str) -> Shape {
    Shape { kind, pattern, accept: |_| true }
}

const fn checked(kind: &'static str, pattern: &'static str, accept: fn(&str) -> bool) -> Shape {
    Shape { kind, pattern, accept }
}

/// Most prefixes need no word boundary before them, and must not have one: inside a JSON string the
/// character before a token is often the `n` of an escaped newline.
pub(super) const SHAPES: &[Shape] = &[
    shape("aws-key", r"((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16,})"),
    shape("github-token", r"(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    shape("anthropic-key", r"(sk-ant-[A-Za-z0-9_-]{16,})"),
    checked(
        "openai-key",
        r"(?:^|[^A-Za-z0-9_-]|\\[nrt])(sk-[A-Za-z0-9_-]{20,})",
        values::has_letters_and_digits,
    ),
    shape("slack-token", r"(xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})"),
    shape("slack-token", r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{20,})"),
    shape("google-key", r"(AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})"),
    shape("stripe-key", r"((?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/]{20,}=*)"),
    shape("npm-token", r"(npm_[A-Za-z0-9]{30,})"),
    shape("pypi-token", r"(pypi-[A-Za-z0-9_-]{32,})"),
    shape("gitlab-token", r"(gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent)-[A-Za-z0-9_.-]{20,})"),
    shape("jwt", r"(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){0,3})"),
    checked(
        "api-token",
        concat!(
            r"(hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{30,}|r8_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{30,}",
            r"|pplx-[A-Za-z0-9]{30,}|nvapi-[A-Za-z0-9_-]{30,}|do[opr]_v1_[a-f0-9]{40,}",
            r"|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{30,}|dapi[a-f0-9]{32}|lin_api_[A-Za-z0-9]{30,}",
            r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|hvs\.[A-Za-z0-9_-]{20,}",
            r"|AGE-SECRET-KEY-1[A-Z0-9]{40,}|tskey-[a-z]+-[A-Za-z0-9-]{16,}|sbp_[a-f0-9]{40}",
            r"|PMAK-[a-f0-9-]{40,}|figd_[A-Za-z0-9_-]{30,}|ntn_[A-Za-z0-9]{30,}",
            r"|sntrys_[A-Za-z0-9+/=_]{30,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{33})",
        ),
        values::has_letters_and_digits,
    ),
    // Basic and Digest are under this name too: what matters is that it is a header's credential.
    checked(
        "bearer",
        concat!(
            r#"(?i)authorization\\?["'`]?[ \t]*[:=,][ \t]*\\?["'`]?"#,
            r#"(?:(?:bearer|basic|token|apikey|digest)[ \t]+)?([A-Za-z0-9_][^\s"'`,;\\]{7,})"#,
        ),
        is_credential,
    ),
    checked("bearer", r"(?i)bearer[ \t]+([A-Za-z0-9._~+/=-]{12,})", is_credential),
    checked("url-password", r#"[A-Za-z0-9+.-]://[^\s:/@"'`<>]*:([^\s/"'`<>]+)@"#, |value| {
        !values::is_stand_in(value)
    }),
    checked("password", r#"curl [^\n]*?(?:-u|--user)[ =]?["']?[^\s:"'$]+:([^\s"']+)"#, |value| {
        !values::is_stand_in(value)
    }),
    checked("password", r"login[ \t]+[^\s]+[ \t]+password[ \t]+([^\s]+)", |value| {
        !values::is_stand_in(value)
    }),
];

static PATTERNS: [OnceLock<Option<Regex>>; SHAPES.len()] = [const { OnceLock::new() }; SHAPES.len()];

pub(super) fn finds(text: &str, candidates: &Candidates) -> Vec<Find> {
    let mut finds = Vec::new();
    for (number, (shape, pattern)) in SHAPES.iter().zip(&PATTERNS).enumerate() {
        let places = candidates.of_kind(What::Shape(number));
        if places.is_empty() {
            continue;
        }
        let Some(pattern) = pattern.get_or_init(|| Regex::new(shape.pattern).ok()) else { continue };
        for groups in pattern.captures_iter(text) {
            if let Some(secret) = groups.get(1)
                && (shape.accept)(secret.as_str())
            {
                finds.push(Find { range: secret.range(), kind: shape.kind });
            }
        }
    }
    finds
}

/// "Bearer authentication-middleware" is prose; a credential mixes its characters.
fn is_credential(value: &str) -> bool {
    let inner_capital = value.bytes().skip(1).any(|b| b.is_ascii_uppercase());
    !values::is_stand_in(value)
        && !values::is_expression(value)
        && (value.bytes().any(|b| b.is_ascii_digit())
            || inner_capital && value.bytes().any(|b| b.is_ascii_lowercase()))
}
