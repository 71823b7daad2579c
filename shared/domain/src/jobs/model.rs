//! An exhaustive search of the licences in a small world.
//!
//! Two jobs of one type, two dispatchers that decide on what they read a while ago, workers that
//! begin, end, fail or fall silent, an admin who changes the limit and the number of shards, and a
//! sweep that counts: in every order. The decisions are the real ones, [`transition`] and [`allot`];
//! a commit holds to the conditions that the store's transaction has.
//!
//! In no reachable state do the rows count other than the holders there are, or does a commit let a
//! job in while the holders are at the limit. Then the protocol is broken on purpose, one rule at a
//! time, and the search has to notice.

use super::licence::{Licence, allot};
use super::transition::{Decision, Event, transition};
use super::{
    Job, JobId, JobType, OnDependencyFailure, PayloadPlace, Priority, RetryPolicy, Settings,
    Submission, TypeName, Worker, after,
};
use crate::Timestamp;
use crate::accounts::UserId;
use crate::model_check::{Outcome, visit_all};

/// A rule that is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Break {
    /// Licences are taken while `in_use <> max`, which a lowered limit slips past.
    UnequalInsteadOfLess,
    /// Licences are taken whatever the row says.
    TakenUnguarded,
    /// Jobs are written whatever version they have.
    VersionIgnored,
    /// A licence is given back in a second step, which a crash may cut off.
    GivenBackLater,
    /// A lowered limit is shared out without looking at who holds.
    SharedOutBlindly,
    /// The limit is shared out though others took licences meanwhile.
    SharedOutLate,
    /// The sweep writes what it counted though rows have changed since.
    RecountedLate,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    jobs: Vec<Job>,
    rows: Vec<Licence>,
    limit: u32,
    shards: u8,
    /// What each dispatcher read: a job, and the row it wants a licence of.
    plans: [Option<(Job, usize)>; 2],
    /// What an admin read before changing the limit.
    change: Option<(u32, u8, Vec<Licence>)>,
    /// What the sweep counted in a row, and whether that has changed since.
    recount: Option<(usize, u32, bool)>,
    changes_left: u8,
    /// A job may be handed out and left alone for ever; the search has to end.
    longest_life: u64,
    broken: Option<Break>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Plan(usize, usize, usize),
    Commit(usize),
    Begin(usize),
    Complete(usize),
    Fail(usize),
    Cancel(usize),
    Check(usize),
    Change(u32, u8),
    Share,
    Count(usize),
    Repair,
}

#[derive(Debug, PartialEq, Eq)]
enum Violation {
    /// A row counts other than its holders.
    Drift,
    /// A job was let in while the holders were at the limit.
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
        beat_at: fixed(job.beat_at),
        ended_at: fixed(job.ended_at),
        cancel_requested_at: fixed(job.cancel_requested_at),
        ..job
    }
}

