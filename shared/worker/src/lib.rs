//! A worker of your own: claims jobs over HTTP, sends their heartbeats, and reports how they ended.
//!
//! ```no_run
//! # async fn example(key: &str) -> Result<(), Box<dyn std::error::Error>> {
//! use worker::{Context, JobOutput, Job, Worker};
//!
//! Worker::connect("http://localhost:8080", key)?
//!     .job_type("greet")
//!     .concurrency(4)
//!     .run(|job: Job, ctx: Context| async move {
//!         let name: String = job.payload()?;
//!         ctx.progress(50);
//!         ctx.upload("greeting.txt", format!("Hello, {name}.")).await?;
//!         Ok(JobOutput::new())
//!     })
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! Guarantee: every report about a job carries the attempt it was claimed with. Once the API fences one of
//! them off, or none got through for a minute, the handler is stopped and nothing more is reported about
//! that job: another worker has it. A handler may therefore run twice for one job, but only one run
//! counts.
//!
//! [`run_job`] runs one job through a [`JobApi`]: over HTTP here, straight to the store in a function of
//! the stack. Absent: logs (see [`Worker::on_event`]), the environment, and any clock but tokio's, which
//! tests may pause.

#![warn(missing_docs)]

mod backoff;
mod context;
mod heartbeat;
mod http;
mod job;
mod job_api;
mod run_job;
mod signal;
mod worker;

pub use context::{Context, StopReason};
pub use http::{ConnectError, HttpJobApi};
pub use job::{Error, Job, JobOutput};
pub use job_api::{
    ApiError, ApiResult, ClaimedJob, HeartbeatAction, JobApi, Payload, Reply, StartedJob,
};
pub use run_job::{RunOutcome, Timeouts, run_job};
pub use tokio_util::sync::CancellationToken;
pub use worker::{Worker, WorkerEvent};

#[cfg(test)]
mod tests;
