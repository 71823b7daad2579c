//! The engine of jobs: read, decide, write, until the job stands still long enough; then wake up whoever has
//! to look. All functions of jobs change them through here.

mod assign;

use boundary::telemetry::{Log, Trace};
use boundary::{Entropy, Host, Misconfigured};
use domain::jobs::{Actor, Decision, Event, Job, JobId, Record, Refusal, WakeUp, transition};
use domain::{Failure, Timestamp};
use messaging::Queue;

use crate::store::{Change, Committed, Jobs};

/// How often a job may change under our hands before we give up.
const TRIES: usize = 8;

/// What changes jobs, and what it needs for that.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    pub(crate) jobs: Jobs,
    pub(crate) dispatch: Queue<WakeUp>,
    pub(crate) entropy: Entropy,
    log: Log,
}

/// What came of an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Applied {
    /// It changed the job, which is this now.
    Changed(Box<Job>),
    /// There was nothing to do; this is the job.
    Stays(Box<Job>),
    /// It can't be.
    Refused(Refusal),
    /// There is no such job.
    Unknown,
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

    /// Lets `event` happen to a job, caused by `by`. `may` decides whether it is the caller's business
    /// at all: what is not is unknown to them.
    pub(crate) async fn happen(
        &self,
        id: &JobId,
        event: &Event,
        by: &Actor,
        may: impl Fn(&Job) -> bool,
        (now, trace): (Timestamp, &Trace),
    ) -> Result<Applied, Failure> {
        for _ in 0..TRIES {
            let Some(before) = self.jobs.find(id).await?.filter(|job| may(job)) else {
                return Ok(Applied::Unknown);
            };
            let after = match transition(&before, event, now) {
                Decision::Stay => return Ok(Applied::Stays(Box::new(before))),
                Decision::Refuse(refusal) => return Ok(Applied::Refused(refusal)),
                Decision::Become(after) => after,
            };
            let record = Record::change(&after, event.clone(), by.clone(), now);
            let dependency = if let Event::DependencyEnded { dependency, .. } = event {
                Some(dependency)
            } else {
                None
            };
            let change =
                Change { before: &before, after: &after, record: &record, dependency, limit: 0 };
            match self.jobs.commit(change, &self.entropy.token()).await? {
                Committed::Done => {
                    self.wake_up(Some(&before), &after, (now, trace)).await;
                    return Ok(Applied::Changed(after));
                }
                Committed::Counted => return Ok(Applied::Stays(Box::new(before))),
                Committed::Moved | Committed::NoLicence => {}
            }
        }
        Err(Failure::new("change the job", "it keeps changing"))
    }

    /// Wakes up whoever has to look at a change that is written.
    pub(crate) async fn wake_up(
        &self,
        before: Option<&Job>,
        after: &Job,
        (now, trace): (Timestamp, &Trace),
    ) {
        if let Some((wake_up, delay)) = WakeUp::after(before, after, now) {
            let sent = self.dispatch.send(&wake_up, delay, &trace.traceparent()).await;
            self.note(sent, (now, trace));
        }
    }

    /// Sends a wake-up, now.
    pub(crate) async fn send(&self, wake_up: &WakeUp, (now, trace): (Timestamp, &Trace)) {
        let sent = self.dispatch.send(wake_up, 0, &trace.traceparent()).await;
        self.note(sent, (now, trace));
    }

    /// What could not be sent is no reason to fail: the sweep sends it again.
    pub(crate) fn note(&self, sent: Result<(), Failure>, (now, trace): (Timestamp, &Trace)) {
        if let Err(failure) = sent {
            self.log.warn(now, trace, &failure.chain());
        }
    }
}
