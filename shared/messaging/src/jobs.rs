//! Doorbells between the functions of jobs, and the topic that tells how jobs ended.

use aws_sdk_sns::types::MessageAttributeValue;
use domain::Failure;
use domain::jobs::{Bell, Job, JobId, Message, Notice};

use crate::{TRACEPARENT, sending};

/// The queues that are rung: of whoever hands out, and of whoever works.
#[derive(Debug, Clone)]
pub struct Doorbells {
    client: aws_sdk_sqs::Client,
    dispatch_url: String,
    work_url: Option<String>,
}

impl Doorbells {
    /// Rings at `dispatch_url`, and at `work_url` for those who assign jobs.
    pub fn new(
        client: aws_sdk_sqs::Client,
        dispatch_url: impl Into<String>,
        work_url: Option<&str>,
    ) -> Self {
        let work_url = work_url.map(str::to_owned);
        Self { client, dispatch_url: dispatch_url.into(), work_url }
    }

    /// Rings. A bell that is lost is rung again by the sweep.
    pub async fn ring(&self, bell: &Bell, traceparent: &str) -> Result<(), Failure> {
        match bell {
            Bell::Ready(job_type, job_id, delay) => {
                let (job_type, job_id) = (job_type.clone(), job_id.clone());
                let message = Message::JobsReady { v: 1, job_type, job_id };
                self.send(&self.dispatch_url, &message, *delay, traceparent).await
            }
            Bell::Ended(job_id) => {
                let message = Message::JobEnded { v: 1, job_id: job_id.clone() };
                self.send(&self.dispatch_url, &message, 0, traceparent).await
            }
            Bell::Work(job_id, attempt) => self.begin(job_id, *attempt, traceparent).await,
        }
    }

    /// Asks to look for silent workers, so many seconds from now.
    pub async fn watch(&self, delay: u32, traceparent: &str) -> Result<(), Failure> {
        self.send(&self.dispatch_url, &Message::WorkersWatched { v: 1 }, delay, traceparent).await
    }

    /// Tells the workers that a job was assigned.
    async fn begin(&self, id: &JobId, attempt: u32, traceparent: &str) -> Result<(), Failure> {
        let Some(queue) = &self.work_url else {
            return Err(Failure::new("tell a worker", "there is no worker queue here"));
        };
        let message = Message::JobAssigned { v: 1, job_id: id.clone(), attempt };
        self.send(queue, &message, 0, traceparent).await
    }

    async fn send(
        &self,
        queue: &str,
        message: &Message,
        delay: u32,
        traceparent: &str,
    ) -> Result<(), Failure> {
        let (client, body) = (&self.client, serde_json::to_string(message));
        sending::send(client, queue, body, delay, traceparent, "ring a doorbell").await
    }
}

/// The topic that tells how jobs ended.
#[derive(Debug, Clone)]
pub struct JobEvents {
    client: aws_sdk_sns::Client,
    topic_arn: String,
}

impl JobEvents {
    /// Publishes to `topic_arn`.
    pub fn new(client: aws_sdk_sns::Client, topic_arn: impl Into<String>) -> Self {
        Self { client, topic_arn: topic_arn.into() }
    }

    /// Tells how a job ended; subscriptions filter by `jobType`, `status` and `priority`.
    pub async fn ended(&self, job: &Job, traceparent: &str) -> Result<(), Failure> {
        const ACTION: &str = "publish a job's end";
        let body = serde_json::to_string(&Notice::ended(job))
            .map_err(|cause| Failure::new(ACTION, cause))?;
        let mut request = self.client.publish().topic_arn(&self.topic_arn).message(body);
        for (name, value) in [
            ("jobType", job.kind.as_str()),
            ("status", job.status.name()),
            ("priority", job.priority.name()),
            (TRACEPARENT, traceparent),
        ] {
            let attribute = MessageAttributeValue::builder()
                .data_type("String")
                .string_value(value)
                .build()
                .map_err(|cause| Failure::new(ACTION, cause))?;
            request = request.message_attributes(name, attribute);
        }
        request.send().await.map_err(|cause| Failure::new(ACTION, cause))?;
        Ok(())
    }
}
