//! Jobs: submissions, changes and heartbeats; licences in the file beside.

mod licences;

use ::jobs::store::Jobs;
use ::jobs::store::{CommitOutcome, HeartbeatOutcome, JobChange, JobInsert, SubmitOutcome};
use domain::accounts::UserId;
use domain::jobs::{
    Actor, AuditRecord, Job, JobDecision, JobEvent, JobId, JobType, JobTypeName, JobTypeSettings,
    PayloadLocation, Submission, WorkerId, transition,
};
use store::idempotency::{Claim, IdempotentRequest, StoredResponse};
use tests::{Lab, at};

/// A lab, and the store of its jobs.
fn fresh() -> (Lab, Jobs) {
    let lab = Lab::new();
    let jobs = super::jobs(&lab);
    (lab, jobs)
}

fn worker(name: &str) -> WorkerId {
    WorkerId::parse(name).unwrap()
}

fn job_type(max_concurrent: u32) -> JobType {
    JobType {
        name: JobTypeName::parse("outside").unwrap(),
        settings: JobTypeSettings { max_concurrent, ..JobTypeSettings::default() },
        updated_at: None,
        peak_shards: 1,
        version: 1,
    }
}

fn id(n: u8) -> JobId {
    JobId::new(at(0), [n; 8])
}

fn new_job(n: u8, dependencies: &[JobId]) -> Job {
    let submission = Submission {
        dependencies: dependencies.to_vec(),
        payload: PayloadLocation::Row,
        ..Submission::default()
    };
    let open = u32::try_from(dependencies.len()).unwrap();
    submission.build(id(n), &job_type(5), &UserId::parse("ada").unwrap(), open, None, at(0))
}

async fn submit(jobs: &Jobs, job: &Job) -> SubmitOutcome {
    let insert = JobInsert {
        job,
        payload: Some("1"),
        open_dependencies: &job.dependencies,
        idempotency: None,
    };
    jobs.submit(insert, at(0), &format!("submit-{}", job.id.as_str())).await.unwrap()
}

/// Decides and commits an event; returns the outcome and the decision.
async fn apply_event(
    jobs: &Jobs,
    before: &Job,
    event: JobEvent,
    token: &str,
) -> (CommitOutcome, Job) {
    let JobDecision::Change(after) = transition(before, &event, at(1)) else { panic!("{event:?}") };
    let dependency = if let JobEvent::DependencyEnded { dependency, .. } = &event {
        Some(dependency.clone())
    } else {
        None
    };
    let record = AuditRecord::change(&after, event, Actor::System, at(1));
    let dependency = dependency.as_ref();
    let change = JobChange { before, after: &after, record: &record, dependency, limit: 5 };
    (jobs.commit(change, token).await.unwrap(), *after)
}

fn assign() -> JobEvent {
    JobEvent::Assigned { shard: 0, worker: Some(worker("w")) }
}

fn start() -> JobEvent {
    JobEvent::Started { worker: worker("w"), attempt: 1 }
}

/// A job that a worker is at.
async fn running(jobs: &Jobs, n: u8) -> Job {
    let job = new_job(n, &[]);
    assert_eq!(submit(jobs, &job).await, SubmitOutcome::Created);
    let (done, job) = apply_event(jobs, &job, assign(), &format!("assign-{n}")).await;
    assert_eq!(done, CommitOutcome::Committed);
    let (done, job) = apply_event(jobs, &job, start(), &format!("start-{n}")).await;
    assert_eq!(done, CommitOutcome::Committed);
    job
}

