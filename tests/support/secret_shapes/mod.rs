//! Tables of the shapes of secrets, and of what only looks like one. Their values are made up anew
//! from a seed in every run: nothing in the tables is a token, so that no scanner takes them for a
//! leak, and no rule can be made for one value.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// One row of a table, with values of its own.
pub(crate) struct Shape {
    pub name: String,
    pub text: String,
    /// What of the text must not survive; empty for what is harmless.
    pub secrets: Vec<String>,
}

pub(crate) const SECRET: &str = include_str!("secret.txt");
pub(crate) const SECRET_HELD_BACK: &str = include_str!("secret_held_back.txt");
pub(crate) const HARMLESS: &str = include_str!("harmless.txt");
pub(crate) const HARMLESS_HELD_BACK: &str = include_str!("harmless_held_back.txt");

/// Returns the rows of a table as `(name, template)`.
pub(crate) fn rows(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(" | ").expect("a name and a text"))
}

/// Returns the shapes of a table with values from this seed.
pub(crate) fn shapes(table: &'static str, seed: u64) -> Vec<Shape> {
    let mut random = Random(seed);
    rows(table).map(|(name, template)| random.shape(name, template)).collect()
}

/// Returns the seed of this run: `PUNCHLIST_SEED`, or one of its own.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("PUNCHLIST_SEED").ok().and_then(|seed| seed.parse().ok());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock");
    given.unwrap_or(now.as_secs() ^ u64::from(now.subsec_nanos()) << 20)
}

/// Whether a secret can be read in a text, also by somebody who takes out what is not seen.
pub(crate) fn survives(secret: &str, text: &str) -> bool {
    text.contains(secret) || visible(text).contains(&visible(secret))
}

fn visible(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}'))
        .collect()
}

/// `SplitMix64`.
struct Random(u64);

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

