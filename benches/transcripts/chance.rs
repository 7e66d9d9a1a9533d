//! Numbers that look random and are the same for the same seed, on every machine. Not for secrets.

/// A seeded source of numbers (`SplitMix64`).
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    /// A source for a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let wide = u128::from(self.next()) * end as u128;
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// One of them.
    pub(crate) fn one_of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// Whether something that happens in `per_mille` of a thousand cases happens.
    pub(crate) fn happens(&mut self, per_mille: usize) -> bool {
        self.below(1000) < per_mille
    }

    /// A size with that median and a long tail: half are smaller, one in a thousand is a hundred
    /// times as large.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes are small and positive, and nobody needs them exact"
    )]
    pub(crate) fn size(&mut self, median: usize, spread: f64) -> usize {
        let sum: f64 = (0..4).map(|_| (self.next() >> 11) as f64 / (1u64 << 53) as f64).sum();
        let normal = (sum - 2.0) / 0.577;
        (median as f64 * (spread * normal).exp()) as usize
    }
}
