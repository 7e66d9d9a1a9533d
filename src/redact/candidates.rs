//! Text -> the places in it at which a secret can begin or be announced, by a look at three letters at a time. Most
//! texts have none, and cost no more than being read once. Must not judge: what is here may well be nothing.

/// What may begin at a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// The `BEGIN` line of a private key.
    Pem,
    /// A token of the shape with this number.
    Shape(usize),
    /// The name of a key that is named like a secret.
    Keyword,
}

/// A text that announces something.
struct Sign {
    text: &'static str,
    is_folded: bool,
    what: What,
    /// How many bytes before it a match can begin: at least and at most.
    back: (usize, usize),
}

const fn exact(text: &'static str, what: What) -> Sign {
    Sign { text, is_folded: false, what, back: (0, 0) }
}

const fn shape(text: &'static str, number: usize) -> Sign {
    exact(text, What::Shape(number))
}

const fn behind(text: &'static str, what: What, least: usize, most: usize) -> Sign {
    Sign { text, is_folded: false, what, back: (least, most) }
}

const fn folded(text: &'static str, what: What) -> Sign {
    Sign { text, is_folded: true, what, back: (0, 0) }
}

/// What stands in front of `key`, with a dash or an underscore or without.
pub(super) const KEY_OWNERS: &[&str] =
    &["secret", "access", "api", "private", "signing", "encryption", "account", "auth", "master", "shared"];

/// Everything that announces something; the numbers are those of `tokens::SHAPES`. None is shorter than three bytes.
const SIGNS: &[Sign] = &[
    behind("BEGIN ", What::Pem, 5, 5),
    shape("AKIA", 0),
    shape("ASIA", 0),
    shape("ABIA", 0),
    shape("ACCA", 0),
    shape("ghp_", 1),
    shape("gho_", 1),
    shape("ghu_", 1),
    shape("ghs_", 1),
    shape("ghr_", 1),
    shape("github_pat_", 1),
    shape("sk-ant-", 2),
    // What stands before it is a character or an escaped line end.
    behind("sk-", What::Shape(3), 0, 4),
    shape("xox", 4),
    shape("xapp-", 4),
    shape("hooks.slack.com/", 5),
    shape("AIza", 6),
    shape("ya29.", 6),
    shape("GOCSPX-", 6),
    shape("sk_live_", 7),
    shape("sk_test_", 7),
    shape("rk_live_", 7),
    shape("rk_test_", 7),
    shape("whsec_", 7),
    shape("npm_", 8),
    shape("pypi-", 9),
    shape("glpat-", 10),
    shape("glptt-", 10),
    shape("gldt-", 10),
    shape("glrt-", 10),
    shape("glcbt-", 10),
    shape("glsoat-", 10),
    shape("glft-", 10),
    shape("glimt-", 10),
    shape("glagent-", 10),
    shape("eyJ", 11),
    shape("hf_", 12),
    shape("gsk_", 12),
    shape("r8_", 12),
    shape("xai-", 12),
    shape("pplx-", 12),
    shape("nvapi-", 12),
    shape("doo_v1_", 12),
    shape("dop_v1_", 12),
    shape("dor_v1_", 12),
    shape("shpat_", 12),
    shape("shpca_", 12),
    shape("shppa_", 12),
    shape("shpss_", 12),
    shape("dapi", 12),
    shape("lin_api_", 12),
    shape("SG.", 12),
    shape("hvs.", 12),
    shape("AGE-SECRET-KEY-1", 12),
    shape("tskey-", 12),
    shape("sbp_", 12),
    shape("PMAK-", 12),
    shape("figd_", 12),
    shape("ntn_", 12),
    shape("sntrys_", 12),
    behind(":AA", What::Shape(12), 8, 10),
    folded("authorization", What::Shape(13)),
    folded("bearer", What::Shape(14)),
    behind("://", What::Shape(15), 1, 1),
    shape("curl ", 16),
    shape("login", 17),
    folded("passw", What::Keyword),
    folded("passphrase", What::Keyword),
    folded("pwd", What::Keyword),
    folded("_pass", What::Keyword),
    folded("-pass", What::Keyword),
    folded("secret", What::Keyword),
    folded("token", What::Keyword),
    folded("key", What::Keyword),
];

