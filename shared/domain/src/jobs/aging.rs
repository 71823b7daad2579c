//! Priority aging: jobs are sorted by effective priority, then by age.
//!
//! A job gains a level for each aging step that it has waited since it may run. **The bound**: before a
//! job of priority P*k* only such jobs of its type may run that became ready less than *k* steps after
//! it. (After *k* steps it is at level 0, where age alone decides, and every job that comes later is
//! younger.) So with a step of five minutes nothing that comes a quarter of an hour later overtakes
//! anything, and what was ahead is a number that only falls.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Job, JobId, JobPriority};
use crate::Timestamp;

/// The level that a job is sorted at, 0 first.
pub fn effective_level(
    priority: JobPriority,
    ready_at: Timestamp,
    now: Timestamp,
    aging_seconds: u32,
) -> u8 {
    let waited_ms = (now.as_millisecond() - ready_at.as_millisecond()).max(0);
    let steps = waited_ms / (i64::from(aging_seconds.max(1)) * 1_000);
    priority.level().saturating_sub(u8::try_from(steps).unwrap_or(u8::MAX))
}

/// Level, age, id.
pub fn sort_key(job: &Job, now: Timestamp, aging_seconds: u32) -> (u8, Timestamp, JobId) {
    let level = effective_level(job.priority, job.ready_at, now, aging_seconds);
    (level, job.ready_at, job.id.clone())
}

/// The first `max` of several lists, each of one priority and sorted by age: within such a list no job
/// overtakes another, so only the heads are compared.
pub fn merge_by_level(
    lists: Vec<Vec<Job>>,
    now: Timestamp,
    aging_seconds: u32,
    max: usize,
) -> Vec<Job> {
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let mut heads = BinaryHeap::new();
    let mut waiting: Vec<Option<Job>> = lists.iter_mut().map(Iterator::next).collect();
    for (index, head) in waiting.iter().enumerate() {
        if let Some(job) = head {
            heads.push(Reverse((sort_key(job, now, aging_seconds), index)));
        }
    }
    let mut merged = Vec::new();
    while merged.len() < max {
        let Some(Reverse((_, index))) = heads.pop() else { break };
        let next = lists[index].next();
        if let Some(job) = &next {
            heads.push(Reverse((sort_key(job, now, aging_seconds), index)));
        }
        merged.extend(std::mem::replace(&mut waiting[index], next));
    }
    merged
}

/// The latest time at which a job of `other` priority may have become ready to go before a job of
/// `own` priority that became ready at `ready_at`, as things stand at `now`.
pub fn ahead_cutoff(
    (own, ready_at): (JobPriority, Timestamp),
    other: JobPriority,
    now: Timestamp,
    aging_seconds: u32,
) -> Timestamp {
    let level = effective_level(own, ready_at, now, aging_seconds);
    let step_ms = i64::from(aging_seconds.max(1)) * 1_000;
    let reached_ms =
        |level: u8| now.as_millisecond() - i64::from(other.level().saturating_sub(level)) * step_ms;
    let older_ms = reached_ms(level).min(ready_at.as_millisecond() - 1);
    let better_ms = level.checked_sub(1).map_or(older_ms, reached_ms);
    Timestamp::from_millisecond(older_ms.max(better_ms)).unwrap_or(ready_at)
}

#[cfg(test)]
mod tests;
