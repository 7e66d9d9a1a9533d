//! Sets of characters: takes ranges, says which characters are in them. Pure.

/// A set of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Bytes([u64; 4]);

impl Bytes {
    pub(super) fn add(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    pub(super) fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    pub(super) fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
    }

    /// All that begins a character beyond ASCII.
    pub(super) fn add_beyond_ascii(&mut self) {
        self.0[2] = u64::MAX;
        self.0[3] = u64::MAX;
    }
}

/// What a class of all scripts holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Digit,
    Space,
    Word,
}

impl Kind {
    pub(super) fn has(self, c: char) -> bool {
        match self {
            // Nobody here counts in other scripts.
            Self::Digit => c.is_ascii_digit(),
            Self::Space => c.is_whitespace(),
            Self::Word => c.is_alphanumeric() || c == '_',
        }
    }
}

/// A set of characters.
#[derive(Debug, Clone, Default)]
pub(super) struct Class {
    ascii: Bytes,
    ranges: Vec<(char, char)>,
    /// Kinds beyond ASCII, each with whether all else is meant.
    kinds: Vec<(Kind, bool)>,
    negated: bool,
}

impl Class {
    pub(super) fn add(&mut self, from: char, to: char, folded: bool) {
        for byte in 0..128_u8 {
            let c = char::from(byte);
            let in_range = |c: char| (from..=to).contains(&c);
            let other = if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
            if in_range(c) || folded && in_range(other) {
                self.ascii.add(byte);
            }
        }
        if !to.is_ascii() {
            self.ranges.push((from, to));
        }
        if folded && self.ascii.has(b's') {
            self.ranges.push(('ſ', 'ſ'));
        }
        if folded && self.ascii.has(b'k') {
            self.ranges.push(('\u{212a}', '\u{212a}'));
        }
    }

    pub(super) fn add_kind(&mut self, kind: Kind, negated: bool, unicode: bool) {
        for byte in 0..128_u8 {
            if kind.has(char::from(byte)) != negated {
                self.ascii.add(byte);
            }
        }
        if unicode {
            self.kinds.push((kind, negated));
        } else if negated {
            self.ranges.push(('\u{80}', char::MAX));
        }
    }

    pub(super) fn negate(&mut self) {
        self.negated = true;
    }

    pub(super) fn has(&self, c: char) -> bool {
        let has = if c.is_ascii() {
            self.ascii.has(c as u8)
        } else {
            self.ranges.iter().any(|(from, to)| (*from..=*to).contains(&c))
                || self.kinds.iter().any(|(kind, negated)| kind.has(c) != *negated)
        };
        has != self.negated
    }

    /// The bytes that its characters begin with.
    pub(super) fn first(&self) -> Bytes {
        let mut first = Bytes::default();
        for byte in 0..128_u8 {
            if self.ascii.has(byte) != self.negated {
                first.add(byte);
            }
        }
        if self.negated || !self.ranges.is_empty() || !self.kinds.is_empty() {
            first.add_beyond_ascii();
        }
        first
    }
}

/// A letter in the form in which those that differ only in case are one.
pub(super) fn folded(c: char) -> char {
    match c {
        'ſ' => 's',
        '\u{212a}' => 'k',
        c if c.is_ascii() => c.to_ascii_lowercase(),
        c => {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(lower), None) => lower,
                _ => c,
            }
        }
    }
}
