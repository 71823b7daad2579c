//! Chance that repeats itself: the same seed rolls the same numbers.

use domain::dice::scatter;

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
