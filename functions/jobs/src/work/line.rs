//! The line of a worker inside the stack: straight to the store.

use std::time::Duration;

use async_trait::async_trait;
use boundary::telemetry::Trace;
use boundary::{Clock, Host, Misconfigured};
use bytes::Bytes;
use domain::Failure;
use domain::jobs::{
    Actor, Artifact, Decision, Event, Job, JobId, PayloadPlace, Worker, transition,
};
use store::Bucket;
use worker::{Action, Answer, Done, Error, Line, Payload, Started, Ticket, Trouble};

use crate::engine::{Applied, Engine};
use crate::store::{Beaten, Jobs};

/// How often a worker speaks.
const HEARTBEAT: Duration = Duration::from_secs(20);

/// The longest answer that is kept in a job's row.
pub(crate) const MAX_RESULT_LENGTH: usize = 4 * 1024;

/// Says each word to the store, as one worker.
#[derive(Debug, Clone)]
pub(crate) struct Direct {
    pub(crate) jobs: Jobs,
    pub(crate) bucket: Bucket,
    engine: Engine,
    clock: Clock,
    trace: Trace,
    worker: Option<Worker>,
}

impl Direct {
    pub(crate) fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let engine = Engine::from_host(host)?;
        Ok(Self {
            jobs: engine.jobs.clone(),
            bucket: Bucket::new(host.aws.s3(), host.vars.required("ARTIFACTS_BUCKET")?),
            engine,
            clock: host.clock.clone(),
            trace: Trace::new(&host.entropy),
            worker: None,
        })
    }

    /// The line for one message, under a name of its own.
    pub(crate) fn for_message(&self, trace: &Trace) -> Self {
        let worker = crate::work::worker_named(&self.engine.entropy.token());
        Self { worker, trace: trace.clone(), ..self.clone() }
    }

    fn who(&self, ticket: &Ticket) -> Result<(JobId, Worker), Trouble> {
        let id = JobId::parse(&ticket.job_id);
        id.zip(self.worker.clone()).ok_or_else(|| Trouble::lasting("this is no job's id"))
    }

    /// Lets an event happen, and wakes up whoever has to look.
    async fn happen(&self, ticket: &Ticket, event: &Event) -> Result<Answer<Job>, Trouble> {
        let (id, worker) = self.who(ticket)?;
        let (by, at) = (Actor::Worker(worker), (self.clock.now(), &self.trace));
        match self.engine.happen(&id, event, &by, |_| true, at).await.map_err(passing)? {
            Applied::Changed(job) | Applied::Stays(job) => Ok(Answer::Accepted(*job)),
            Applied::Refused(_) | Applied::Unknown => Ok(Answer::Gone),
        }
    }

    async fn payload_of(&self, job: &Job) -> Result<Payload, Trouble> {
        let json = match job.payload {
            PayloadPlace::Nowhere => None,
            PayloadPlace::Row => self.jobs.payload(&job.id).await.map_err(passing)?,
            PayloadPlace::Bucket => return Ok(Payload::At(Bucket::payload_key(&job.id))),
        };
        let value = json.and_then(|json| serde_json::from_str(&json).ok());
        Ok(Payload::Here(value.unwrap_or_default()))
    }
}

#[async_trait]
impl Line for Direct {
    async fn start(&self, ticket: &Ticket) -> Result<Answer<Started>, Trouble> {
        let (_, worker) = self.who(ticket)?;
        let event = Event::Started { worker, attempt: ticket.attempt };
        let Answer::Accepted(job) = self.happen(ticket, &event).await? else {
            return Ok(Answer::Gone);
        };
        Ok(Answer::Accepted(Started {
            job_type: job.kind.as_str().to_owned(),
            timeout: Duration::from_secs(job.timeout_seconds.into()),
            heartbeat: HEARTBEAT,
            payload: self.payload_of(&job).await?,
        }))
    }

    async fn heartbeat(
        &self,
        ticket: &Ticket,
        progress: Option<u8>,
    ) -> Result<Answer<Action>, Trouble> {
        let (id, worker) = self.who(ticket)?;
        let now = self.clock.now();
        let beaten = self.jobs.beat(&id, &worker, ticket.attempt, progress, now).await;
        Ok(match beaten.map_err(passing)? {
            Beaten::Refused(_) => Answer::Gone,
            Beaten::Noted(job) if job.cancel_requested_at.is_some() => {
                Answer::Accepted(Action::Cancel)
            }
            Beaten::Noted(_) => Answer::Accepted(Action::Continue),
        })
    }

    async fn complete(&self, ticket: &Ticket, done: &Done) -> Result<Answer<()>, Trouble> {
        let (_, worker) = self.who(ticket)?;
        let artifacts = done.artifacts.iter().map(|name| Artifact::parse(name));
        let artifacts = artifacts
            .collect::<Result<Vec<_>, _>>()
            .map_err(|rejected| Trouble::lasting(rejected.to_string()))?;
        let result = done.result.as_ref().map(ToString::to_string);
        if result.as_ref().is_some_and(|json| json.len() > MAX_RESULT_LENGTH) {
            return Err(Trouble::lasting("the result is longer than 4 KB"));
        }
        let attempt = ticket.attempt;
        let event = Event::Completed { worker, attempt, artifacts, result };
        Ok(self.happen(ticket, &event).await?.map(|_| ()))
    }

    async fn fail(&self, ticket: &Ticket, error: &Error) -> Result<Answer<()>, Trouble> {
        let (_, worker) = self.who(ticket)?;
        let event = Event::Failed {
            worker,
            attempt: ticket.attempt,
            retryable: error.is_retryable(),
            error: error.message().to_owned(),
            jitter: u64::from_be_bytes(self.engine.entropy.bytes()),
        };
        Ok(self.happen(ticket, &event).await?.map(|_| ()))
    }

    async fn artifact(
        &self,
        ticket: &Ticket,
        name: &str,
        bytes: Bytes,
    ) -> Result<Answer<()>, Trouble> {
        let (id, worker) = self.who(ticket)?;
        let artifact =
            Artifact::parse(name).map_err(|rejected| Trouble::lasting(rejected.to_string()))?;
        let Some(job) = self.jobs.find(&id).await.map_err(passing)? else {
            return Ok(Answer::Gone);
        };
        let event = Event::Beaten { worker, attempt: ticket.attempt, progress: None };
        if let Decision::Refuse(_) = transition(&job, &event, self.clock.now()) {
            return Ok(Answer::Gone);
        }
        self.bucket.put(&artifact.key(&job), bytes.to_vec()).await.map_err(passing)?;
        Ok(Answer::Accepted(()))
    }

    async fn payload(&self, _: &Ticket, at: &str) -> Result<Bytes, Trouble> {
        self.bucket.read(at).await.map(Bytes::from).map_err(passing)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is mapped over")]
fn passing(failure: Failure) -> Trouble {
    Trouble::passing(failure.chain())
}
