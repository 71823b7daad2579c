//! Short codes: a counter's numbers, permuted under a key so that they can't be enumerated.
//!
//! The first 57^7 numbers become codes of seven characters, the next 57^8 codes of eight. Within one
//! length the mapping is a permutation of exactly that many numbers, so two numbers never meet in one
//! code and none has to be looked up before it is used. There is no state here besides the key: the
//! store leases each [`CodeRange`] to one instance.
//!
//! The key must never change while links exist. Another key is another permutation of the same
//! codes, and would hand out again what the first one did.

mod permutation;
#[cfg(test)]
mod tests;

use permutation::Permutation;
use std::fmt;

use super::alias::is_reserved;
use super::profanity::looks_profane;

/// How many codes have seven characters.
pub const SEVEN_CHARACTER_CODES: u64 = 57_u64.pow(7);

/// How many codes there are, of seven and of eight characters.
pub const ALL_CODES: u64 = SEVEN_CHARACTER_CODES + 57_u64.pow(8);

/// How many numbers to lease at once: enough that the counter is seldom written, few enough that a
/// lease which is forgotten costs nothing worth mentioning.
pub const LEASE_SIZE: u64 = 1_000;

/// Digits and letters without those that look alike: no `0` and `O`, no `1`, `l` and `I`.
const ALPHABET: &[u8; 57] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Every length of code, and the numbers it serves.
const CODE_SPACES: [CodeSpace; 2] = [
    CodeSpace { length: 7, first: 0, size: SEVEN_CHARACTER_CODES },
    CodeSpace { length: 8, first: SEVEN_CHARACTER_CODES, size: ALL_CODES - SEVEN_CHARACTER_CODES },
];

/// A link's name in its short URL: a generated code or an alias that a user chose.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub(super) String);

/// The secret that decides which number gets which code.
#[derive(Clone)]
pub struct CodeKey([u8; 32]);

impl CodeKey {
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for CodeKey {
    /// Says that it is a key and not which.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CodeKey(..)")
    }
}

/// The code of a number; `None` where it would be a reserved word or profane, and past [`ALL_CODES`].
pub fn code_for(key: &CodeKey, number: u64) -> Option<Code> {
    let (space, place) = permuted(key, number)?;
    let text = space.to_base57(place);
    (!looks_profane(&text) && !is_reserved(&text)).then_some(Code(text))
}

/// Numbers that one holder may turn into codes, each of them once.
///
/// It cannot be copied: a copy would give out the same codes.
#[derive(Debug)]
pub struct CodeRange {
    next: u64,
    end: u64,
}

impl CodeRange {
    /// The numbers from `next` up to `end`, which is not one of them. Those past [`ALL_CODES`] have no
    /// code and are left out.
    pub fn new(next: u64, end: u64) -> Self {
        Self { next, end: end.min(ALL_CODES) }
    }

    /// The next code that is neither reserved nor profane; `None` once the numbers are used up.
    pub fn next_code(&mut self, key: &CodeKey) -> Option<Code> {
        while self.next < self.end {
            let number = self.next;
            self.next += 1;
            if let Some(code) = code_for(key, number) {
                return Some(code);
            }
        }
        None
    }
}

/// The codes of one length, and the numbers that have them.
struct CodeSpace {
    length: u8,
    first: u64,
    size: u64,
}

impl CodeSpace {
    fn permutation<'a>(&self, key: &'a CodeKey) -> Permutation<'a> {
        Permutation::new(key, self.length, self.size)
    }

    /// A base-57 number of fixed width, most significant digit first.
    fn to_base57(&self, mut place: u64) -> String {
        let mut text = vec![0; usize::from(self.length)];
        for digit in text.iter_mut().rev() {
            *digit = (place % 57) as usize;
            place /= 57;
        }
        text.into_iter().map(|digit| char::from(ALPHABET[digit])).collect()
    }
}

/// The space of a number's code and the code's place in it, profane or not.
fn permuted(key: &CodeKey, number: u64) -> Option<(&'static CodeSpace, u64)> {
    let space = CODE_SPACES.iter().find(|space| number < space.first + space.size)?;
    Some((space, space.permutation(key).permute(number - space.first)))
}
