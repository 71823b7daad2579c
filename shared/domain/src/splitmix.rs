//! `SplitMix64`: numbers that look random and follow from a seed.
//!
//! Not `fastrand`: ids are claimed by this hash, and the seeds of tests and the figures in the documents were
//! found with this sequence.

/// The increment of the generator, from the golden ratio.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// One step of the generator as a hash: it sends neighbouring numbers far apart.
pub const fn splitmix64(number: u64) -> u64 {
    let mut z = number.wrapping_add(GAMMA);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The generator: the same seed gives the same numbers.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any 64 bits.
    pub const fn next(&mut self) -> u64 {
        let number = splitmix64(self.0);
        self.0 = self.0.wrapping_add(GAMMA);
        number
    }

    /// A number less than `bound`, or 0.
    pub const fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.next() % bound }
    }

    /// The same, for the index of something `len` long.
    pub fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or(0)
    }

    /// True with a probability of 1 in `chances`.
    pub const fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}
