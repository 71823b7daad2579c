//! Where a delivery waits: on its queue for up to 15 minutes, beyond that in a due-bucket.
//!
//! A bucket is a minute and a shard: a key that the sweep can name without looking for it. What is
//! due for many users at once is spread, so that 07:00 is not a stampede.

use super::{DeliveryId, Priority};
use crate::Timestamp;

/// Queues keep a message back no longer than this.
const MAX_DELAY_SECONDS: i64 = 900;

/// Rows of one minute are spread over so many keys.
pub const SHARDS: u8 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    Queue { delay_seconds: u32 },
    Bucket,
}

/// Where what is due at `ready_at` waits.
pub fn schedule(ready_at: Timestamp, now: Timestamp) -> Schedule {
    let wait_ms = ready_at.as_millisecond().saturating_sub(now.as_millisecond()).max(0);
    let seconds = wait_ms.saturating_add(999) / 1_000;
    if seconds > MAX_DELAY_SECONDS {
        return Schedule::Bucket;
    }
    Schedule::Queue { delay_seconds: u32::try_from(seconds).unwrap_or(0) }
}

/// A minute's deliveries, or a part of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DueBucket {
    /// Minutes since 1970.
    pub minute: i64,
    pub shard: u8,
}

impl DueBucket {
    /// The bucket for what is due at `ready_at`. Released at the minute's start it would come early, so
    /// its row says when.
    pub fn for_delivery(ready_at: Timestamp, id: &DeliveryId) -> Self {
        let shard = u8::try_from(id.stable_hash() % u64::from(SHARDS)).unwrap_or(0);
        Self { minute: minute(ready_at), shard }
    }

    /// The buckets to be looked at by a sweep at `now`, the last one before which was at `since`.
    /// Those that have closed since then: a bucket gets no more rows a queue's longest delay before its
    /// end, and what is in it then waits on its queue to the second. And those whose time has come
    /// since then, once more: another instance's clock may have been behind.
    pub fn to_sweep(since: Timestamp, now: Timestamp) -> impl Iterator<Item = Self> {
        const AHEAD: i64 = MAX_DELAY_SECONDS / 60 - 2;
        let (since, now) = (minute(since), minute(now));
        let come = since..=now;
        let closed = (since + AHEAD + 1).max(now + 1)..=now + AHEAD;
        come.chain(closed).flat_map(|minute| (0..SHARDS).map(move |shard| Self { minute, shard }))
    }

    pub fn name(&self) -> String {
        let start =
            Timestamp::from_second(self.minute.saturating_mul(60)).unwrap_or(Timestamp::MAX);
        format!("{}#{}", start.strftime("%Y-%m-%dT%H:%M"), self.shard)
    }
}

fn minute(at: Timestamp) -> i64 {
    at.as_second().div_euclid(60)
}

/// `at`, or a little later: always the same for a delivery. Critical is never late, normal by up to a
/// minute, low by up to ten.
pub fn spread(at: Timestamp, priority: Priority, id: &DeliveryId) -> Timestamp {
    let most_ms: u64 = match priority {
        Priority::Critical => 1,
        Priority::Normal => 60_000,
        Priority::Low => 600_000,
    };
    let late = i64::try_from(id.stable_hash() % most_ms).unwrap_or(0);
    super::after_ms(at, late)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::notifications::{Endpoint, NotificationId};

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_772_323_200 + seconds).unwrap()
    }

    fn id(n: u64) -> DeliveryId {
        let notification_id = NotificationId::new(at(0), n.to_be_bytes());
        DeliveryId { notification_id, endpoint: Endpoint::Email }
    }

    #[test]
    fn a_quarter_of_an_hour_waits_on_the_queue_and_more_in_a_bucket() {
        assert_eq!(schedule(at(-5), at(0)), Schedule::Queue { delay_seconds: 0 });
        assert_eq!(
            schedule(super::super::after_ms(at(0), 1), at(0)),
            Schedule::Queue { delay_seconds: 1 }
        );
        assert_eq!(schedule(at(900), at(0)), Schedule::Queue { delay_seconds: 900 });
        assert_eq!(schedule(at(901), at(0)), Schedule::Bucket);
        assert_eq!(schedule(Timestamp::MAX, Timestamp::MIN), Schedule::Bucket);
    }

    #[test]
    fn every_bucket_is_looked_at_once_it_is_closed_and_again_when_its_time_has_come() {
        for (n, every) in (0..200).flat_map(|n| [(n, 60), (n, 61), (n, 200), (n, 5_000)]) {
            let ready_at = at(i64::try_from(n).unwrap() * 37 + 10_000);
            let bucket = DueBucket::for_delivery(ready_at, &id(n));
            let sweeps =
                (0..20_000 / every).map(|sweep| (at(sweep * every), at((sweep + 1) * every)));
            let looks: Vec<Timestamp> = sweeps
                .filter(|&(since, now)| DueBucket::to_sweep(since, now).any(|seen| seen == bucket))
                .map(|(_, now)| now)
                .collect();
            // No row that is put there by a clock up to a minute behind comes after that.
            let closed = |now: &Timestamp| now.as_second() >= ready_at.as_second() - 900 + 60;
            assert!(looks.iter().any(|now| closed(now) && *now > ready_at), "{n} {every}");
            if every < 700 {
                let first = looks.iter().find(|now| closed(now)).unwrap();
                assert!(*first <= ready_at, "{n} {every}");
                assert!(
                    matches!(schedule(ready_at, *first), Schedule::Queue { .. }),
                    "{n} {every}"
                );
            }
        }
        let all = DueBucket::to_sweep(at(0), at(60)).count();
        assert_eq!(all, 3 * usize::from(SHARDS), "a run reads little");
        assert_eq!(DueBucket { minute: minute(at(61)), shard: 3 }.name(), "2026-03-01T00:01#3");
    }

    #[test]
    fn seven_o_clock_is_no_stampede() {
        for (priority, most) in
            [(Priority::Critical, 10_000), (Priority::Normal, 250), (Priority::Low, 50)]
        {
            let mut seconds = BTreeMap::new();
            for n in 0..10_000 {
                let late = spread(at(0), priority, &id(n));
                assert_eq!(late, spread(at(0), priority, &id(n)));
                assert!(late >= at(0));
                *seconds.entry(late.as_second()).or_insert(0) += 1;
            }
            assert!(seconds.values().all(|count| *count <= most), "{priority:?} {seconds:?}");
        }
    }
}
