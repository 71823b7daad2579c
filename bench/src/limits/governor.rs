//! `governor`: one quota for all keys of a limiter, in this process alone; it knows no rules.

use std::hint::black_box;
use std::num::NonZeroU32;

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

/// Limiters with their `DashMap` and their default clock, asked in turn with a key of their own.
/// Unlike rules they are not asked together: what one has taken it keeps when the next refuses.
pub(crate) fn contestant(limiters: usize, keys: usize) -> impl FnMut(usize) {
    let quota = Quota::per_second(NonZeroU32::MAX);
    let limiters: Vec<DefaultKeyedRateLimiter<String>> =
        (0..limiters).map(|_| RateLimiter::keyed(quota)).collect();
    let keys: Vec<String> = (0..keys).map(|key| format!("user-{key:012}")).collect();
    move |request| {
        let key = &keys[request % keys.len()];
        for limiter in &limiters {
            let _ = black_box(limiter.check_key(key));
        }
    }
}
