//! Names of posts and comments. A name says when it was made, so that sorting names sorts by time.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Timestamp, hex};

/// Names a post: 28 hex digits, the first twelve of them its time in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PostId([u8; PostId::BYTES]);

impl PostId {
    pub const BYTES: usize = 14;

    /// Before every post: what is complete from here on is complete.
    pub const MIN: Self = Self([0; Self::BYTES]);

    /// After every post: what is complete from here on has nothing.
    pub const MAX: Self = Self([0xff; Self::BYTES]);

    /// Makes an id from the time and 8 random bytes.
    pub fn made_from(now: Timestamp, random: [u8; 8]) -> Self {
        let mut bytes = [0; Self::BYTES];
        bytes[..6].copy_from_slice(&now.as_millisecond().max(0).to_be_bytes()[2..]);
        bytes[6..].copy_from_slice(&random);
        Self(bytes)
    }

    /// The least id of a moment: every post of it and after it has this or a greater one.
    pub fn first_at(at: Timestamp) -> Self {
        Self::made_from(at, [0; 8])
    }

    /// The id that `text` is, if it is one.
    pub fn parse(text: &str) -> Option<Self> {
        let digit = |b: u8| match b {
            b'0'..=b'9' => Some(b - b'0'),
            b'a'..=b'f' => Some(b - b'a' + 10),
            _ => None,
        };
        let text = text.as_bytes();
        if text.len() != 2 * Self::BYTES {
            return None;
        }
        let mut bytes = [0; Self::BYTES];
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            *byte = (digit(pair[0])? << 4) | digit(pair[1])?;
        }
        Some(Self(bytes))
    }

    pub fn text(self) -> String {
        hex(&self.0)
    }

    /// The id in binary, in the same order.
    pub const fn bytes(self) -> [u8; Self::BYTES] {
        self.0
    }

    /// The id with those bytes; any are one.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    pub fn at(self) -> Timestamp {
        let ms = self.0[..6].iter().fold(0_i64, |sum, byte| (sum << 8) | i64::from(*byte));
        Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX)
    }
}

impl std::fmt::Display for PostId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

impl std::fmt::Debug for PostId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PostId({self})")
    }
}

impl From<PostId> for String {
    fn from(id: PostId) -> Self {
        id.text()
    }
}

impl TryFrom<String> for PostId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("no name of a post")
    }
}

/// Names a comment, the way posts are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommentId(PostId);

impl CommentId {
    /// Makes an id from the time and 8 random bytes.
    pub fn made_from(now: Timestamp, random: [u8; 8]) -> Self {
        Self(PostId::made_from(now, random))
    }

    /// The id that `text` is, if it is one.
    pub fn parse(text: &str) -> Option<Self> {
        PostId::parse(text).map(Self)
    }

    pub fn text(self) -> String {
        self.0.text()
    }
}

/// A number for some texts: the same wherever and whenever it is asked for, and evenly spread.
pub(super) fn stable_hash(parts: &[&[u8]]) -> u64 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    digest[..8].iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_id_is_not_taken_for_one() {
        for text in ["", "0a", &"0A".repeat(14), &"0g".repeat(14), &"0a".repeat(15)] {
            assert_eq!(PostId::parse(text), None, "{text}");
        }
        assert!(serde_json::from_str::<PostId>("\"0a\"").is_err());
    }

    proptest::proptest! {
        #[test]
        fn ids_sort_by_time_and_read_back(a in 0_i64..1 << 47, b in 0_i64..1 << 47, r: [u8; 8], s: [u8; 8]) {
            let at = |ms| Timestamp::from_millisecond(ms).unwrap();
            let (x, y) = (PostId::made_from(at(a), r), PostId::made_from(at(b), s));
            if a != b {
                proptest::prop_assert_eq!(a.cmp(&b), x.cmp(&y));
            }
            proptest::prop_assert_eq!(x.cmp(&y), x.text().cmp(&y.text()));
            proptest::prop_assert_eq!(x.at(), at(a));
            proptest::prop_assert!(PostId::first_at(at(a)) <= x);
            proptest::prop_assert_eq!(PostId::parse(&x.text()), Some(x));
            let json = serde_json::to_string(&x).unwrap();
            proptest::prop_assert_eq!(serde_json::from_str::<PostId>(&json).unwrap(), x);
            proptest::prop_assert_eq!(PostId::from_bytes(x.bytes()), x);
            proptest::prop_assert_eq!(CommentId::parse(&x.text()).map(CommentId::text), Some(x.text()));
        }
    }
}
