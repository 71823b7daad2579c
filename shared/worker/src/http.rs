//! The worker's side of the jobs API over HTTP.
//!
//! Guarantee: the key is sent to the API's own address and to nowhere else; what is uploaded or
//! downloaded by a signed address travels without it. 409 and 404 fence the worker off; 429, 5xx
//! and failed connections are transient; other errors are permanent. Absent: redirects, cookies, proxies.

mod bodies;
mod client;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::bodies::{
    ArtifactBody, ArtifactResponse, AttemptBody, ClaimBody, ClaimResponse, CompleteBody, FailBody,
    HeartbeatBody, HeartbeatResponse, NamedArtifact, StartResponse, encode_segment,
};
pub(crate) use self::client::HttpClient;
use self::client::HttpResponse;
use crate::{
    ApiError, ApiResult, ClaimedJob, Error, HeartbeatAction, JobApi, JobOutput, Reply, StartedJob,
};

/// Calls the API in the name of one worker.
#[derive(Clone)]
pub struct HttpJobApi {
    client: HttpClient,
    base: Arc<str>,
    key: Arc<str>,
    worker: Arc<str>,
}

/// Why the API cannot be called.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address cannot be used.
    #[error("{0:?} is not the address of an API: it begins with http:// or https://")]
    Address(String),
    /// The key has characters that cannot be sent.
    #[error("the key is not one: it has characters that no key has")]
    Key,
    /// TLS cannot be set up.
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
}

impl HttpJobApi {
    /// Calls the API at `url`, with `key`, as `worker`: 1 to 128 printable ASCII characters that
    /// no other process uses. Nothing is sent yet.
    pub fn new(url: &str, key: &str, worker: &str) -> Result<Self, ConnectError> {
        Self::with_client(HttpClient::with_native_roots()?, url, key, worker)
    }

    pub(crate) fn with_client(
        client: HttpClient,
        url: &str,
        key: &str,
        worker: &str,
    ) -> Result<Self, ConnectError> {
        let base = url.trim_end_matches('/');
        if !client::is_http_url(base) {
            return Err(ConnectError::Address(url.to_owned()));
        }
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ConnectError::Key);
        }
        Ok(Self { client, base: base.into(), key: key.into(), worker: worker.into() })
    }

    pub(crate) fn with_worker_id(self, worker: &str) -> Self {
        Self { worker: worker.into(), ..self }
    }

    /// Claims up to `max` jobs of a type. A job that is not started within a minute goes back to its queue
    /// and has used up no attempt.
    pub async fn claim(&self, job_type: &str, max: usize) -> Result<Vec<ClaimedJob>, ApiError> {
        let path = format!("job-types/{}/claim", encode_segment(job_type));
        let response = self.post(&path, &ClaimBody { worker_id: &self.worker, max }).await?;
        if response.status != StatusCode::OK {
            return Err(response.error());
        }
        Ok(response.json::<ClaimResponse>()?.jobs)
    }

    /// Reports something about a claimed job.
    async fn report(
        &self,
        job: &ClaimedJob,
        operation: &str,
        body: &impl Serialize,
    ) -> ApiResult<HttpResponse> {
        let path = format!("jobs/{}/{operation}", encode_segment(&job.job_id));
        let response = self.post(&path, body).await?;
        match response.status {
            StatusCode::CONFLICT | StatusCode::NOT_FOUND => Ok(Reply::Fenced),
            status if status.is_success() => Ok(Reply::Accepted(response)),
            _ => Err(response.error()),
        }
    }

    /// Reports something, and reads the response's body.
    async fn report_and_read<T: DeserializeOwned>(
        &self,
        job: &ClaimedJob,
        operation: &str,
        body: &impl Serialize,
    ) -> ApiResult<T> {
        match self.report(job, operation, body).await? {
            Reply::Accepted(response) => Ok(Reply::Accepted(response.json()?)),
            Reply::Fenced => Ok(Reply::Fenced),
        }
    }

    async fn post(&self, path: &str, body: &impl Serialize) -> Result<HttpResponse, ApiError> {
        let body =
            serde_json::to_vec(body).map_err(|cause| ApiError::permanent(cause.to_string()))?;
        self.client.post(&format!("{}/api/v1/{path}", self.base), &self.key, body).await
    }

    fn attempt_body<'a>(&'a self, job: &ClaimedJob) -> AttemptBody<'a> {
        AttemptBody { worker_id: &self.worker, attempt: job.attempt }
    }
}

#[async_trait]
impl JobApi for HttpJobApi {
    async fn start(&self, job: &ClaimedJob) -> ApiResult<StartedJob> {
        let reply =
            self.report_and_read::<StartResponse>(job, "start", &self.attempt_body(job)).await?;
        Ok(reply.map(StartedJob::from))
    }

    async fn heartbeat(
        &self,
        job: &ClaimedJob,
        progress: Option<u8>,
    ) -> ApiResult<HeartbeatAction> {
        let body = HeartbeatBody { attempt: self.attempt_body(job), progress };
        let reply = self.report_and_read::<HeartbeatResponse>(job, "heartbeat", &body).await?;
        Ok(reply.map(|response| response.action))
    }

    async fn complete(&self, job: &ClaimedJob, output: &JobOutput) -> ApiResult {
        let artifacts = output.artifacts.iter().map(|name| NamedArtifact { name }).collect();
        let attempt = self.attempt_body(job);
        let body = CompleteBody { attempt, artifacts, result: output.result.as_ref() };
        Ok(self.report(job, "complete", &body).await?.map(|_| ()))
    }

    async fn fail(&self, job: &ClaimedJob, error: &Error) -> ApiResult {
        let (retryable, error) = (error.is_retryable(), error.message());
        let body = FailBody { attempt: self.attempt_body(job), retryable, error };
        Ok(self.report(job, "fail", &body).await?.map(|_| ()))
    }

    async fn upload_artifact(&self, job: &ClaimedJob, name: &str, bytes: Bytes) -> ApiResult {
        let body = ArtifactBody { attempt: self.attempt_body(job), name };
        match self.report_and_read::<ArtifactResponse>(job, "artifacts", &body).await? {
            Reply::Fenced => Ok(Reply::Fenced),
            Reply::Accepted(link) => {
                self.client.transfer(Method::PUT, &link.url, bytes).await?;
                Ok(Reply::Accepted(()))
            }
        }
    }

    async fn fetch_payload(&self, _: &ClaimedJob, address: &str) -> Result<Bytes, ApiError> {
        self.client.transfer(Method::GET, address, Bytes::new()).await
    }
}

impl std::fmt::Debug for HttpJobApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (base, worker) = (&self.base, &self.worker);
        f.debug_struct("HttpJobApi")
            .field("base", base)
            .field("worker", worker)
            .finish_non_exhaustive()
    }
}
