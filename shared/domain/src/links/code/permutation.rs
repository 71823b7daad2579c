//! A keyed permutation of the numbers below any size.
//!
//! A balanced Feistel network permutes the next power of two with an even number of bits. A result
//! that is past the size is put through again until it is not: the way leads along a cycle that began
//! below the size, so it comes back below it, and two numbers never end in one place. At most three
//! quarters of the power are past the size, so four passes are the most to expect on average.
//!
//! There is no table and no state, and no size that would need either.

use sha2::{Digest, Sha256};

use super::CodeKey;

/// As many as format-preserving encryption uses (NIST SP 800-38G, FF1). Fewer can be told from
/// chance by an observer of enough codes.
const ROUNDS: u8 = 10;

pub(super) struct Permutation<'a> {
    key: &'a CodeKey,
    /// Keeps the permutations for different lengths apart under one key.
    length: u8,
    size: u64,
    half_bits: u32,
}

impl<'a> Permutation<'a> {
    pub(super) const fn new(key: &'a CodeKey, length: u8, size: u64) -> Self {
        let bits = u64::BITS - size.saturating_sub(1).leading_zeros();
        Self { key, length, size, half_bits: bits.div_ceil(2) }
    }

    /// Where `number` goes. Both are below the size.
    pub(super) fn permute(&self, number: u64) -> u64 {
        self.cycle_walk(number, |number| {
            let (left, right) = (0..ROUNDS).fold(self.split(number), |(left, right), round| {
                (right, left ^ self.round(round, right))
            });
            self.join(left, right)
        })
    }

    /// Which number goes to `place`.
    #[cfg(test)]
    pub(super) fn invert(&self, place: u64) -> u64 {
        self.cycle_walk(place, |place| {
            let (left, right) =
                (0..ROUNDS).rev().fold(self.split(place), |(left, right), round| {
                    (right ^ self.round(round, left), left)
                });
            self.join(left, right)
        })
    }

    fn cycle_walk(&self, start: u64, step: impl Fn(u64) -> u64) -> u64 {
        let mut number = step(start);
        while number >= self.size {
            number = step(number);
        }
        number
    }

    const fn split(&self, number: u64) -> (u64, u64) {
        (number >> self.half_bits, number & self.mask())
    }

    const fn join(&self, left: u64, right: u64) -> u64 {
        (left << self.half_bits) | right
    }

    const fn mask(&self) -> u64 {
        (1 << self.half_bits) - 1
    }

    /// The round function. Its input has a fixed length and begins with the key, so the plain hash
    /// is as good as a keyed one, and all of it fits one block of SHA-256.
    fn round(&self, round: u8, half: u64) -> u64 {
        let mut input = [0; 42];
        input[..32].copy_from_slice(self.key.as_bytes());
        input[32] = self.length;
        input[33] = round;
        input[34..].copy_from_slice(&half.to_be_bytes());
        let digest: [u8; 32] = Sha256::digest(input).into();
        let word = digest.first_chunk().copied().map_or(0, u64::from_be_bytes);
        word & self.mask()
    }
}
