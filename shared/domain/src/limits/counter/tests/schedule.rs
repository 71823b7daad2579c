//! Random quotas, times and units, with the awkward ones made likely.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Algorithm, Quota};

/// When a request comes, seen from the one before.
#[derive(Debug, Clone, Copy)]
pub(super) enum Gap {
    Ms(i64),
    /// A part of the window, in thousandths.
    Part(i64),
    /// The next window's first millisecond, or so many later.
    Boundary(i64),
    Windows(i64),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Units {
    Exactly(i64),
    /// A part of the capacity, in hundredths, and one more.
    Part(i64),
    /// The capacity, or so many more.
    Over(i64),
}

impl Gap {
    pub(super) fn from(self, now_ms: i64, quota: &Quota) -> i64 {
        let length = quota.window_ms;
        match self {
            Self::Ms(ms) => now_ms + ms,
            Self::Part(part) => now_ms + length * part / 1_000,
            Self::Boundary(off) => ((now_ms / length + 1) * length + off).max(now_ms),
            Self::Windows(count) => now_ms + count * length,
        }
    }
}

impl Units {
    pub(super) fn of(self, quota: &Quota) -> i64 {
        match self {
            Self::Exactly(units) => units,
            Self::Part(part) => quota.capacity() * part / 100 + 1,
            Self::Over(more) => (quota.capacity() + more).max(1),
        }
    }
}

pub(super) fn algorithm() -> impl Strategy<Value = Algorithm> {
    proptest::sample::select(Algorithm::ALL.to_vec())
}

pub(super) fn any_quota() -> impl Strategy<Value = Quota> {
    algorithm().prop_flat_map(quota_of)
}

pub(super) fn bucket() -> impl Strategy<Value = Quota> {
    let kinds = vec![Algorithm::TokenBucket, Algorithm::LeakyBucket];
    proptest::sample::select(kinds).prop_flat_map(quota_of)
}

fn quota_of(algorithm: Algorithm) -> impl Strategy<Value = Quota> {
    let limit = prop_oneof![0_i64..=6, 90_i64..=120, 101_i64..=3_000, Just(1_000_000)];
    let window = prop_oneof![1_i64..=20, 900_i64..=1_100, Just(60_000_i64), Just(86_400_000_i64)];
    let burst = proptest::option::of(0_i64..=200);
    (limit, window, burst).prop_map(move |(limit, window_ms, burst)| {
        let limit = if algorithm == Algorithm::SlidingLog { limit.min(40) } else { limit };
        Quota { algorithm, limit, window_ms, burst: burst.map(|part| limit * part / 100) }
    })
}

pub(super) fn start() -> impl Strategy<Value = i64> {
    prop_oneof![Just(0_i64), 0_i64..5_000, Just(1_760_000_000_123_i64)]
}

pub(super) fn gap() -> impl Strategy<Value = Gap> {
    prop_oneof![
        3 => (0_i64..=3).prop_map(Gap::Ms),
        4 => (0_i64..=1_000).prop_map(Gap::Part),
        2 => (0_i64..=40).prop_map(Gap::Part),
        3 => (-1_i64..=1).prop_map(Gap::Boundary),
        1 => (1_i64..=50).prop_map(Gap::Windows),
    ]
}

pub(super) fn units() -> impl Strategy<Value = Units> {
    prop_oneof![
        4 => (1_i64..=4).prop_map(Units::Exactly),
        4 => (0_i64..=60).prop_map(Units::Part),
        1 => (-1_i64..=1).prop_map(Units::Over),
    ]
}

pub(super) fn requests() -> impl Strategy<Value = Vec<(Gap, Units)>> {
    vec((gap(), units()), 1..40)
}

/// A step of a clock that is sometimes set back, by up to three windows.
pub(super) fn jump() -> impl Strategy<Value = Gap> {
    prop_oneof![
        3 => gap(),
        1 => (-3_i64..0).prop_map(Gap::Ms),
        1 => (-3_000_i64..0).prop_map(Gap::Part),
    ]
}
