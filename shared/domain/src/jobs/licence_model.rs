//! A model check of the licences: an exhaustive search of a small world.
//!
//! Two jobs of one type, two dispatchers that decide on stale reads, workers that start, end, fail or
//! miss heartbeats, an admin who changes the limit and the number of shards, and a sweep that counts: in
//! every order. The decisions are the real ones, [`transition`] and [`split_limit`]; a commit has the
//! conditions of the store's transaction.
//!
//! In no reachable state do the rows count other than the holders there are, or does a commit assign a
//! job while the holders are at the limit. Then the protocol is broken on purpose, one rule at a time,
//! and the search has to find it.

use super::licence::{LicenceShard, split_limit};
use super::transition::{JobDecision, JobEvent, transition};
use super::{
    Job, JobId, JobPriority, JobTypeName, RetryPolicy, Submission, WorkerId, after,
    builtin_job_type,
};
use crate::Timestamp;
use crate::accounts::UserId;
use crate::model_check::{Outcome, visit_all};

/// A rule of the protocol that is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum DroppedRule {
    /// Licences are taken while `in_use <> max`, which a lowered limit slips past.
    UnequalInsteadOfLess,
    /// Licences are taken without a condition.
    TakenUnguarded,
    /// Jobs are written without a condition on their version.
    VersionIgnored,
    /// A licence is returned in a second step, which a crash may cut off.
    ReturnedLater,
    /// A lowered limit is split without counting the holders.
    SplitWithoutHolders,
    /// The limit is split by a stale read of the rows.
    SplitByStaleRead,
    /// The sweep corrects a row that has changed since it was counted.
    CorrectedByStaleCount,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    jobs: Vec<Job>,
    rows: Vec<LicenceShard>,
    limit: u32,
    shards: u8,
    /// What each dispatcher read: a job, and the row it takes a licence of.
    plans: [Option<(Job, usize)>; 2],
    /// What an admin read before changing the limit.
    limit_change: Option<(u32, u8, Vec<LicenceShard>)>,
    /// What the sweep counted in a row, and whether that has changed since.
    recount: Option<(usize, u32, bool)>,
    changes_left: u8,
    /// A job may be assigned and queued again for ever; the search has to end.
    max_version: u64,
    broken: Option<DroppedRule>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Plan(usize, usize, usize),
    Commit(usize),
    Start(usize),
    Complete(usize),
    Fail(usize),
    Cancel(usize),
    Check(usize),
    ChangeLimit(u32, u8),
    SplitLimit,
    Count(usize),
    Correct,
}

#[derive(Debug, PartialEq, Eq)]
enum Violation {
    /// A row counts other than its holders.
    Drift,
    /// A job was assigned while the holders were at the limit.
    OverLimit,
}

fn start() -> Timestamp {
    Timestamp::from_second(1_772_323_200).unwrap()
}

/// The model has no clock: when something happened makes no other state of it.
fn timeless(job: Job) -> Job {
    let fixed = |at: Option<Timestamp>| at.map(|_| start());
    Job {
        ready_at: start(),
        assigned_at: fixed(job.assigned_at),
        started_at: fixed(job.started_at),
        heartbeat_at: fixed(job.heartbeat_at),
        ended_at: fixed(job.ended_at),
        cancel_requested_at: fixed(job.cancel_requested_at),
        ..job
    }
}

impl World {
    fn new(limit: u32, shards: u8, broken: Option<DroppedRule>) -> Self {
        let job_type = builtin_job_type(&JobTypeName::parse("echo").unwrap()).unwrap();
        let submission = Submission {
            priority: JobPriority::P0,
            retry: Some(RetryPolicy { max_attempts: 2, backoff_seconds: 0 }),
            ..Submission::default()
        };
        let start = start();
        let job = |number: u8| {
            let id = JobId::new(start, [number; 8]);
            submission.build(id, &job_type, &UserId::outside("ada"), 0, None, start)
        };
        let max = split_limit(limit, shards, &vec![0; shards.into()]);
        let row = |(shard, max)| LicenceShard { shard, in_use: 0, max, version: 0 };
        Self {
            jobs: (0..2).map(job).collect(),
            rows: (0..shards).zip(max).map(row).collect(),
            limit,
            shards,
            plans: [None, None],
            limit_change: None,
            recount: None,
            changes_left: 1,
            max_version: 6 - u64::from(limit).max(2 * u64::from(shards) - 1),
            broken,
        }
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps = vec![Step::Commit(0), Step::Commit(1), Step::SplitLimit, Step::Correct];
        for job in 0..self.jobs.len() {
            steps.extend([
                Step::Start(job),
                Step::Complete(job),
                Step::Fail(job),
                Step::Check(job),
            ]);
            for row in 0..self.rows.len() {
                steps.extend([Step::Plan(0, job, row), Step::Plan(1, job, row)]);
            }
        }
        steps.push(Step::Cancel(0));
        steps.extend((0..self.rows.len()).map(Step::Count));
        if self.changes_left > 0 {
            steps.extend([
                Step::ChangeLimit(0, 1),
                Step::ChangeLimit(1, self.shards),
                Step::ChangeLimit(1, 1),
            ]);
        }
        steps
    }

