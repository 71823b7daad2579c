//! Every state meets every event.

use proptest::prelude::*;

use super::*;
use crate::accounts::UserId;
use crate::jobs::{
    Actor, AuditRecord, JobPriority, JobTypeName, RetryPolicy, Submission, builtin_job_type, replay,
};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_772_323_200 + seconds).unwrap()
}

fn worker(name: &str) -> WorkerId {
    WorkerId::parse(name).unwrap()
}

fn parent() -> JobId {
    JobId::new(at(-100), [7; 8])
}

fn submitted(waits: bool) -> Job {
    let submission = Submission {
        retry: Some(RetryPolicy { max_attempts: 2, backoff_seconds: 10 }),
        timeout_seconds: Some(600),
        dependencies: if waits { vec![parent()] } else { Vec::new() },
        ..Submission::default()
    };
    let job_type = builtin_job_type(&JobTypeName::parse("echo").unwrap()).unwrap();
    let id = JobId::new(at(0), [1; 8]);
    submission.build(id, &job_type, &UserId::outside("ada"), waits.into(), None, at(0))
}

fn events() -> Vec<(&'static str, JobEvent)> {
    let (me, attempt) = (worker("me"), 1);
    vec![
        ("dependency", JobEvent::DependencyEnded { dependency: parent(), completed: true }),
        ("no-dependency", JobEvent::DependencyEnded { dependency: parent(), completed: false }),
        ("assign", JobEvent::Assigned { shard: 0, worker: None }),
        ("start", JobEvent::Started { worker: me.clone(), attempt }),
        ("start-other", JobEvent::Started { worker: worker("other"), attempt }),
        ("start-stale", JobEvent::Started { worker: me.clone(), attempt: 9 }),
        ("beat", JobEvent::Heartbeat { worker: me.clone(), attempt, progress: Some(40) }),
        ("beat-other", JobEvent::Heartbeat { worker: worker("other"), attempt, progress: None }),
        ("complete", completed("me", attempt)),
        ("complete-other", completed("other", attempt)),
        ("complete-stale", completed("me", 9)),
        ("fail", failed("me", attempt, true)),
        ("fail-for-good", failed("me", attempt, false)),
        ("fail-other", failed("other", attempt, true)),
        ("check", JobEvent::Checked { heartbeat_at: Some(at(2)), jitter: 0 }),
        ("cancel", JobEvent::Cancelled),
        ("retry", JobEvent::Retried),
    ]
}

fn completed(name: &str, attempt: u32) -> JobEvent {
    JobEvent::Completed { worker: worker(name), attempt, artifacts: Vec::new(), result: None }
}

fn failed(name: &str, attempt: u32, retryable: bool) -> JobEvent {
    let error = "it broke".to_owned();
    JobEvent::Failed { worker: worker(name), attempt, retryable, error, jitter: 0 }
}

fn next(job: &Job, event: &JobEvent, now: Timestamp) -> Job {
    match transition(job, event, now) {
        JobDecision::Change(job) => *job,
        other @ (JobDecision::NoChange | JobDecision::Refuse(_)) => {
            panic!("{event:?} on {:?}: {other:?}", job.status)
        }
    }
}

/// A job in each state, as it gets there. Every event is within the first ten seconds.
fn jobs_in_every_state() -> Vec<(&'static str, Job)> {
    let waiting = submitted(true);
    let queued = submitted(false);
    let assigned = next(&queued, &JobEvent::Assigned { shard: 0, worker: None }, at(1));
    let start = JobEvent::Started { worker: worker("me"), attempt: 1 };
    let running = next(&assigned, &start, at(2));
    let stopping = next(&running, &JobEvent::Cancelled, at(3));
    let completed = next(&running, &completed("me", 1), at(4));
    let given_up = next(&running, &failed("me", 1, false), at(4));
    let cancelled = next(&stopping, &failed("me", 1, false), at(5));
    let announced = Job { end_announced: true, ..given_up.clone() };
    vec![
        ("waiting", waiting),
        ("queued", queued),
        ("assigned", assigned),
        ("running", running),
        ("stopping", stopping),
        ("completed", completed),
        ("failed", given_up),
        ("cancelled", cancelled),
        ("failed, announced", announced),
    ]
}

/// The decision: a status, `=` for no change, `x` for refused. Columns are the events above,
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
    ("failed, announced", "= = x x x x x x x x x = = x = x QUEUED"),
];

