//! Every state meets every event.

use proptest::prelude::*;

use super::*;
use crate::accounts::UserId;
use crate::jobs::{
    Actor, JobType, PayloadPlace, Priority, Record, RetryPolicy, Settings, Submission, TypeName,
    replay,
};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_772_323_200 + seconds).unwrap()
}

fn worker(name: &str) -> Worker {
    Worker::parse(name).unwrap()
}

fn parent() -> JobId {
    JobId::made_from(at(-100), [7; 8])
}

fn submitted(waits: bool) -> Job {
    let submission = Submission {
        priority: Priority::P2,
        retry: Some(RetryPolicy { max_attempts: 2, backoff_seconds: 10 }),
        timeout_seconds: Some(600),
        dependencies: if waits { vec![parent()] } else { Vec::new() },
        on_dependency_failure: OnDependencyFailure::Fail,
        not_before: None,
        payload: PayloadPlace::Nowhere,
    };
    let kind = JobType {
        name: TypeName::parse("demo").unwrap(),
        settings: Settings::default(),
        updated_at: None,
        widest: 1,
        version: 1,
    };
    let id = JobId::made_from(at(0), [1; 8]);
    submission.job(id, &kind, &UserId::outside("ada"), waits.into(), None, at(0))
}

fn events() -> Vec<(&'static str, Event)> {
    let (me, attempt) = (worker("me"), 1);
    vec![
        ("dependency", Event::DependencyEnded { dependency: parent(), completed: true }),
        ("no-dependency", Event::DependencyEnded { dependency: parent(), completed: false }),
        ("assign", Event::Assigned { shard: 0, worker: None }),
        ("start", Event::Started { worker: me.clone(), attempt }),
        ("start-other", Event::Started { worker: worker("other"), attempt }),
        ("start-stale", Event::Started { worker: me.clone(), attempt: 9 }),
        ("beat", Event::Beaten { worker: me.clone(), attempt, progress: Some(40) }),
        ("beat-other", Event::Beaten { worker: worker("other"), attempt, progress: None }),
        ("complete", completed("me", attempt)),
        ("complete-other", completed("other", attempt)),
        ("complete-stale", completed("me", 9)),
        ("fail", failed("me", attempt, true)),
        ("fail-for-good", failed("me", attempt, false)),
        ("fail-other", failed("other", attempt, true)),
        ("check", Event::Checked { heard_at: Some(at(2)), jitter: 0 }),
        ("cancel", Event::Cancelled),
        ("retry", Event::Retried),
    ]
}

fn completed(name: &str, attempt: u32) -> Event {
    Event::Completed { worker: worker(name), attempt, artifacts: Vec::new(), result: None }
}

fn failed(name: &str, attempt: u32, retryable: bool) -> Event {
    let error = "it broke".to_owned();
    Event::Failed { worker: worker(name), attempt, retryable, error, jitter: 0 }
}

fn next(job: &Job, event: &Event, now: Timestamp) -> Job {
    match transition(job, event, now) {
        Decision::Become(job) => *job,
        other @ (Decision::Stay | Decision::Refuse(_)) => {
            panic!("{event:?} on {:?}: {other:?}", job.status)
        }
    }
}

/// A job in each state, as it gets there. Everything happens within the first ten seconds.
fn lives() -> Vec<(&'static str, Job)> {
    let waiting = submitted(true);
    let queued = submitted(false);
    let assigned = next(&queued, &Event::Assigned { shard: 0, worker: None }, at(1));
    let start = Event::Started { worker: worker("me"), attempt: 1 };
    let running = next(&assigned, &start, at(2));
    let stopping = next(&running, &Event::Cancelled, at(3));
    let completed = next(&running, &completed("me", 1), at(4));
    let given_up = next(&running, &failed("me", 1, false), at(4));
    let cancelled = next(&stopping, &failed("me", 1, false), at(5));
    let settled = Job { settled: true, ..given_up.clone() };
    vec![
        ("waiting", waiting),
        ("queued", queued),
        ("assigned", assigned),
        ("running", running),
        ("stopping", stopping),
        ("completed", completed),
        ("failed", given_up),
        ("cancelled", cancelled),
        ("failed, settled", settled),
    ]
}

