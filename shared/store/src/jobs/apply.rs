//! Read, decide, write: until the job stands still long enough.

use domain::jobs::{Actor, Decision, Event, Job, JobId, Record, Refusal, transition};
use domain::{Failure, Timestamp};

use super::{Change, Committed, Jobs};

/// How often a job may change under our hands before we give up.
const TRIES: usize = 8;

/// What came of an event.
#[derive(Debug, PartialEq, Eq)]
pub enum Applied {
    /// It changed the job.
    Changed {
        /// The job as it was.
        before: Box<Job>,
        /// The job as it is.
        after: Box<Job>,
    },
    /// There was nothing to do; this is the job.
    Stays(Box<Job>),
    /// It can't be; this is the job.
    Refused(Refusal, Box<Job>),
    /// There is no such job.
    Unknown,
}

impl Jobs {
    /// Lets `event` happen to a job, caused by `by`. `may` decides whether it is the caller's business
    /// at all: what is not is unknown to them. `token` makes a new name for each write.
    pub async fn apply(
        &self,
        id: &JobId,
        event: &Event,
        by: &Actor,
        may: impl Fn(&Job) -> bool,
        now: Timestamp,
        token: impl Fn() -> String,
    ) -> Result<Applied, Failure> {
        for _ in 0..TRIES {
            let Some(before) = self.find(id).await?.filter(|job| may(job)) else {
                return Ok(Applied::Unknown);
            };
            let before = Box::new(before);
            let after = match transition(&before, event, now) {
                Decision::Stay => return Ok(Applied::Stays(before)),
                Decision::Refuse(refusal) => return Ok(Applied::Refused(refusal, before)),
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
            match self.commit(change, &token()).await? {
                Committed::Done => return Ok(Applied::Changed { before, after }),
                Committed::Counted => return Ok(Applied::Stays(before)),
                Committed::Moved | Committed::NoLicence => {}
            }
        }
        Err(Failure::new("change the job", "it keeps changing"))
    }
}