#[test]
fn every_state_meets_every_event() {
    for ((name, job), (row, cells)) in jobs_in_every_state().into_iter().zip(TABLE) {
        assert_eq!(name, row);
        let cells: Vec<&str> = cells.split_whitespace().collect();
        assert_eq!(cells.len(), events().len(), "{name}");
        for ((event_name, event), expected) in events().into_iter().zip(cells) {
            let decision = transition(&job, &event, at(10));
            let found = match &decision {
                JobDecision::Change(next) => next.status.name(),
                JobDecision::NoChange => "=",
                JobDecision::Refuse(_) => "x",
            };
            assert_eq!(found, expected, "{event_name} on {name}: {decision:?}");
        }
    }
}

/// Invariants of every change.
fn check_invariants(before: &Job, after: &Job, event: &JobEvent) -> Result<(), String> {
    let beat = matches!(event, JobEvent::Heartbeat { .. });
    let version = before.version + u64::from(!beat);
    let rules = [
        ("a version for each change", after.version == version),
        ("a licence while it is held", after.shard.is_some() == after.status.holds_licence()),
        ("an end has a time", after.ended_at.is_some() == after.status.is_final()),
        ("attempts only grow", after.attempt >= before.attempt),
        ("no attempt beyond the last", after.attempt <= after.last_attempt),
        ("a worker while it runs", after.status != JobStatus::Running || after.worker.is_some()),
        ("priority is kept", after.priority == before.priority),
        (
            "no way back from completion",
            before.status != JobStatus::Completed || after.status == JobStatus::Completed,
        ),
        (
            "a run that began and is to be repeated costs an attempt",
            !(before.status == JobStatus::Running && after.status == JobStatus::Queued)
                || after.attempt == before.attempt + 1,
        ),
    ];
    match rules.iter().find(|(_, holds)| !holds) {
        Some((rule, _)) => Err(format!("{rule}: {event:?}\n{before:?}\n{after:?}")),
        None => Ok(()),
    }
}

