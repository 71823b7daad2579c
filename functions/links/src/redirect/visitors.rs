//! Visitors without names: a hash of address and user agent under a salt of the day.
//!
//! Guarantee: the same visitor has the same hash all day and on every node; once the day's salt is
//! gone nobody can tell whose it was. Absent: an address anywhere but in the argument of
//! [`hash`]. When the salt can't be read, a node uses one of its own and asks again in a minute, so
//! that a visitor may count as two but no click is lost.

use parking_lot::Mutex;

use crate::store::Links;
use boundary::Entropy;
use domain::{Failure, Timestamp};
use sha2::{Digest, Sha256};

const DAY_MS: i64 = 24 * 3600 * 1000;

/// How long a node goes on with its own salt.
const RETRY_MS: i64 = 60_000;

/// The day's salt, as far as it is known.
#[derive(Debug)]
pub(crate) struct Visitors {
    entropy: Entropy,
    held: Mutex<Option<Held>>,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    day: i64,
    salt: [u8; 32],
    /// Set if the salt is this node's own.
    ask_again_ms: Option<i64>,
}

impl Visitors {
    pub(crate) fn new(entropy: Entropy) -> Self {
        Self { entropy, held: Mutex::new(None) }
    }

    /// The salt of the day that `now` is in, unless it has to be asked for.
    pub(crate) fn salt(&self, now: Timestamp) -> Option<[u8; 32]> {
        let held = (*self.held.lock())?;
        let now_ms = now.as_millisecond();
        let settled = held.ask_again_ms.is_none_or(|at_ms| now_ms < at_ms);
        (held.day == day(now) && settled).then_some(held.salt)
    }

    /// The same, asking `links` for it if need be; and why that failed, if it did.
    pub(crate) async fn learn(&self, links: &Links, now: Timestamp) -> ([u8; 32], Option<Failure>) {
        if let Some(salt) = self.salt(now) {
            return (salt, None);
        }
        let date = now.to_string();
        let date = date.get(..10).unwrap_or_default();
        let fresh = self.entropy.bytes();
        let (salt, ask_again_ms, failure) = match links.salt(date, fresh, now).await {
            Ok(salt) => (salt, None, None),
            Err(failure) => {
                let own = self.own(now).unwrap_or(fresh);
                (own, Some(now.as_millisecond() + RETRY_MS), Some(failure))
            }
        };
        let held = Held { day: day(now), salt, ask_again_ms };
        *self.held.lock() = Some(held);
        (salt, failure)
    }

    /// The salt this node has made do with today.
    fn own(&self, now: Timestamp) -> Option<[u8; 32]> {
        let held = *self.held.lock();
        held.filter(|held| held.day == day(now)).map(|held| held.salt)
    }
}

/// Who visits from `address` with `user_agent`, under the day's `salt`.
pub(crate) fn hash(salt: &[u8; 32], address: &str, user_agent: &str) -> u64 {
    let mut sha = Sha256::new();
    sha.update(salt);
    sha.update(address.as_bytes());
    sha.update([0]);
    sha.update(user_agent.as_bytes());
    let digest: [u8; 32] = sha.finalize().into();
    let (first, _) = digest.split_at(8);
    first.iter().fold(0, |hash, byte| (hash << 8) | u64::from(*byte))
}

/// Whether both are in the same day, UTC.
pub(crate) fn same_day(one: Timestamp, other: Timestamp) -> bool {
    day(one) == day(other)
}

fn day(now: Timestamp) -> i64 {
    now.as_millisecond().div_euclid(DAY_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_the_start_of_sha_256_over_salt_address_and_agent() {
        let digest: [u8; 32] =
            Sha256::digest([&[7; 32][..], b"192.0.2.1", b"\0", b"agent"].concat()).into();
        let hash = hash(&[7; 32], "192.0.2.1", "agent");
        assert_eq!(hash.to_be_bytes(), digest[..8]);
        assert_ne!(hash, super::hash(&[8; 32], "192.0.2.1", "agent"));
        assert_ne!(hash, super::hash(&[7; 32], "192.0.2.1a", "gent"));
    }

    #[test]
    fn a_salt_is_known_for_its_day_only() {
        let visitors = Visitors::new(Entropy::new(|bytes| bytes.fill(1)));
        let at = |ms| Timestamp::from_millisecond(ms).unwrap();
        assert_eq!(visitors.salt(at(0)), None);
        *visitors.held.lock() = Some(Held { day: 1, salt: [9; 32], ask_again_ms: None });
        assert_eq!(visitors.salt(at(DAY_MS - 1)), None);
        assert_eq!(visitors.salt(at(DAY_MS)), Some([9; 32]));
        assert_eq!(visitors.salt(at(2 * DAY_MS - 1)), Some([9; 32]));
        assert_eq!(visitors.salt(at(2 * DAY_MS)), None);
        *visitors.held.lock() = Some(Held { day: 0, salt: [9; 32], ask_again_ms: Some(500) });
        assert_eq!((visitors.salt(at(499)), visitors.salt(at(500))), (Some([9; 32]), None));
    }
}