impl World {
    fn new(limit: u32, shards: u8, broken: Option<Break>) -> Self {
        let kind = JobType {
            name: TypeName::parse("demo").unwrap(),
            settings: Settings::default(),
            updated_at: None,
            widest: 1,
            version: 1,
        };
        let submission = Submission {
            priority: Priority::P0,
            retry: Some(RetryPolicy { max_attempts: 2, backoff_seconds: 0 }),
            timeout_seconds: None,
            dependencies: Vec::new(),
            on_dependency_failure: OnDependencyFailure::Fail,
            not_before: None,
            payload: PayloadPlace::Nowhere,
        };
        let start = start();
        let job = |number: u8| {
            let id = JobId::made_from(start, [number; 8]);
            submission.job(id, &kind, &UserId::outside("ada"), 0, None, start)
        };
        let max = allot(limit, shards, &vec![0; shards.into()]);
        let row = |(shard, max)| Licence { shard, in_use: 0, max, version: 0 };
        Self {
            jobs: (0..2).map(job).collect(),
            rows: (0..shards).zip(max).map(row).collect(),
            limit,
            shards,
            plans: [None, None],
            change: None,
            recount: None,
            changes_left: 1,
            longest_life: 6 - u64::from(limit).max(2 * u64::from(shards) - 1),
            broken,
        }
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps = vec![Step::Commit(0), Step::Commit(1), Step::Share, Step::Repair];
        for job in 0..self.jobs.len() {
            steps.extend([
                Step::Begin(job),
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
            steps.extend([Step::Change(0, 1), Step::Change(1, self.shards), Step::Change(1, 1)]);
        }
        steps
    }

    fn after(&self, step: Step) -> Result<Option<Self>, Violation> {
        let mut next = self.clone();
        let worker = || Worker::parse("w").unwrap();
        let attempt = |job: usize| self.jobs[job].attempt;
        match step {
            Step::Plan(dispatcher, job, row) => {
                let busy = self.plans[dispatcher].is_some();
                if busy || self.rows[row].room() == 0 || self.jobs[job].shard.is_some() {
                    return Ok(None);
                }
                next.plans[dispatcher] = Some((self.jobs[job].clone(), row));
            }
            Step::Commit(dispatcher) => {
                let Some((seen, row)) = next.plans[dispatcher].take() else { return Ok(None) };
                let event = Event::Assigned { shard: self.rows[row].shard, worker: None };
                next.assign(&seen, row, &event)?;
            }
            Step::Begin(job) => {
                let event = Event::Started { worker: worker(), attempt: attempt(job) };
                return Ok(next.happens(job, &event).then_some(next));
            }
            Step::Complete(job) => {
                let (artifacts, result) = (Vec::new(), None);
                let event =
                    Event::Completed { worker: worker(), attempt: attempt(job), artifacts, result };
                return next.checked(job, &event);
            }
            Step::Fail(job) => {
                let event = Event::Failed {
                    worker: worker(),
                    attempt: attempt(job),
                    retryable: true,
                    error: String::new(),
                    jitter: 0,
                };
                return next.checked(job, &event);
            }
            Step::Cancel(job) => return next.checked(job, &Event::Cancelled),
            Step::Check(job) => {
                let heard_at = self.jobs[job].beat_at;
                return next.checked(job, &Event::Checked { heard_at, jitter: 0 });
            }
            Step::Change(limit, shards) => {
                next.changes_left -= 1;
                next.change = Some((limit, shards, self.rows.clone()));
            }
            Step::Share => {
                let Some((limit, shards, seen)) = next.change.take() else { return Ok(None) };
                next.share(limit, shards, &seen);
            }
            Step::Count(row) => {
                if self.recount.is_some() || self.changes_left > 0 {
                    return Ok(None);
                }
                next.recount = Some((row, self.holders(row), false));
            }
            Step::Repair => {
                let Some((row, counted, moved)) = next.recount.take() else { return Ok(None) };
                if !moved || self.broken == Some(Break::RecountedLate) {
                    next.rows[row].in_use = counted;
                }
            }
        }
        let counts = |row: usize| next.rows[row].in_use == next.holders(row);
        if (0..next.rows.len()).all(counts) { Ok(Some(next)) } else { Err(Violation::Drift) }
    }

    fn holders(&self, row: usize) -> u32 {
        let shard = Some(self.rows[row].shard);
        let held = self.jobs.iter().filter(|job| job.status.holds() && job.shard == shard).count();
        u32::try_from(held).unwrap()
    }

    /// The transaction that makes a job ASSIGNED, with the store's conditions.
    fn assign(&mut self, seen: &Job, row: usize, event: &Event) -> Result<(), Violation> {
        let Decision::Become(after) = transition(seen, event, start()) else { return Ok(()) };
        let index = self.jobs.iter().position(|job| job.id == seen.id).unwrap();
        let unmoved = self.jobs[index].version == seen.version;
        let licence = self.rows[row];
        let free = match self.broken {
            Some(Break::TakenUnguarded) => true,
            Some(Break::UnequalInsteadOfLess) => licence.in_use != licence.max,
            _ => licence.in_use < licence.max,
        };
        if !(unmoved || self.broken == Some(Break::VersionIgnored)) || !free {
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

    /// A transaction on the job as it is now; one that gives a licence back does so in the same step.
    fn happens(&mut self, job: usize, event: &Event) -> bool {
        let before = self.jobs[job].clone();
        // Whoever looks for silence does so when there was enough of it.
        let later = matches!(event, Event::Checked { .. });
        let now = if later { after(start(), 3_600) } else { start() };
        let Decision::Become(after) = transition(&before, event, now) else { return false };
        if after.version > self.longest_life {
            return false;
        }
        if let (Some(shard), None, false) =
            (before.shard, after.shard, self.broken == Some(Break::GivenBackLater))
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

    fn checked(mut self, job: usize, event: &Event) -> Result<Option<Self>, Violation> {
        if !self.happens(job, event) {
            return Ok(None);
        }
        let counts = |row: usize| self.rows[row].in_use == self.holders(row);
        if (0..self.rows.len()).all(counts) { Ok(Some(self)) } else { Err(Violation::Drift) }
    }

    /// The transaction that shares a limit out, with the store's conditions: a row may have fewer
    /// holders than were seen, never more.
    fn share(&mut self, limit: u32, shards: u8, seen: &[Licence]) {
        let grown = self.rows.iter().zip(seen).any(|(row, seen)| row.in_use > seen.in_use);
        let matters = self.rows.len() > 1 && self.broken != Some(Break::SharedOutLate);
        if grown && matters {
            return;
        }
        let in_use: Vec<u32> = match self.broken {
            Some(Break::SharedOutBlindly) => vec![0; seen.len()],
            _ => seen.iter().map(|row| row.in_use).collect(),
        };
        for (row, max) in allot(limit, shards, &in_use).into_iter().enumerate() {
            self.rows[row].max = max;
            self.touch(row);
        }
        self.limit = limit;
        self.shards = shards;
    }
}

fn explore(limit: u32, shards: u8, broken: Option<Break>) -> Outcome<Step, Violation> {
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
        (Break::UnequalInsteadOfLess, 1),
        (Break::TakenUnguarded, 1),
        (Break::VersionIgnored, 1),
        (Break::GivenBackLater, 1),
        (Break::SharedOutBlindly, 2),
        (Break::SharedOutLate, 2),
        (Break::RecountedLate, 1),
    ] {
        match explore(2, shards, Some(broken)) {
            Outcome::Broken(violation, steps) => {
                println!("{broken:?}: {violation:?} after {} steps", steps.len());
            }
            Outcome::Sound { states } => panic!("{broken:?} went unnoticed in {states} states"),
        }
    }
}
