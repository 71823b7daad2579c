//! The order against its definition, and the bound on waiting.

use proptest::prelude::*;

use super::*;
use crate::accounts::UserId;
use crate::jobs::{JobTypeName, Submission, builtin_job_type};

const STEP: u32 = 300;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_772_323_200 + seconds).unwrap()
}

fn job(number: u32, priority: JobPriority, ready: i64) -> Job {
    let job_type = builtin_job_type(&JobTypeName::parse("echo").unwrap()).unwrap();
    let submission = Submission { priority, ..Submission::default() };
    let mut random = [0; 8];
    random[..4].copy_from_slice(&number.to_be_bytes());
    let id = JobId::new(at(ready), random);
    submission.build(id, &job_type, &UserId::outside("ada"), 0, None, at(ready))
}

fn lists(jobs: &[Job]) -> Vec<Vec<Job>> {
    let of = |priority| {
        let mut list: Vec<Job> =
            jobs.iter().filter(|job| job.priority == priority).cloned().collect();
        list.sort_by_key(|job| (job.ready_at, job.id.clone()));
        list
    };
    JobPriority::ALL.map(of).to_vec()
}

proptest! {
    #[test]
    fn merging_four_lists_sorts_all_of_them(
        jobs in proptest::collection::vec((0_usize..4, 0_i64..2_000), 0..60),
        max in 0_usize..70,
    ) {
        let jobs: Vec<Job> = (0..).zip(jobs).map(|(n, (p, r))| job(n, JobPriority::ALL[p], r)).collect();
        let now = at(2_000);
        let merged = merge_by_level(lists(&jobs), now, STEP, max);
        let mut sorted = jobs;
        sorted.sort_by_key(|job| sort_key(job, now, STEP));
        sorted.truncate(max);
        prop_assert_eq!(merged, sorted);
    }

    #[test]
    fn a_job_counts_as_ahead_if_it_is_sorted_before(
        own in (0_usize..4, 0_i64..2_000),
        others in proptest::collection::vec((0_usize..4, 0_i64..2_000), 0..60),
    ) {
        let now = at(2_000);
        let mine = job(0, JobPriority::ALL[own.0], own.1);
        let level_of = |job: &Job| effective_level(job.priority, job.ready_at, now, STEP);
        for (priority, ready) in others {
            let other = job(1, JobPriority::ALL[priority], ready);
            let until = ahead_cutoff((mine.priority, mine.ready_at), other.priority, now, STEP);
            let counted = other.ready_at <= until;
            let before = (level_of(&other), other.ready_at) < (level_of(&mine), mine.ready_at);
            prop_assert_eq!(counted, before, "{:?} {:?}", own, (priority, ready));
        }
    }
}

/// One slot, one job a second, and every second brings a new P0: a less urgent job waits as long as the
/// bound says, and no longer.
#[test]
fn no_job_is_overtaken_by_one_that_comes_later_than_the_bound() {
    let victims = [JobPriority::P1, JobPriority::P2, JobPriority::P3];
    let mut waiting: Vec<Job> =
        (0..).zip(victims).map(|(number, priority)| job(number, priority, 0)).collect();
    let mut number = 100;
    let mut ran = Vec::new();
    for second in 0..2_000 {
        number += 1;
        waiting.push(job(number, JobPriority::P0, second));
        let next = merge_by_level(lists(&waiting), at(second), STEP, 1).remove(0);
        waiting.retain(|job| job.id != next.id);
        ran.push((second, next));
    }
    for priority in victims {
        let (started, victim) = ran.iter().find(|(_, job)| job.priority == priority).unwrap();
        let steps = i64::from(priority.level()) * i64::from(STEP);
        let overtakers = ran.iter().take_while(|(second, _)| second < started);
        let latest = overtakers.map(|(_, job)| job.ready_at).max().unwrap();
        assert!(latest < at(steps), "{priority:?} was overtaken by one of {latest}");
        // As much as the bound allows does happen: it is no better than stated.
        assert!(latest >= at(steps - 10), "{priority:?}: {latest}");
        assert_eq!(victim.ready_at, at(0));
    }
}
