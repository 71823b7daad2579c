//! How much of something in how much time, and which way of counting decides it.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Windows that begin at multiples of their length; each starts at zero.
    FixedWindow,
    /// The previous window counts by how much of it still overlaps: `before × overlap + used`.
    SlidingWindow,
    /// The time of each unit, exactly. For small limits.
    SlidingLog,
    /// Tokens come back at a steady rate, up to a burst.
    TokenBucket,
    /// A queue that drains at a steady rate; what doesn't fit is refused.
    LeakyBucket,
}

impl Algorithm {
    pub const ALL: [Self; 5] = [
        Self::FixedWindow,
        Self::SlidingWindow,
        Self::SlidingLog,
        Self::TokenBucket,
        Self::LeakyBucket,
    ];
}

/// A limit and its way of counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Quota {
    pub algorithm: Algorithm,
    /// Units in a window; 0 refuses everything.
    pub limit: i64,
    pub window_ms: i64,
    /// What a bucket holds: at most twice the limit. The limit, where nothing is said.
    pub burst: Option<i64>,
}

/// Limits up to this are counted by the store alone: one conditional write for each request, exact.
pub const MAX_CENTRAL_LIMIT: i64 = 100;

/// Units that would end sooner than this are not worth holding: a call takes a good part of that time.
const MIN_LEASE_MS: i64 = 20;

/// The most that a log may hold: its row stays small.
pub const MAX_LOG_LENGTH: i64 = 500;

pub const MAX_LIMIT: i64 = 1_000_000_000;

/// Units per second that one shard is made for, and the most shards there are.
const SHARD_RATE: i64 = 250;
const MAX_SHARDS: i64 = 32;

/// A shard for each time that the window fits in there: the shorter it is, the sooner nodes come again.
/// More would be in the way of a busy node, which uses up a shard after the other.
const SHARDED_SPAN_MS: i64 = 50_000;

/// No shard is smaller than this.
const MIN_SHARD: i64 = 250;

impl Quota {
    /// A quota without a burst of its own.
    pub const fn new(algorithm: Algorithm, limit: i64, window_ms: i64) -> Self {
        Self { algorithm, limit, window_ms, burst: None }
    }

    /// What is available at once at most.
    pub fn capacity(&self) -> i64 {
        match self.algorithm {
            // A bucket that nothing comes back to has no burst either: 0 refuses everything.
            Algorithm::TokenBucket | Algorithm::LeakyBucket if self.limit > 0 => {
                self.burst.unwrap_or(self.limit)
            }
            Algorithm::TokenBucket | Algorithm::LeakyBucket => 0,
            Algorithm::FixedWindow | Algorithm::SlidingWindow | Algorithm::SlidingLog => self.limit,
        }
    }

    /// Whether each request asks the store, because a node could hold nothing worth holding.
    pub fn is_central(&self) -> bool {
        let too_brief = self.is_bucket() && self.holding_ms() < MIN_LEASE_MS;
        self.algorithm == Algorithm::SlidingLog || self.capacity() <= MAX_CENTRAL_LIMIT || too_brief
    }

    /// Whether units come back steadily and not with a window.
    pub fn is_bucket(&self) -> bool {
        matches!(self.algorithm, Algorithm::TokenBucket | Algorithm::LeakyBucket)
    }

    /// How many rows share the counting, so that none takes more than 500 writes a second.
    pub fn shards(&self) -> u8 {
        if self.is_central() {
            return 1;
        }
        let by_rate = self.limit.saturating_mul(1_000) / self.window_ms.max(1) / SHARD_RATE;
        let by_length = SHARDED_SPAN_MS / self.window_ms.max(1);
        let most = by_length.min(self.limit.min(self.capacity()) / MIN_SHARD).clamp(1, MAX_SHARDS);
        u8::try_from(by_rate.clamp(1, most)).unwrap_or(1)
    }

    /// The part of the quota that shard `index` counts; the parts add up to the whole.
    #[must_use]
    pub fn shard(&self, index: u8) -> Self {
        let (count, index) = (i64::from(self.shards()), i64::from(index));
        let part = |whole: i64| whole / count + i64::from(index < whole % count);
        Self { limit: part(self.limit), burst: self.burst.map(part), ..*self }
    }

    /// How long a node may hold units that it took from a bucket. What comes back meanwhile is kept
    /// out of the bucket, so that held and fresh units together never pass the burst.
    pub fn lease_ms(&self) -> i64 {
        if self.is_central() { 0 } else { self.holding_ms() }
    }

    /// A twenty-fifth of the time that a bucket takes to fill.
    fn holding_ms(&self) -> i64 {
        self.capacity().saturating_mul(self.window_ms) / 25 / self.limit.max(1)
    }

    /// Names the way of counting in a row's key: what changes it starts a new row.
    pub fn algorithm_key(&self) -> String {
        let (window, limit) = (self.window_ms, self.limit);
        let shards = self.shards();
        match self.algorithm {
            Algorithm::FixedWindow => format!("f{window}x{shards}"),
            Algorithm::SlidingWindow => format!("s{window}x{shards}"),
            Algorithm::SlidingLog => format!("l{window}"),
            Algorithm::TokenBucket | Algorithm::LeakyBucket => {
                format!("b{window}-{limit}x{shards}")
            }
        }
    }
}
