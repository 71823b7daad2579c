//! How often, how soon, and whether at all.

use super::{Channel, Class};

/// Real attempts at most: those in which a provider was called. What a queue counts does not matter.
pub const MAX_ATTEMPTS: u32 = 5;

/// Attempts at most where the provider's answer is not understood.
const MAX_UNRECOGNISED: u32 = 2;

const FIRST_BACKOFF_MS: u64 = 1_000;
const MAX_BACKOFF_MS: u64 = 300_000;

/// How many attempts a kind of no allows.
const fn max_attempts(class: Class) -> u32 {
    match class {
        Class::InvalidRecipient | Class::OptedOut | Class::Content => 1,
        Class::Unrecognised => MAX_UNRECOGNISED,
        Class::RateLimited | Class::Outage => MAX_ATTEMPTS,
    }
}

/// How long to wait after so many `tries`, the last of which was refused; `None` to give up. What a
/// provider asks for is the least, and the jitter comes on top.
pub fn retry_ms(class: Class, tries: u32, asked_seconds: Option<u32>, jitter: u64) -> Option<i64> {
    (tries < max_attempts(class))
        .then(|| i64::from(asked_seconds.unwrap_or(0)) * 1_000 + backoff_ms(tries, jitter))
}

/// Anything up to a second, doubled with each try (full jitter), so that what failed together does not
/// come back together.
pub(super) fn backoff_ms(tries: u32, jitter: u64) -> i64 {
    let doublings = tries.saturating_sub(1).min(20);
    let most = (FIRST_BACKOFF_MS << doublings).min(MAX_BACKOFF_MS);
    i64::try_from(jitter % (most + 1)).unwrap_or(0)
}

/// Whether sending twice does no harm: providers recognise a mail by its idempotency header, a device
/// shows one notification per collapse id. A text message rings twice and costs twice.
pub const fn repeat_is_harmless(channel: Channel) -> bool {
    match channel {
        Channel::Email | Channel::Push => true,
        Channel::Sms => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_are_spread_and_end_at_five_minutes() {
        for (tries, most) in [(1, 1_000), (2, 2_000), (3, 4_000), (4, 8_000), (30, 300_000)] {
            let delays: Vec<i64> =
                (0..2_000).map(|n| backoff_ms(tries, crate::splitmix64(n))).collect();
            assert!(delays.iter().all(|delay| (0..=most).contains(delay)), "{tries}");
            let mean = delays.iter().sum::<i64>() / 2_000;
            assert!((most * 9 / 20..most * 11 / 20).contains(&mean), "{tries}: {mean}");
        }
    }

    #[test]
    fn each_kind_of_no_has_its_number_of_attempts() {
        for (class, most) in [
            (Class::InvalidRecipient, 1),
            (Class::OptedOut, 1),
            (Class::Content, 1),
            (Class::Unrecognised, 2),
            (Class::RateLimited, 5),
            (Class::Outage, 5),
        ] {
            let tries = (1..10).take_while(|tries| retry_ms(class, *tries, None, 0).is_some());
            assert_eq!(u32::try_from(tries.count()).unwrap() + 1, most, "{class:?}");
        }
    }

    #[test]
    fn no_retry_comes_before_the_provider_allows_it() {
        for jitter in [0, 999, u64::MAX] {
            let ms = retry_ms(Class::RateLimited, 1, Some(120), jitter).unwrap();
            assert!((120_000..=121_000).contains(&ms));
        }
    }
}