#[tokio::test(start_paused = true)]
async fn a_submission_is_there_with_everything_or_not_at_all() {
    let (_lab, jobs) = fresh();
    let parent = new_job(1, &[]);
    assert_eq!(submit(&jobs, &parent).await, SubmitOutcome::Created);
    let child = new_job(2, std::slice::from_ref(&parent.id));
    assert_eq!(submit(&jobs, &child).await, SubmitOutcome::Created);
    assert_eq!(jobs.find(&child.id).await.unwrap(), Some(child.clone()));
    assert_eq!(jobs.payload(&child.id).await.unwrap().as_deref(), Some("1"));
    assert_eq!(jobs.children(&parent.id).await.unwrap(), [child.id]);
    let (_, ended) = apply_event(&jobs, &parent, JobEvent::Cancelled, "cancel").await;
    assert!(ended.status.is_final());
    for missing in [parent.id, id(9)] {
        let late = new_job(3, std::slice::from_ref(&missing));
        assert_eq!(submit(&jobs, &late).await, SubmitOutcome::DependencyEnded);
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
            claimant: "claimant",
            deadline: at(30),
        };
        let (job, kept) = (new_job(n, &[]), answer(&n.to_string()));
        let idempotency = Some((&request, &kept));
        let insert = JobInsert { job: &job, payload: None, open_dependencies: &[], idempotency };
        jobs.submit(insert, at(0), &format!("once-{n}")).await.unwrap()
    };
    assert_eq!(attempt(1, 0).await, SubmitOutcome::Created);
    assert_eq!(attempt(2, 0).await, SubmitOutcome::Repeated(Claim::Answered(answer("1"))));
    assert_eq!(attempt(3, 7).await, SubmitOutcome::Repeated(Claim::Mismatch));
    for n in [2, 3] {
        assert_eq!(jobs.find(&id(n)).await.unwrap(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_of_a_version_that_is_gone_is_not_written() {
    let (_lab, jobs) = fresh();
    let job = new_job(1, &[]);
    submit(&jobs, &job).await;
    let (won, after) = apply_event(&jobs, &job, assign(), "first").await;
    assert_eq!(won, CommitOutcome::Committed);
    assert_eq!(apply_event(&jobs, &job, assign(), "second").await.0, CommitOutcome::Conflict);
    assert_eq!(
        apply_event(&jobs, &job, JobEvent::Cancelled, "third").await.0,
        CommitOutcome::Conflict
    );
    assert_eq!(jobs.find(&job.id).await.unwrap(), Some(after));
    assert_eq!(jobs.audit_trail(&job.id, 10, None).await.unwrap().items.len(), 2);
    assert_eq!(jobs.licence_shards(&job_type(5)).await.unwrap()[0].in_use, 1);
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_since_the_read_keeps_the_job_with_its_worker() {
    let (_lab, jobs) = fresh();
    let seen = running(&jobs, 1).await;
    let JobDecision::Change(after) = transition(
        &seen,
        &JobEvent::Checked { heartbeat_at: seen.heartbeat_at, jitter: 0 },
        at(90),
    ) else {
        panic!("it is silent")
    };
    jobs.record_heartbeat(&seen.id, &worker("w"), 1, None, at(89)).await.unwrap();
    let record = AuditRecord::change(
        &after,
        JobEvent::Checked { heartbeat_at: seen.heartbeat_at, jitter: 0 },
        Actor::System,
        at(90),
    );
    let change =
        JobChange { before: &seen, after: &after, record: &record, dependency: None, limit: 5 };
    assert_eq!(jobs.commit(change, "silent").await.unwrap(), CommitOutcome::Conflict);
    assert_eq!(jobs.find(&seen.id).await.unwrap().unwrap().heartbeat_at, Some(at(89)));
}

#[tokio::test(start_paused = true)]
async fn only_the_worker_that_runs_a_job_may_send_heartbeats() {
    let (_lab, jobs) = fresh();
    let job = running(&jobs, 1).await;
    for (name, attempt) in [("w", 2), ("v", 1)] {
        let refused =
            jobs.record_heartbeat(&job.id, &worker(name), attempt, Some(9), at(5)).await.unwrap();
        assert_eq!(refused, HeartbeatOutcome::Refused(Some(Box::new(job.clone()))));
    }
    let unknown = jobs.record_heartbeat(&id(9), &worker("w"), 1, None, at(5)).await.unwrap();
    assert_eq!(unknown, HeartbeatOutcome::Refused(None));
    let expected = Job { heartbeat_at: Some(at(5)), progress: 9, ..job.clone() };
    let noted = jobs.record_heartbeat(&job.id, &worker("w"), 1, Some(9), at(5)).await.unwrap();
    assert_eq!(noted, HeartbeatOutcome::Recorded(Box::new(expected)));
}

#[tokio::test(start_paused = true)]
async fn a_dependency_is_counted_once() {
    let (_lab, jobs) = fresh();
    let (a, b) = (new_job(1, &[]), new_job(2, &[]));
    submit(&jobs, &a).await;
    submit(&jobs, &b).await;
    let child = new_job(3, &[a.id.clone(), b.id]);
    submit(&jobs, &child).await;
    let ended = JobEvent::DependencyEnded { dependency: a.id.clone(), completed: true };
    let (won, after) = apply_event(&jobs, &child, ended.clone(), "first").await;
    assert_eq!((won, after.open_dependencies), (CommitOutcome::Committed, 1));
    assert_eq!(apply_event(&jobs, &after, ended, "second").await.0, CommitOutcome::AlreadyCounted);
    assert_eq!(jobs.find(&child.id).await.unwrap(), Some(after));
    assert!(jobs.children(&a.id).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_end_is_marked_as_announced_unless_the_job_was_retried() {
    let (_lab, jobs) = fresh();
    let job = new_job(1, &[]);
    submit(&jobs, &job).await;
    let (_, ended) = apply_event(&jobs, &job, JobEvent::Cancelled, "cancel").await;
    assert_eq!(jobs.unannounced_ends(at(10), 10).await.unwrap(), std::slice::from_ref(&ended.id));
    jobs.mark_end_announced(&job).await.unwrap();
    assert!(!jobs.find(&job.id).await.unwrap().unwrap().end_announced, "another version");
    jobs.mark_end_announced(&ended).await.unwrap();
    let settled = jobs.find(&job.id).await.unwrap().unwrap();
    assert_eq!(settled, Job { end_announced: true, ..ended.clone() });
    assert!(jobs.unannounced_ends(at(10), 10).await.unwrap().is_empty());
    let (done, again) = apply_event(&jobs, &settled, JobEvent::Retried, "retry").await;
    assert_eq!(done, CommitOutcome::Committed);
    jobs.mark_end_announced(&ended).await.unwrap();
    assert_eq!(jobs.find(&job.id).await.unwrap(), Some(again), "it lives again");
}
