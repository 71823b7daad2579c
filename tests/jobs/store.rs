//! Jobs: submissions, changes and heartbeats; licences in the file beside.

mod licences;

use ::jobs::store::Jobs;
use ::jobs::store::{Beaten, Change, Committed, Submitted, Wanted};
use domain::Timestamp;
use domain::accounts::UserId;
use domain::jobs::{
    Actor, Decision, Event, Job, JobId, JobType, OnDependencyFailure, PayloadPlace, Priority,
    Record, Settings, Submission, TypeName, Worker, transition,
};
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};
use tests::Lab;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_772_366_400 + second).unwrap()
}

/// A lab, and the store of its jobs.
fn fresh() -> (Lab, Jobs) {
    let lab = Lab::new();
    let jobs = super::jobs(&lab);
    (lab, jobs)
}

fn worker(name: &str) -> Worker {
    Worker::parse(name).unwrap()
}

fn kind(max_concurrent: u32) -> JobType {
    JobType {
        name: TypeName::parse("outside").unwrap(),
        settings: Settings { max_concurrent, ..Settings::default() },
        updated_at: None,
        widest: 1,
        version: 1,
    }
}

fn id(n: u8) -> JobId {
    JobId::made_from(at(0), [n; 8])
}

fn new_job(n: u8, dependencies: &[JobId]) -> Job {
    let submission = Submission {
        priority: Priority::P2,
        retry: None,
        timeout_seconds: None,
        dependencies: dependencies.to_vec(),
        on_dependency_failure: OnDependencyFailure::Fail,
        not_before: None,
        payload: PayloadPlace::Row,
    };
    let open = u32::try_from(dependencies.len()).unwrap();
    submission.job(id(n), &kind(5), &UserId::parse("ada").unwrap(), open, None, at(0))
}

async fn submit(jobs: &Jobs, job: &Job) -> Submitted {
    let wanted = Wanted { job, payload: Some("1"), open: &job.dependencies, once: None };
    jobs.submit(wanted, at(0), &format!("submit-{}", job.id.as_str())).await.unwrap()
}

/// Decides and writes; what came of it and what was decided.
async fn happen(jobs: &Jobs, before: &Job, event: Event, token: &str) -> (Committed, Job) {
    let Decision::Become(after) = transition(before, &event, at(1)) else { panic!("{event:?}") };
    let dependency = if let Event::DependencyEnded { dependency, .. } = &event {
        Some(dependency.clone())
    } else {
        None
    };
    let record = Record::change(&after, event, Actor::System, at(1));
    let dependency = dependency.as_ref();
    let change = Change { before, after: &after, record: &record, dependency, limit: 5 };
    (jobs.commit(change, token).await.unwrap(), *after)
}

fn assign() -> Event {
    Event::Assigned { shard: 0, worker: Some(worker("w")) }
}

fn start() -> Event {
    Event::Started { worker: worker("w"), attempt: 1 }
}

/// A job that a worker is at.
async fn running(jobs: &Jobs, n: u8) -> Job {
    let job = new_job(n, &[]);
    assert_eq!(submit(jobs, &job).await, Submitted::Created);
    let (done, job) = happen(jobs, &job, assign(), &format!("assign-{n}")).await;
    assert_eq!(done, Committed::Done);
    let (done, job) = happen(jobs, &job, start(), &format!("start-{n}")).await;
    assert_eq!(done, Committed::Done);
    job
}

