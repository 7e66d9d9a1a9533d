//! Text to fill rows with, made once from a seed: lines of code, of prose, of a terminal, and
//! base64. Kept as it stands in a JSON string, so that a large row is a few copies and no escaping.

use std::sync::OnceLock;

use super::chance::Chance;

/// Lines, and the same lines as they stand in a JSON string.
#[derive(Debug)]
pub(crate) struct Pool {
    raw: Vec<u8>,
    raw_at: Vec<usize>,
    escaped: Vec<u8>,
    escaped_at: Vec<usize>,
}

impl Pool {
    fn of(lines: impl Iterator<Item = String>) -> Self {
        let mut pool = Self { raw: Vec::new(), raw_at: vec![0], escaped: Vec::new(), escaped_at: vec![0] };
        for line in lines {
            pool.raw.extend_from_slice(line.as_bytes());
            pool.raw.push(b'\n');
            pool.raw_at.push(pool.raw.len());
            escape(&line, &mut pool.escaped);
            pool.escaped.extend_from_slice(b"\\n");
            pool.escaped_at.push(pool.escaped.len());
        }
        pool
    }

    /// How many lines there are.
    pub(crate) fn len(&self) -> usize {
        self.raw_at.len() - 1
    }

    /// Lines as they are, each with its newline.
    pub(crate) fn raw(&self, from: usize, count: usize) -> &[u8] {
        &self.raw[self.raw_at[from]..self.raw_at[from + count]]
    }

    /// Lines as they stand in a JSON string, each with its newline.
    pub(crate) fn escaped(&self, from: usize, count: usize) -> &[u8] {
        &self.escaped[self.escaped_at[from]..self.escaped_at[from + count]]
    }

    /// A run of lines of about that many bytes: where it starts and how many lines it has.
    pub(crate) fn run(&self, chance: &mut Chance, bytes: usize) -> (usize, usize) {
        let bytes = bytes.min(self.raw.len() / 2);
        let from = chance.below(self.len() / 2);
        let end = self.raw_at[from] + bytes;
        let until = self.raw_at.partition_point(|at| *at < end).min(self.len());
        (from, (until - from).max(1))
    }
}

/// All there is to fill rows with.
#[derive(Debug)]
pub(crate) struct Pools {
    /// Source code.
    pub(crate) code: Pool,
    /// Sentences.
    pub(crate) prose: Pool,
    /// What commands print.
    pub(crate) terminal: Pool,
    /// Pictures and signatures.
    pub base64: Vec<u8>,
}

const NOUNS: &[&str] = &[
    "limit", "reader", "buffer", "cursor", "session", "request", "handler", "queue", "worker", "token",
    "header", "config", "report", "budget", "record", "branch", "parser", "matcher", "cache", "index",
    "schema", "payload", "retry", "timeout", "socket", "ledger", "naïve path", "façade",
];
const VERBS: &[&str] = &[
    "reads", "writes", "checks", "drops", "keeps", "counts", "merges", "splits", "wraps", "returns",
    "rejects", "waits for", "looks at", "hands over", "sorts",
];
const CODE: &[&str] = &[
    "    let NOUN = input.NOUN().unwrap_or_default();",
    "    if NOUN.len() > NUMBER { return Err(Error::TooLong(\"NOUN\")); }",
    "    // The NOUN VERB the NOUN before the NOUN does.",
    "    for (index, NOUN) in all.iter().enumerate() {",
    "        println!(\"{index:>4} {}\\t{}\", NOUN.name, NOUN.size);",
    "        match NOUN.kind.as_str() { \"user\" => NUMBER, \"tool_use\" => 2, _ => 0 };",
    "    }",
    "",
    "/// Takes a NOUN, gives what the NOUN VERB.",
    "#[derive(Debug, Clone, PartialEq, Eq)]",
    "    assert_eq!(NOUN.get(\"type\"), Some(&Value::from(\"NOUN\")));",
    "\tfn NOUN_NUMBER(&self) -> Option<&str> { self.NOUN.as_deref() }",
    "    const PATTERN: &str = r\"^\\s*(?P<NOUN>[a-z]+)\\s*=\\s*(?P<value>.*)$\";",
    "    tracing::debug!(NOUN = %NOUN, \"NOUN → NOUN\");",
];
const TERMINAL: &[&str] = &[
    "test NOUN::tests::NOUN_NUMBER ... ok",
    "   Compiling NOUN-core v0.NUMBER.1",
    "\u{1b}[32m✓\u{1b}[0m NOUN VERB the NOUN (NUMBER ms)",
    "src/NOUN.rs:NUMBER:    let NOUN = NOUN.NOUN();",
    "drwxr-xr-x  2 dev dev  4096 Mar  NUMBER 09:12 NOUN",
    "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"NOUN NUMBER\"},\"uuid\":\"none\"}",
    " M src/NOUN.rs",
    "warning: unused variable: `NOUN` --> src/NOUN.rs:NUMBER",
    "",
];

impl Pools {
    /// The pools, which are the same for all sessions.
    pub(crate) fn shared() -> &'static Self {
        static POOLS: OnceLock<Pools> = OnceLock::new();
        POOLS.get_or_init(Self::new)
    }

    fn new() -> Self {
        let mut chance = Chance::new(0x706f_6f6c);
        let code = Pool::of((0..20_000).map(|_| fill(&mut chance, CODE)));
        let terminal = Pool::of((0..20_000).map(|_| fill(&mut chance, TERMINAL)));
        let prose = Pool::of((0..6_000).map(|_| prose_line(&mut chance)));
        let base64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let base64 = (0..1 << 20).map(|_| base64[chance.below(64)]).collect();
        Self { code, prose, terminal, base64 }
    }
}

fn fill(chance: &mut Chance, templates: &[&str]) -> String {
    let mut line = chance.one_of(templates).to_owned();
    for (mark, words) in [("NOUN", NOUNS), ("VERB", VERBS)] {
        while let Some(at) = line.find(mark) {
            line.replace_range(at..at + mark.len(), chance.one_of(words));
        }
    }
    line.replace("NUMBER", &chance.below(400).to_string())
}

fn prose_line(chance: &mut Chance) -> String {
    let sentence = |chance: &mut Chance| {
        let (one, does, other) = (chance.one_of(NOUNS), chance.one_of(VERBS), chance.one_of(NOUNS));
        match chance.below(4) {
            0 => format!("The {one} {does} the {other}, and the \"{other}\" is left as it was."),
            1 => format!("Next I look at how the {one} {does} the {other}."),
            2 => format!("It seems that `{one}` {does} a {other} twice — once for each {one}."),
            _ => format!("So the {one} {does} nothing that the {other} needs."),
        }
    };
    (0..=chance.below(3)).map(|_| sentence(chance)).collect::<Vec<_>>().join(" ")
}

/// Writes a text as it stands inside a JSON string.
pub(crate) fn escape(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if *byte >= 0x20 && !matches!(byte, b'"' | b'\\') {
            continue;
        }
        out.extend_from_slice(&bytes[from..at]);
        from = at + 1;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
    }
    out.extend_from_slice(&bytes[from..]);
}