/// Words that stand for themselves in no other place of the tables.
const WORDS: &[&str] = &[
    "walrus", "lantern", "pickle", "thunder", "velvet", "orchid", "gravel", "mustard", "falcon", "harbour",
    "saddle", "copper", "bramble", "tundra", "cactus", "magnet", "puzzle", "ribbon", "glacier", "mango",
    "anchor", "dolphin",
];

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("below the bound")
    }

    fn of(&mut self, letters: &str, length: usize) -> String {
        let letters: Vec<char> = letters.chars().collect();
        (0..length).map(|_| letters[self.below(letters.len())]).collect()
    }

    /// As people choose it: a capital, small letters, digits and a sign.
    fn password(&mut self) -> String {
        let sign = self.of("!#*+?~^", 1);
        format!("{}{}{}{sign}{}", self.of(UPPER, 1), self.of(LOWER, 5), self.of(DIGITS, 2), self.of(LOWER, 3))
    }

    fn words(&mut self, count: usize, between: &str) -> String {
        let words: Vec<&str> = (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect();
        words.join(between)
    }

    /// Returns letters of all kinds that are asked for, as real tokens of any length have them.
    fn mixed(&mut self, letters: &str, length: usize) -> String {
        let kinds = |text: &str| {
            [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit]
                .map(|kind| text.bytes().any(|b| kind(&b)))
        };
        loop {
            let text = self.of(letters, length);
            if length < 12 || kinds(&text) == kinds(letters) {
                return text;
            }
        }
    }

    fn value(&mut self, kind: &str, length: usize) -> String {
        let alphanumeric = format!("{LOWER}{UPPER}{DIGITS}");
        match kind {
            "an" => self.mixed(&alphanumeric, length),
            "al" => self.mixed(&format!("{LOWER}{UPPER}"), length),
            "low" => self.mixed(&format!("{LOWER}{DIGITS}"), length),
            "up" => self.mixed(&format!("{UPPER}{DIGITS}"), length),
            "d" => self.of(DIGITS, length),
            "hex" => self.mixed("0123456789abcdef", length),
            "HEX" => self.mixed("0123456789ABCDEF", length),
            "b32" => self.mixed(&format!("{UPPER}234567"), length),
            "b58" => self.mixed("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", length),
            "b64" => self.mixed(&format!("{alphanumeric}+/"), length),
            // What ends in `-` is told apart from the dash after it by nobody.
            "url" | "b64u" => {
                format!("{}{}", self.mixed(&format!("{alphanumeric}_-"), length - 1), self.of(LOWER, 1))
            }
            "bech" => self.mixed("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", length),
            "nix" => self.mixed("0123456789abcdfghijklmnpqrsvwxyz", length),
            "crock" => self.mixed("0123456789ABCDEFGHJKMNPQRSTVWXYZ", length),
            "uuid" => {
                let hex = self.mixed("0123456789abcdef", 32);
                format!("{}-{}-4{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
            }
            "pw" => self.password(),
            "words1" => self.words(1, " ") + &self.words(1, ""),
            "words4" => self.words(4, " "),
            "words12" => self.words(12, " "),
            "dashes4" => self.words(4, "-"),
            other => panic!("no such kind of value: {other}"),
        }
    }

    fn filled(&mut self, template: &str) -> String {
        let mut text = String::new();
        let mut rest = template;
        while let Some(open) = rest.find(['{', '\\']) {
            text.push_str(&rest[..open]);
            rest = &rest[open..];
            let (piece, length) = self.piece(rest);
            text.push_str(&piece);
            rest = &rest[length..];
        }
        text + rest
    }

    /// Returns what stands for the first piece of a template, and the length of that piece.
    fn piece(&mut self, rest: &str) -> (String, usize) {
        for (escape, letter) in ESCAPES {
            if rest.starts_with(escape) {
                return (letter.to_owned(), escape.len());
            }
        }
        for (name, encode) in ENCODINGS {
            if let Some(inner) = rest.strip_prefix(name) {
                let end = inner.find(")}").expect("an end");
                let value = self.filled(&inner[..end]);
                return (encode(&value), name.len() + end + 2);
            }
        }
        let end = rest.find('}').unwrap_or(0);
        let inner = rest.get(1..end).unwrap_or_default();
        let (kind, length) = inner.split_once(':').unwrap_or((inner, "0"));
        let is_value = !kind.is_empty() && kind.bytes().all(|b| b.is_ascii_alphanumeric());
        match length.parse() {
            Ok(length) if is_value && (length > 0 || KINDS_WITHOUT_LENGTH.contains(&kind)) => {
                (self.value(kind, length), end + 1)
            }
            _ => (rest[..1].to_owned(), 1),
        }
    }

    fn shape(&mut self, name: &str, template: &str) -> Shape {
        let (mut text, mut secrets) = (String::new(), Vec::new());
        let mut rest = template;
        while let Some((before, inside)) = rest.split_once('«') {
            let (inside, after) = inside.split_once('»').expect("an end of the secret");
            let secret = self.filled(inside);
            text.push_str(&self.filled(before));
            text.push_str(&secret);
            secrets.push(secret);
            rest = after;
        }
        text.push_str(&self.filled(rest));
        Shape { name: name.to_owned(), text, secrets }
    }
}

const ESCAPES: [(&str, &str); 10] = [
    ("\\n", "\n"),
    ("\\t", "\t"),
    ("\\e", "\u{1b}"),
    ("\\\\", "\\"),
    ("\\u{200b}", "\u{200b}"),
    ("\\u{fe0f}", "\u{fe0f}"),
    ("\\u{34f}", "\u{34f}"),
    ("\\u{3164}", "\u{3164}"),
    ("\\u{a0}", "\u{a0}"),
    ("\\u{e0041}", "\u{e0041}"),
];

const KINDS_WITHOUT_LENGTH: &[&str] = &["uuid", "pw", "words1", "words4", "words12", "dashes4"];

type Encoding = (&'static str, fn(&str) -> String);

const ENCODINGS: [Encoding; 5] = [
    ("{enc64(", |value| STANDARD.encode(value)),
    ("{enchex(", |value| value.bytes().map(|b| format!("{b:02x}")).collect()),
    ("{encpct(", |value| {
        value.bytes().fold(String::new(), |mut text, b| {
            let _ = write!(text, "%{b:02X}");
            text
        })
    }),
    ("{zw(", |value| hidden(value, '\u{200b}')),
    ("{shy(", |value| hidden(value, '\u{ad}')),
];

/// Returns the value with a character that is not seen in every fourth place.
fn hidden(value: &str, between: char) -> String {
    let mut text = String::new();
    for (at, letter) in value.chars().enumerate() {
        if at > 0 && at % 4 == 0 {
            text.push(between);
        }
        text.push(letter);
    }
    text
}
