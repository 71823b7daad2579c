//! Visitors without names: a hash of address and user agent with a salt that is random for each day.
//!
//! Guarantee: the same visitor has the same hash all day and on every instance; once the day's salt is
//! deleted, a hash can't be traced to an address. Absent: an address anywhere but in the argument of
//! [`hash`]. When the salt can't be read, an instance uses one of its own and reads again in a minute,
//! so that a visitor may count as two but no click is lost.

use parking_lot::Mutex;

use crate::store::Links;
use boundary::Entropy;
use domain::{Failure, Timestamp};
use sha2::{Digest, Sha256};

const DAY_MS: i64 = 24 * 3600 * 1000;

/// How long an instance uses its own salt before it reads the shared one again.
const RETRY_MS: i64 = 60_000;

/// The day's salt, cached.
#[derive(Debug)]
pub(crate) struct DailySalt {
    entropy: Entropy,
    cached: Mutex<Option<CachedSalt>>,
}

#[derive(Debug, Clone, Copy)]
struct CachedSalt {
    day: i64,
    salt: [u8; 32],
    /// Set if the salt is this instance's own.
    retry_at_ms: Option<i64>,
}

impl DailySalt {
    pub(crate) fn new(entropy: Entropy) -> Self {
        Self { entropy, cached: Mutex::new(None) }
    }

    /// The cached salt of the day that `now` is in, unless it has to be read.
    pub(crate) fn get(&self, now: Timestamp) -> Option<[u8; 32]> {
        let cached = (*self.cached.lock())?;
        let now_ms = now.as_millisecond();
        let usable = cached.retry_at_ms.is_none_or(|at_ms| now_ms < at_ms);
        (cached.day == day(now) && usable).then_some(cached.salt)
    }

    /// The same, read from `links` if need be; and why that failed, if it did.
    pub(crate) async fn load(&self, links: &Links, now: Timestamp) -> ([u8; 32], Option<Failure>) {
        if let Some(salt) = self.get(now) {
            return (salt, None);
        }
        let date = now.to_string();
        let date = date.get(..10).unwrap_or_default();
        let fresh = self.entropy.bytes();
        let (salt, retry_at_ms, failure) = match links.salt(date, fresh, now).await {
            Ok(salt) => (salt, None, None),
            Err(failure) => {
                let own = self.local_salt(now).unwrap_or(fresh);
                (own, Some(now.as_millisecond() + RETRY_MS), Some(failure))
            }
        };
        let cached = CachedSalt { day: day(now), salt, retry_at_ms };
        *self.cached.lock() = Some(cached);
        (salt, failure)
    }

    /// The salt that this instance has used today.
    fn local_salt(&self, now: Timestamp) -> Option<[u8; 32]> {
        let cached = *self.cached.lock();
        cached.filter(|cached| cached.day == day(now)).map(|cached| cached.salt)
    }
}

/// The first 64 bits of SHA-256 over the day's salt, address and user agent.
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
        let salt = DailySalt::new(Entropy::new(|bytes| bytes.fill(1)));
        let at = |ms| Timestamp::from_millisecond(ms).unwrap();
        assert_eq!(salt.get(at(0)), None);
        *salt.cached.lock() = Some(CachedSalt { day: 1, salt: [9; 32], retry_at_ms: None });
        assert_eq!(salt.get(at(DAY_MS - 1)), None);
        assert_eq!(salt.get(at(DAY_MS)), Some([9; 32]));
        assert_eq!(salt.get(at(2 * DAY_MS - 1)), Some([9; 32]));
        assert_eq!(salt.get(at(2 * DAY_MS)), None);
        *salt.cached.lock() = Some(CachedSalt { day: 0, salt: [9; 32], retry_at_ms: Some(500) });
        assert_eq!((salt.get(at(499)), salt.get(at(500))), (Some([9; 32]), None));
    }
}
