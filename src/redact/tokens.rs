//! Finds secrets that are known by their own shape: vendors' token prefixes, JWTs, credentials in
//! headers and URLs. Must not look at key names; that is `assignments`.

use std::sync::OnceLock;

use regex::Regex;

use crate::redact::Find;
use crate::redact::values::{has_letters_and_digits, is_expression, is_stand_in};

/// One shape.
struct Shape {
    kind: &'static str,
    /// Texts of which one is part of every such secret, separated by `|`. The pattern is not
    /// compiled for a text without them; empty where there is none.
    literals: &'static str,
    /// A regular expression with the secret as group 1, or of what follows one of the literals.
    pattern: Pattern,
    /// What else must be true of the secret.
    accept: fn(&str) -> bool,
}

enum Pattern {
    Whole(&'static str),
    AfterLiteral(&'static str),
}

/// A token that begins with one of these literals.
const fn prefix(kind: &'static str, literals: &'static str, rest: &'static str) -> Shape {
    Shape { kind, literals, pattern: Pattern::AfterLiteral(rest), accept: |_| true }
}

/// A token of another vendor that begins with one of these literals, and has letters and digits.
const fn mixed(literals: &'static str, rest: &'static str) -> Shape {
    let pattern = Pattern::AfterLiteral(rest);
    Shape { kind: "api-token", literals, pattern, accept: has_letters_and_digits }
}

/// Any other shape.
const fn whole(
    kind: &'static str,
    literals: &'static str,
    pattern: &'static str,
    accept: fn(&str) -> bool,
) -> Shape {
    Shape { kind, literals, pattern: Pattern::Whole(pattern), accept }
}

/// Most prefixes need no word boundary before them, and must not have one: inside a JSON string the
/// character before a token is often the `n` of an escaped newline.
#[rustfmt::skip]
const SHAPES: &[Shape] = &[
    prefix("aws-key", "AKIA|ASIA|ABIA|ACCA", "[A-Z0-9]{16,}"),
    prefix("github-token", "ghp_|gho_|ghu_|ghs_|ghr_", "[A-Za-z0-9]{20,}"),
    prefix("github-token", "github_pat_", "[A-Za-z0-9_]{20,}"),
    prefix("anthropic-key", "sk-ant-", "[A-Za-z0-9_-]{16,}"),
    whole("openai-key", "sk-", r"(?:^|[^A-Za-z0-9_-]|\\[nrt])(sk-[A-Za-z0-9_-]{20,})", has_letters_and_digits),
    prefix("slack-token", "xox", "[abeoprs]-[A-Za-z0-9-]{10,}"),
    prefix("slack-token", "xapp-", "[0-9]-[A-Za-z0-9-]{10,}"),
    whole("slack-token", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{20,})", any),
    prefix("google-key", "AIza", "[A-Za-z0-9_-]{35}"),
    prefix("google-key", "ya29.|GOCSPX-", "[A-Za-z0-9_-]{20,}"),
    prefix("stripe-key", "sk_live_|sk_test_|rk_live_|rk_test_", "[A-Za-z0-9]{10,}"),
    prefix("stripe-key", "whsec_", "[A-Za-z0-9+/]{20,}=*"),
    prefix("npm-token", "npm_", "[A-Za-z0-9]{30,}"),
    prefix("pypi-token", "pypi-", "[A-Za-z0-9_-]{32,}"),
    prefix("gitlab-token", "glpat-|glptt-|gldt-|glrt-|glcbt-|glsoat-|glft-|glimt-|glagent-", "[A-Za-z0-9_.-]{20,}"),
    prefix("jwt", "eyJ", r"[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){0,3}"),
    mixed("hf_|gsk_|r8_|xai-|pplx-|lin_api_|ntn_", "[A-Za-z0-9]{30,}"),
    mixed("nvapi-|figd_", "[A-Za-z0-9_-]{30,}"),
    mixed("doo_v1_|dop_v1_|dor_v1_", "[a-f0-9]{40,}"),
    mixed("shpat_|shpca_|shppa_|shpss_", "[A-Fa-f0-9]{30,}"),
    mixed("dapi", "[a-f0-9]{32}"),
    mixed("SG.", r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    mixed("hvs.", "[A-Za-z0-9_-]{20,}"),
    mixed("AGE-SECRET-KEY-1", "[A-Z0-9]{40,}"),
    mixed("tskey-", "[a-z]+-[A-Za-z0-9-]{16,}"),
    mixed("sbp_", "[a-f0-9]{40}"),
    mixed("PMAK-", "[a-f0-9-]{40,}"),
    mixed("sntrys_", "[A-Za-z0-9+/=_]{30,}"),
    whole("api-token", ":AA", "([0-9]{8,10}:AA[A-Za-z0-9_-]{33})", has_letters_and_digits),
    // Basic and Digest have this name too: what matters is that it is a header's credential.
    whole("bearer", "", concat!(
        r#"(?i)authorization\\?["'`]?[ \t]*[:=,][ \t]*\\?["'`]?"#,
        r#"(?:(?:bearer|basic|token|apikey|digest)[ \t]+)?([A-Za-z0-9_][^\s"'`,;\\]{7,})"#,
    ), is_credential),
    whole("bearer", "", r"(?i)bearer[ \t]+([A-Za-z0-9._~+/=-]{12,})", is_credential),
    whole("url-password", "://", r#"[A-Za-z0-9+.-]://[^\s:/@"'`<>]*:([^\s/"'`<>]+)@"#, is_no_stand_in),
    whole("password", "curl ", r#"curl [^\n]*?(?:-u|--user)[ =]?["']?[^\s:"'$]+:([^\s"']+)"#, is_no_stand_in),
    whole("password", "login", r"login[ \t]+[^\s]+[ \t]+password[ \t]+([^\s]+)", is_no_stand_in),
];

impl Shape {
    fn may_be_in(&self, text: &str) -> bool {
        self.literals.is_empty() || self.literals.split('|').any(|literal| text.contains(literal))
    }

    fn regex(&self) -> Regex {
        let regex = match self.pattern {
            Pattern::Whole(pattern) => Regex::new(pattern),
            Pattern::AfterLiteral(rest) => {
                let literals: Vec<String> = self.literals.split('|').map(regex::escape).collect();
                Regex::new(&format!("((?:{}){rest})", literals.join("|")))
            }
        };
        regex.expect("a valid pattern")
    }
}

pub(super) fn finds(text: &str) -> Vec<Find> {
    static REGEXES: [OnceLock<Regex>; SHAPES.len()] = [const { OnceLock::new() }; SHAPES.len()];
    let mut finds = Vec::new();
    for (shape, regex) in SHAPES.iter().zip(&REGEXES).filter(|(shape, _)| shape.may_be_in(text)) {
        for groups in regex.get_or_init(|| shape.regex()).captures_iter(text) {
            if let Some(secret) = groups.get(1).filter(|secret| (shape.accept)(secret.as_str())) {
                finds.push(Find { range: secret.range(), kind: shape.kind });
            }
        }
    }
    finds
}

fn any(_: &str) -> bool {
    true
}

fn is_no_stand_in(value: &str) -> bool {
    !is_stand_in(value)
}

/// Whether it mixes its characters as a credential does: "Bearer authentication-middleware" is
/// prose.
fn is_credential(value: &str) -> bool {
    let inner_capital = value.bytes().skip(1).any(|b| b.is_ascii_uppercase());
    !is_stand_in(value)
        && !is_expression(value)
        && (value.bytes().any(|b| b.is_ascii_digit())
            || inner_capital && value.bytes().any(|b| b.is_ascii_lowercase()))
}