    fn after(&self, step: Step) -> Result<Option<Self>, Violation> {
        let mut next = self.clone();
        let worker = || WorkerId::parse("w").unwrap();
        let attempt = |job: usize| self.jobs[job].attempt;
        match step {
            Step::Plan(dispatcher, job, row) => {
                let busy = self.plans[dispatcher].is_some();
                if busy || self.rows[row].available() == 0 || self.jobs[job].shard.is_some() {
                    return Ok(None);
                }
                next.plans[dispatcher] = Some((self.jobs[job].clone(), row));
            }
            Step::Commit(dispatcher) => {
                let Some((seen, row)) = next.plans[dispatcher].take() else { return Ok(None) };
                let event = JobEvent::Assigned { shard: self.rows[row].shard, worker: None };
                next.assign(&seen, row, &event)?;
            }
            Step::Start(job) => {
                let event = JobEvent::Started { worker: worker(), attempt: attempt(job) };
                return Ok(next.apply(job, &event).then_some(next));
            }
            Step::Complete(job) => {
                let (artifacts, result) = (Vec::new(), None);
                let event = JobEvent::Completed {
                    worker: worker(),
                    attempt: attempt(job),
                    artifacts,
                    result,
                };
                return next.apply_and_count(job, &event);
            }
            Step::Fail(job) => {
                let event = JobEvent::Failed {
                    worker: worker(),
                    attempt: attempt(job),
                    retryable: true,
                    error: String::new(),
                    jitter: 0,
                };
                return next.apply_and_count(job, &event);
            }
            Step::Cancel(job) => return next.apply_and_count(job, &JobEvent::Cancelled),
            Step::Check(job) => {
                let heartbeat_at = self.jobs[job].heartbeat_at;
                return next.apply_and_count(job, &JobEvent::Checked { heartbeat_at, jitter: 0 });
            }
            Step::ChangeLimit(limit, shards) => {
                next.changes_left -= 1;
                next.limit_change = Some((limit, shards, self.rows.clone()));
            }
            Step::SplitLimit => {
                let Some((limit, shards, seen)) = next.limit_change.take() else { return Ok(None) };
                next.split_limit(limit, shards, &seen);
            }
            Step::Count(row) => {
                if self.recount.is_some() || self.changes_left > 0 {
                    return Ok(None);
                }
                next.recount = Some((row, self.holders(row), false));
            }
            Step::Correct => {
                let Some((row, counted, moved)) = next.recount.take() else { return Ok(None) };
                if !moved || self.broken == Some(DroppedRule::CorrectedByStaleCount) {
                    next.rows[row].in_use = counted;
                }
            }
        }
        let counts = |row: usize| next.rows[row].in_use == next.holders(row);
        if (0..next.rows.len()).all(counts) { Ok(Some(next)) } else { Err(Violation::Drift) }
    }

    fn holders(&self, row: usize) -> u32 {
        let shard = Some(self.rows[row].shard);
        let held =
            self.jobs.iter().filter(|job| job.status.holds_licence() && job.shard == shard).count();
        u32::try_from(held).unwrap()
    }