/// Three letters as a number: their case does not count, and other characters share the numbers of letters.
const fn number(three: [u8; 3]) -> usize {
    let [one, two, three] = three;
    ((one & 31) as usize) << 10 | ((two & 31) as usize) << 5 | (three & 31) as usize
}

/// Which threes of letters begin a sign: a bit for each, so that all of them stay in the nearest cache.
static BEGINNINGS: [u64; 1 << 9] = {
    let mut begins = [0; 1 << 9];
    let mut at = 0;
    while at < SIGNS.len() {
        let text = SIGNS[at].text.as_bytes();
        let number = number([text[0], text[1], text[2]]);
        begins[number >> 6] |= 1 << (number & 63);
        at += 1;
    }
    begins
};

/// Which signs begin with a letter, whatever its case: a bit for each.
static BY_FIRST: [u128; 1 << 8] = {
    assert!(SIGNS.len() <= u128::BITS as usize);
    let mut signs = [0; 1 << 8];
    let mut at = 0;
    while at < SIGNS.len() {
        let first = SIGNS[at].text.as_bytes()[0];
        signs[first.to_ascii_lowercase() as usize] |= 1 << at;
        signs[first.to_ascii_uppercase() as usize] = signs[first.to_ascii_lowercase() as usize];
        at += 1;
    }
    signs
};

/// A place at which something may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Candidate {
    at: usize,
    what: What,
}

/// All candidates of a text.
#[derive(Debug, Default)]
pub(super) struct Candidates(Vec<Candidate>);

impl Candidates {
    pub(super) fn of(text: &str) -> Self {
        let mut found = Self::default();
        let bytes = text.as_bytes();
        let [one, two, rest @ ..] = bytes else { return found };
        let mut rolling = number([0, *one, *two]);
        for (at, byte) in rest.iter().enumerate() {
            rolling = (rolling << 5 | usize::from(byte & 31)) & 0x7fff;
            if BEGINNINGS[rolling >> 6] >> (rolling & 63) & 1 == 1 {
                found.look_at(bytes, at);
            }
        }
        found
    }

    fn look_at(&mut self, bytes: &[u8], at: usize) {
        let rest = &bytes[at..];
        let mut those = BY_FIRST[usize::from(rest[0])];
        while those != 0 {
            let sign = &SIGNS[those.trailing_zeros() as usize];
            those &= those - 1;
            let Some(start) = rest.get(..sign.text.len()) else { continue };
            let is_it = if sign.is_folded {
                start.eq_ignore_ascii_case(sign.text.as_bytes())
            } else {
                start == sign.text.as_bytes()
            };
            if !is_it {
                continue;
            }
            if sign.text == "key" {
                self.0.extend(key_start(bytes, at).map(|at| Candidate { at, what: What::Keyword }));
                continue;
            }
            let (least, most) = sign.back;
            let starts = (least..=most).filter_map(|back| at.checked_sub(back));
            self.0.extend(starts.map(|at| Candidate { at, what: sign.what }));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The places of one kind, from the start, each once.
    pub(super) fn of_kind(&self, what: What) -> Vec<usize> {
        let of_kind = self.0.iter().filter(|candidate| candidate.what == what);
        let mut places: Vec<usize> = of_kind.map(|candidate| candidate.at).collect();
        places.sort_unstable();
        places.dedup();
        places
    }
}

/// Where the name that ends with the `key` at `at` begins, if it is one of a secret.
fn key_start(bytes: &[u8], at: usize) -> Option<usize> {
    let before = &bytes[..at];
    let before = before.strip_suffix(b"_").or_else(|| before.strip_suffix(b"-")).unwrap_or(before);
    KEY_OWNERS.iter().find_map(|owner| {
        let start = before.len().checked_sub(owner.len())?;
        before[start..].eq_ignore_ascii_case(owner.as_bytes()).then_some(start)
    })
}
