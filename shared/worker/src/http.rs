//! The line over HTTP: the worker's side of the jobs API.
//!
//! Guarantee: the key is sent to the API's own address and to nowhere else; what is uploaded or
//! downloaded by a signed address travels without it. 409 and 404 are the fence; 429, 5xx and no
//! connection at all are passing; the rest is lasting. Absent: redirects, cookies, proxies.

mod wire;
mod words;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::wire::Reply;
pub(crate) use self::wire::Wire;
use self::words::{
    Claim, Claimed, Complete, Fail, Heartbeat, NamedArtifact, Running, Speaker, Upload,
};
use crate::{Action, Answer, Done, Error, Line, Started, Ticket, Trouble};

/// Speaks to the API in the name of one worker.
#[derive(Clone)]
pub struct Http {
    wire: Wire,
    base: Arc<str>,
    key: Arc<str>,
    worker: Arc<str>,
}

/// Why there is nobody to speak to.
#[derive(Debug, thiserror::Error)]
pub enum NotConnected {
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

impl Http {
    /// Speaks to the API at `url`, with `key`, as `worker`: 1 to 128 printable ASCII characters that
    /// no other process uses. Nothing is sent yet.
    pub fn new(url: &str, key: &str, worker: &str) -> Result<Self, NotConnected> {
        Self::over(Wire::system()?, url, key, worker)
    }

    /// The same over another wire.
    pub(crate) fn over(
        wire: Wire,
        url: &str,
        key: &str,
        worker: &str,
    ) -> Result<Self, NotConnected> {
        let base = url.trim_end_matches('/');
        if !wire::is_address(base) {
            return Err(NotConnected::Address(url.to_owned()));
        }
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(NotConnected::Key);
        }
        Ok(Self { wire, base: base.into(), key: key.into(), worker: worker.into() })
    }

    /// The same, as another worker.
    pub(crate) fn named(self, worker: &str) -> Self {
        Self { worker: worker.into(), ..self }
    }

    /// Takes up to `max` jobs of a type. A job that is not started within a minute goes back, and
    /// nothing of it is used up.
    pub async fn claim(&self, job_type: &str, max: usize) -> Result<Vec<Ticket>, Trouble> {
        let path = format!("job-types/{}/claim", words::segment(job_type));
        let reply = self.post(&path, &Claim { worker_id: &self.worker, max }).await?;
        if reply.status != StatusCode::OK {
            return Err(reply.trouble());
        }
        let claimed: Claimed = reply.json()?;
        Ok(claimed.jobs.into_iter().map(Ticket::from).collect())
    }

    /// Says one word about a job.
    async fn say(
        &self,
        ticket: &Ticket,
        verb: &str,
        body: &impl Serialize,
    ) -> Result<Answer<Reply>, Trouble> {
        let path = format!("jobs/{}/{verb}", words::segment(&ticket.job_id));
        let reply = self.post(&path, body).await?;
        match reply.status {
            StatusCode::CONFLICT | StatusCode::NOT_FOUND => Ok(Answer::Gone),
            status if status.is_success() => Ok(Answer::Accepted(reply)),
            _ => Err(reply.trouble()),
        }
    }

    /// Says one word whose answer matters.
    async fn ask<T: DeserializeOwned>(
        &self,
        ticket: &Ticket,
        verb: &str,
        body: &impl Serialize,
    ) -> Result<Answer<T>, Trouble> {
        match self.say(ticket, verb, body).await? {
            Answer::Accepted(reply) => Ok(Answer::Accepted(reply.json()?)),
            Answer::Gone => Ok(Answer::Gone),
        }
    }

    async fn post(&self, path: &str, body: &impl Serialize) -> Result<Reply, Trouble> {
        let body = serde_json::to_vec(body).map_err(|cause| Trouble::lasting(cause.to_string()))?;
        self.wire.post(&format!("{}/api/v1/{path}", self.base), &self.key, body).await
    }

    fn speaker<'a>(&'a self, ticket: &Ticket) -> Speaker<'a> {
        Speaker { worker_id: &self.worker, attempt: ticket.attempt }
    }
}

#[async_trait]
impl Line for Http {
    async fn start(&self, ticket: &Ticket) -> Result<Answer<Started>, Trouble> {
        let answer = self.ask::<Running>(ticket, "start", &self.speaker(ticket)).await?;
        Ok(answer.map(Started::from))
    }

    async fn heartbeat(
        &self,
        ticket: &Ticket,
        progress: Option<u8>,
    ) -> Result<Answer<Action>, Trouble> {
        let body = Heartbeat { speaker: self.speaker(ticket), progress };
        let answer = self.ask::<words::Heard>(ticket, "heartbeat", &body).await?;
        Ok(answer.map(|heard| heard.action.into()))
    }

    async fn complete(&self, ticket: &Ticket, done: &Done) -> Result<Answer<()>, Trouble> {
        let artifacts = done.artifacts.iter().map(|name| NamedArtifact { name }).collect();
        let speaker = self.speaker(ticket);
        let body = Complete { speaker, artifacts, result: done.result.as_ref() };
        Ok(self.say(ticket, "complete", &body).await?.map(|_| ()))
    }

    async fn fail(&self, ticket: &Ticket, error: &Error) -> Result<Answer<()>, Trouble> {
        let (retryable, error) = (error.is_retryable(), error.message());
        let body = Fail { speaker: self.speaker(ticket), retryable, error };
        Ok(self.say(ticket, "fail", &body).await?.map(|_| ()))
    }

    async fn artifact(
        &self,
        ticket: &Ticket,
        name: &str,
        bytes: Bytes,
    ) -> Result<Answer<()>, Trouble> {
        let body = Upload { speaker: self.speaker(ticket), name };
        match self.ask::<words::Signed>(ticket, "artifacts", &body).await? {
            Answer::Gone => Ok(Answer::Gone),
            Answer::Accepted(signed) => {
                self.wire.transfer(Method::PUT, &signed.url, bytes).await?;
                Ok(Answer::Accepted(()))
            }
        }
    }

    async fn payload(&self, _ticket: &Ticket, at: &str) -> Result<Bytes, Trouble> {
        self.wire.transfer(Method::GET, at, Bytes::new()).await
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (base, worker) = (&self.base, &self.worker);
        f.debug_struct("Http").field("base", base).field("worker", worker).finish_non_exhaustive()
    }
}