/// What comes of it: a status, `=` for nothing to do, `x` for refused. Columns are the events above,
/// ten seconds after the submission.
const TABLE: [(&str, &str); 9] = [
    //                   dep nodep assign start s-oth s-stl beat b-oth compl c-oth c-stl fail f-good f-oth check cancel retry
    ("waiting", "QUEUED FAILED x x x x x x x x x x x x = CANCELLED x"),
    ("queued", "= = ASSIGNED x x x x x x x x x x x = CANCELLED x"),
    ("assigned", "= = x RUNNING RUNNING x x x x x x x x x = CANCELLED x"),
    ("running", "= = x = x x RUNNING x COMPLETED x x QUEUED FAILED x = RUNNING x"),
    ("stopping", "= = x = x x RUNNING x COMPLETED x x CANCELLED CANCELLED x = = x"),
    ("completed", "= = x x x x x x = x x x x x = x x"),
    ("failed", "= = x x x x x x x x x = = x = x x"),
    ("cancelled", "= = x x x x x x x x x = = x = = x"),
    ("failed, settled", "= = x x x x x x x x x = = x = x QUEUED"),
];

#[test]
fn every_state_meets_every_event() {
    for ((name, job), (row, cells)) in lives().into_iter().zip(TABLE) {
        assert_eq!(name, row);
        let cells: Vec<&str> = cells.split_whitespace().collect();
        assert_eq!(cells.len(), events().len(), "{name}");
        for ((event_name, event), expected) in events().into_iter().zip(cells) {
            let decision = transition(&job, &event, at(10));
            let found = match &decision {
                Decision::Become(next) => next.status.name(),
                Decision::Stay => "=",
                Decision::Refuse(_) => "x",
            };
            assert_eq!(found, expected, "{event_name} on {name}: {decision:?}");
        }
    }
}

/// What must hold of any change, whatever led to it.
fn is_sound(before: &Job, after: &Job, event: &Event) -> Result<(), String> {
    let beat = matches!(event, Event::Beaten { .. });
    let version = before.version + u64::from(!beat);
    let rules = [
        ("a version for each change", after.version == version),
        ("a licence while it is held", after.shard.is_some() == after.status.holds()),
        ("an end has a time", after.ended_at.is_some() == after.status.is_final()),
        ("attempts only grow", after.attempt >= before.attempt),
        ("no attempt beyond the last", after.attempt <= after.last_attempt),
        ("a worker while it runs", after.status != Status::Running || after.worker.is_some()),
        ("priority is kept", after.priority == before.priority),
        (
            "no way back from completion",
            before.status != Status::Completed || after.status == Status::Completed,
        ),
        (
            "a run that began and is to be repeated costs an attempt",
            !(before.status == Status::Running && after.status == Status::Queued)
                || after.attempt == before.attempt + 1,
        ),
    ];
    match rules.iter().find(|(_, holds)| !holds) {
        Some((rule, _)) => Err(format!("{rule}: {event:?}\n{before:?}\n{after:?}")),
        None => Ok(()),
    }
}

