//! Changing jobs: read, decide, write, again while other writers win; then wake `dispatch` up. Every function of
//! jobs changes them through here.

mod assign;

use boundary::telemetry::{Log, Trace};
use boundary::{Entropy, Host, Misconfigured};
use domain::jobs::{
    Actor, AuditRecord, Job, JobDecision, JobEvent, JobId, JobRefusal, WakeUp, WorkerId, transition,
};
use domain::{Failure, Result, Timestamp};
use messaging::Queue;

use crate::store::{CommitOutcome, HeartbeatOutcome, JobChange, Jobs};

/// Lost races after which a change fails.
const MAX_TRIES: usize = 8;

#[derive(Debug, Clone)]
pub(crate) struct Engine {
    pub(crate) jobs: Jobs,
    pub(crate) dispatch: Queue<WakeUp>,
    pub(crate) entropy: Entropy,
    log: Log,
}

/// The outcome of an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Applied {
    /// The job as it is now.
    Changed(Box<Job>),
    /// The job, which the event does not change.
    Unchanged(Box<Job>),
    Refused(JobRefusal),
    NotFound,
}

impl Engine {
    pub(crate) fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        Ok(Self {
            jobs: Jobs::from_host(host)?,
            dispatch: host.queue("DISPATCH_QUEUE")?,
            entropy: host.entropy.clone(),
            log: host.log.clone(),
        })
    }

    /// Applies an event that `by` caused to a job. A job that is not `visible` to the caller is not found.
    pub(crate) async fn apply_event(
        &self,
        id: &JobId,
        event: &JobEvent,
        by: &Actor,
        visible: impl Fn(&Job) -> bool,
        (now, trace): (Timestamp, &Trace),
    ) -> Result<Applied> {
        for _ in 0..MAX_TRIES {
            let Some(before) = self.jobs.find(id).await?.filter(|job| visible(job)) else {
                return Ok(Applied::NotFound);
            };
            let after = match transition(&before, event, now) {
                JobDecision::NoChange => return Ok(Applied::Unchanged(Box::new(before))),
                JobDecision::Refuse(refusal) => return Ok(Applied::Refused(refusal)),
                JobDecision::Change(after) => after,
            };
            let record = AuditRecord::change(&after, event.clone(), by.clone(), now);
            let dependency = if let JobEvent::DependencyEnded { dependency, .. } = event {
                Some(dependency)
            } else {
                None
            };
            let change =
                JobChange { before: &before, after: &after, record: &record, dependency, limit: 0 };
            match self.jobs.commit(change, &self.entropy.token()).await? {
                CommitOutcome::Committed => {
                    self.wake_dispatch_for(Some(&before), &after, (now, trace)).await;
                    return Ok(Applied::Changed(after));
                }
                CommitOutcome::AlreadyCounted => return Ok(Applied::Unchanged(Box::new(before))),
                CommitOutcome::Conflict | CommitOutcome::NoLicence => {}
            }
        }
        Err(Failure::new("change the job", "it keeps changing"))
    }

    /// Records a heartbeat, in one small write without an audit record or a wake-up.
    pub(crate) async fn record_heartbeat(
        &self,
        id: &JobId,
        (worker, attempt): (WorkerId, u32),
        progress: Option<u8>,
        now: Timestamp,
    ) -> Result<Applied> {
        let outcome = self.jobs.record_heartbeat(id, &worker, attempt, progress, now).await?;
        Ok(match outcome {
            HeartbeatOutcome::Recorded(job) => Applied::Changed(job),
            HeartbeatOutcome::Refused(found) => check_attempt(found, (worker, attempt), now),
        })
    }

    /// Whether a worker runs a job with this attempt: `Unchanged` if so.
    pub(crate) async fn check_attempt(
        &self,
        id: &JobId,
        run: (WorkerId, u32),
        now: Timestamp,
    ) -> Result<Applied> {
        Ok(check_attempt(self.jobs.find(id).await?.map(Box::new), run, now))
    }

    /// Sends the wake-up that a written change calls for.
    pub(crate) async fn wake_dispatch_for(
        &self,
        before: Option<&Job>,
        after: &Job,
        (now, trace): (Timestamp, &Trace),
    ) {
        if let Some((wake_up, delay)) = WakeUp::for_change(before, after, now) {
            let sent = self.dispatch.send(&wake_up, delay, &trace.traceparent()).await;
            self.log_failed_send(sent, (now, trace));
        }
    }

    pub(crate) async fn send_wake_up(&self, wake_up: &WakeUp, (now, trace): (Timestamp, &Trace)) {
        let sent = self.dispatch.send(wake_up, 0, &trace.traceparent()).await;
        self.log_failed_send(sent, (now, trace));
    }

    /// A failed send is no reason to fail: the sweep sends the wake-up again.
    pub(crate) fn log_failed_send(&self, sent: Result, (now, trace): (Timestamp, &Trace)) {
        if let Err(failure) = sent {
            self.log.warn(now, trace, &failure.chain());
        }
    }
}

fn check_attempt(
    found: Option<Box<Job>>,
    (worker, attempt): (WorkerId, u32),
    now: Timestamp,
) -> Applied {
    let Some(job) = found else { return Applied::NotFound };
    match transition(&job, &JobEvent::Heartbeat { worker, attempt, progress: None }, now) {
        JobDecision::Refuse(refusal) => Applied::Refused(refusal),
        JobDecision::Change(_) | JobDecision::NoChange => Applied::Unchanged(job),
    }
}