fn any_event() -> impl Strategy<Value = JobEvent> {
    let events: Vec<JobEvent> = events().into_iter().map(|(_, event)| event).collect();
    (proptest::sample::select(events), 1_u32..4, any::<u64>()).prop_map(
        |(event, attempt, jitter)| match event {
            JobEvent::Started { worker, .. } => JobEvent::Started { worker, attempt },
            JobEvent::Heartbeat { worker, progress, .. } => {
                JobEvent::Heartbeat { worker, attempt, progress }
            }
            JobEvent::Completed { worker, artifacts, result, .. } => {
                JobEvent::Completed { worker, attempt, artifacts, result }
            }
            JobEvent::Failed { worker, retryable, error, .. } => {
                JobEvent::Failed { worker, attempt, retryable, error, jitter }
            }
            JobEvent::Checked { heartbeat_at, .. } => JobEvent::Checked { heartbeat_at, jitter },
            JobEvent::DependencyEnded { .. }
            | JobEvent::Assigned { .. }
            | JobEvent::Cancelled
            | JobEvent::Retried => event,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn invariants_hold_after_any_events_and_the_audit_trail_replays_to_the_job(
        waits: bool,
        events in proptest::collection::vec((any_event(), 0_i64..90), 0..40),
    ) {
        let mut job = submitted(waits);
        let mut trail = vec![AuditRecord::submission(&job)];
        let mut seconds = 0;
        for (mut event, later) in events {
            seconds += later;
            if let JobEvent::Checked { heartbeat_at, .. } = &mut event {
                // Some worker's clock is behind.
                job.heartbeat_at = job.heartbeat_at.map(|at| after(at, -(later % 7)));
                *heartbeat_at = job.heartbeat_at;
            }
            if let JobDecision::Change(next) = transition(&job, &event, at(seconds)) {
                prop_assert_eq!(check_invariants(&job, &next, &event), Ok(()));
                if next.version > job.version {
                    trail.push(AuditRecord::change(&next, event, Actor::System, at(seconds)));
                }
                job = *next;
            }
            // The end is announced sooner or later; until then its owner may not retry it.
            job.end_announced = job.status.is_final() && later % 2 == 0;
        }
        let replayed = replay(&trail).map(|replayed| Job {
            heartbeat_at: job.heartbeat_at,
            progress: job.progress,
            end_announced: job.end_announced,
            ..replayed
        });
        prop_assert_eq!(replayed, Some(job));
    }
}

#[test]
fn missed_heartbeats_cost_an_attempt_and_no_delay() {
    let (_, running) = jobs_in_every_state().remove(3);
    let check = |last| JobEvent::Checked { heartbeat_at: Some(last), jitter: u64::MAX };
    assert_eq!(transition(&running, &check(at(2)), at(61)), JobDecision::NoChange);
    let alive = Job { heartbeat_at: Some(at(50)), ..running.clone() };
    assert_eq!(
        transition(&alive, &check(at(2)), at(62)),
        JobDecision::NoChange,
        "a heartbeat came meanwhile"
    );
    let again = next(&running, &check(at(2)), at(62));
    assert_eq!((again.status, again.attempt, again.ready_at), (JobStatus::Queued, 2, at(62)));
    let assigned = next(&again, &JobEvent::Assigned { shard: 0, worker: None }, at(62));
    let start = JobEvent::Started { worker: worker("you"), attempt: 2 };
    let running = next(&assigned, &start, at(63));
    let ended = next(&running, &check(at(63)), at(123));
    assert_eq!(ended.status, JobStatus::Failed);
    assert!(ended.error.as_deref().unwrap().contains("silent"));
}

#[test]
fn an_assignment_that_no_worker_started_costs_no_attempt() {
    let (_, assigned) = jobs_in_every_state().remove(2);
    let check = JobEvent::Checked { heartbeat_at: None, jitter: 0 };
    assert_eq!(transition(&assigned, &check, at(60)), JobDecision::NoChange);
    let again = next(&assigned, &check, at(61));
    assert_eq!((again.status, again.attempt, again.ready_at), (JobStatus::Queued, 1, at(0)));
}

#[test]
fn a_run_that_takes_too_long_fails_though_its_worker_sends_heartbeats() {
    let (_, mut running) = jobs_in_every_state().remove(3);
    running.heartbeat_at = Some(at(601));
    let check = JobEvent::Checked { heartbeat_at: running.heartbeat_at, jitter: 0 };
    assert_eq!(transition(&running, &check, at(601)), JobDecision::NoChange);
    let again = next(&running, &check, at(602));
    assert_eq!((again.status, again.attempt), (JobStatus::Queued, 2));
    assert!(again.error.as_deref().unwrap().contains("longer than 600 s"));
}

#[test]
fn delays_double_are_spread_and_end_at_an_hour() {
    let policy = RetryPolicy { max_attempts: 9, backoff_seconds: 10 };
    for (attempt, max) in [(1, 10_000), (2, 20_000), (3, 40_000), (12, 3_600_000)] {
        let delays: Vec<i64> =
            (0..2_000_u64).map(|n| policy.delay_ms(attempt, crate::splitmix64(n))).collect();
        assert!(delays.iter().all(|delay| (0..=max).contains(delay)), "attempt {attempt}");
        let mean = delays.iter().sum::<i64>() / 2_000;
        assert!((max * 9 / 20..max * 11 / 20).contains(&mean), "attempt {attempt}: {mean}");
    }
    assert_eq!(RetryPolicy { backoff_seconds: 0, ..policy }.delay_ms(3, 99), 0);
}

#[test]
fn a_retried_job_counts_its_attempts_on_and_gets_as_many_as_before() {
    let (_, announced) = jobs_in_every_state().pop().unwrap();
    let again = next(&announced, &JobEvent::Retried, at(20));
    assert_eq!((again.attempt, again.last_attempt), (2, 3));
    assert_eq!(again.priority, JobPriority::P2);
}

#[test]
fn a_cancelled_job_goes_on_counting_its_dependencies() {
    let waiting = submitted(true);
    let cancelled = next(&waiting, &JobEvent::Cancelled, at(1));
    let cancelled = Job { end_announced: true, ..cancelled };
    let again = next(&cancelled, &JobEvent::Retried, at(3));
    assert_eq!(again.status, JobStatus::Waiting);
    let over = JobEvent::DependencyEnded { dependency: parent(), completed: false };
    let counted = next(&cancelled, &over, at(3));
    assert_eq!(next(&counted, &JobEvent::Retried, at(4)).status, JobStatus::Queued);
}

#[test]
fn a_record_with_the_old_name_of_the_heartbeat_is_read() {
    let old = r#"{"event":"checked","heardAt":"2026-03-01T00:00:00Z","jitter":1}"#;
    let event: JobEvent = serde_json::from_str(old).unwrap();
    assert_eq!(event, JobEvent::Checked { heartbeat_at: Some(at(0)), jitter: 1 });
}