fn any_event() -> impl Strategy<Value = Event> {
    let events: Vec<Event> = events().into_iter().map(|(_, event)| event).collect();
    (proptest::sample::select(events), 1_u32..4, any::<u64>()).prop_map(|(event, token, chance)| {
        match event {
            Event::Started { worker, .. } => Event::Started { worker, attempt: token },
            Event::Beaten { worker, progress, .. } => {
                Event::Beaten { worker, attempt: token, progress }
            }
            Event::Completed { worker, artifacts, result, .. } => {
                Event::Completed { worker, attempt: token, artifacts, result }
            }
            Event::Failed { worker, retryable, error, .. } => {
                Event::Failed { worker, attempt: token, retryable, error, jitter: chance }
            }
            Event::Checked { heard_at, .. } => Event::Checked { heard_at, jitter: chance },
            Event::DependencyEnded { .. }
            | Event::Assigned { .. }
            | Event::Cancelled
            | Event::Retried => event,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn whatever_happens_jobs_stay_sound_and_their_trail_leads_to_them(
        waits: bool,
        happenings in proptest::collection::vec((any_event(), 0_i64..90), 0..40),
    ) {
        let mut job = submitted(waits);
        let mut trail = vec![Record::submission(&job)];
        let mut seconds = 0;
        for (mut event, later) in happenings {
            seconds += later;
            if let Event::Checked { heard_at, .. } = &mut event {
                // Some worker's clock is behind.
                job.beat_at = job.beat_at.map(|at| after(at, -(later % 7)));
                *heard_at = job.beat_at;
            }
            if let Decision::Become(next) = transition(&job, &event, at(seconds)) {
                prop_assert_eq!(is_sound(&job, &next, &event), Ok(()));
                if next.version > job.version {
                    trail.push(Record::change(&next, event, Actor::System, at(seconds)));
                }
                job = *next;
            }
            // Sooner or later everyone is told; until then nobody may want it again.
            job.settled = job.status.is_final() && later % 2 == 0;
        }
        let replayed = replay(&trail).map(|replayed| Job {
            beat_at: job.beat_at,
            progress: job.progress,
            settled: job.settled,
            ..replayed
        });
        prop_assert_eq!(replayed, Some(job));
    }
}

#[test]
fn a_silent_worker_costs_an_attempt_and_no_delay() {
    let (_, running) = lives().remove(3);
    let check = |heard| Event::Checked { heard_at: Some(heard), jitter: u64::MAX };
    assert_eq!(transition(&running, &check(at(2)), at(61)), Decision::Stay);
    let spoke = Job { beat_at: Some(at(50)), ..running.clone() };
    assert_eq!(transition(&spoke, &check(at(2)), at(62)), Decision::Stay, "it spoke meanwhile");
    let again = next(&running, &check(at(2)), at(62));
    assert_eq!((again.status, again.attempt, again.ready_at), (Status::Queued, 2, at(62)));
    let assigned = next(&again, &Event::Assigned { shard: 0, worker: None }, at(62));
    let start = Event::Started { worker: worker("you"), attempt: 2 };
    let running = next(&assigned, &start, at(63));
    let ended = next(&running, &check(at(63)), at(123));
    assert_eq!(ended.status, Status::Failed);
    assert!(ended.error.as_deref().unwrap().contains("silent"));
}

#[test]
fn a_message_that_nobody_took_costs_nothing() {
    let (_, assigned) = lives().remove(2);
    let check = Event::Checked { heard_at: None, jitter: 0 };
    assert_eq!(transition(&assigned, &check, at(60)), Decision::Stay);
    let again = next(&assigned, &check, at(61));
    assert_eq!((again.status, again.attempt, again.ready_at), (Status::Queued, 1, at(0)));
}

#[test]
fn a_run_that_takes_too_long_fails_though_its_worker_speaks() {
    let (_, mut running) = lives().remove(3);
    running.beat_at = Some(at(601));
    let check = Event::Checked { heard_at: running.beat_at, jitter: 0 };
    assert_eq!(transition(&running, &check, at(601)), Decision::Stay);
    let again = next(&running, &check, at(602));
    assert_eq!((again.status, again.attempt), (Status::Queued, 2));
    assert!(again.error.as_deref().unwrap().contains("longer than 600 s"));
}

#[test]
fn delays_double_are_spread_and_end_at_an_hour() {
    let policy = RetryPolicy { max_attempts: 9, backoff_seconds: 10 };
    for (attempt, most) in [(1, 10_000), (2, 20_000), (3, 40_000), (12, 3_600_000)] {
        let delays: Vec<i64> =
            (0..2_000_u64).map(|lot| policy.delay_ms(attempt, crate::splitmix64(lot))).collect();
        assert!(delays.iter().all(|delay| (0..=most).contains(delay)), "attempt {attempt}");
        let mean = delays.iter().sum::<i64>() / 2_000;
        assert!((most * 9 / 20..most * 11 / 20).contains(&mean), "attempt {attempt}: {mean}");
    }
    assert_eq!(RetryPolicy { backoff_seconds: 0, ..policy }.delay_ms(3, 99), 0);
}

#[test]
fn a_job_that_is_wanted_again_counts_on_and_gets_as_many_runs_as_before() {
    let (_, settled) = lives().pop().unwrap();
    let again = next(&settled, &Event::Retried, at(20));
    assert_eq!((again.attempt, again.last_attempt), (2, 3));
    assert_eq!(again.priority, Priority::P2);
}

#[test]
fn a_cancelled_job_keeps_count_of_what_it_waited_for() {
    let waiting = submitted(true);
    let cancelled = next(&waiting, &Event::Cancelled, at(1));
    let cancelled = Job { settled: true, ..cancelled };
    let again = next(&cancelled, &Event::Retried, at(3));
    assert_eq!(again.status, Status::Waiting);
    let over = Event::DependencyEnded { dependency: parent(), completed: false };
    let counted = next(&cancelled, &over, at(3));
    assert_eq!(next(&counted, &Event::Retried, at(4)).status, Status::Queued);
}