    /// The transaction that makes a job ASSIGNED, with the store's conditions.
    fn assign(&mut self, seen: &Job, row: usize, event: &JobEvent) -> Result<(), Violation> {
        let JobDecision::Change(after) = transition(seen, event, start()) else { return Ok(()) };
        let index = self.jobs.iter().position(|job| job.id == seen.id).unwrap();
        let unmoved = self.jobs[index].version == seen.version;
        let licence = self.rows[row];
        let free = match self.broken {
            Some(DroppedRule::TakenUnguarded) => true,
            Some(DroppedRule::UnequalInsteadOfLess) => licence.in_use != licence.max,
            _ => licence.in_use < licence.max,
        };
        if !(unmoved || self.broken == Some(DroppedRule::VersionIgnored)) || !free {
            return Ok(());
        }
        let held: u32 = self.rows.iter().map(|row| row.in_use).sum();
        if held >= self.limit {
            return Err(Violation::OverLimit);
        }
        self.jobs[index] = timeless(*after);
        self.rows[row].in_use += 1;
        self.touch(row);
        Ok(())
    }

    /// A transaction on the current job; it returns a licence in the same step.
    fn apply(&mut self, job: usize, event: &JobEvent) -> bool {
        let before = self.jobs[job].clone();
        // Workers are checked after they have missed their heartbeats.
        let later = matches!(event, JobEvent::Checked { .. });
        let now = if later { after(start(), 3_600) } else { start() };
        let JobDecision::Change(after) = transition(&before, event, now) else { return false };
        if after.version > self.max_version {
            return false;
        }
        if let (Some(shard), None, false) =
            (before.shard, after.shard, self.broken == Some(DroppedRule::ReturnedLater))
        {
            let row = self.rows.iter().position(|row| row.shard == shard).unwrap();
            self.rows[row].in_use -= 1;
            self.touch(row);
        }
        self.jobs[job] = timeless(*after);
        true
    }

    fn touch(&mut self, changed: usize) {
        if let Some((row, _, moved)) = &mut self.recount {
            *moved |= *row == changed;
        }
    }

    fn apply_and_count(mut self, job: usize, event: &JobEvent) -> Result<Option<Self>, Violation> {
        if !self.apply(job, event) {
            return Ok(None);
        }
        let counts = |row: usize| self.rows[row].in_use == self.holders(row);
        if (0..self.rows.len()).all(counts) { Ok(Some(self)) } else { Err(Violation::Drift) }
    }

    /// The transaction that splits a limit, with the store's conditions: a row may have fewer holders
    /// than were read, never more.
    fn split_limit(&mut self, limit: u32, shards: u8, seen: &[LicenceShard]) {
        let grown = self.rows.iter().zip(seen).any(|(row, seen)| row.in_use > seen.in_use);
        let matters = self.rows.len() > 1 && self.broken != Some(DroppedRule::SplitByStaleRead);
        if grown && matters {
            return;
        }
        let in_use: Vec<u32> = match self.broken {
            Some(DroppedRule::SplitWithoutHolders) => vec![0; seen.len()],
            _ => seen.iter().map(|row| row.in_use).collect(),
        };
        for (row, max) in split_limit(limit, shards, &in_use).into_iter().enumerate() {
            self.rows[row].max = max;
            self.touch(row);
        }
        self.limit = limit;
        self.shards = shards;
    }
}

fn explore(limit: u32, shards: u8, broken: Option<DroppedRule>) -> Outcome<Step, Violation> {
    visit_all(World::new(limit, shards, broken), World::steps, World::after)
}

#[test]
fn in_no_order_of_events_are_there_more_holders_than_licences() {
    for (limit, shards) in [(1, 1), (2, 1), (2, 2)] {
        match explore(limit, shards, None) {
            Outcome::Sound { states } => {
                println!("limit {limit}, {shards} shards: {states} states");
                assert!(states > 3_000, "only {states} states: the model has become trivial");
            }
            Outcome::Broken(violation, steps) => panic!("{violation:?} after {steps:#?}"),
        }
    }
}

#[test]
fn dropping_any_one_rule_is_noticed() {
    for (broken, shards) in [
        (DroppedRule::UnequalInsteadOfLess, 1),
        (DroppedRule::TakenUnguarded, 1),
        (DroppedRule::VersionIgnored, 1),
        (DroppedRule::ReturnedLater, 1),
        (DroppedRule::SplitWithoutHolders, 2),
        (DroppedRule::SplitByStaleRead, 2),
        (DroppedRule::CorrectedByStaleCount, 1),
    ] {
        match explore(2, shards, Some(broken)) {
            Outcome::Broken(violation, steps) => {
                println!("{broken:?}: {violation:?} after {} steps", steps.len());
            }
            Outcome::Sound { states } => panic!("{broken:?} went unnoticed in {states} states"),
        }
    }
}
