//! Chance that repeats itself: the same seed rolls the same numbers.

pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(scatter(seed))
    }

    /// Any 64 bits.
    pub(crate) const fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scatter(self.0)
    }

    /// A number less than `bound`.
    pub(crate) const fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    pub(crate) const fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}

/// Sends neighbouring numbers far apart (the finisher of `SplitMix64`), so that one random number
/// serves a whole search.
pub(crate) const fn scatter(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
