//! The workers' requests inside the stack: straight to the store.

use std::time::Duration;

use async_trait::async_trait;
use boundary::telemetry::Trace;
use boundary::{Clock, Host, Misconfigured};
use bytes::Bytes;
use domain::jobs::{
    Actor, Artifact, HEARTBEAT_INTERVAL_SECONDS, Job, JobEvent, JobId, PayloadLocation, WorkerId,
};
use domain::{Failure, Rejected};
use store::Bucket;
use worker::{
    ApiError, ApiResult, ClaimedJob, Error, HeartbeatAction, JobApi, JobOutput, Payload, Reply,
    StartedJob,
};

use crate::engine::{Applied, Engine};
use crate::store::Jobs;

/// Writes each report to the store, as one worker.
#[derive(Debug, Clone)]
pub(crate) struct StoreJobApi {
    pub(crate) jobs: Jobs,
    pub(crate) bucket: Bucket,
    engine: Engine,
    clock: Clock,
    trace: Trace,
    worker: Option<WorkerId>,
}

impl StoreJobApi {
    pub(crate) fn from_host(host: &Host) -> Result<Self, Misconfigured> {
        let engine = Engine::from_host(host)?;
        Ok(Self {
            jobs: engine.jobs.clone(),
            bucket: Bucket::new(host.aws.bucket(host.vars.required("ARTIFACTS_BUCKET")?)),
            engine,
            clock: host.clock.clone(),
            trace: Trace::new(&host.entropy),
            worker: None,
        })
    }

    /// The API for one message, with a worker id of its own.
    pub(crate) fn for_message(&self, trace: &Trace) -> Self {
        let worker = WorkerId::parse(&format!("work-{}", self.engine.entropy.token())).ok();
        Self { worker, trace: trace.clone(), ..self.clone() }
    }

    fn ids(&self, claimed: &ClaimedJob) -> Result<(JobId, WorkerId), ApiError> {
        let id = JobId::parse(&claimed.job_id);
        id.zip(self.worker.clone()).ok_or_else(|| ApiError::permanent("this is no job's id"))
    }

    async fn apply_event(&self, claimed: &ClaimedJob, event: &JobEvent) -> ApiResult<Job> {
        let (id, worker) = self.ids(claimed)?;
        let (by, at) = (Actor::Worker(worker), (self.clock.now(), &self.trace));
        self.engine.apply_event(&id, event, &by, |_| true, at).await.map(reply).map_err(transient)
    }

    async fn payload_of(&self, job: &Job) -> Result<Payload, ApiError> {
        let json = match job.payload {
            PayloadLocation::None => None,
            PayloadLocation::Row => self.jobs.payload(&job.id).await.map_err(transient)?,
            PayloadLocation::Bucket => return Ok(Payload::Remote(Bucket::payload_key(&job.id))),
        };
        let value = json.and_then(|json| serde_json::from_str(&json).ok());
        Ok(Payload::Inline(value.unwrap_or_default()))
    }
}

#[async_trait]
impl JobApi for StoreJobApi {
    async fn start(&self, claimed: &ClaimedJob) -> ApiResult<StartedJob> {
        let (_, worker) = self.ids(claimed)?;
        let event = JobEvent::Started { worker, attempt: claimed.attempt };
        let Reply::Accepted(job) = self.apply_event(claimed, &event).await? else {
            return Ok(Reply::Fenced);
        };
        Ok(Reply::Accepted(StartedJob {
            job_type: job.job_type.as_str().to_owned(),
            timeout: Duration::from_secs(job.timeout_seconds.into()),
            heartbeat: Duration::from_secs(HEARTBEAT_INTERVAL_SECONDS.into()),
            payload: self.payload_of(&job).await?,
        }))
    }

    async fn heartbeat(
        &self,
        claimed: &ClaimedJob,
        progress: Option<u8>,
    ) -> ApiResult<HeartbeatAction> {
        let (id, worker) = self.ids(claimed)?;
        let (run, now) = ((worker, claimed.attempt), self.clock.now());
        let applied = self.engine.record_heartbeat(&id, run, progress, now).await;
        Ok(reply(applied.map_err(transient)?).map(|job| match job.cancel_requested_at {
            Some(_) => HeartbeatAction::Cancel,
            None => HeartbeatAction::Continue,
        }))
    }

    async fn complete(&self, claimed: &ClaimedJob, output: &JobOutput) -> ApiResult {
        let (_, worker) = self.ids(claimed)?;
        let artifacts = output.artifacts.iter().map(String::as_str);
        let result = output.result.as_ref();
        let event = JobEvent::completed(worker, claimed.attempt, artifacts, result);
        let event = event.map_err(permanent)?;
        Ok(self.apply_event(claimed, &event).await?.map(|_| ()))
    }

    async fn fail(&self, claimed: &ClaimedJob, error: &Error) -> ApiResult {
        let (_, worker) = self.ids(claimed)?;
        let event = JobEvent::Failed {
            worker,
            attempt: claimed.attempt,
            retryable: error.is_retryable(),
            error: error.message().to_owned(),
            jitter: u64::from_be_bytes(self.engine.entropy.bytes()),
        };
        Ok(self.apply_event(claimed, &event).await?.map(|_| ()))
    }

    async fn upload_artifact(&self, claimed: &ClaimedJob, name: &str, bytes: Bytes) -> ApiResult {
        let (id, worker) = self.ids(claimed)?;
        let artifact = Artifact::parse(name).map_err(permanent)?;
        let run = (worker, claimed.attempt);
        let applied = self.engine.check_attempt(&id, run, self.clock.now()).await;
        let Reply::Accepted(job) = reply(applied.map_err(transient)?) else {
            return Ok(Reply::Fenced);
        };
        self.bucket.put(&artifact.key(&job), bytes.to_vec()).await.map_err(transient)?;
        Ok(Reply::Accepted(()))
    }

    async fn fetch_payload(&self, _: &ClaimedJob, key: &str) -> Result<Bytes, ApiError> {
        self.bucket.read(key).await.map(Bytes::from).map_err(transient)
    }
}

fn reply(applied: Applied) -> Reply<Job> {
    match applied {
        Applied::Changed(job) | Applied::Unchanged(job) => Reply::Accepted(*job),
        Applied::Refused(_) | Applied::NotFound => Reply::Fenced,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is mapped over")]
fn transient(failure: Failure) -> ApiError {
    ApiError::transient(failure.chain())
}

#[expect(clippy::needless_pass_by_value, reason = "it is mapped over")]
fn permanent(rejected: Rejected) -> ApiError {
    ApiError::permanent(rejected.to_string())
}
