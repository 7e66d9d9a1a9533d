//! Finds secrets that are known by their own shape: vendors' token prefixes, JWTs, credentials in
//! headers and URLs, private key blocks (as far as they go where the text was cut). Must not look
//! at key names, which is for `assignments`, nor take a mere mention of a `BEGIN` line for a key.

use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::Regex;

use crate::redact::Find;
use crate::redact::values::{has_letters_and_digits, is_expression, is_filler, is_stand_in};
use crate::text::contains_ignoring_case;

struct Shape {
    kind: &'static str,
    /// Texts of which one is part of every such secret, separated by `|`, in whatever case. The
    /// pattern is not compiled for a text without them.
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
    Shape { kind, literals, pattern: Pattern::AfterLiteral(rest), accept: |token| !is_filler(token) }
}

/// A token of another vendor that begins with one of these literals, and has letters and digits.
const fn mixed(literals: &'static str, rest: &'static str) -> Shape {
    let pattern = Pattern::AfterLiteral(rest);
    Shape {
        kind: "api-token",
        literals,
        pattern,
        accept: |token| has_letters_and_digits(token) && !is_filler(token),
    }
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
    // The keys of the vendor's own documents end in `EXAMPLE`.
    whole("aws-key", "AKIA|ASIA|ABIA|ACCA", "((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16,})", is_no_stand_in),
    prefix("github-token", "ghp_|gho_|ghu_|ghs_|ghr_", "[A-Za-z0-9]{20,}"),
    prefix("github-token", "github_pat_", "[A-Za-z0-9_]{20,}"),
    prefix("anthropic-key", "sk-ant-", "[A-Za-z0-9_-]{16,}"),
    whole("openai-key", "sk-", r"(?:^|[^A-Za-z0-9_-]|\\[nrt])(sk-[A-Za-z0-9_-]{20,})", has_letters_and_digits),
    whole("slack-token", "xox", "(xox[abeoprs]-[A-Za-z0-9-]{10,})", has_letters_and_digits),
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
    mixed("nvapi-|figd_|dckr_pat_|sgp_|glsa_|glc_|pscale_pw_|sb_secret_|phx_|phc_|tvly-", "[A-Za-z0-9_-]{24,}"),
    mixed("doo_v1_|dop_v1_|dor_v1_", "[a-f0-9]{40,}"),
    mixed("shpat_|shpca_|shppa_|shpss_", "[A-Fa-f0-9]{30,}"),
    mixed("dapi", "[a-f0-9]{32}"),
    mixed("SG.", r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    mixed("hvs.|hvb.", "[A-Za-z0-9_-]{20,}"),
    mixed("AGE-SECRET-KEY-1", "[A-Z0-9]{40,}"),
    mixed("tskey-", "[a-z]+-[A-Za-z0-9-]{16,}"),
    mixed("sbp_|sntryu_|bkua_|pul-|sqp_|squ_", "[a-f0-9]{40,}"),
    mixed("PMAK-", "[a-f0-9-]{40,}"),
    mixed("sntrys_", "[A-Za-z0-9+/=_]{30,}"),
    mixed("NRAK-", "[A-Z0-9]{27}"),
    mixed("CCIPAT_", "[A-Za-z0-9_]{40,}"),
    mixed("rubygems_|shippo_live_|shippo_test_", "[a-f0-9]{40,}"),
    mixed("e2b_", "[a-f0-9]{36,}"),
    mixed("dtn_", "[a-f0-9]{40,}"),
    mixed("rnd_", "[A-Za-z0-9]{26,}"),
    mixed("bb_live_|bb_test_", "[A-Za-z0-9_-]{20,}"),
    mixed("sq0atp-|sq0csp-", "[A-Za-z0-9_-]{22,}"),
    mixed("lsv2_pt_|lsv2_sk_", "[a-f0-9]{32}_[a-f0-9]{10}"),
    mixed("pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    whole("api-token", "-us", r"(?-u:\b)([a-f0-9]{32}-us[0-9]{1,2})(?-u:\b)", any),
    whole("api-token", "fc-", r"(?:^|[^A-Za-z0-9_-]|\\[nrt])(fc-[a-f0-9]{32})(?-u:\b)", has_letters_and_digits),
    whole("api-token", "k-|s-", r"(?:^|[^A-Za-z0-9_-]|\\[nrt])(a[ks]-[A-Za-z0-9]{22})(?-u:\b)", has_letters_and_digits),
    whole("password", "dentified |DENTIFIED ", r#"(?i)identified[ \t]+(?:(?:with|via)[ \t]+\S+[ \t]+)?(?:by|as|using)[ \t]+(?:password[ \t]+)?["']([^"'\n]{3,})["']"#, is_no_stand_in),
    whole("password", "assword '|ASSWORD '", r"(?i)(?:with|login|encrypted|user[ \t]+\S+|role[ \t]+\S+)[ \t]+password[ \t]+'([^'\n]{3,})'", is_no_stand_in),
    whole("api-token", ":AA", "([0-9]{8,10}:AA[A-Za-z0-9_-]{33})", has_letters_and_digits),
    // Basic and Digest have this name too: what matters is that it is a header's credential.
    whole("bearer", "authorization", concat!(
        r#"(?i)authorization\\?["'`]?[ \t]*[:=,][ \t]*\\?["'`]?"#,
        r#"(?:(?:bearer|basic|token|apikey|digest)[ \t]+)?([A-Za-z0-9_/+][^\s"'`,;\\]{7,})"#,
    ), is_credential),
    whole("bearer", "authorization", r#"(?i)authorization["']?[ \t]+["']?(?:basic|token|digest)[ \t]+([A-Za-z0-9_/+][^\s"'`,;\\]{7,})"#, is_credential),
    whole("bearer", "bearer", r"(?i)bearer[ \t]+([A-Za-z0-9._~+/=-]{12,})", is_credential),
    whole("bearer", "igest", r#"(?i)digest[^\n]{0,200}?response="([0-9a-f]{32,})""#, any),
    whole("url-password", "://", r#"[A-Za-z0-9+.-]://[^\s:/@"'`<>]*:([^\s/"'`<>]+)@"#, is_no_stand_in),
    whole("url-password", "://", r"[A-Za-z0-9+.-]://([A-Za-z0-9_-]{20,})[:@]", has_letters_and_digits),
    whole("url-password", "jdbc:oracle", r"jdbc:oracle:[a-z]+:[^\s/]+/([^\s@]+)@", is_no_stand_in),
    whole("signature", "sig=|signature=|code=", r"(?i)[?&](?:x-amz-signature|x-goog-signature|sig|signature|code)=([A-Za-z0-9%/+_-]{32,}(?:=|%3D){0,2})", any),
    whole("totp-secret", "otpauth://", r"otpauth://[^\s]*[?&]secret=([A-Za-z2-7]{16,})", any),
    whole("password", "login", r"(?:machine[ \t]+\S+|default)\s+login[ \t]+\S+(?:\s+account[ \t]+\S+)?\s+password[ \t]+(\S+)", is_no_stand_in),
    whole("password", "account", r"machine[ \t]+\S+\s+login[ \t]+\S+\s+account[ \t]+(\S+)", is_no_stand_in),
    whole("password", "login", r"login[ \t]+[^\s]+[ \t]+password[ \t]+([^\s]+)", is_no_stand_in),
    // A line of `.pgpass`: host, port, database, user.
    whole("password", ":", r"(?m)^[^\s:#/]+:(?:[0-9]{4,5}|\*):[^\s:]+:[^\s:]+:([^\s:]+)$", is_no_stand_in),
    whole("password-hash", "$", r"(\$(?:apr1|2[abxy]|[156y]|argon2(?:id|i|d)|scrypt|pbkdf2[a-z0-9-]*)\$[A-Za-z0-9./$=,+]{24,})", any),
    whole("docker-auth", "auth\"", r#""(?:auth|identitytoken|registrytoken)"\s*:\s*"([A-Za-z0-9+/=_-]{12,})""#, any),
    whole("password", "ENV ", r"(?m)^\s*ENV[ \t]+[A-Z0-9_]*(?:PASSWORD|PASSWD|SECRET|TOKEN|API_KEY)[ \t]+(\S+)", is_no_stand_in),
    whole("password", "password=", r#"(?:host|user|dbname|port)=\S+[^\n]{0,200}?(?-u:\b)password=([^\s'"&;,)]+)"#, is_no_stand_in),
    whole("credentials", "redential", r#"(?i)credentials?["']?\s*[:=]\s*["'][^\s:"']+:([^\s"']{4,})["']"#, is_no_stand_in),
    whole("password", "PIN", r"(?-u:\b)PIN(?: is|:|=)?[ \t]*([0-9]{4,8})(?-u:\b)", any),
    whole("private-key", "Private-Lines:", r"Private-Lines: [0-9]+\r?\n((?:[A-Za-z0-9+/=]{20,}\r?\n)+)", any),
    whole("private-key", "---- BEGIN SSH2", r"(---- BEGIN SSH2 [A-Z ]*PRIVATE KEY ----[^-]*---- END SSH2 [A-Z ]*PRIVATE KEY ----)", any),
    whole("password", "define(", r#"(?i)define\([ \t]*["'][a-z0-9_]*(?:pass(?:word|wd)?|pwd)["'][ \t]*,[ \t]*["']([^\n]{3,200}?)["'][ \t]*[,)]"#, is_no_stand_in),
    whole("secret", "define(", r#"(?i)define\([ \t]*["'][a-z0-9_]*(?:secret|token|_key|_salt)["'][ \t]*,[ \t]*["']([^\n]{16,200}?)["'][ \t]*[,)]"#, is_defined_key),
    whole("password", "SecureString", r#"(?i)ConvertTo-SecureString(?:[ \t]+-[a-z]+)*[ \t]+["']([^"'\n]{3,})["']"#, is_no_stand_in),
    // What people tell each other; the word alone is no credential.
    whole("password", "password|passwort|kennwort|passphrase|token", r#"(?i)(?:password|passwort|kennwort|passphrase|token)\*{0,2}[ \t]+(?:is|was|ist|lautet|war)[ \t]+["'`]?([^\s"'`]{6,}[^\s"'`.,;:!?)])"#, is_told),
    whole("password", "assword is", r#"password is "([^\s"]{6,})""#, is_no_stand_in),
    whole("password", "assword", r#"(?i)(?-u:\b)(?:the|use|with|new) password ["'`]?([^\s"'`]{6,}[^\s"'`.,;:!?)])"#, is_told),
    whole("password", "ogin", r"(?i)login[ \t]*[:=][ \t]*\S+[ \t]*/[ \t]*(\S{6,})", is_told),
    whole("webhook", "hooks.zapier.com", r"hooks\.zapier\.com/hooks/catch/([0-9]+/[A-Za-z0-9]+)", any),
];

impl Shape {
    fn literals(&self) -> impl Iterator<Item = &'static str> {
        self.literals.split('|')
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

/// A shorter literal is in nearly every text, and is looked for by itself.
const SHORTEST_INDEXED: usize = 3;

/// All literals in one automaton, and the shape of each.
struct Index {
    literals: AhoCorasick,
    shapes: Vec<usize>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let of_shape = |(at, shape): (usize, &'static Shape)| shape.literals().map(move |literal| (literal, at));
    let all = SHAPES.iter().enumerate().flat_map(of_shape);
    let (literals, shapes): (Vec<&str>, Vec<usize>) =
        all.filter(|(literal, _)| literal.len() >= SHORTEST_INDEXED).unzip();
    let literals = AhoCorasick::builder().ascii_case_insensitive(true).build(literals);
    Index { literals: literals.expect("a valid set of literals"), shapes }
});

/// Returns which shapes have one of their literals in a text, in whatever case. Most have none, and
/// their patterns are neither compiled nor searched for.
fn shapes_in(text: &str) -> [bool; SHAPES.len()] {
    let mut is_in = [false; SHAPES.len()];
    for hit in INDEX.literals.find_overlapping_iter(text) {
        is_in[INDEX.shapes[hit.pattern().as_usize()]] = true;
    }
    for (is_in, shape) in is_in.iter_mut().zip(SHAPES) {
        *is_in |= shape.literals().any(|literal| literal.len() < SHORTEST_INDEXED && text.contains(literal));
    }
    is_in
}

pub(super) fn finds(text: &str) -> Vec<Find> {
    static REGEXES: [OnceLock<Regex>; SHAPES.len()] = [const { OnceLock::new() }; SHAPES.len()];
    let mut finds = Vec::new();
    let is_in = shapes_in(text);
    for ((shape, regex), _) in SHAPES.iter().zip(&REGEXES).zip(is_in).filter(|(_, is_in)| *is_in) {
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

/// A constant named like a key may name a cache's or a column's.
fn is_defined_key(value: &str) -> bool {
    has_letters_and_digits(value) && !is_stand_in(value)
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

/// Whether it has what a sentence has not: letters and digits, and a password's length.
fn is_told(value: &str) -> bool {
    let word = value.trim_end_matches(|c: char| c.is_ascii_digit());
    // `refreshed2` is a word; so is `hunter2`, which is why a longer number counts.
    let is_word =
        value.len() - word.len() == 1 && word.len() > 6 && word.bytes().all(|b| b.is_ascii_lowercase());
    is_credential(value) && has_letters_and_digits(value) && !is_word && !value.contains(['/', '(', '='])
}

/// Where the pairs of a cookie begin.
static COOKIE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)(?:set-)?cookie\\?["']?[ \t]*[:=,][ \t]*\\?["'`]?"#).expect("a valid pattern")
});

/// The longest header that is read.
const LONGEST_HEADER: usize = 4096;

/// Finds the values of cookies that are long and mixed enough to be a session's.
pub(super) fn cookies(text: &str) -> Vec<Find> {
    let mut finds = Vec::new();
    let mut done = 0;
    if !contains_ignoring_case(text, "cookie") {
        return finds;
    }
    for header in COOKIE.find_iter(text) {
        let start = header.end();
        if start < done {
            continue;
        }
        let window = &text[start..text.floor_char_boundary(text.len().min(start + LONGEST_HEADER))];
        let end = window.find(['\n', '\r', '"', '\'', '`']).unwrap_or(window.len());
        let mut at = start;
        for pair in window[..end].split(';') {
            let is_session = |(name, value): &(&str, &str)| is_session(name.trim(), value.trim());
            if let Some((name, value)) = pair.split_once('=').filter(is_session) {
                let value_at = at + name.len() + 1;
                finds.push(Find { range: value_at..value_at + value.trim_end().len(), kind: "cookie" });
            }
            at += pair.len() + 1;
        }
        done = start + end;
    }
    finds
}

/// How the names of cookies end that hold a session.
const SESSIONS: [&str; 8] = ["sid", "sessid", "sessionid", "session", "sess", "token", "auth", "jwt"];

fn is_session(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let shortest = if SESSIONS.iter().any(|end| name.ends_with(end)) { 6 } else { 12 };
    value.len() >= shortest && has_letters_and_digits(value) && !value.contains(' ') && !is_stand_in(value)
}

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

pub(super) fn private_keys(text: &str) -> Vec<Find> {
    let mut finds = Vec::new();
    let mut from = 0;
    if !text.contains("-----BEGIN") {
        return finds;
    }
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