#[tokio::test(start_paused = true)]
async fn a_submission_is_there_with_everything_or_not_at_all() {
    let (_lab, jobs) = fresh();
    let parent = new_job(1, &[]);
    assert_eq!(submit(&jobs, &parent).await, Submitted::Created);
    let child = new_job(2, std::slice::from_ref(&parent.id));
    assert_eq!(submit(&jobs, &child).await, Submitted::Created);
    assert_eq!(jobs.find(&child.id).await.unwrap(), Some(child.clone()));
    assert_eq!(jobs.payload(&child.id).await.unwrap().as_deref(), Some("1"));
    assert_eq!(jobs.children(&parent.id).await.unwrap(), [child.id]);
    let (_, ended) = happen(&jobs, &parent, Event::Cancelled, "cancel").await;
    assert!(ended.status.is_final());
    for missing in [parent.id, id(9)] {
        let late = new_job(3, std::slice::from_ref(&missing));
        assert_eq!(submit(&jobs, &late).await, Submitted::DependencyMoved);
        assert_eq!(jobs.find(&late.id).await.unwrap(), None);
        assert_eq!(jobs.payload(&late.id).await.unwrap(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn the_second_with_a_key_gets_the_answer_of_the_first() {
    let (_lab, jobs) = fresh();
    let answer = |body: &str| StoredResponse {
        status: 201,
        location: None,
        etag: None,
        body: body.as_bytes().to_vec(),
    };
    let attempt = async |n: u8, fingerprint: u8| {
        let request = IdempotentRequest {
            caller: "ada",
            operation: "submitJob",
            key: "key",
            fingerprint: [fingerprint; 32],
            claimant: "someone",
            deadline: at(30),
        };
        let (job, kept) = (new_job(n, &[]), answer(&n.to_string()));
        let once = Some((&request, &kept));
        let wanted = Wanted { job: &job, payload: None, open: &[], once };
        jobs.submit(wanted, at(0), &format!("once-{n}")).await.unwrap()
    };
    assert_eq!(attempt(1, 0).await, Submitted::Created);
    assert_eq!(attempt(2, 0).await, Submitted::Before(Claim::Answered(answer("1"))));
    assert_eq!(attempt(3, 7).await, Submitted::Before(Claim::Mismatch));
    for n in [2, 3] {
        assert_eq!(jobs.find(&id(n)).await.unwrap(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_of_a_version_that_is_gone_is_not_written() {
    let (_lab, jobs) = fresh();
    let job = new_job(1, &[]);
    submit(&jobs, &job).await;
    let (won, after) = happen(&jobs, &job, assign(), "first").await;
    assert_eq!(won, Committed::Done);
    assert_eq!(happen(&jobs, &job, assign(), "second").await.0, Committed::Moved);
    assert_eq!(happen(&jobs, &job, Event::Cancelled, "third").await.0, Committed::Moved);
    assert_eq!(jobs.find(&job.id).await.unwrap(), Some(after));
    assert_eq!(jobs.trail(&job.id, 10, None).await.unwrap().items.len(), 2);
    assert_eq!(jobs.licences(&kind(5)).await.unwrap()[0].in_use, 1);
}

#[tokio::test(start_paused = true)]
async fn whoever_was_heard_of_since_is_not_taken_for_silent() {
    let (_lab, jobs) = fresh();
    let seen = running(&jobs, 1).await;
    let Decision::Become(after) =
        transition(&seen, &Event::Checked { heard_at: seen.beat_at, jitter: 0 }, at(90))
    else {
        panic!("it is silent")
    };
    jobs.beat(&seen.id, &worker("w"), 1, None, at(89)).await.unwrap();
    let record = Record::change(
        &after,
        Event::Checked { heard_at: seen.beat_at, jitter: 0 },
        Actor::System,
        at(90),
    );
    let change =
        Change { before: &seen, after: &after, record: &record, dependency: None, limit: 5 };
    assert_eq!(jobs.commit(change, "silent").await.unwrap(), Committed::Moved);
    assert_eq!(jobs.find(&seen.id).await.unwrap().unwrap().beat_at, Some(at(89)));
}

#[tokio::test(start_paused = true)]
async fn only_who_runs_a_job_is_heard() {
    let (_lab, jobs) = fresh();
    let job = running(&jobs, 1).await;
    for (name, attempt) in [("w", 2), ("v", 1)] {
        let refused = jobs.beat(&job.id, &worker(name), attempt, Some(9), at(5)).await.unwrap();
        assert_eq!(refused, Beaten::Refused(Some(Box::new(job.clone()))));
    }
    let unknown = jobs.beat(&id(9), &worker("w"), 1, None, at(5)).await.unwrap();
    assert_eq!(unknown, Beaten::Refused(None));
    let expected = Job { beat_at: Some(at(5)), progress: 9, ..job.clone() };
    let noted = jobs.beat(&job.id, &worker("w"), 1, Some(9), at(5)).await.unwrap();
    assert_eq!(noted, Beaten::Noted(Box::new(expected)));
}

#[tokio::test(start_paused = true)]
async fn a_dependency_is_counted_once() {
    let (_lab, jobs) = fresh();
    let (a, b) = (new_job(1, &[]), new_job(2, &[]));
    submit(&jobs, &a).await;
    submit(&jobs, &b).await;
    let child = new_job(3, &[a.id.clone(), b.id]);
    submit(&jobs, &child).await;
    let ended = Event::DependencyEnded { dependency: a.id.clone(), completed: true };
    let (won, after) = happen(&jobs, &child, ended.clone(), "first").await;
    assert_eq!((won, after.open_dependencies), (Committed::Done, 1));
    assert_eq!(happen(&jobs, &after, ended, "second").await.0, Committed::Counted);
    assert_eq!(jobs.find(&child.id).await.unwrap(), Some(after));
    assert!(jobs.children(&a.id).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_end_is_settled_unless_it_is_no_end_any_more() {
    let (_lab, jobs) = fresh();
    let job = new_job(1, &[]);
    submit(&jobs, &job).await;
    let (_, ended) = happen(&jobs, &job, Event::Cancelled, "cancel").await;
    assert_eq!(jobs.unsettled(at(10), 10).await.unwrap(), std::slice::from_ref(&ended.id));
    jobs.settled(&job).await.unwrap();
    assert!(!jobs.find(&job.id).await.unwrap().unwrap().settled, "another version");
    jobs.settled(&ended).await.unwrap();
    let settled = jobs.find(&job.id).await.unwrap().unwrap();
    assert_eq!(settled, Job { settled: true, ..ended.clone() });
    assert!(jobs.unsettled(at(10), 10).await.unwrap().is_empty());
    let (done, again) = happen(&jobs, &settled, Event::Retried, "retry").await;
    assert_eq!(done, Committed::Done);
    jobs.settled(&ended).await.unwrap();
    assert_eq!(jobs.find(&job.id).await.unwrap(), Some(again), "it lives again");
}
