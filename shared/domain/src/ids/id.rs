//! The id itself: its bits, its two spellings, and how text becomes an id.

use super::base62::{self, Malformed};
use super::machine::MachineId;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Milliseconds between 1970 and the first timestamp an id can carry, 2010-11-04T01:42:54.657Z.
pub const EPOCH_MS: u64 = 1_288_834_974_657;

/// The first millisecond, in Unix time, that 41 bits can no longer express: in the year 2080.
pub const ERA_END_MS: u64 = EPOCH_MS + (1 << 41);

const SLOT_SHIFT: u32 = 12;
const TIME_SHIFT: u32 = 22;
const SEQUENCE_MASK: u64 = (1 << SLOT_SHIFT) - 1;
const SLOT_MASK: u64 = (1 << (TIME_SHIFT - SLOT_SHIFT)) - 1;

/// A unique number that sorts by the millisecond it was issued in.
///
/// From the highest bit: sign, always 0 · 41 bits of milliseconds since [`EPOCH_MS`] · 5 of
/// datacenter · 5 of machine · 12 of sequence. In JSON it is a decimal string, because a JavaScript
/// number keeps only 53 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(u64);

/// What an id says about its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct IdParts {
    /// When it was issued, in milliseconds since 1970, by the issuer's clock.
    pub unix_ms: u64,
    /// The upper half of the machine id, 0 to 31.
    pub datacenter: u8,
    /// The lower half of the machine id, 0 to 31.
    pub machine: u8,
    /// Which of the machine id's ids of this millisecond it is, 0 to 4,095.
    pub sequence: u16,
}

/// Why a text is not an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InvalidId {
    /// Neither 1 to 19 decimal digits nor 11 base62 characters.
    #[error("an id has 1 to 19 decimal digits, or exactly 11 base62 characters")]
    Length,
    /// A character that the spelling does not use; there is no sign and no separator.
    #[error("an id consists of digits, or of digits and unaccented letters")]
    Character,
    #[error("an id is at most 9223372036854775807")]
    TooLarge,
}

impl Id {
    /// The id with these 64 bits, unless the sign bit is set.
    pub const fn new(bits: u64) -> Result<Self, InvalidId> {
        if bits > i64::MAX.cast_unsigned() { Err(InvalidId::TooLarge) } else { Ok(Self(bits)) }
    }

    /// The bits a lease contributes to every id of one millisecond. The caller has checked that the
    /// timestamp lies in the era.
    pub(super) const fn base(unix_ms: u64, machine_id: MachineId) -> u64 {
        ((unix_ms - EPOCH_MS) << TIME_SHIFT) | ((machine_id.number() as u64) << SLOT_SHIFT)
    }

    /// The id with this sequence number on top of a [`base`](Self::base).
    pub(super) const fn from_base(base: u64, sequence: u16) -> Self {
        Self(base | sequence as u64)
    }

    /// The number itself, for storage and arithmetic.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// When it was issued, in milliseconds since 1970.
    pub const fn unix_ms(self) -> u64 {
        (self.0 >> TIME_SHIFT) + EPOCH_MS
    }

    /// The machine id whose lease issued it.
    pub const fn machine_id(self) -> MachineId {
        MachineId::masked(((self.0 >> SLOT_SHIFT) & SLOT_MASK) as u16)
    }

    /// Its number within the machine id and the millisecond.
    pub const fn sequence(self) -> u16 {
        (self.0 & SEQUENCE_MASK) as u16
    }

    /// Everything that can be read off the id.
    pub const fn parts(self) -> IdParts {
        IdParts {
            unix_ms: self.unix_ms(),
            datacenter: self.machine_id().datacenter(),
            machine: self.machine_id().machine(),
            sequence: self.sequence(),
        }
    }

    /// Eleven characters of `0-9A-Za-z` that sort, byte by byte, as the ids do.
    pub fn to_base62(self) -> String {
        base62::encode(self.0)
    }

    /// Reads either spelling: **exactly eleven characters are base62, any other length is decimal**.
    ///
    /// Eleven decimal digits would be an id of the first 24 seconds of the era, in 2010, which no lease
    /// can have issued; today's ids have 19 digits. Eleven base62 characters that happen to be all
    /// digits are a current id about once in ten million. So the rule loses nothing that exists,
    /// and the spelling, not the characters, decides.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        if text.len() == base62::WIDTH {
            Self::parse_base62(text)
        } else {
            Self::parse_decimal(text)
        }
    }

    /// Reads 1 to 19 decimal digits without a sign.
    pub fn parse_decimal(text: &str) -> Result<Self, InvalidId> {
        if !(1..=19).contains(&text.len()) {
            return Err(InvalidId::Length);
        }
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(InvalidId::Character);
        }
        text.parse().map_err(|_| InvalidId::TooLarge).and_then(Self::new)
    }

    /// Reads what [`to_base62`](Self::to_base62) wrote.
    pub fn parse_base62(text: &str) -> Result<Self, InvalidId> {
        if text.len() != base62::WIDTH {
            return Err(InvalidId::Length);
        }
        match base62::decode(text) {
            Ok(bits) => Self::new(bits),
            Err(Malformed::Digit) => Err(InvalidId::Character),
            Err(Malformed::TooLarge) => Err(InvalidId::TooLarge),
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Id {
    type Err = InvalidId;

    /// See [`Id::parse`] for how the two spellings are told apart.
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        Self::parse(text)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(DecimalText)
    }
}

/// Accepts only what [`Id`] serializes to, so that what was stored always comes back as it was.
struct DecimalText;

impl de::Visitor<'_> for DecimalText {
    type Value = Id;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id as a string of 1 to 19 decimal digits")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Id, E> {
        Id::parse_decimal(text).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests;
